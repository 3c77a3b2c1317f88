//! Products and cell-by-cell arithmetic of two matrices.

use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Matrix, same_number};

/// The matrix product: `out[i,j] = Σ_k a[i,k] · b[k,j]`, summed over k from left to right.
///
/// # Shapes
/// `a` is (n, m), `b` is (m, p); the result is (n, p), with the row labels of `a` and the column labels of `b`.
/// # Errors
/// If `a` has not as many columns as `b` has rows.
pub fn product(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    if a.cols() != b.rows() {
        return Err(Error::new(format!(
            "a {} matrix cannot be multiplied by a {} one: the columns of the first ({}) must equal the rows of \
             the second ({})",
            a.shape(),
            b.shape(),
            a.cols(),
            b.rows()
        ))
        .of_kind(ErrorKind::Shape));
    }
    Ok(mixed_columns(a, b.cols(), |k, j| b[(k, j)])
        .with_row_labels(a.row_labels().cloned())
        .with_col_labels(b.col_labels().cloned()))
}

/// All dot products between rows: `out[i,j] = Σ_k a[i,k] · b[j,k]`, that is `a bᵀ`.
///
/// # Shapes
/// `a` is (n, d), `b` is (m, d); the result is (n, m), labelled by the rows of both.
/// # Errors
/// If the rows differ in width.
/// # Source
/// Vaswani et al. 2017, section 3.2.1: `Q Kᵀ`.
pub fn product_transposed(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    same_width(a, b)?;
    Ok(mixed_columns(a, b.rows(), |k, j| b[(j, k)])
        .with_row_labels(a.row_labels().cloned())
        .with_col_labels(b.row_labels().cloned()))
}

/// All dot products between columns: `out[i,j] = Σ_k a[k,i] · b[k,j]`, that is `aᵀ b`, summed over k from left to right.
///
/// # Shapes
/// `a` is (n, d), `b` is (n, m); the result is (d, m), labelled by the columns of both.
/// # Errors
/// If the columns differ in length.
pub fn transposed_product(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    product(&a.transposed(), b)
}

/// `out[i,j] = Σ_k a[i,k] · share(k, j)`, summed over k from left to right: each column of the result mixes the columns of a.
///
/// A whole column is summed at a time, so that the processor can work on several cells at once; the order in each cell, and
/// so its bits, are those of a sum on its own.
fn mixed_columns(a: &Matrix, cols: usize, share: impl Fn(usize, usize) -> f64) -> Matrix {
    let mut values = vec![0.0; a.rows() * cols];
    for (j, column) in values.chunks_exact_mut(a.rows().max(1)).enumerate() {
        for k in 0..a.cols() {
            let share = share(k, j);
            for (sum, x) in column.iter_mut().zip(a.column(k)) {
                *sum += x * share;
            }
        }
    }
    Matrix::from_columns(a.rows(), cols, values)
}

/// The sum of several matrices of one shape: `out[i,j] = 0 + a[i,j] + b[i,j] + …`.
///
/// Of two, −∞ in the second hides what it is added to: also a score that has left the range, where +∞ − ∞ would be NaN.
///
/// # Errors
/// If the shapes differ, or there is nothing to add.
pub fn add(matrices: &[&Matrix]) -> Result<Matrix> {
    let (first, others) = matrices.split_first().ok_or_else(|| Error::new("there is nothing to add"))?;
    let start = first.map(|x| 0.0 + x);
    let hides = others.len() == 1;
    let plus = |a: f64, b: f64| if hides && is_hidden_by(a, b) { b } else { a + b };
    others.iter().try_fold(start, |sum, next| cell_by_cell(&sum, next, "added", plus))
}

/// Returns true if b, added to a, hides it: b is −∞, and the sum may be NaN.
pub fn is_hidden_by(a: f64, b: f64) -> bool {
    a == f64::INFINITY && b == f64::NEG_INFINITY
}

/// `out[i,j] = a[i,j] − b[i,j]`.
///
/// # Errors
/// If the shapes differ.
pub fn subtract(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    cell_by_cell(a, b, "subtracted", |a, b| a - b)
}

/// The change from a to b: `out[i,j] = b[i,j] − a[i,j]`, and exactly 0 where both are the same number, so that −∞ beside −∞, or
/// NaN beside NaN, has not changed.
///
/// # Errors
/// If the shapes differ.
pub fn change(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    cell_by_cell(a, b, "compared cell by cell", |a, b| if same_number(a, b) { 0.0 } else { b - a })
}

