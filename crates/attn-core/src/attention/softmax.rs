//! The softmax and the steps it is made of.

use serde::{Deserialize, Serialize};

use super::mask::fits;
use crate::elementary;
use crate::error::Result;
use crate::json_number;
use crate::matrix::Matrix;

/// The cells over which a softmax sums to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Each row on its own: over the keys of one query.
    Rows,
    /// Each column on its own.
    Columns,
    /// All cells of the matrix together.
    Whole,
}

/// The base of the power whose exponents are the scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// e, through `exp`.
    E,
    /// Another number above 1, through `pow`.
    Number(#[serde(with = "json_number")] f64),
}

impl Base {
    /// baseˣ.
    pub fn power(self, x: f64) -> f64 {
        match self {
            Base::E => elementary::exp(x),
            Base::Number(base) => elementary::pow(base, x),
        }
    }
}

/// Every cell minus the max of its row (or column): `out[i,j] = x[i,j] − max_k x[i,k]`.
///
/// The softmax of the result is the softmax of `x`, and for a base above 1 its max power is exactly 1, so none
/// overflows.
/// A cell of −∞ (a masked one) stays −∞, also where nothing but −∞ is in the row. The only other cell of a row is its own
/// maximum, and becomes 0 even where it has left the range.
pub fn minus_max(x: &Matrix, axis: Axis) -> Matrix {
    along_rows(x, axis, |row| {
        let mut row = row.to_vec();
        minus_max_of_row(&mut row);
        row
    })
}

/// [`minus_max`] of one row, in place.
fn minus_max_of_row(row: &mut [f64]) {
    let max = max(row.iter().copied());
    let alone = row.iter().filter(|&&x| x != f64::NEG_INFINITY).nth(1).is_none();
    for x in row {
        *x = match *x {
            f64::NEG_INFINITY => f64::NEG_INFINITY,
            f64::INFINITY if alone => 0.0,
            other => other - max,
        };
    }
}

/// The max of some numbers, from left to right: the first of equals, NaN where one is, and −∞ where there are none.
/// (`f64::max` drops NaN, and may give either zero for +0 and −0.)
pub fn max(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(f64::NEG_INFINITY, |max, x| if max.is_nan() || x <= max { max } else { x })
}

/// baseˣ of every cell.
pub fn exponential(x: &Matrix, base: Base) -> Matrix {
    x.map(|x| base.power(x))
}

/// Scores kept between −c and c: `out = c · tanh(x / c)` of every cell. A score near 0 hardly changes; one of −∞ becomes −c, so
/// that a mask has to come after the cap.
///
/// # Source
/// Gemma Team 2024, “Gemma 2”, section 2, “Logit soft-capping”, with c = 50 for the scores; Bello et al. 2016 cap by 10.
pub fn soft_cap(x: &Matrix, cap: f64) -> Matrix {
    x.map(|x| cap * elementary::tanh(x / cap))
}

/// The sum of each row (a column of sums), or of each column (a row of sums), from left to right.
pub fn sums(x: &Matrix, axis: Axis) -> Matrix {
    match axis {
        Axis::Rows => Matrix::from_fn(x.rows(), 1, |i, _| x.row(i).fold(0.0, |sum, x| sum + x))
            .with_row_labels(x.row_labels().cloned())
            .cols_named(&["sum"]),
        Axis::Columns => sums(&x.transposed(), Axis::Rows).transposed(),
        Axis::Whole => Matrix::filled(1, 1, x.cells().fold(0.0, |sum, x| sum + x)),
    }
}

/// The max of each row (a column), or of each column (a row); the first of equals.
pub fn max_along(x: &Matrix, axis: Axis) -> Matrix {
    match axis {
        Axis::Rows => Matrix::from_fn(x.rows(), 1, |i, _| max(x.row(i)))
            .with_row_labels(x.row_labels().cloned())
            .cols_named(&["largest"]),
        Axis::Columns => max_along(&x.transposed(), Axis::Rows).transposed(),
        Axis::Whole => Matrix::filled(1, 1, max(x.cells())),
    }
}

/// Every cell divided by the sum of its row (or column): `out[i,j] = x[i,j] / Σ_k x[i,k]`.
///
/// The division fails for numbers of both signs, whose sum may be 0 or negative: the result is infinite or NaN.
pub fn divide_by_sum(x: &Matrix, axis: Axis) -> Matrix {
    along_rows(x, axis, |row| {
        let sum = row.iter().fold(0.0, |sum, x| sum + x);
        row.iter().map(|x| x / sum).collect()
    })
}

/// Exponentials, divided by their sum: `out[i,j] = e^(x[i,j] − m_i) / Σ_k e^(x[i,k] − m_i)`, with m_i the maximum of
/// row i. A row of −∞ alone (a fully masked query) gives zeros.
///
/// # Source
/// Vaswani et al. 2017, section 3.2.1; the subtracted maximum: Goodfellow et al., “Deep Learning”, section 4.1.
pub fn softmax(x: &Matrix, axis: Axis, base: Base) -> Matrix {
    along_rows(x, axis, |row| {
        let mut row = row.to_vec();
        softmax_of_row(&mut row, base);
        row
    })
}

