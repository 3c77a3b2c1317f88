//! Running an op: inputs to value, by calling [`crate::attention`].

use super::op::{Op, Side, Statistic};
use crate::attention;
use crate::error::{Error, Result};
use crate::matrix::{Labels, Matrix, labels};

impl Op {
    /// The op's value on these inputs.
    ///
    /// # Errors
    /// If the number of inputs is not the op's, or their shapes do not fit.
    pub fn apply(&self, inputs: &[&Matrix]) -> Result<Matrix> {
        match (self, inputs) {
            (Op::Product, [a, b]) => attention::product(a, b),
            (Op::ProductTransposed, [a, b]) => attention::product_transposed(a, b),
            (Op::Ones { rows, cols }, []) => Ok(Matrix::filled(*rows, *cols, 1.0)),
            (Op::Transpose, [a]) => Ok(a.transposed()),
            (Op::Add, all) => attention::add(all),
            (Op::Subtract, [a, b]) => attention::subtract(a, b),
            (Op::Change, [a, b]) => attention::change(a, b),
            (Op::Multiply, [a, b]) => attention::multiply(a, b),
            (Op::Divide, [a, b]) => attention::divide(a, b),
            (Op::Quotient, [a, b]) => attention::quotient(a, b),
            (Op::Scale(factor), [a]) => Ok(a.map(|x| x * factor.value())),
            (Op::Temperature(temperature), [a]) => Ok(a.map(|x| x / temperature)),
            (Op::Mask(rule) | Op::MaskPattern(rule), [_]) if rule.matrix.is_some() => {
                Err(Error::new("this mask needs a matrix, but none is given"))
            }
            (Op::Mask(rule) | Op::MaskPattern(rule), [_, _]) if rule.matrix.is_none() => {
                Err(Error::new("a mask matrix is given, but no rule says what its cells mean"))
            }
            (Op::Mask(rule), [scores]) => attention::mask(scores, None, rule),
            (Op::Mask(rule), [scores, matrix]) => attention::mask(scores, Some(matrix), rule),
            (Op::MaskPattern(rule), [a]) => attention::mask_pattern(a, None, rule),
            (Op::MaskPattern(rule), [a, matrix]) => attention::mask_pattern(a, Some(matrix), rule),
            (Op::MinusMax(axis), [a]) => Ok(attention::minus_max(a, *axis)),
            (Op::Exponential(base), [a]) => Ok(attention::exponential(a, *base)),
            (Op::Logarithm, [a]) => Ok(attention::logarithm(a)),
            (Op::SingleRange, [a]) => Ok(attention::single_range(a)),
            (Op::Sums(axis), [a]) => Ok(attention::sums(a, *axis)),
            (Op::BlockSums { rows, cols }, [a]) => attention::block_sums(a, *rows, *cols),
            (Op::Largest(axis), [a]) => Ok(attention::largest_along(a, *axis)),
            (Op::DivideBySum(axis), [a]) => Ok(attention::divide_by_sum(a, *axis)),
            (Op::Softmax(axis, base), [a]) => Ok(attention::softmax(a, *axis, *base)),
            (Op::UnguardedSoftmax(axis, base), [a]) => Ok(attention::unguarded_softmax(a, *axis, *base)),
            (Op::Guard, [a, scores]) => attention::guard(a, scores),
            (Op::EveryNthColumn { start, step }, [a]) => attention::every_nth_column(a, *start, *step),
            (Op::Reshape { rows, cols }, [a]) => attention::reshape(a, *rows, *cols),
            (Op::Columns { start, count }, [a]) => attention::columns(a, *start, *count),
            (Op::Rows { start, count }, [a]) => attention::rows(a, *start, *count),
            (Op::ReverseRows, [a]) => Ok(attention::reverse_rows(a)),
            (Op::Concatenate, all) => attention::concatenate(all),
            (Op::Stack(names), all) => attention::stack(all, names.clone()),
            (Op::Relu, [a]) => Ok(attention::relu(a)),
            (Op::Sigmoid, [a]) => Ok(attention::sigmoid(a)),
            (Op::MinusMean, [a]) => Ok(attention::minus_mean(a)),
            (Op::Silu, [a]) => Ok(attention::silu(a)),
            (Op::RmsNorm(epsilon), [a]) => Ok(attention::rms_norm(a, *epsilon)),
            (Op::Cosine, [a, b]) => attention::cosine(a, b),
            (Op::Euclidean, [a, b]) => attention::euclidean(a, b),
            (Op::UnitRows, [a]) => Ok(attention::unit_rows(a)),
            (Op::Sinusoidal { tokens, width }, []) => Ok(attention::sinusoidal(*tokens, *width)),
            (Op::Rotary { first, base }, [a]) => attention::rotary(a, *first, *base),
            (Op::SingularVectors { side, rank }, [a]) => singular_vectors(a, *side, *rank),
            (Op::SingularValues, [a]) => Ok(attention::singular_values(a)?.values),
            (Op::Diagonal, [a]) => attention::diagonal(a),
            (Op::Summary(statistic), [a]) => Ok(summary(a, *statistic)),
            (Op::Round(decimals), [a]) => Ok(a.map(|x| rounded(x, *decimals))),
            (Op::Truncate(decimals), [a]) => Ok(a.map(|x| truncated(x, *decimals))),
            _ => Err(Error::new(format!("`{}` does not take {} matrices", self.name(), inputs.len()))),
        }
    }

