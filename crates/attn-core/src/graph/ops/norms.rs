//! The lengths and angles of rows, and the norms of each token's vector.

use std::rc::Rc;

use super::definition::*;
use super::products::of_pairs_of_rows;

/// A row minus its mean: `x[j] − Σ_k x[k] / d`.
///
/// # Source
/// Ba et al. 2016, “Layer Normalization”.
pub fn minus_mean<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| {
        of.each_line(Axis::Rows, |row| {
            let mean = mean(&row);
            move |j: usize| row[j].clone().minus(mean.clone())
        })
    })
    .written("{a} − mean of {each row}")
    .back(|step, _| step.finish(Op::MinusMean, &[step.dy]))
}

/// A row divided by its root mean square: `x[j] / √(Σ_k x[k]² / d + ε)`, with ε in the units of x²; then times a gain for each column,
/// (1, d), where there is one.
///
/// # Source
/// Zhang and Sennrich 2019, “Root Mean Square Layer Normalization”; the norm of Llama 3.
pub fn rms_norm<R: Request, A: Ask<R>>(op: A, epsilon: f64) -> A {
    let op = op.rule(|of: &R| {
        of.each_line(Axis::Rows, |row| {
            let normed = over_root_mean_square(row, epsilon);
            move |j| gained(of, j, normed(j))
        })
    });
    norm("RMSNorm", Op::RmsNorm(epsilon), epsilon, op)
}

/// A row minus its mean m, divided by its standard deviation: `(x[j] − m) / √(Σ_k (x[k] − m)² / d + ε)`, with ε in the units of x²; then
/// times a gain, plus a bias for each column, (1, d), where there are any.
///
/// # Source
/// Ba et al. 2016, “Layer Normalization”, equation 4; the norm of GPT-2.
pub fn layer_norm<R: Request, A: Ask<R>>(op: A, epsilon: f64) -> A {
    let op = op.rule(|of: &R| {
        of.each_line(Axis::Rows, |row| {
            let mean = mean(&row);
            let m = mean.named("m");
            let normed =
                over_root_mean_square(row.into_iter().map(|x| x.minus(m.clone())).collect(), epsilon);
            move |j| gained(of, j, normed(j)).with("m", &mean)
        })
    });
    norm("LayerNorm", Op::LayerNorm(epsilon), epsilon, op)
}

// What the two norms share: their division, their gain and their bias.

/// A row divided by its root mean square.
fn over_root_mean_square<N: Number>(row: Vec<N>, epsilon: f64) -> impl Fn(usize) -> N {
    let mean = sum_of_squares(&row).over(N::of(row.len() as f64));
    let root = N::sum([mean, N::of(epsilon)]).root();
    move |j| row[j].clone().over(root.clone())
}

/// The mean of some numbers.
pub fn mean<N: Number>(row: &[N]) -> N {
    N::sum(row.iter().cloned()).over(N::of(row.len() as f64))
}

/// `Σ_k a[k]²`.
pub fn sum_of_squares<N: Number>(row: &[N]) -> N {
    dot(row.len(), |k| row[k].clone(), |k| row[k].clone())
}

/// A normed number times the gain of its column, plus its bias, where there are any.
fn gained<R: Request>(of: &R, j: usize, normed: R::Number) -> R::Number {
    let gained = if of.inputs() > 1 { normed.times(of.at(1, 0, j)) } else { normed };
    if of.inputs() > 2 { Number::sum([gained, of.at(2, 0, j)]) } else { gained }
}

/// Their inputs, a row of gains and one of biases for a layer norm, their equation, and their way back.
fn norm<R: Request, A: Ask<R>>(name: &'static str, op: Op, epsilon: f64, by_rule: A) -> A {
    let is_centred = matches!(op, Op::LayerNorm(_));
    by_rule
        .inputs_from(1, Some(if is_centred { 3 } else { 2 }))
        .shape(|inputs| {
            let a = inputs[0];
            let wanted = Shape { rows: 1, cols: a.cols };
            let Some(at) = inputs.iter().skip(1).position(|row| *row != wanted) else { return Ok(a) };
            let what = ["gain", "bias"][at];
            let error = format!("the {what} is {}, but a matrix of {a} needs {wanted}", inputs[at + 1]);
            Err(Some(
                Error::new(error).help(format!("give the {what} one row with a number for each column")),
            ))
        })
        .equation(|w| {
            let learned = ["gain", "bias"].into_iter().zip(1..w.count());
            let learned: String = learned.map(|(what, at)| format!(", {what} {}", w.input(at))).collect();
            format!("{name}({}), ε = {}{learned}", w.input(0), number_text(epsilon))
        })
        // With `r = √(mean x² + ε)`, the gain w, `u = x / r` and `g = dy ∘ w`: `dx = (g − u · mean(g ∘ u)) / r`. With x minus its mean, as
        // a layer norm has it: `dx = (h − mean h) / r` with `h = g − u · mean(g ∘ u)`.
        .back(|step, input| {
            let mut x = step.input(0);
            let unit = if step.inputs() == 1 { step.y } else { step.of_step("unit", op.clone(), &[x])? };
            if input > 0 {
                return back_to_learned(step, unit, input);
            }
            let gained = back_through_gain(step)?;
            let mut across = across(step, gained, unit, true)?;
            if is_centred {
                across = step.part("across_minus_mean", Op::MinusMean, &[across])?;
                x = step.of_step("minus_mean", Op::MinusMean, &[x])?;
            }
            let size = size(step, x, Some(epsilon))?;
            step.finish(Op::Quotient, &[across, size])
        })
}

