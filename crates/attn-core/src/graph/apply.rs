//! An op on its inputs: its value, by calling [`crate::attention`]; how many inputs it takes, and of which shapes.
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::attention::{self, Axis, Mask, Places, RopeScaling};
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Matrix, Shape, labels};
use crate::tensor::Tensor;
use crate::text::{all_of, clip, counted};

use super::op::{Fusion, GeluForm, Op, Origin, Side, Statistic};

impl Op {
    /// The op's value on these inputs.
    ///
    /// # Errors
    /// If the number of inputs is not the op's [arity](Op::arity), their shapes do not fit, or the op is one that is recorded
    /// with its value and not computed here.
    pub fn apply(&self, inputs: &[&Matrix]) -> Result<Matrix> {
        self.arity().check(self, inputs.len())?;
        // The arity of the op has been checked, so both inputs exist.
        let [a, b] = [0, 1].map(|at| move || inputs[at]);
        let second = inputs.get(1).copied();
        match self {
            Op::Given(_) | Op::Fused(_) => Err(Error::new(format!(
                "`{}` is recorded with its value and not computed from it",
                self.name()
            ))),
            Op::Product => attention::product(a(), b()),
            Op::ProductTransposed => attention::product_transposed(a(), b()),
            Op::TransposedProduct => attention::transposed_product(a(), b()),
            Op::Linear(_) | Op::TokenRows(_) => {
                let tensors: Vec<Tensor> = inputs.iter().map(|&matrix| matrix.clone().into()).collect();
                self.apply_in_place(&tensors.iter().collect::<Vec<_>>())
            }
            Op::Ones { rows, cols } => Ok(Matrix::filled(*rows, *cols, 1.0)),
            Op::Transpose => Ok(a().transposed()),
            Op::Add => attention::add(inputs),
            Op::Subtract => attention::subtract(a(), b()),
            Op::Change => attention::change(a(), b()),
            Op::Multiply => attention::multiply(a(), b()),
            Op::Divide => attention::divide(a(), b()),
            Op::Times => attention::times(a(), b()),
            Op::Quotient => attention::quotient(a(), b()),
            Op::OnePlus => Ok(a().map(|x| 1.0 + x)),
            Op::Scale(factor) => Ok(a().map(|x| x * factor.value())),
            Op::Temperature(temperature) => Ok(a().map(|x| x / temperature)),
            Op::SoftCap(cap) => Ok(attention::soft_cap(a(), *cap)),
            Op::Mask(rule) => attention::mask(a(), second, rule),
            Op::MaskPattern(rule) => attention::mask_pattern(a(), second, rule),
            Op::MinusMax(axis) => Ok(attention::minus_max(a(), *axis)),
            Op::Exponential(base) => Ok(attention::exponential(a(), *base)),
            Op::Logarithm => Ok(attention::logarithm(a())),
            Op::Root => Ok(attention::root(a())),
            Op::NormalShare => Ok(attention::normal_share(a())),
            Op::SingleRange => Ok(attention::single_range(a())),
            Op::Sums(axis) => Ok(attention::sums(a(), *axis)),
            Op::BlockSums { rows, cols } => attention::block_sums(a(), *rows, *cols),
            Op::Max(axis) => Ok(attention::max_along(a(), *axis)),
            Op::DivideBySum(axis) => Ok(attention::divide_by_sum(a(), *axis)),
            Op::Softmax(axis, base) => Ok(attention::softmax(a(), *axis, *base)),
            Op::UnguardedSoftmax(axis, base) => Ok(attention::unguarded_softmax(a(), *axis, *base)),
            Op::NegativeLogSoftmax => Ok(attention::negative_log_softmax(a())),
            Op::SoftmaxWithSink { head } => softmax_with_sink(a(), b(), *head),
            Op::Guard => attention::guard(a(), b()),
            Op::EveryNthColumn { start, step } => attention::every_nth_column(a(), *start, *step),
            Op::Reshape { rows, cols } => attention::reshape(a(), *rows, *cols),
            Op::Columns { start, count } => attention::columns(a(), *start, *count),
            Op::RepeatColumns(times) => attention::repeat_columns(a(), *times),
            Op::Rows { start, count } => attention::rows(a(), *start, *count),
            Op::ReverseRows => Ok(attention::reverse_rows(a())),
            Op::SortRows(order) => Ok(attention::sort_rows(a(), *order)),
            Op::Concatenate => attention::concatenate(inputs),
            Op::Stack(names) => attention::stack(inputs, names.clone()),
            Op::Relu => Ok(attention::relu(a())),
            Op::EluPlusOne => Ok(attention::elu_plus_one(a())),
            Op::Sigmoid => Ok(attention::sigmoid(a())),
            Op::Tanh => Ok(attention::tanh(a())),
            Op::Silu => Ok(attention::silu(a())),
            Op::Gelu(GeluForm::Erf) => Ok(attention::gelu(a())),
            Op::Gelu(GeluForm::Tanh) => Ok(attention::gelu_tanh(a())),
            Op::MinusMean => Ok(attention::minus_mean(a())),
            Op::RmsNorm(epsilon) => attention::rms_norm(a(), second, *epsilon),
            Op::LayerNorm(epsilon) => attention::layer_norm(a(), second, inputs.get(2).copied(), *epsilon),
            Op::Cosine => attention::cosine(a(), b()),
            Op::Euclidean => attention::euclidean(a(), b()),
            Op::UnitRows => Ok(attention::unit_rows(a())),
            Op::Sinusoidal { first, tokens, width } => Ok(attention::sinusoidal(*first, *tokens, *width)),
            Op::Frequencies { width, base } => Ok(attention::frequencies(*width, *base)),
            Op::ScaledFrequencies(scaling) => attention::scaled_frequencies(a(), second, scaling),
            Op::Rotary(rotation) => attention::rotary(a(), b(), rotation),
            Op::Alibi(head, places) => Ok(attention::alibi(*head, *places)),
            Op::BucketBias { column, buckets, places } => {
                attention::bucket_bias(a(), *column, *buckets, *places)
            }
            Op::SingularVectors { side, rank } => singular_vectors(a(), *side, *rank),
            Op::SingularValues => Ok(attention::singular_values(a())?.values),
            Op::Diagonal => attention::diagonal(a()),
            Op::Summary(statistic) => Ok(summary(a(), *statistic)),
            Op::Round(decimals) => Ok(a().map(|x| rounded(x, *decimals))),
            Op::Truncate(decimals) => Ok(a().map(|x| truncated(x, *decimals))),
        }
    }