    /// What a reader should be warned of when the op runs on these inputs.
    pub(super) fn warning(&self, name: &str, inputs: &[&Matrix]) -> Option<String> {
        let [a, ..] = inputs else { return None };
        let (rows, [one, many]) = match self {
            Op::Cosine => {
                let longest = |a: &&&Matrix| zero_rows(a).len();
                let a = inputs.iter().max_by_key(longest)?;
                let one = "is all zeros and has no direction; its cosines are set to 0";
                return said(
                    name,
                    a.row_labels(),
                    zero_rows(a),
                    [one, "are all zeros and have no direction; their cosines are set to 0"],
                );
            }
            Op::UnitRows => {
                let one = "is all zeros and has no direction; it stays as it is";
                (zero_rows(a), [one, "are all zeros and have no direction; they stay as they are"])
            }
            _ => return None,
        };
        said(name, a.row_labels(), rows, [one, many])
    }
}

/// The rows without a direction.
fn zero_rows(a: &Matrix) -> Vec<usize> {
    (0..a.rows()).filter(|&i| a.row(i).all(|x| x == 0.0)).collect()
}

/// A warning about some rows of a matrix with these labels; the sentence for one row, and for several.
pub(super) fn said(
    name: &str,
    labels: Option<&Labels>,
    rows: Vec<usize>,
    [one, many]: [&str; 2],
) -> Option<String> {
    const NAMED: usize = 5;
    let label = |i: &usize| match labels {
        Some(labels) => format!("{} ({})", i + 1, labels[*i]),
        None => format!("{}", i + 1),
    };
    let named = rows.iter().take(NAMED).map(label).collect::<Vec<_>>().join(", ");
    let more = if rows.len() > NAMED { format!(" and {} more", rows.len() - NAMED) } else { String::new() };
    match rows.len() {
        0 => None,
        1 => Some(format!("{name}: row {named} {one}")),
        _ => Some(format!("{name}: rows {named}{more} {many}")),
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

fn summary(a: &Matrix, statistic: Statistic) -> Matrix {
    let count = (a.rows() * a.cols()) as f64;
    let (number, label) = match statistic {
        Statistic::Mean => (a.cells().fold(0.0, |sum, x| sum + x) / count, "mean"),
        Statistic::RootMeanSquare => {
            ((a.cells().fold(0.0, |sum, x| sum + x * x) / count).sqrt(), "root mean square")
        }
        Statistic::Largest => (attention::largest(a.cells()), "largest"),
        Statistic::LargestSize => (attention::largest(a.cells().map(f64::abs)), "largest by size"),
    };
    Matrix::filled(1, 1, number).with_col_labels(Some(labels(&[label])))
}