/// [`softmax`] of one row, in place.
pub fn softmax_of_row(row: &mut [f64], base: Base) {
    minus_max_of_row(row);
    row.iter_mut().for_each(|x| *x = base.power(*x));
    let sum = row.iter().fold(0.0, |sum, x| sum + x);
    row.iter_mut().for_each(|x| *x = if sum == 0.0 { 0.0 } else { *x / sum });
}

/// `−ln softmax` of each row, without the small numbers between: `out[i,j] = ln Σ_k e^(x[i,k] − m_i) − (x[i,j] − m_i)`, with m_i the
/// max of row i. It stays exact where a weight would round to 0 or to 1. A cell of −∞ has the weight 0, so its result is ∞.
///
/// # Source
/// Blanchard, Higham and Higham 2021, “Accurately computing the log-sum-exp and softmax functions”.
pub fn negative_log_softmax(x: &Matrix) -> Matrix {
    along_rows(x, Axis::Rows, |row| {
        let mut row = row.to_vec();
        negative_log_softmax_of_row(&mut row);
        row
    })
}

/// [`negative_log_softmax`] of one row, in place.
pub fn negative_log_softmax_of_row(row: &mut [f64]) {
    minus_max_of_row(row);
    let logarithm = elementary::ln(row.iter().fold(0.0, |sum, x| sum + elementary::exp(*x)));
    for x in row {
        *x = if *x == f64::NEG_INFINITY { f64::INFINITY } else { logarithm - *x };
    }
}

/// The softmax of each row together with a sink, a score of no key: `out[i,j] = e^(x[i,j] − m_i) / (Σ_k e^(x[i,k] − m_i) + e^(σ − m_i))`,
/// with m_i the max of row i and σ. The sink's own share is dropped, so a row sums to less than 1. A row of −∞ alone gives
/// zeros, as does a row where σ is −∞ too.
///
/// # Source
/// OpenAI 2025, the published code of gpt-oss, with a learned σ for each head; with σ = 0 it is Miller 2023, “Attention Is Off By
/// One”.
pub fn softmax_with_sink(x: &Matrix, sink: f64) -> Matrix {
    along_rows(x, Axis::Rows, |row| {
        let max = max(row.iter().copied().chain([sink]));
        let power = |x: f64| match x {
            f64::NEG_INFINITY => 0.0,
            // It has left the range, and is the max.
            f64::INFINITY => 1.0,
            _ => elementary::exp(x - max),
        };
        let sum = row.iter().copied().chain([sink]).fold(0.0, |sum, x| sum + power(x));
        row.iter().map(|x| if sum == 0.0 { 0.0 } else { power(*x) / sum }).collect()
    })
}

/// The softmax as NumPy and PyTorch have it, without a guard for a row of nothing but −∞: −∞ − (−∞) makes that row NaN.
/// Everywhere else it is [`softmax`].
pub fn unguarded_softmax(x: &Matrix, axis: Axis, base: Base) -> Matrix {
    along_rows(x, axis, |row| {
        let max = max(row.iter().copied());
        let powers: Vec<f64> = row.iter().map(|x| base.power(x - max)).collect();
        let sum = powers.iter().fold(0.0, |sum, x| sum + x);
        powers.iter().map(|x| x / sum).collect()
    })
}

/// The natural logarithm of every cell: −∞ at 0, NaN below.
pub fn logarithm(x: &Matrix) -> Matrix {
    x.map(elementary::ln)
}

/// The square root of every cell: NaN below 0.
pub fn root(x: &Matrix) -> Matrix {
    x.map(f64::sqrt)
}

/// ∞ (or −∞) for every cell that is larger than the largest number of single precision, 3.4e38; all others stay.
pub fn single_range(x: &Matrix) -> Matrix {
    x.map(|x| if x.abs() > f64::from(f32::MAX) { x * f64::INFINITY } else { x })
}

/// The guard for queries that see no key: `out[i,j] = a[i,j]`, but 0 where row i of the scores is nothing but −∞.
///
/// # Shapes
/// `a` and `scores` are both (T, N).
/// # Errors
/// If their shapes differ.
pub fn guard(a: &Matrix, scores: &Matrix) -> Result<Matrix> {
    fits("matrix of weights", Some(a.shape()), scores.shape())?;
    let masked: Vec<bool> = (0..a.rows()).map(|i| scores.row(i).all(|x| x == f64::NEG_INFINITY)).collect();
    Ok(Matrix::from_fn(a.rows(), a.cols(), |i, j| if masked[i] { 0.0 } else { a[(i, j)] }).labelled_like(a))
}