    /// Returns true if the op reads weights in place, wherever they are and whatever their type is.
    pub(super) fn reads_in_place(&self) -> bool {
        matches!(self, Op::Linear(_) | Op::TokenRows(_) | Op::Rows { .. })
    }

    /// The value of an op that reads weights in place.
    ///
    /// # Errors
    /// If the inputs do not fit, cannot be read, or the op is another one.
    pub(super) fn apply_in_place(&self, inputs: &[&Tensor]) -> Result<Matrix> {
        self.arity().check(self, inputs.len())?;
        match (self, inputs) {
            (Op::Linear(layout), [x, weights, bias @ ..]) => {
                attention::linear(x.matrix()?, weights, *layout, bias.first().copied())
            }
            (Op::TokenRows(ids), [table]) => attention::token_rows(table, ids),
            (Op::Rows { start, count }, [table]) if !table.is_exact() => {
                let rows: Vec<usize> = (*start..start.saturating_add(*count)).collect();
                attention::token_rows(table, &rows)
            }
            _ => self.apply(&inputs.iter().map(|tensor| tensor.matrix()).collect::<Result<Vec<_>>>()?),
        }
    }
}

/// `x` rounded to a number of decimals as NumPy's `round` does: scaled by a power of ten, to the nearest integer with
/// ties to even, and back.
pub fn rounded(x: f64, decimals: u32) -> f64 {
    to_decimals(x, decimals, f64::round_ties_even)
}

/// `x` cut off after a number of decimals: scaled by a power of ten, to the next integer towards 0, and back.
pub fn truncated(x: f64, decimals: u32) -> f64 {
    to_decimals(x, decimals, f64::trunc)
}

