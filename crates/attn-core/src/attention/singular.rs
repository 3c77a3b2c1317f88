//! The singular value decomposition, for the best approximation of low rank.
//!
//! By rotating pairs of columns until all are at right angles (one-sided Jacobi). It is short, exact to the last digits
//! and right for every rank; nalgebra's own decomposition gives wrong values for some matrices of low rank
//! (nalgebra issue 1172, still open in version 0.35).

use super::number::Number;
use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// `w = left · diag(values) · rightᵀ`, the values falling.
#[derive(Clone, Debug, PartialEq)]
pub struct SingularValues {
    /// One column for each singular value; the largest entry (by size) of each column is positive.
    pub left: Matrix,
    /// The singular values, as one row.
    pub values: Matrix,
    /// One column for each singular value.
    pub right: Matrix,
}

/// The decomposition of `w` into singular vectors and values.
///
/// # Shapes
/// `w` is (n, m) and r = min(n, m); `left` is (n, r), `values` (1, r), `right` (m, r).
/// # Errors
/// If `w` is empty or not finite, or the rotations do not come to an end.
/// # Source
/// Eckart and Young 1936: cutting the sum after k terms gives the nearest matrix of rank k. Hestenes 1958: the rotations.
pub fn singular_values(w: &Matrix) -> Result<SingularValues> {
    if w.rows() == 0 || w.cols() == 0 {
        return Err(Error::new(format!("a {} matrix has no singular values", w.shape())));
    }
    if w.cells().any(|x| !x.is_finite()) {
        return Err(Error::new("singular values need finite numbers"));
    }
    let tall = w.rows() >= w.cols();
    let unit = unit_of_size(w);
    let columns = (0..w.rows().min(w.cols())).map(|k| {
        let column: Vec<f64> = if tall { w.col(k).collect() } else { w.row(k).collect() };
        column.into_iter().map(|x| x / unit).collect()
    });
    let (mut stretched, mut turned) = rotate(columns.collect())?;
    let lengths: Vec<f64> = stretched.iter().map(|column| dot(column, column).sqrt()).collect();
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]));
    make_units(&mut stretched, &lengths, &order);
    if !tall {
        std::mem::swap(&mut stretched, &mut turned);
    }
    let sign: Vec<f64> = stretched.iter().map(|column| sign_of_max_size(column)).collect();
    let vectors = |columns: &[Vec<f64>], rows| {
        Matrix::from_fn(rows, order.len(), |i, k| sign[order[k]] * columns[order[k]][i])
    };
    Ok(SingularValues {
        left: vectors(&stretched, w.rows()),
        values: Matrix::from_fn(1, order.len(), |_, k| unit * lengths[order[k]]),
        right: vectors(&turned, w.cols()),
    })
}

/// 1, or the max size where its square could leave the range of numbers.
fn unit_of_size(w: &Matrix) -> f64 {
    let max: f64 = Number::max(w.cells().map(f64::abs));
    if max == 0.0 || (1e-100..1e100).contains(&max) { 1.0 } else { max }
}

/// Columns.
type Columns = Vec<Vec<f64>>;