/// The gradient of the gain, or of the bias after it.
fn back_to_learned(step: &mut Backward<'_>, unit: NodeId, input: usize) -> Result<NodeId> {
    let of_each = if input == 2 { step.dy } else { step.part("gain", Op::Multiply, &[step.dy, unit])? };
    step.finish(Op::Sums(Axis::Columns), &[of_each])
}

/// `dy` times the gain, where there is one.
fn back_through_gain(step: &mut Backward<'_>) -> Result<NodeId> {
    let dy = step.dy;
    if step.inputs() == 1 {
        return Ok(dy);
    }
    let gain = step.spread("gain_repeated", Axis::Columns, step.input(1), dy)?;
    step.part("gained", Op::Multiply, &[dy, gain])
}

// What norms and lengths share: what lies along a row changes only its length, which is taken away again.

/// `g` without its part along the unit of each row: `g − u · Σ g ∘ u`, with the mean instead of the sum for a norm by the mean.
fn across(step: &mut Backward<'_>, gained: NodeId, unit: NodeId, is_mean: bool) -> Result<NodeId> {
    let weighted = step.part("unit_products", Op::Multiply, &[gained, unit])?;
    let mut along = step.part("along", Op::Sums(Axis::Rows), &[weighted])?;
    if is_mean {
        let width = step.shape(unit).cols;
        along = step.part("along_mean", Op::Scale(Factor::Inverse(width)), &[along])?;
    }
    let along = step.spread("along_repeated", Axis::Rows, along, unit)?;
    let along = step.part("along_unit", Op::Multiply, &[unit, along])?;
    step.part("across", Op::Subtract, &[gained, along])
}

/// The size of each row, in all of its columns: its length, or the root of its mean square plus ε.
fn size(step: &mut Backward<'_>, x: NodeId, epsilon: Option<f64>) -> Result<NodeId> {
    let squares = step.of_step("squares", Op::Multiply, &[x, x])?;
    let mut sum = step.of_step("square_sum", Op::Sums(Axis::Rows), &[squares])?;
    if let Some(epsilon) = epsilon {
        let width = step.shape(x).cols;
        let mean = step.of_step("mean_square", Op::Scale(Factor::Inverse(width)), &[sum])?;
        let ones = step.ones_like(mean)?;
        let epsilon = step.of_step("epsilon", scale(epsilon), &[ones])?;
        sum = step.of_step("mean_square_more", Op::Add, &[mean, epsilon])?;
    }
    let size = step.of_step("size", Op::Root, &[sum])?;
    step.spread("size_repeated", Axis::Rows, size, x)
}

// Lengths and angles of rows.

/// A row divided by its length: `a[j] / |a|`. A row of zeros stays as it is.
pub fn unit_rows<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| {
        of.each_line(Axis::Rows, |row| {
            let row = in_range(row);
            let length = sum_of_squares(&row).root();
            move |j: usize| match length.value() == 0.0 {
                true => R::Number::of(0.0).because("a row of zeros has no direction"),
                false => row[j].clone().over(length.clone()),
            }
        })
    })
    .written("{a} / length of {each row}")
    .back(|step, _| back_to_row(step, step.input(0), step.y, step.dy))
}

/// From the gradient of the unit `u = x / ‖x‖` to that of x: `dx = (du − u · Σ du ∘ u) / ‖x‖`. A row of zeros stays 0 in u, and its gradient
/// is 0.
fn back_to_row(step: &mut Backward<'_>, x: NodeId, unit: NodeId, of_unit: NodeId) -> Result<NodeId> {
    let across = across(step, of_unit, unit, false)?;
    let size = size(step, x, None)?;
    let has_length = step.where_zero("has_length", false, size)?;
    let has_none = step.where_zero("has_no_length", true, size)?;
    let divisor = step.part("divisor", Op::Add, &[size, has_none])?;
    let counted = step.part("counted", Op::Multiply, &[across, has_length])?;
    step.finish(Op::Quotient, &[counted, divisor])
}