/// `f` of each row, of each column, or of all cells as one row.
fn along_rows(x: &Matrix, axis: Axis, f: impl Fn(&[f64]) -> Vec<f64>) -> Matrix {
    match axis {
        Axis::Rows => {
            let rows: Vec<Vec<f64>> = (0..x.rows()).map(|i| f(&x.row(i).collect::<Vec<_>>())).collect();
            Matrix::from_fn(x.rows(), x.cols(), |i, j| rows[i][j]).labelled_like(x)
        }
        Axis::Columns => along_rows(&x.transposed(), Axis::Rows, f).transposed(),
        Axis::Whole => {
            let cells = f(&x.cells().collect::<Vec<_>>());
            Matrix::from_fn(x.rows(), x.cols(), |i, j| cells[i * x.cols() + j]).labelled_like(x)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fully_masked_row_has_weights_zero_and_never_nan() {
        let hidden = f64::NEG_INFINITY;
        let weights = softmax(&Matrix::of([[hidden, hidden], [1.0, hidden]]), Axis::Rows, Base::E);
        assert_eq!(weights.cells().collect::<Vec<_>>(), [0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_only_score_that_is_not_hidden_has_weight_1_however_large() {
        let (hidden, inf) = (f64::NEG_INFINITY, f64::INFINITY);
        let weights = softmax(&Matrix::of([[hidden, inf], [inf, 1.0]]), Axis::Rows, Base::E);
        assert_eq!(weights.row(0).collect::<Vec<_>>(), [0.0, 1.0]);
        assert!(weights[(1, 0)].is_nan());
    }

    #[test]
    fn large_scores_do_not_overflow_because_the_maximum_is_subtracted() {
        let weights = softmax(&Matrix::of([[1000.0, 1001.0]]), Axis::Rows, Base::E);
        // 1/(1+e) and e/(1+e)
        assert!((weights[(0, 0)] - 0.268_941_421_369_995_1).abs() < 1e-15);
        assert!((weights[(0, 1)] - 0.731_058_578_630_004_9).abs() < 1e-15);
    }

    #[test]
    fn the_softmax_down_the_columns_is_the_transpose_of_the_one_along_the_rows() {
        let x = Matrix::of([[1.0, -2.0], [0.5, 3.0], [2.0, 2.0]]);
        let down = softmax(&x, Axis::Columns, Base::E);
        assert!(down.same_bits(&softmax(&x.transposed(), Axis::Rows, Base::E).transposed()));
    }

    #[test]
    fn the_largest_of_each_row_and_of_each_column() {
        let x = Matrix::of([[1.0, -2.0], [-5.0, -3.0]]);
        assert_eq!(max_along(&x, Axis::Rows).cells().collect::<Vec<_>>(), [1.0, -3.0]);
        assert_eq!(max_along(&x, Axis::Columns).cells().collect::<Vec<_>>(), [1.0, -2.0]);
    }

    #[test]
    fn over_the_whole_matrix_all_cells_together_sum_to_1() {
        // Powers 1, 1/2, 1/4, 1/4 of base 2 from the largest on: halves and quarters of 2.
        let x = Matrix::of([[3.0, 2.0], [1.0, 1.0]]);
        let weights = softmax(&x, Axis::Whole, Base::Number(2.0));
        assert_eq!(weights.cells().collect::<Vec<_>>(), [0.5, 0.25, 0.125, 0.125]);
        assert_eq!(sums(&weights, Axis::Whole)[(0, 0)], 1.0);
    }

    #[test]
    fn without_its_guard_only_a_fully_masked_row_differs_and_is_nan() {
        let hidden = f64::NEG_INFINITY;
        let x = Matrix::of([[hidden, hidden], [1.0, hidden], [0.5, 2.0]]);
        let (with, without) = (softmax(&x, Axis::Rows, Base::E), unguarded_softmax(&x, Axis::Rows, Base::E));
        assert!(without.row(0).all(f64::is_nan));
        assert!((1..3).all(|i| with.row(i).eq(without.row(i))));
    }

    #[test]
    fn the_guard_takes_the_rows_without_a_visible_score_and_no_others() {
        let hidden = f64::NEG_INFINITY;
        let scores = Matrix::of([[hidden, hidden], [1.0, hidden]]);
        let weights = exponential(&scores, Base::E).map(|x| x / 0.0);
        let guarded = guard(&weights, &scores).unwrap();
        assert_eq!(guarded.row(0).collect::<Vec<_>>(), [0.0, 0.0]);
        assert!(guarded[(1, 0)] == f64::INFINITY && guarded[(1, 1)].is_nan());
    }

    #[test]
    fn single_precision_ends_at_3_4e38() {
        let x = Matrix::of([[3.4e38, 3.5e38, -1e39, f64::NAN]]);
        let out = single_range(&x);
        assert_eq!(out.row(0).take(3).collect::<Vec<_>>(), [3.4e38, f64::INFINITY, f64::NEG_INFINITY]);
        assert!(out[(0, 3)].is_nan());
    }

    #[test]
    fn base_2_halves_the_weight_for_each_point_of_score() {
        let weights = softmax(&Matrix::of([[3.0, 2.0, 2.0]]), Axis::Rows, Base::Number(2.0));
        assert_eq!(weights.cells().collect::<Vec<_>>(), [0.5, 0.25, 0.25]);
    }
}