fn to_decimals(x: f64, decimals: u32, whole: fn(f64) -> f64) -> f64 {
    let power = (0..decimals).fold(1.0, |power, _| power * 10.0);
    let scaled = x * power;
    if scaled.is_finite() { whole(scaled) / power } else { x }
}

fn singular_vectors(a: &Matrix, side: Side, rank: usize) -> Result<Matrix> {
    let all = attention::singular_values(a)?;
    let vectors = match side {
        Side::Left => all.left.with_row_labels(a.row_labels().cloned()),
        Side::Right => all.right.with_row_labels(a.col_labels().cloned()),
    };
    attention::columns(&vectors, 0, rank)
}

fn softmax_with_sink(scores: &Matrix, sinks: &Matrix, head: usize) -> Result<Matrix> {
    if sinks.rows() != 1 || head >= sinks.cols() {
        return Err(Error::new(format!("there is no sink for head {} in {}", head + 1, sinks.shape()))
            .help("give one row with a sink for each head"));
    }
    Ok(attention::softmax_with_sink(scores, sinks[(0, head)]))
}

fn summary(a: &Matrix, statistic: Statistic) -> Matrix {
    let count = (a.rows() * a.cols()) as f64;
    let (number, label) = match statistic {
        Statistic::Mean => (a.cells().fold(0.0, |sum, x| sum + x) / count, "mean"),
        Statistic::RootMeanSquare => {
            ((a.cells().fold(0.0, |sum, x| sum + x * x) / count).sqrt(), "root mean square")
        }
        Statistic::Max => (attention::max(a.cells()), "largest"),
        Statistic::MaxSize => (attention::max(a.cells().map(f64::abs)), "largest by size"),
    };
    Matrix::filled(1, 1, number).with_col_labels(Some(labels(&[label])))
}

// The number of inputs of each op.

/// The range of the number of inputs of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least this many.
    pub least: usize,
    /// At most this many; no limit where there is none.
    pub most: Option<usize>,
}

impl Arity {
    const fn exactly(count: usize) -> Arity {
        Arity { least: count, most: Some(count) }
    }

    const fn between(least: usize, most: usize) -> Arity {
        Arity { least, most: Some(most) }
    }

    const ANY: Arity = Arity { least: 1, most: None };

    /// # Errors
    /// If the op cannot read this many inputs.
    pub(super) fn check(self, op: &Op, inputs: usize) -> Result<()> {
        let Arity { least, most } = self;
        if inputs >= least && most.is_none_or(|most| inputs <= most) {
            return Ok(());
        }
        let takes = match most {
            Some(most) if most == least => counted(least, "matrix"),
            Some(most) => format!("{least} to {}", counted(most, "matrix")),
            None => format!("at least {}", counted(least, "matrix")),
        };
        let are = if inputs == 1 { "is" } else { "are" };
        Err(Error::new(format!("`{}` takes {takes}, but {inputs} {are} given", op.name())))
    }
}

impl Op {
    /// The number of inputs of the op: one, unless it has an arm here.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most ops read one matrix")]
    pub fn arity(&self) -> Arity {
        match self {
            Op::Given(_)
            | Op::Ones { .. }
            | Op::Sinusoidal { .. }
            | Op::Frequencies { .. }
            | Op::Alibi(..) => Arity::exactly(0),
            Op::Product
            | Op::ProductTransposed
            | Op::TransposedProduct
            | Op::Subtract
            | Op::Change
            | Op::Multiply
            | Op::Divide
            | Op::Times
            | Op::Quotient
            | Op::SoftmaxWithSink { .. }
            | Op::Guard
            | Op::Rotary(_)
            | Op::Cosine
            | Op::Euclidean => Arity::exactly(2),
            // The matrix of the mask, where its rule reads one.
            Op::Mask(rule) | Op::MaskPattern(rule) => Arity::exactly(1 + usize::from(rule.matrix.is_some())),
            Op::ScaledFrequencies(scaling) => {
                Arity::exactly(1 + usize::from(matches!(scaling, RopeScaling::LongRope { .. })))
            }
            Op::RmsNorm(_) => Arity::between(1, 2),
            Op::Linear(_) => Arity::between(2, 3),
            Op::LayerNorm(_) => Arity::between(1, 3),
            Op::Add | Op::Concatenate | Op::Stack(_) | Op::Fused(Fusion::LogSumExp) => Arity::ANY,
            // Q, K, V; sinks, a table of positions, a bias, a mask.
            Op::Fused(Fusion::Output(_)) => Arity::between(3, 7),
            _ => Arity::exactly(1),
        }
    }
}