/// The product cell by cell (Hadamard): `out[i,j] = a[i,j] · b[i,j]`.
///
/// # Errors
/// If the shapes differ.
pub fn multiply(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    cell_by_cell(a, b, "multiplied cell by cell", |a, b| a * b)
}

/// The quotient cell by cell: `out[i,j] = a[i,j] / b[i,j]`; 0/0 and ∞/∞ are NaN.
///
/// # Errors
/// If the shapes differ.
pub fn quotient(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    cell_by_cell(a, b, "divided cell by cell", |a, b| a / b)
}

/// Every cell divided by the one number in `by`: `out[i,j] = a[i,j] / by[1,1]`.
///
/// # Errors
/// If `by` is not a single number.
pub fn divide(a: &Matrix, by: &Matrix) -> Result<Matrix> {
    let by = one_number(by, "divisor")?;
    Ok(a.map(|x| x / by))
}

/// Every cell multiplied by the one number in `by`: `out[i,j] = a[i,j] · by[1,1]`.
///
/// # Errors
/// If `by` is not a single number.
pub fn times(a: &Matrix, by: &Matrix) -> Result<Matrix> {
    let by = one_number(by, "factor")?;
    Ok(a.map(|x| x * by))
}

/// The number in a matrix of one cell, which `what` has to be.
fn one_number(matrix: &Matrix, what: &str) -> Result<f64> {
    if matrix.shape() != (crate::matrix::Shape { rows: 1, cols: 1 }) {
        return Err(Error::new(format!("a {what} is one number, not a {} matrix", matrix.shape())));
    }
    Ok(matrix[(0, 0)])
}

fn cell_by_cell(a: &Matrix, b: &Matrix, done: &str, f: impl Fn(f64, f64) -> f64) -> Result<Matrix> {
    if a.shape() != b.shape() {
        return Err(Error::new(format!(
            "a {} matrix and a {} one cannot be {done}: the shapes must be the same",
            a.shape(),
            b.shape()
        ))
        .of_kind(ErrorKind::Shape));
    }
    let labels = |of: fn(&Matrix) -> Option<&crate::matrix::Labels>| of(a).or_else(|| of(b)).cloned();
    Ok(Matrix::from_fn(a.rows(), a.cols(), |i, j| f(a[(i, j)], b[(i, j)]))
        .with_row_labels(labels(Matrix::row_labels))
        .with_col_labels(labels(Matrix::col_labels)))
}

/// Both must have rows of one width, as dot products and distances need.
pub(super) fn same_width(a: &Matrix, b: &Matrix) -> Result<()> {
    if a.cols() == b.cols() {
        return Ok(());
    }
    Err(Error::new(format!(
        "rows of width {} cannot be compared with rows of width {} (the shapes are {} and {})",
        a.cols(),
        b.cols(),
        a.shape(),
        b.shape()
    ))
    .of_kind(ErrorKind::Shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_with_the_transpose_equals_the_product_with_it_written_out() {
        let q = Matrix::of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let k = Matrix::of([[0.5, -1.0], [2.0, 0.25]]);
        let direct = product_transposed(&q, &k).unwrap();
        assert!(direct.same_bits(&product(&q, &k.transposed()).unwrap()));
        assert_eq!(direct.row(0).collect::<Vec<_>>(), [-1.5, 2.5]);
    }

    #[test]
    fn shapes_that_do_not_fit_are_named_with_the_rule_they_break() {
        let error = product(&Matrix::identity(2), &Matrix::identity(3)).unwrap_err().to_string();
        assert!(error.contains("2×2") && error.contains("3×3") && error.contains("columns of the first (2)"));
    }

    #[test]
    fn what_is_the_same_on_both_sides_has_not_moved() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let moved =
            change(&Matrix::of([[1.0, -inf, nan, -inf, 0.0]]), &Matrix::of([[3.5, -inf, nan, 2.0, -0.0]]));
        assert_eq!(moved.unwrap().row(0).collect::<Vec<_>>(), [2.5, 0.0, 0.0, inf, 0.0]);
        assert!(change(&Matrix::of([[nan]]), &Matrix::of([[1.0]])).unwrap()[(0, 0)].is_nan());
    }

    #[test]
    fn a_sum_starts_at_plus_zero() {
        let sum = add(&[&Matrix::of([[-0.0]]), &Matrix::of([[-0.0]])]).unwrap();
        assert_eq!(sum[(0, 0)].to_bits(), 0.0_f64.to_bits());
    }
}