/// Turns pairs of columns until each is at a right angle to every other, up to rounding: these, and the turned unit vectors that take
/// the original columns there.
fn rotate(mut columns: Columns) -> Result<(Columns, Columns)> {
    const ENOUGH_SWEEPS: usize = 100;
    let count = columns.len();
    let mut turned: Vec<Vec<f64>> = (0..count).map(|k| unit_vector(count, k)).collect();
    let rounding = rounding(&columns);
    let nothing = size_of_nothing(&columns);
    for _ in 0..ENOUGH_SWEEPS {
        let mut at_rest = true;
        for p in 0..count {
            for q in p + 1..count {
                let (a, b) = (dot(&columns[p], &columns[p]), dot(&columns[q], &columns[q]));
                let between = dot(&columns[p], &columns[q]);
                let at_right_angle = between.abs() <= rounding * a.sqrt() * b.sqrt();
                if at_right_angle || a.min(b).sqrt() <= nothing {
                    continue;
                }
                at_rest = false;
                let slope = (b - a) / (2.0 * between);
                let tangent = 1.0_f64.copysign(slope) / (slope.abs() + (1.0 + slope * slope).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                turn(&mut columns, p, q, cosine, cosine * tangent);
                turn(&mut turned, p, q, cosine, cosine * tangent);
            }
        }
        if at_rest {
            return Ok((columns, turned));
        }
    }
    Err(Error::new("the singular values of this matrix were not found"))
}

/// The error that rounding can cause in a dot product of two columns, relative to their lengths.
fn rounding(columns: &[Vec<f64>]) -> f64 {
    f64::EPSILON * columns.first().map_or(0, Vec::len) as f64
}

/// A column as short as this is nothing but the rounding of the others.
fn size_of_nothing(columns: &[Vec<f64>]) -> f64 {
    rounding(columns) * columns.iter().fold(0.0, |sum, column| sum + dot(column, column)).sqrt()
}

/// Turns columns p and q in their plane.
fn turn(columns: &mut [Vec<f64>], p: usize, q: usize, cosine: f64, sine: f64) {
    for i in 0..columns[p].len() {
        let (x, y) = (columns[p][i], columns[q][i]);
        columns[p][i] = cosine * x - sine * y;
        columns[q][i] = sine * x + cosine * y;
    }
}

/// Divides each column by its length, the longest first. A column that is nothing but rounding has no direction of its
/// own: it becomes a unit vector at a right angle to those before it.
fn make_units(columns: &mut [Vec<f64>], lengths: &[f64], order: &[usize]) {
    let nothing = size_of_nothing(columns);
    for (place, &k) in order.iter().enumerate() {
        let height = columns[k].len();
        if lengths[k] > nothing {
            columns[k].iter_mut().for_each(|x| *x /= lengths[k]);
            continue;
        }
        let candidates = (0..height).map(|i| {
            let mut free = unit_vector(height, i);
            // Twice, since the first pass leaves rounding errors.
            for &earlier in order[..place].iter().chain(&order[..place]) {
                let along = dot(&free, &columns[earlier]);
                free.iter_mut().zip(&columns[earlier]).for_each(|(x, y)| *x -= along * y);
            }
            free
        });
        let best = candidates.max_by(|a, b| dot(a, a).total_cmp(&dot(b, b))).unwrap_or_default();
        let length = dot(&best, &best).sqrt();
        columns[k] = best.into_iter().map(|x| x / length).collect();
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + x * y)
}

fn unit_vector(length: usize, at: usize) -> Vec<f64> {
    (0..length).map(|i| if i == at { 1.0 } else { 0.0 }).collect()
}

fn sign_of_max_size(column: &[f64]) -> f64 {
    let extreme = column.iter().fold(0.0_f64, |best, &x| if x.abs() > best.abs() { x } else { best });
    if extreme < 0.0 { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_fall_and_the_signs_are_fixed() {
        let w = Matrix::of([[3.0, 0.0, 1.0], [1.0, 2.0, -4.0]]);
        let SingularValues { left, values, .. } = singular_values(&w).unwrap();
        assert!(values[(0, 0)] >= values[(0, 1)] && values[(0, 1)] >= 0.0);
        for k in 0..2 {
            let extreme = left.col(k).fold(0.0_f64, |best, x| if x.abs() > best.abs() { x } else { best });
            assert!(extreme > 0.0);
        }
    }

    #[test]
    fn matrices_whose_values_are_known_have_them() {
        let values = |w: &Matrix| singular_values(w).unwrap().values.cells().collect::<Vec<_>>();
        // A matrix of ones has the one value √(rows · columns).
        let ones = values(&Matrix::filled(3, 5, 1.0));
        assert!(
            (ones[0] - 15.0_f64.sqrt()).abs() < 1e-14 && ones[1..].iter().all(|&x| x < 1e-14),
            "{ones:?}"
        );
        // The squares of the values sum to the squares of the cells: 21.
        let whole = values(&Matrix::of([[1.0, 2.0, 2.0], [2.0, -1.0, -1.0], [2.0, 1.0, -1.0]]));
        assert!((whole.iter().map(|x| x * x).sum::<f64>() - 21.0).abs() < 1e-13, "{whole:?}");
        assert_eq!(values(&Matrix::filled(2, 2, 0.0)), [0.0, 0.0]);
        for size in [1e200, 1e-200] {
            let stretched = values(&Matrix::of([[3.0 * size, 0.0], [0.0, 4.0 * size]]));
            assert_eq!(stretched.iter().map(|x| (x / size).round()).collect::<Vec<_>>(), [4.0, 3.0]);
        }
    }
}