// Whether an op can have made a matrix of one shape from matrices of others: known without computing it.
//
// What a file says about a step is checked here before anything is allocated for it, so that no parameter of a file reaches a
// sum or a place that the mathematics does not have.

/// Beyond this, not every whole number is an `f64`: no position and no width is larger.
const MOST: u64 = 1 << 53;
/// `f64` has no more decimals than this, 10³⁰⁸ being its largest power of ten.
const MOST_DECIMALS: u32 = 308;
/// More heads than any layer has: powers of this number are still whole numbers.
const MOST_HEADS: usize = 1 << 24;

impl Op {
    /// Checks that the op can have made a matrix of this shape from matrices of those shapes, and that its parameters are in
    /// their range. An op that passes can be [applied](Op::apply) to matrices of these shapes: it gives that shape, or an error.
    ///
    /// # Errors
    /// If the op takes another number of inputs, they do not fit it or each other, its result has another shape, or a parameter
    /// is out of its range.
    pub fn check_fits(&self, inputs: &[Shape], result: Shape) -> Result<()> {
        self.arity().check(self, inputs.len())?;
        if let Op::Given(Origin::Rows(rows)) = self
            && (rows.len() != result.rows || rows.iter().any(|row| matches!(row, Origin::Rows(_))))
        {
            return self.out_of_range("origin", "it has one origin for each row, and no list in it");
        }
        self.check_parameters()?;
        let given = self.result_shape(inputs, result).ok_or_else(|| self.misfit(inputs))?;
        if given == result {
            return Ok(());
        }
        Err(Error::new(format!("`{}`{} gives {given}, but the shape is {result}", self.name(), of(inputs)))
            .of_kind(ErrorKind::Shape))
    }

    fn misfit(&self, inputs: &[Shape]) -> Error {
        let params = self.params();
        let has_none = params.as_object().is_some_and(|params| params.is_empty());
        let with = if has_none { String::new() } else { format!(" with {}", clip(&params.to_string())) };
        Error::new(format!("`{}`{with} cannot be computed{}", self.name(), of(inputs)))
            .of_kind(ErrorKind::Shape)
    }

