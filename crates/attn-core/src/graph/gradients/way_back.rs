//! The way back through each op: how its gradient is handed on to an input, or why it is not.
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::attention::{Axis, Base, Buckets, GELU_CUBIC, Mask, MatrixRule, Places, Rotation, WeightLayout};
use crate::elementary;
use crate::error::Result;
use crate::graph::{Factor, GeluForm, Graph, NodeId, Op, Stage, Statistic};
use crate::matrix::Shape;

use crate::graph::stage::name_beside;

/// Adds what a step hands on to one of its inputs.
pub type Rule = Box<dyn Fn(&mut Backward<'_>) -> Result<NodeId>>;

/// The way from an op back to one of its inputs.
pub enum WayBack {
    /// The gradient is handed on by this rule.
    Through(Rule),
    /// The gradient ends here, for this reason: the input says which numbers are taken, or is chosen and not learned.
    Ends(&'static str),
    /// The op has no gradient that would be of any use, for this reason.
    Refused(&'static str),
}

fn through(rule: impl Fn(&mut Backward<'_>) -> Result<NodeId> + 'static) -> WayBack {
    WayBack::Through(Box::new(rule))
}

const SELECTS: WayBack = WayBack::Ends("a mask says which cells are taken: it is chosen, not learned");
const FREQUENCIES: WayBack = WayBack::Ends("frequencies are chosen, not learned");
const ROUNDING: WayBack =
    WayBack::Refused("rounding is flat between its jumps, so that nothing could be learned through it");
const SINGULAR: WayBack =
    WayBack::Refused("singular values and vectors are checked, not derived: no step of attention reads them");

impl Op {
    /// The way back to an input, counted from 0.
    pub fn way_back(&self, input: usize) -> WayBack {
        match *self {
            Op::Given(_)
            | Op::Ones { .. }
            | Op::Sinusoidal { .. }
            | Op::Frequencies { .. }
            | Op::Alibi(..) => WayBack::Ends("it reads nothing"),
            Op::Product => through(move |step| product(step, input)),
            Op::ProductTransposed => through(move |step| product_transposed(step, input)),
            Op::TransposedProduct => through(move |step| transposed_product(step, input)),
            Op::Linear(layout) => through(move |step| linear(step, layout, input)),
            Op::Transpose => through(|step| step.finish(Op::Transpose, &[step.dy])),
            Op::Add | Op::OnePlus | Op::SingleRange => through(|step| step.same()),
            Op::Subtract => through(move |step| difference(step, input == 1)),
            Op::Change => through(move |step| difference(step, input == 0)),
            Op::Multiply => through(move |step| step.sloped(step.input(1 - input))),
            Op::Divide => through(move |step| divide(step, input)),
            Op::Times => through(move |step| times(step, input)),
            Op::Quotient => through(move |step| quotient(step, input)),
            Op::Scale(factor) => through(move |step| step.finish(Op::Scale(factor), &[step.dy])),
            Op::Temperature(temperature) => {
                through(move |step| step.finish(Op::Temperature(temperature), &[step.dy]))
            }
            Op::SoftCap(cap) => through(move |step| soft_cap(step, cap)),
            Op::Mask(mask) => match (input, mask.matrix) {
                (0, _) | (_, Some(MatrixRule::Add)) if input == 0 || !mask.inverted => {
                    through(move |step| hidden(step, mask))
                }
                _ => SELECTS,
            },
            Op::MaskPattern(_) => SELECTS,
            Op::MinusMax(axis) => through(move |step| minus_max(step, axis)),
            Op::Exponential(base) => through(move |step| exponential(step, base)),
            Op::Logarithm => through(|step| step.finish(Op::Quotient, &[step.dy, step.input(0)])),
            Op::Root => through(root),
            Op::Sums(axis) => through(move |step| sums(step, axis)),
            Op::BlockSums { rows, cols } => through(move |step| block_sums(step, rows, cols)),
            Op::Max(axis) => through(move |step| max(step, axis)),
            Op::DivideBySum(axis) => through(move |step| divide_by_sum(step, axis)),
            Op::Softmax(axis, base) | Op::UnguardedSoftmax(axis, base) => {
                through(move |step| softmax(step, axis, base))
            }
            Op::NegativeLogSoftmax => through(negative_log_softmax),
            Op::SoftmaxWithSink { head } => through(move |step| softmax_with_sink(step, head, input)),
            Op::Guard if input == 0 => through(|step| step.finish(Op::Guard, &[step.dy, step.input(1)])),
            Op::Guard => WayBack::Ends("the scores only say which rows are hidden"),
            Op::Columns { .. } | Op::EveryNthColumn { .. } | Op::RepeatColumns(_) => through(of_columns),
            Op::TokenRows(_) | Op::Rows { .. } => through(of_rows),
            Op::ReverseRows => through(|step| step.finish(Op::ReverseRows, &[step.dy])),
            Op::SortRows(_) => {
                WayBack::Refused("sorting shows numbers in another order: no step of attention reads it")
            }
            Op::Concatenate => through(move |step| concatenated(step, input)),
            Op::Stack(_) => through(move |step| stacked(step, input)),
            Op::Reshape { .. } => through(reshaped),
            Op::Relu => through(relu),
            Op::EluPlusOne => through(elu_plus_one),
            Op::Sigmoid => through(sigmoid),
            Op::Tanh => through(tanh),
            Op::Silu => through(silu),
            Op::Gelu(form) => through(move |step| gelu(step, form)),
            Op::NormalShare => through(normal_share),
            Op::MinusMean => through(|step| step.finish(Op::MinusMean, &[step.dy])),
            Op::RmsNorm(epsilon) => through(move |step| norm(step, epsilon, false, input)),
            Op::LayerNorm(epsilon) => through(move |step| norm(step, epsilon, true, input)),
            Op::Cosine => through(move |step| cosine(step, input)),
            Op::Euclidean => through(move |step| euclidean(step, input)),
            Op::UnitRows => through(|step| unit_rows(step, step.input(0), step.y, step.dy)),
            Op::ScaledFrequencies(_) => FREQUENCIES,
            Op::Rotary(_) if input > 0 => FREQUENCIES,
            Op::Rotary(rotation) => through(move |step| rotary(step, rotation)),
            Op::BucketBias { column, buckets, places } => {
                through(move |step| bucket_bias(step, column, buckets, places))
            }
            Op::SingularVectors { .. } | Op::SingularValues => SINGULAR,
            Op::Diagonal => through(diagonal),
            Op::Summary(statistic) => through(move |step| summary(step, statistic)),
            Op::Round(_) | Op::Truncate(_) => ROUNDING,
            Op::Fused(_) => {
                WayBack::Refused("the fused kernel does not keep the steps that a gradient reads")
            }
        }
    }
}

// The way back through products, and through arithmetic cell by cell.

/// `y = a b`: `da = dy bᵀ`, `db = aᵀ dy`.
fn product(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (a, b, dy) = (step.input(0), step.input(1), step.dy);
    match input {
        0 => step.finish(Op::ProductTransposed, &[dy, b]),
        _ => step.finish(Op::TransposedProduct, &[a, dy]),
    }
}

/// `y = a bᵀ`: `da = dy b`, `db = dyᵀ a`.
fn product_transposed(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (a, b, dy) = (step.input(0), step.input(1), step.dy);
    match input {
        0 => step.finish(Op::Product, &[dy, b]),
        _ => step.finish(Op::TransposedProduct, &[dy, a]),
    }
}

/// `y = aᵀ b`: `da = b dyᵀ`, `db = a dy`.
fn transposed_product(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (a, b, dy) = (step.input(0), step.input(1), step.dy);
    match input {
        0 => step.finish(Op::ProductTransposed, &[b, dy]),
        _ => step.finish(Op::Product, &[a, dy]),
    }
}

/// `y = x W + c`: as a product, and `dc` is the sum over all rows.
fn linear(step: &mut Backward<'_>, layout: WeightLayout, input: usize) -> Result<NodeId> {
    let dy = step.dy;
    match (input, layout) {
        (0 | 1, WeightLayout::InOut) => product(step, input),
        (0 | 1, WeightLayout::OutIn) => product_transposed(step, input),
        _ => step.finish(Op::Sums(Axis::Columns), &[dy]),
    }
}

/// A difference hands its gradient on, with the other sign to what is subtracted.
fn difference(step: &mut Backward<'_>, is_subtracted: bool) -> Result<NodeId> {
    let dy = step.dy;
    if is_subtracted { step.finish(Op::Scale(Factor::Number(-1.0)), &[dy]) } else { step.same() }
}

/// `y = a / b` for a number b: `da = dy / b`, `db = −Σ dy ∘ y / b`.
fn divide(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (b, y, dy) = (step.input(1), step.y, step.dy);
    if input == 0 {
        return step.finish(Op::Divide, &[dy, b]);
    }
    let weighted = step.part("weighted", Op::Multiply, &[dy, y])?;
    let sum = step.part("sum", Op::Sums(Axis::Whole), &[weighted])?;
    let share = step.part("share", Op::Divide, &[sum, b])?;
    step.finish(Op::Scale(Factor::Number(-1.0)), &[share])
}

/// `y = a · b` for a number b: `da = dy · b`, `db = Σ dy ∘ a`.
fn times(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (a, b, dy) = (step.input(0), step.input(1), step.dy);
    if input == 0 {
        return step.finish(Op::Times, &[dy, b]);
    }
    let weighted = step.part("weighted", Op::Multiply, &[dy, a])?;
    step.finish(Op::Sums(Axis::Whole), &[weighted])
}

/// `y = a / b`, cell by cell: `da = dy / b`, `db = −dy ∘ y / b`.
fn quotient(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (b, y, dy) = (step.input(1), step.y, step.dy);
    if input == 0 {
        return step.finish(Op::Quotient, &[dy, b]);
    }
    let weighted = step.part("weighted", Op::Multiply, &[dy, y])?;
    let share = step.part("share", Op::Quotient, &[weighted, b])?;
    step.finish(Op::Scale(Factor::Number(-1.0)), &[share])
}

// The way back from weights to scores: softmax, sums that divide, and the mask.

/// `dy` minus its mean along the axis, where each cell counts by its weight y.
pub(super) fn centred(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (y, dy) = (step.y, step.dy);
    let weighted = step.part("weighted", Op::Multiply, &[y, dy])?;
    let mean = step.part("mean", Op::Sums(axis), &[weighted])?;
    let repeated = step.spread("mean_repeated", axis, mean, dy)?;
    step.part("centred", Op::Subtract, &[dy, repeated])
}

/// `y = softmax(a)`: `da = y ∘ (dy − Σ y ∘ dy)`, times the logarithm of the base where it is not e.
pub(super) fn softmax(step: &mut Backward<'_>, axis: Axis, base: Base) -> Result<NodeId> {
    let centred = centred(step, axis)?;
    let y = step.y;
    match base {
        Base::E => step.finish(Op::Multiply, &[y, centred]),
        Base::Number(base) => {
            let of_e = step.part("of_base_e", Op::Multiply, &[y, centred])?;
            step.finish(Op::Scale(Factor::Number(elementary::ln(base))), &[of_e])
        }
    }
}

/// `y = −ln softmax(a)`: `da = softmax(a) ∘ Σ dy − dy`.
fn negative_log_softmax(step: &mut Backward<'_>) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let softmax = step.made("softmax", Op::Softmax(Axis::Rows, Base::E), &[a])?;
    let sum = step.part("sum", Op::Sums(Axis::Rows), &[dy])?;
    let repeated = step.spread("sum_repeated", Axis::Rows, sum, dy)?;
    let shared = step.part("shared", Op::Multiply, &[softmax, repeated])?;
    step.finish(Op::Subtract, &[shared, dy])
}

/// As for the softmax, and the sink loses what the keys win: `−(1 − Σ y) · Σ y ∘ dy`, summed over all rows.
fn softmax_with_sink(step: &mut Backward<'_>, head: usize, input: usize) -> Result<NodeId> {
    if input == 0 {
        return softmax(step, Axis::Rows, Base::E);
    }
    let (y, dy, sinks) = (step.y, step.dy, step.input(1));
    let weighted = step.part("weighted", Op::Multiply, &[y, dy])?;
    let mean = step.part("mean", Op::Sums(Axis::Rows), &[weighted])?;
    let of_keys = step.of_step("of_keys", Op::Sums(Axis::Rows), &[y])?;
    let ones = step.ones_like(of_keys)?;
    let of_sink = step.of_step("of_sink", Op::Subtract, &[ones, of_keys])?;
    let lost = step.part("sink_products", Op::Multiply, &[of_sink, mean])?;
    let lost = step.part("sink_sum", Op::Sums(Axis::Whole), &[lost])?;
    let lost = step.part("sink", Op::Scale(Factor::Number(-1.0)), &[lost])?;
    let identity = step.identity(step.shape(sinks).cols)?;
    let place = step.of_step("sink_place", Op::Rows { start: head, count: 1 }, &[identity])?;
    step.finish(Op::Times, &[place, lost])
}

/// `y = a / s` with the sum s of a row: `da = (dy − Σ y ∘ dy) / s`.
fn divide_by_sum(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let centred = centred(step, axis)?;
    let sums = step.of_step("sum", Op::Sums(axis), &[a])?;
    let sums = step.spread("sum_repeated", axis, sums, dy)?;
    step.finish(Op::Quotient, &[centred, sums])
}

/// Hidden cells get 0.
fn hidden(step: &mut Backward<'_>, mask: Mask) -> Result<NodeId> {
    let inputs: Vec<NodeId> = (0..step.inputs()).map(|at| step.input(at)).collect();
    let pattern = step.of_step("pattern", Op::MaskPattern(mask), &inputs)?;
    step.sloped(pattern)
}

// The way back through norms: what lies along a row changes only its length, which the norm takes away again.

/// `y = x / r ∘ w` with `r = √(mean x² + ε)`: `dx = (g − u · mean(g ∘ u)) / r` with `u = x / r` and `g = dy ∘ w`. With x minus its mean,
/// as a layer norm has it: `dx = (h − mean h) / r` with `h = g − u · mean(g ∘ u)`.
fn norm(step: &mut Backward<'_>, epsilon: f64, is_centred: bool, input: usize) -> Result<NodeId> {
    let mut x = step.input(0);
    let unit = match step.inputs() {
        1 => step.y,
        _ if is_centred => step.of_step("unit", Op::LayerNorm(epsilon), &[x])?,
        _ => step.of_step("unit", Op::RmsNorm(epsilon), &[x])?,
    };
    if input > 0 {
        return learned(step, unit, input);
    }
    let gained = gained(step)?;
    let mut across = across(step, gained, unit, true)?;
    if is_centred {
        across = step.part("across_minus_mean", Op::MinusMean, &[across])?;
        x = step.of_step("minus_mean", Op::MinusMean, &[x])?;
    }
    let size = size(step, x, Some(epsilon))?;
    step.finish(Op::Quotient, &[across, size])
}

/// `y = x / ‖x‖`: `dx = (dy − y · Σ dy ∘ y) / ‖x‖`. A row of zeros stays 0 in `y`, and its gradient is 0.
fn unit_rows(step: &mut Backward<'_>, x: NodeId, unit: NodeId, of_unit: NodeId) -> Result<NodeId> {
    let across = across(step, of_unit, unit, false)?;
    let size = size(step, x, None)?;
    let has_length = step.where_zero("has_length", false, size)?;
    let has_none = step.where_zero("has_no_length", true, size)?;
    let divisor = step.part("divisor", Op::Add, &[size, has_none])?;
    let counted = step.part("counted", Op::Multiply, &[across, has_length])?;
    step.finish(Op::Quotient, &[counted, divisor])
}

/// The gradient of the gain, or of the bias after it.
fn learned(step: &mut Backward<'_>, unit: NodeId, input: usize) -> Result<NodeId> {
    let dy = step.dy;
    if input == 2 {
        return step.finish(Op::Sums(Axis::Columns), &[dy]);
    }
    let weighted = step.part("gain", Op::Multiply, &[dy, unit])?;
    step.finish(Op::Sums(Axis::Columns), &[weighted])
}

/// `dy` times the gain, where there is one.
fn gained(step: &mut Backward<'_>) -> Result<NodeId> {
    let dy = step.dy;
    if step.inputs() == 1 {
        return Ok(dy);
    }
    let gain = step.spread("gain_repeated", Axis::Columns, step.input(1), dy)?;
    step.part("gained", Op::Multiply, &[dy, gain])
}

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
        let epsilon = step.of_step("epsilon", Op::Scale(Factor::Number(epsilon)), &[ones])?;
        sum = step.of_step("mean_square_more", Op::Add, &[mean, epsilon])?;
    }
    let size = step.of_step("size", Op::Root, &[sum])?;
    step.spread("size_repeated", Axis::Rows, size, x)
}

// The way back from cosines and distances of rows to the rows.

/// `y = u vᵀ` with the rows of a and b at length 1: back through the product, then through the length.
fn cosine(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
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
    unit_rows(step, own, own_unit, of_unit)
}

/// `y` is the distance of a row of a and a row of b. With `w = dy / y`, and 0 where the distance is 0,
/// `da = (Σ w) ∘ a − w b` and `db = (Σ wᵀ) ∘ b − wᵀ a`.
fn euclidean(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
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
}

// The way back through functions of single numbers: the gradient times the slope of the function.

/// A multiple of every cell.
const fn scale(number: f64) -> Op {
    Op::Scale(Factor::Number(number))
}

/// `1 − a ∘ a`: the slope of a hyperbolic tangent a.
fn slope_of_tanh(step: &mut Backward<'_>, a: NodeId) -> Result<NodeId> {
    let square = step.of_step("squared", Op::Multiply, &[a, a])?;
    let ones = step.ones_like(a)?;
    step.of_step("slope", Op::Subtract, &[ones, square])
}

/// `y = tanh(a)`: `da = dy ∘ (1 − y²)`.
fn tanh(step: &mut Backward<'_>) -> Result<NodeId> {
    let slope = slope_of_tanh(step, step.y)?;
    step.sloped(slope)
}

/// `y = c · tanh(a / c)`: `da = dy ∘ (1 − (y/c)²)`.
fn soft_cap(step: &mut Backward<'_>, cap: f64) -> Result<NodeId> {
    let share = step.of_step("share", Op::Temperature(cap), &[step.y])?;
    let slope = slope_of_tanh(step, share)?;
    step.sloped(slope)
}

/// `y = bᵃ`: `da = dy ∘ y · ln b`.
fn exponential(step: &mut Backward<'_>, base: Base) -> Result<NodeId> {
    match base {
        Base::E => step.sloped(step.y),
        Base::Number(base) => {
            let slope = step.of_step("slope", scale(elementary::ln(base)), &[step.y])?;
            step.sloped(slope)
        }
    }
}

/// `y = √a`: `da = dy / (2 y)`.
fn root(step: &mut Backward<'_>) -> Result<NodeId> {
    let double = step.of_step("double", scale(2.0), &[step.y])?;
    step.finish(Op::Quotient, &[step.dy, double])
}

/// `y = max(0, a)`: the gradient where y is not 0.
fn relu(step: &mut Backward<'_>) -> Result<NodeId> {
    let slope = step.where_zero("slope", false, step.y)?;
    step.sloped(slope)
}

/// `y = elu(a) + 1`: the slope is 1 where a is positive, and y elsewhere, which is `y − max(0, a)` in both cases.
fn elu_plus_one(step: &mut Backward<'_>) -> Result<NodeId> {
    let positive = step.of_step("positive", Op::Relu, &[step.input(0)])?;
    let slope = step.of_step("slope", Op::Subtract, &[step.y, positive])?;
    step.sloped(slope)
}

/// `y = 1 / (1 + e⁻ᵃ)`: `da = dy ∘ y ∘ (1 − y)`.
fn sigmoid(step: &mut Backward<'_>) -> Result<NodeId> {
    let ones = step.ones_like(step.y)?;
    let rest = step.of_step("rest", Op::Subtract, &[ones, step.y])?;
    let slope = step.of_step("slope", Op::Multiply, &[step.y, rest])?;
    step.sloped(slope)
}

/// `y = a σ` with the sigmoid σ: the slope is `σ + y (1 − σ)`.
fn silu(step: &mut Backward<'_>) -> Result<NodeId> {
    let sigmoid = step.of_step("sigmoid", Op::Sigmoid, &[step.input(0)])?;
    let ones = step.ones_like(sigmoid)?;
    let rest = step.of_step("rest", Op::Subtract, &[ones, sigmoid])?;
    let more = step.of_step("more", Op::Multiply, &[step.y, rest])?;
    let slope = step.of_step("slope", Op::Add, &[sigmoid, more])?;
    step.sloped(slope)
}

/// The density of a standard normal distribution at each cell of a: `e^(−a²/2) / √(2π)`.
fn density(step: &mut Backward<'_>, a: NodeId) -> Result<NodeId> {
    let square = step.of_step("squared", Op::Multiply, &[a, a])?;
    let exponent = step.of_step("exponent", scale(-0.5), &[square])?;
    let power = step.of_step("power", Op::Exponential(Base::E), &[exponent])?;
    step.of_step("density", scale(1.0 / (2.0 * std::f64::consts::PI).sqrt()), &[power])
}

/// `y = Φ(a)`: the slope is the density.
fn normal_share(step: &mut Backward<'_>) -> Result<NodeId> {
    let slope = density(step, step.input(0))?;
    step.sloped(slope)
}

/// The slope of GELU: `Φ(a) + a φ(a)`, or that of its tanh form.
fn gelu(step: &mut Backward<'_>, form: GeluForm) -> Result<NodeId> {
    let a = step.input(0);
    let (share, density) = match form {
        GeluForm::Erf => (step.of_step("share", Op::NormalShare, &[a])?, density(step, a)?),
        GeluForm::Tanh => gelu_tanh(step, a)?,
    };
    let more = step.of_step("more", Op::Multiply, &[a, density])?;
    let slope = step.of_step("slope", Op::Add, &[share, more])?;
    step.sloped(slope)
}

/// What stands for Φ and its slope in the tanh form: `(1 + t)/2` with `t = tanh(√(2/π) (a + c a³))`, and
/// `(1 − t²)/2 · √(2/π) (1 + 3 c a²)`.
fn gelu_tanh(step: &mut Backward<'_>, a: NodeId) -> Result<(NodeId, NodeId)> {
    let factor = (2.0 / std::f64::consts::PI).sqrt();
    let square = step.of_step("input_squared", Op::Multiply, &[a, a])?;
    let cube = step.of_step("cubed", Op::Multiply, &[square, a])?;
    let cubic = step.of_step("cubic", scale(GELU_CUBIC), &[cube])?;
    let sum = step.of_step("sum", Op::Add, &[a, cubic])?;
    let angle = step.of_step("angle", scale(factor), &[sum])?;
    let tanh = step.of_step("tanh", Op::Tanh, &[angle])?;
    let double = step.of_step("double", Op::OnePlus, &[tanh])?;
    let share = step.of_step("share", scale(0.5), &[double])?;
    let of_tanh = step.of_step("tanh_squared", Op::Multiply, &[tanh, tanh])?;
    let ones = step.ones_like(a)?;
    let of_tanh = step.of_step("tanh_slope", Op::Subtract, &[ones, of_tanh])?;
    let of_angle = step.of_step("cubic_slope", scale(3.0 * GELU_CUBIC), &[square])?;
    let of_angle = step.of_step("sum_slope", Op::OnePlus, &[of_angle])?;
    let of_angle = step.of_step("angle_slope", scale(0.5 * factor), &[of_angle])?;
    let density = step.of_step("share_slope", Op::Multiply, &[of_tanh, of_angle])?;
    Ok((share, density))
}

// The way back through positions.

/// A rotation is undone by the negative angle.
fn rotary(step: &mut Backward<'_>, rotation: Rotation) -> Result<NodeId> {
    let (frequencies, dy) = (step.input(1), step.dy);
    let negative = step.of_step("back", Op::Scale(Factor::Number(-1.0)), &[frequencies])?;
    step.finish(Op::Rotary(rotation), &[dy, negative])
}

/// Each bucket of the table gets the sum of the cells whose distance is in it.
fn bucket_bias(step: &mut Backward<'_>, column: usize, buckets: Buckets, places: Places) -> Result<NodeId> {
    let (table, dy) = (step.input(0), step.dy);
    let identity = step.identity(buckets.count)?;
    let mut sums = Vec::new();
    for bucket in 0..buckets.count {
        // The bias from a table that has a 1 for this bucket alone: 1 where the distance is in it.
        let here = Op::BucketBias { column: bucket, buckets, places };
        let here = step.of_step(&format!("in_bucket_{bucket}"), here, &[identity])?;
        let cells = step.part(&format!("bucket_{bucket}"), Op::Multiply, &[dy, here])?;
        sums.push(step.part(&format!("bucket_{bucket}_sum"), Op::Sums(Axis::Whole), &[cells])?);
    }
    let sums = step.part("buckets", Op::Stack(None), &sums)?;
    let heads = step.identity(step.shape(table).cols)?;
    let head = step.of_step("head", Op::Rows { start: column, count: 1 }, &[heads])?;
    step.finish(Op::Product, &[sums, head])
}

// The way back through steps that only choose, repeat, join and arrange: each number goes back to where it came from.

/// `y = a E`, where E is what the step makes of the identity: `da = dy Eᵀ`.
fn of_columns(step: &mut Backward<'_>) -> Result<NodeId> {
    let identity = step.identity(step.shape(step.input(0)).cols)?;
    let selection = step.of_step("selection", step.op(), &[identity])?;
    step.finish(Op::ProductTransposed, &[step.dy, selection])
}

/// `y = E a`, where E is what the step makes of the identity: `da = Eᵀ dy`.
fn of_rows(step: &mut Backward<'_>) -> Result<NodeId> {
    let identity = step.identity(step.shape(step.input(0)).rows)?;
    let selection = step.of_step("selection", step.op(), &[identity])?;
    step.finish(Op::TransposedProduct, &[selection, step.dy])
}

/// The sum of a block goes to each of its cells: `da = Rᵀ dy Cᵀ`, with the blocks of rows R and of columns C.
fn block_sums(step: &mut Backward<'_>, rows: usize, cols: usize) -> Result<NodeId> {
    let shape = step.shape(step.input(0));
    let of_rows = step.identity(shape.rows)?;
    let of_rows = step.of_step("row_blocks", Op::BlockSums { rows, cols: 1 }, &[of_rows])?;
    let of_cols = step.identity(shape.cols)?;
    let of_cols = step.of_step("column_blocks", Op::BlockSums { rows: 1, cols }, &[of_cols])?;
    let spread = step.part("rows", Op::TransposedProduct, &[of_rows, step.dy])?;
    step.finish(Op::ProductTransposed, &[spread, of_cols])
}

/// The columns that an input has in the whole.
fn concatenated(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let start = (0..input).map(|at| step.shape(step.input(at)).cols).sum();
    let count = step.shape(step.input(input)).cols;
    step.finish(Op::Columns { start, count }, &[step.dy])
}

/// The rows that an input has in the whole.
fn stacked(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let start = (0..input).map(|at| step.shape(step.input(at)).rows).sum();
    let count = step.shape(step.input(input)).rows;
    step.finish(Op::Rows { start, count }, &[step.dy])
}

/// The shape of before.
fn reshaped(step: &mut Backward<'_>) -> Result<NodeId> {
    let Shape { rows, cols } = step.shape(step.input(0));
    step.finish(Op::Reshape { rows, cols }, &[step.dy])
}

/// The diagonal, as a row.
fn diagonal(step: &mut Backward<'_>) -> Result<NodeId> {
    let identity = step.identity(step.shape(step.y).cols)?;
    let kept = step.part("diagonal", Op::Multiply, &[step.dy, identity])?;
    step.finish(Op::Sums(Axis::Columns), &[kept])
}

// The way back from sums and maxima to the cells that they sum up.

/// A sum hands its gradient on to every cell.
fn sums(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let shape = step.shape(a);
    match axis {
        Axis::Rows => step.finish(Op::RepeatColumns(shape.cols), &[dy]),
        Axis::Columns => {
            let ones = step.ones(shape.rows, 1)?;
            step.finish(Op::Product, &[ones, dy])
        }
        Axis::Whole => {
            let ones = step.ones(shape.rows, shape.cols)?;
            step.finish(Op::Times, &[ones, dy])
        }
    }
}

/// The share of each cell in the max: 1 for the largest, and equal shares where several are.
fn share_of_max(step: &mut Backward<'_>, axis: Axis, of: NodeId) -> Result<NodeId> {
    let gap = step.of_step("gap", Op::MinusMax(axis), &[of])?;
    let top = step.where_zero("largest", true, gap)?;
    step.of_step("largest_share", Op::DivideBySum(axis), &[top])
}

/// A max hands its gradient on to the largest cell.
fn max(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let share = share_of_max(step, axis, a)?;
    let spread = step.spread("repeated", axis, dy, a)?;
    step.finish(Op::Multiply, &[share, spread])
}

/// `y = a − max`: the gradient, and the largest cell loses the sum of all.
fn minus_max(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let share = share_of_max(step, axis, a)?;
    let sum = step.part("sum", Op::Sums(axis), &[dy])?;
    let spread = step.spread("sum_repeated", axis, sum, a)?;
    let of_max = step.part("of_largest", Op::Multiply, &[share, spread])?;
    step.finish(Op::Subtract, &[dy, of_max])
}

/// One number about all cells.
fn summary(step: &mut Backward<'_>, statistic: Statistic) -> Result<NodeId> {
    let (a, y, dy) = (step.input(0), step.y, step.dy);
    let shape = step.shape(a);
    let count = Op::Scale(Factor::Inverse(shape.rows * shape.cols));
    match statistic {
        Statistic::Mean => {
            let spread = step.spread("repeated", Axis::Whole, dy, a)?;
            step.finish(count, &[spread])
        }
        Statistic::RootMeanSquare => {
            let share = step.part("share", Op::Quotient, &[dy, y])?;
            let share = step.part("share_of_cell", count, &[share])?;
            step.finish(Op::Times, &[a, share])
        }
        Statistic::Max => max(step, Axis::Whole),
        Statistic::MaxSize => max_size(step),
    }
}

/// The largest absolute value: its sign, times the gradient, in the cell that has it.
fn max_size(step: &mut Backward<'_>) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let negative = step.of_step("negative", Op::Scale(Factor::Number(-1.0)), &[a])?;
    let above = step.of_step("above", Op::Relu, &[a])?;
    let below = step.of_step("below", Op::Relu, &[negative])?;
    let size = step.of_step("size", Op::Add, &[above, below])?;
    let (plus, minus) = (step.where_zero("plus", false, above)?, step.where_zero("minus", false, below)?);
    let sign = step.of_step("sign", Op::Subtract, &[plus, minus])?;
    let share = share_of_max(step, Axis::Whole, size)?;
    let signed = step.of_step("signed_share", Op::Multiply, &[share, sign])?;
    step.finish(Op::Times, &[signed, dy])
}

// One step of the walk: what a rule reads, and how it names what it adds.

/// A step whose gradient is known, on the way back to one of its inputs.
pub struct Backward<'g> {
    graph: &'g mut Graph,
    step: NodeId,
    /// The step, or what takes its place in a mistaken backward pass.
    pub(super) y: NodeId,
    /// Its gradient.
    pub(super) dy: NodeId,
    /// The name of what is handed on.
    name: String,
}

impl<'g> Backward<'g> {
    pub(super) fn new(graph: &'g mut Graph, y: NodeId, dy: NodeId, name: String) -> Backward<'g> {
        Backward { graph, step: y, y, dy, name }
    }

    /// The graph so far.
    pub(super) fn graph(&self) -> &Graph {
        self.graph
    }

    /// Whether the step makes the weights of attention.
    pub(super) fn is_weights(&self) -> bool {
        self.graph[self.step].step.is_some_and(|step| step.stage == Stage::Weights)
    }

    /// An input of the step.
    pub(super) fn input(&self, at: usize) -> NodeId {
        self.graph[self.y].inputs[at]
    }

    /// The op of the step.
    pub(super) fn op(&self) -> Op {
        self.graph[self.y].op.clone()
    }

    /// The number of inputs of the step.
    fn inputs(&self) -> usize {
        self.graph[self.y].inputs.len()
    }

    pub(super) fn shape(&self, id: NodeId) -> Shape {
        self.graph[id].shape()
    }

    /// Adds what is handed on.
    pub(super) fn finish(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.graph.add(&self.name, op, inputs)
    }

    /// Hands the gradient on as it is.
    pub(super) fn same(&mut self) -> Result<NodeId> {
        let dy = self.dy;
        self.finish(Op::Add, &[dy])
    }

    /// Hands on the gradient times the slope of each cell.
    pub(super) fn sloped(&mut self, slope: NodeId) -> Result<NodeId> {
        let dy = self.dy;
        self.finish(Op::Multiply, &[dy, slope])
    }

    /// Adds a node that belongs to the gradient of the step: `dA_mean`.
    pub(super) fn part(&mut self, what: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let name = name_beside(&self.graph[self.dy].name, what);
        self.once(&name, op, inputs)
    }

    /// Adds a node that belongs to the step and not to its gradient: `S_capped_slope`.
    pub(super) fn of_step(&mut self, what: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let name = name_beside(&self.graph[self.y].name, what);
        self.once(&name, op, inputs)
    }

    /// The node that already has these numbers, whatever its name; otherwise one that belongs to the step is added.
    fn made(&mut self, what: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let there = self.graph.nodes().find(|(_, node)| node.op == op && node.inputs == inputs);
        match there.map(|(id, _)| id) {
            Some(id) => Ok(id),
            None => self.of_step(what, op, inputs),
        }
    }

    /// Adds a node, unless it is there already. A name that another node has is followed by a mark.
    fn once(&mut self, name: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let mut name = name.to_string();
        while let Some(there) = self.graph.find(&name) {
            if self.graph[there].op == op && self.graph[there].inputs == inputs {
                return Ok(there);
            }
            name = name_beside(&name, "again");
        }
        self.graph.add(&name, op, inputs)
    }

    /// 1 in every cell.
    fn ones(&mut self, rows: usize, cols: usize) -> Result<NodeId> {
        self.once(&format!("ones_{rows}x{cols}"), Op::Ones { rows, cols }, &[])
    }

    /// 1 in every cell, in the shape of a node.
    fn ones_like(&mut self, id: NodeId) -> Result<NodeId> {
        let Shape { rows, cols } = self.shape(id);
        self.ones(rows, cols)
    }

    /// The identity of this size: put through a step that only chooses and repeats, it says where each line of the input goes.
    fn identity(&mut self, size: usize) -> Result<NodeId> {
        let ones = self.ones(1, size)?;
        self.once(&format!("identity_{size}x{size}"), Op::Diagonal, &[ones])
    }

    /// A number for each row (or column, or for all cells), in every cell that it belongs to, in the shape of `like`.
    pub(super) fn spread(&mut self, what: &str, axis: Axis, numbers: NodeId, like: NodeId) -> Result<NodeId> {
        let Shape { rows, cols } = self.shape(like);
        let id = match axis {
            Axis::Rows => self.part(what, Op::RepeatColumns(cols), &[numbers])?,
            Axis::Columns => {
                let ones = self.ones(rows, 1)?;
                self.part(what, Op::Product, &[ones, numbers])?
            }
            Axis::Whole => {
                let ones = self.ones(rows, cols)?;
                self.part(what, Op::Times, &[ones, numbers])?
            }
        };
        self.graph.name_lines_as(id, like);
        Ok(id)
    }

    /// 1 where a number of `numbers` is 0 (or is not 0), and 0 elsewhere.
    fn where_zero(&mut self, what: &str, is_zero: bool, numbers: NodeId) -> Result<NodeId> {
        let rule = if is_zero { MatrixRule::Block } else { MatrixRule::Allow };
        let mask = Mask { matrix: Some(rule), ..Mask::default() };
        self.of_step(what, Op::MaskPattern(mask), &[numbers, numbers])
    }
}