/// The cosine of the angle between each row of a and each row of b: `a · b / (|a| · |b|)`. A row of zeros has no direction: its cosines
/// are 0. Rows of very large or very small numbers are brought into range first, which changes no cosine.
///
/// # Source
/// “Mathematical details behind self-attention”, section Word Similarity.
pub fn cosine<R: Request, A: Ask<R>>(op: A) -> A {
    let op = op.rule(|of: &R| {
        let b = of.kept(of.shape(1).rows, |j| Direction::of(of.row(1, j)));
        of.lines(Axis::Rows, |i| {
            let a = Direction::of(of.row(0, i));
            let b = &b;
            move |j| a.cosine(&b(j))
        })
    });
    // `y = u vᵀ` with the rows of a and b at length 1: back through the product, then through the length.
    of_pairs_of_rows(op).written("cosine({a}, {b})").back(|step, input| {
        let (own, other, dy) = (step.input(input), step.input(1 - input), step.dy);
        let [own_unit, other_unit] = [(own, input), (other, 1 - input)].map(|(of, at)| {
            let name = if at == 0 { "first_units" } else { "second_units" };
            step.of_step(name, Op::UnitRows, &[of])
        });
        let (own_unit, other_unit) = (own_unit?, other_unit?);
        let of_unit = match input {
            0 => step.part("first_units", Op::Product, &[dy, other_unit])?,
            _ => step.part("second_units", Op::TransposedProduct, &[dy, other_unit])?,
        };
        back_to_row(step, own, own_unit, of_unit)
    })
}

/// A row whose direction is compared with others: brought into range, with its length.
#[derive(Clone)]
struct Direction<N> {
    row: Rc<[N]>,
    length: N,
}

impl<N: Number> Direction<N> {
    fn of(row: Vec<N>) -> Direction<N> {
        let row: Rc<[N]> = in_range(row).into();
        Direction { length: sum_of_squares(&row).root(), row }
    }

    fn cosine(&self, b: &Direction<N>) -> N {
        if self.length.value() == 0.0 || b.length.value() == 0.0 {
            return N::of(0.0).because("a row of zeros has no direction");
        }
        let dot = dot(self.row.len(), |k| self.row[k].clone(), |k| b.row[k].clone());
        dot.over(self.length.clone().times(b.length.clone()))
    }
}

/// A row, times a power of two where its squares would leave the range of an `f64`.
fn in_range<N: Number>(row: Vec<N>) -> Vec<N> {
    let factor = range_factor(row.iter().map(N::value));
    if factor == 1.0 { row } else { row.into_iter().map(|x| x.times(N::of(factor))).collect() }
}

/// 1 where the squares of these numbers stay in range, else a power of two that brings them there.
fn range_factor(numbers: impl Iterator<Item = f64>) -> f64 {
    // 2⁴⁰⁰ and 2⁶⁰⁰, exactly.
    let (limit, power) = (f64::from_bits((1023 + 400) << 52), f64::from_bits((1023 + 600) << 52));
    match numbers.fold(0.0, |max, x: f64| if x.abs() > max { x.abs() } else { max }) {
        max if max > limit && max.is_finite() => 1.0 / power,
        max if max < 1.0 / limit && max > 0.0 => power,
        _ => 1.0,
    }
}

/// The distance between each row of a and each row of b: `√(Σ_k (a[k] − b[k])²)`.
pub fn euclidean<R: Request, A: Ask<R>>(op: A) -> A {
    let op = op.rule(|of: &R| {
        let width = of.shape(0).cols;
        of.cells(|i, j| {
            let differences = || (0..width).map(|k| of.at(0, i, k).minus(of.at(1, j, k)));
            let factor = range_factor(differences().map(|difference| difference.value()));
            let squares = differences().map(|x| {
                let x = if factor == 1.0 { x } else { x.times(Number::of(factor)) };
                x.clone().times(x)
            });
            let length = R::Number::sum(squares).root();
            if factor == 1.0 { length } else { length.over(Number::of(factor)) }
        })
    });
    // With `w = dy / y`, and 0 where the distance is 0, `da = (Σ w) ∘ a − w b` and `db = (Σ wᵀ) ∘ b − wᵀ a`.
    of_pairs_of_rows(op).written("distance({a}, {b})").back(|step, input| {
        let (own, other, y, dy) = (step.input(input), step.input(1 - input), step.y, step.dy);
        let apart = step.where_zero("apart", false, y)?;
        let together = step.where_zero("together", true, y)?;
        let divisor = step.of_step("divisor", Op::Add, &[y, together])?;
        let counted = step.part("apart", Op::Multiply, &[dy, apart])?;
        let per_distance = step.part("per_distance", Op::Quotient, &[counted, divisor])?;
        let (sums, pulled) = if input == 0 {
            let sums = step.part("row_sums", Op::Sums(Axis::Rows), &[per_distance])?;
            (sums, step.part("pulled_first", Op::Product, &[per_distance, other])?)
        } else {
            let ones = step.ones(step.shape(y).rows, 1)?;
            let sums = step.part("column_sums", Op::TransposedProduct, &[per_distance, ones])?;
            (sums, step.part("pulled_second", Op::TransposedProduct, &[per_distance, other])?)
        };
        let sums = step.spread("sums_repeated", Axis::Rows, sums, own)?;
        let stretched = step.part("stretched", Op::Multiply, &[sums, own])?;
        step.finish(Op::Subtract, &[stretched, pulled])
    })
}