    /// The shape of the result; `None` where the inputs do not fit. What follows from no input is taken as it stands.
    fn result_shape(&self, inputs: &[Shape], result: Shape) -> Option<Shape> {
        let shape = |rows, cols| Some(Shape { rows, cols });
        // Ops without inputs never ask for them.
        let a = inputs.first().copied().unwrap_or(result);
        let b = inputs.get(1).copied();
        let row_of_a = Shape { rows: 1, cols: a.cols };
        let all = |wanted: Shape| inputs.iter().all(|input| *input == wanted);
        match self {
            Op::Given(_) => Some(result),
            // What the fused kernel makes has a row for each query.
            Op::Fused(_) => (a.rows == result.rows).then_some(result),
            Op::Product => b.filter(|b| a.cols == b.rows).and_then(|b| shape(a.rows, b.cols)),
            Op::TransposedProduct => b.filter(|b| a.rows == b.rows).and_then(|b| shape(a.cols, b.cols)),
            Op::ProductTransposed | Op::Cosine | Op::Euclidean => {
                b.filter(|b| a.cols == b.cols).and_then(|b| shape(a.rows, b.rows))
            }
            Op::Linear(layout) => {
                let (width, outputs) = layout.inputs_and_outputs(b?);
                let bias = inputs.get(2).copied();
                let fits = bias.is_none_or(|bias| bias == Shape { rows: 1, cols: outputs });
                (fits && a.cols == width).then_some(Shape { rows: a.rows, cols: outputs })
            }
            Op::TokenRows(ids) => ids.iter().all(|id| *id < a.rows).then_some(Shape { rows: ids.len(), ..a }),
            Op::Ones { rows, cols } => shape(*rows, *cols),
            Op::Transpose => shape(a.cols, a.rows),
            Op::Add | Op::Subtract | Op::Change | Op::Multiply | Op::Quotient => all(a).then_some(a),
            Op::Guard | Op::Mask(_) | Op::MaskPattern(_) => all(a).then_some(a),
            Op::Divide | Op::Times => b.filter(|b| *b == Shape { rows: 1, cols: 1 }).map(|_| a),
            Op::OnePlus
            | Op::Scale(_)
            | Op::Temperature(_)
            | Op::SoftCap(_)
            | Op::MinusMax(_)
            | Op::Exponential(_)
            | Op::Logarithm
            | Op::Root
            | Op::NormalShare
            | Op::SingleRange
            | Op::DivideBySum(_)
            | Op::Softmax(..)
            | Op::UnguardedSoftmax(..)
            | Op::NegativeLogSoftmax
            | Op::ReverseRows
            | Op::SortRows(_)
            | Op::Relu
            | Op::EluPlusOne
            | Op::Sigmoid
            | Op::Tanh
            | Op::Silu
            | Op::Gelu(_)
            | Op::MinusMean
            | Op::UnitRows
            | Op::Round(_)
            | Op::Truncate(_) => Some(a),
            Op::Sums(axis) | Op::Max(axis) => match axis {
                Axis::Rows => shape(a.rows, 1),
                Axis::Columns => shape(1, a.cols),
                Axis::Whole => shape(1, 1),
            },
            Op::BlockSums { rows, cols } => {
                let blocks = |length: usize, size: usize| (size > 0).then(|| length.div_ceil(size));
                shape(blocks(a.rows, *rows)?, blocks(a.cols, *cols)?)
            }
            Op::SoftmaxWithSink { head } => b.filter(|b| b.rows == 1 && *head < b.cols).map(|_| a),
            Op::Columns { start, count } => {
                start.checked_add(*count).filter(|end| *end <= a.cols).map(|_| Shape { cols: *count, ..a })
            }
            Op::Rows { start, count } => {
                start.checked_add(*count).filter(|end| *end <= a.rows).map(|_| Shape { rows: *count, ..a })
            }
            Op::EveryNthColumn { start, step } => {
                let taken = (*step > 0).then(|| a.cols.checked_sub(*start)).flatten()?;
                (taken > 0).then(|| Shape { cols: taken.div_ceil(*step), ..a })
            }
            Op::RepeatColumns(times) => {
                let cols = a.cols.checked_mul(*times).filter(|_| *times > 0)?;
                Some(Shape { cols, ..a })
            }
            Op::Concatenate => {
                let fits = inputs.iter().all(|input| input.rows == a.rows);
                fits.then(|| Shape { cols: inputs.iter().map(|input| input.cols).sum(), ..a })
            }
            Op::Stack(_) => {
                let fits = inputs.iter().all(|input| input.cols == a.cols);
                fits.then(|| Shape { rows: inputs.iter().map(|input| input.rows).sum(), ..a })
            }
            Op::Reshape { rows, cols } => {
                let same = rows.checked_mul(*cols) == a.rows.checked_mul(a.cols);
                (same && *cols > 0).then_some(Shape { rows: *rows, cols: *cols })
            }
            Op::RmsNorm(_) | Op::LayerNorm(_) => {
                inputs.iter().skip(1).all(|row| *row == row_of_a).then_some(a)
            }
            Op::Sinusoidal { tokens, width, .. } => shape(*tokens, *width),
            Op::Frequencies { width, .. } => shape(1, width / 2),
            Op::ScaledFrequencies(scaling) => {
                let is_wide = !matches!(scaling, RopeScaling::Dynamic { .. }) || a.cols > 1;
                (all(row_of_a) && is_wide).then_some(a)
            }
            Op::Rotary(_) => {
                b.filter(|f| f.rows == 1 && f.cols.checked_mul(2).is_some_and(|w| w <= a.cols)).map(|_| a)
            }
            Op::Alibi(_, Places { queries, keys, .. }) => shape(*queries, *keys),
            Op::BucketBias { column, buckets, places } => {
                let fits = *column < a.cols && buckets.count == a.rows;
                fits.then_some(Shape { rows: places.queries, cols: places.keys })
            }
            Op::SingularVectors { side, rank } => {
                let rows = if *side == Side::Left { a.rows } else { a.cols };
                (*rank <= a.rows.min(a.cols)).then_some(Shape { rows, cols: *rank })
            }
            Op::SingularValues => shape(1, a.rows.min(a.cols)),
            Op::Diagonal => (a.rows == 1).then_some(Shape { rows: a.cols, cols: a.cols }),
            Op::Summary(_) => shape(1, 1),
        }
    }

