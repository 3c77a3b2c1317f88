//! Running an op: inputs to value, by calling [`crate::attention`].
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

use super::op::Op;
use super::op_parameters::{GeluForm, Side, Statistic};
use crate::attention;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, labels};
use crate::tensor::Tensor;

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
}

impl Op {
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
