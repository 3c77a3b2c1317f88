//! The singular value decomposition, for the best approximation of low rank.

use nalgebra::SVD;

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
/// If `w` is empty or not finite, or the iteration does not converge.
/// # Source
/// Eckart and Young 1936: cutting the sum after k terms gives the nearest matrix of rank k.
pub fn singular_values(w: &Matrix) -> Result<SingularValues> {
    if w.rows() == 0 || w.cols() == 0 {
        return Err(Error::new(format!("a {} matrix has no singular values", w.shape())));
    }
    if w.cells().any(|x| !x.is_finite()) {
        return Err(Error::new("singular values need finite numbers"));
    }
    const ENOUGH_TURNS: usize = 10_000;
    let decomposition = SVD::try_new(w.values().clone(), true, true, f64::EPSILON, ENOUGH_TURNS);
    let no_convergence = || Error::new("the singular values of this matrix were not found");
    let decomposition = decomposition.ok_or_else(no_convergence)?;
    let (Some(u), Some(v_t)) = (decomposition.u, decomposition.v_t) else {
        return Err(no_convergence());
    };
    let sign: Vec<f64> = u
        .column_iter()
        .map(|column| {
            let largest = column.iter().fold(0.0_f64, |best, &x| if x.abs() > best.abs() { x } else { best });
            if largest < 0.0 { -1.0 } else { 1.0 }
        })
        .collect();
    Ok(SingularValues {
        left: Matrix::from_fn(w.rows(), sign.len(), |i, k| sign[k] * u[(i, k)]),
        values: Matrix::from_fn(1, sign.len(), |_, k| decomposition.singular_values[k]),
        right: Matrix::from_fn(w.cols(), sign.len(), |j, k| sign[k] * v_t[(k, j)]),
    })
}

/// The square matrix with the numbers of a row down its diagonal: `out[i,i] = values[1,i]`, and 0 elsewhere.
///
/// # Shapes
/// `values` is (1, r); the result is (r, r), both its sides labelled by the columns of `values`.
/// # Errors
/// If `values` is not a single row.
pub fn diagonal(values: &Matrix) -> Result<Matrix> {
    if values.rows() != 1 {
        return Err(Error::new(format!(
            "a diagonal is written from one row of numbers, not from a {} matrix",
            values.shape()
        )));
    }
    let cell = |i, j| if i == j { values[(0, j)] } else { 0.0 };
    Ok(Matrix::from_fn(values.cols(), values.cols(), cell)
        .with_row_labels(values.col_labels().cloned())
        .with_col_labels(values.col_labels().cloned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_multiply_back_to_the_whole_and_the_signs_are_fixed() {
        let w = Matrix::of([[3.0, 0.0, 1.0], [1.0, 2.0, -4.0]]);
        let SingularValues { left, values, right } = singular_values(&w).unwrap();
        for i in 0..2 {
            for j in 0..3 {
                let back: f64 = (0..2).map(|k| left[(i, k)] * values[(0, k)] * right[(j, k)]).sum();
                assert!((back - w[(i, j)]).abs() < 1e-12, "cell {i},{j}: {back}");
            }
        }
        assert!(values[(0, 0)] >= values[(0, 1)] && values[(0, 1)] >= 0.0);
        for k in 0..2 {
            let largest = left.col(k).fold(0.0_f64, |best, x| if x.abs() > best.abs() { x } else { best });
            assert!(largest > 0.0);
        }
    }

    #[test]
    fn a_diagonal_is_made_of_one_row_and_of_nothing_else() {
        let square = diagonal(&Matrix::of([[3.0, f64::INFINITY]])).unwrap();
        assert_eq!(square.cells().collect::<Vec<_>>(), [3.0, 0.0, 0.0, f64::INFINITY]);
        let error = diagonal(&Matrix::identity(2)).unwrap_err().to_string();
        assert!(error.contains("2×2"), "{error}");
    }
}