    fn out_of_range(&self, what: &str, range: &str) -> Result<()> {
        Err(Error::new(format!("the {what} of `{}` is out of its range: {range}", self.name())))
    }

    /// Checks the parameters that no shape limits, from a file, a recipe or a page.
    ///
    /// # Errors
    /// If one is out of its range.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most ops have no such parameter")]
    pub(super) fn check_parameters(&self) -> Result<()> {
        let out_of_range = |what: &str, range: &str| self.out_of_range(what, range);
        let is_position = |first: usize| (first as u64) < MOST;
        match self {
            Op::Mask(Mask { window: Some(0), .. }) | Op::MaskPattern(Mask { window: Some(0), .. }) => {
                out_of_range("window", "a window of 1 shows the query's own position, and none is smaller")
            }
            Op::EveryNthColumn { step, .. } if !is_position(*step) => out_of_range("step", "at most 2⁵³"),
            Op::Sinusoidal { first, .. } if !is_position(*first) => out_of_range("first", "at most 2⁵³"),
            Op::Rotary(rotation) if !is_position(rotation.first) => out_of_range("first", "at most 2⁵³"),
            Op::ScaledFrequencies(scaling) => scaling.check(),
            Op::Alibi(head, _) if head.head == 0 || head.head > head.heads || head.heads > MOST_HEADS => {
                out_of_range("head", "it counts from 1 to the number of heads")
            }
            Op::Alibi(_, places) | Op::BucketBias { places, .. }
                if places.offset.unsigned_abs() as u64 > MOST =>
            {
                out_of_range("offset", "at most 2⁵³ to either side")
            }
            Op::BucketBias { buckets, .. } => buckets.check(),
            Op::Round(decimals) | Op::Truncate(decimals) if *decimals > MOST_DECIMALS => {
                out_of_range("decimals", "from 0 to 308")
            }
            _ => Ok(()),
        }
    }
}

/// “ of 2×3 and 3×2”, where there are inputs.
fn of(inputs: &[Shape]) -> String {
    if inputs.is_empty() {
        return String::new();
    }
    format!(" of {}", all_of(&inputs.iter().map(Shape::to_string).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use crate::attention::{Mask, MatrixRule};
    use crate::matrix::Matrix;

    use super::*;

    #[test]
    fn an_op_says_how_many_inputs_it_takes() {
        let a = Matrix::identity(2);
        let error = |op: &Op, inputs: usize| op.apply(&vec![&a; inputs]).unwrap_err().to_string();
        assert_eq!(error(&Op::Product, 1), "`product` takes 2 matrices, but 1 is given");
        assert_eq!(error(&Op::Tanh, 0), "`tanh` takes 1 matrix, but 0 are given");
        assert_eq!(error(&Op::LayerNorm(0.0), 4), "`layer-norm` takes 1 to 3 matrices, but 4 are given");
        assert_eq!(error(&Op::Add, 0), "`add` takes at least 1 matrix, but 0 are given");
        let rule = Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() };
        assert_eq!(error(&Op::Mask(rule), 1), "`mask` takes 2 matrices, but 1 is given");
        assert_eq!(error(&Op::Mask(Mask::default()), 2), "`mask` takes 1 matrix, but 2 are given");
    }
}
