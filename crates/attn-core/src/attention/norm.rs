//! Normalisation of each token's vector.

use super::squared_length;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Shape};

/// Each row divided by its root mean square: `out[i,j] = x[i,j] / √(Σ_k x[i,k]² / d + ε) · gain[j]`, with ε in the units of x².
/// Without a gain nothing is multiplied.
///
/// # Shapes
/// `x` is (T, d), the gain (1, d); the result is (T, d).
/// # Errors
/// If the gain has another shape.
/// # Source
/// Zhang and Sennrich 2019, “Root Mean Square Layer Normalization”; the norm of Llama 3.
pub fn rms_norm(x: &Matrix, gain: Option<&Matrix>, epsilon: f64) -> Result<Matrix> {
    fits_columns("gain", gain, x)?;
    let width = x.cols() as f64;
    let root: Vec<f64> = (0..x.rows()).map(|i| (squared_length(x, i) / width + epsilon).sqrt()).collect();
    let gained = |value: f64, j: usize| gain.map_or(value, |gain| value * gain[(0, j)]);
    Ok(Matrix::from_fn(x.rows(), x.cols(), |i, j| gained(x[(i, j)] / root[i], j)).labelled_like(x))
}

/// Each row minus its mean m, divided by its standard deviation:
/// `out[i,j] = (x[i,j] − m_i) / √(Σ_k (x[i,k] − m_i)² / d + ε) · gain[j] + bias[j]`, with ε in the units of x². Without a gain or a
/// bias nothing is multiplied or added.
///
/// # Shapes
/// `x` is (T, d), gain and bias are (1, d); the result is (T, d).
/// # Errors
/// If gain or bias has another shape.
/// # Source
/// Ba et al. 2016, “Layer Normalization”, equation 4; the norm of GPT-2.
pub fn layer_norm(x: &Matrix, gain: Option<&Matrix>, bias: Option<&Matrix>, epsilon: f64) -> Result<Matrix> {
    fits_columns("bias", bias, x)?;
    let normed = rms_norm(&minus_mean(x), gain, epsilon)?;
    match bias {
        // A sum starts at +0.0.
        Some(bias) => {
            Ok(Matrix::from_fn(x.rows(), x.cols(), |i, j| 0.0 + normed[(i, j)] + bias[(0, j)])
                .labelled_like(x))
        }
        None => Ok(normed),
    }
}

/// Checks that a gain or a bias has one number for each column.
fn fits_columns(what: &str, row: Option<&Matrix>, x: &Matrix) -> Result<()> {
    let wanted = Shape { rows: 1, cols: x.cols() };
    match row.map(Matrix::shape).filter(|shape| *shape != wanted) {
        None => Ok(()),
        Some(shape) => {
            Err(Error::new(format!("the {what} is {shape}, but a matrix of {} needs {wanted}", x.shape()))
                .help(format!("give the {what} one row with a number for each column")))
        }
    }
}

/// Each row minus its mean: `out[i,j] = x[i,j] − Σ_k x[i,k] / d`. With [`rms_norm`] after it, this is a [`layer_norm`].
///
/// # Source
/// Ba et al. 2016, “Layer Normalization”.
pub fn minus_mean(x: &Matrix) -> Matrix {
    let width = x.cols() as f64;
    let mean: Vec<f64> = (0..x.rows()).map(|i| x.row(i).fold(0.0, |sum, x| sum + x) / width).collect();
    Matrix::from_fn(x.rows(), x.cols(), |i, j| x[(i, j)] - mean[i]).labelled_like(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_their_mean_sum_to_zero() {
        let out = minus_mean(&Matrix::of([[3.0, 5.0], [1.0, -7.0]]));
        assert_eq!(out.cells().collect::<Vec<_>>(), [-1.0, 1.0, 4.0, -4.0]);
    }

    #[test]
    fn the_mean_of_the_squares_is_one_after_the_norm() {
        let out = rms_norm(&Matrix::of([[3.0, 4.0], [1.0, -7.0]]), None, 0.0).unwrap();
        for i in 0..2 {
            assert!((squared_length(&out, i) / 2.0 - 1.0).abs() < 1e-15);
        }
    }
}
