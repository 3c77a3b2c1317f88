//! Normalisation of each token's vector.

use super::squared_length;
use crate::matrix::Matrix;

/// Each row divided by its root mean square: `out[i,j] = x[i,j] / √(Σ_k x[i,k]² / d + ε)`, with ε in the units of x²,
/// and without learned gains.
///
/// # Source
/// Zhang and Sennrich 2019, “Root Mean Square Layer Normalization”; the norm of Llama 3.
pub fn rms_norm(x: &Matrix, epsilon: f64) -> Matrix {
    let width = x.cols() as f64;
    let root: Vec<f64> = (0..x.rows()).map(|i| (squared_length(x, i) / width + epsilon).sqrt()).collect();
    Matrix::from_fn(x.rows(), x.cols(), |i, j| x[(i, j)] / root[i]).labelled_like(x)
}

/// Each row minus its mean: `out[i,j] = x[i,j] − Σ_k x[i,k] / d`. With [`rms_norm`] after it, this is a layer norm without
/// learned gains.
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
        let out = rms_norm(&Matrix::of([[3.0, 4.0], [1.0, -7.0]]), 0.0);
        for i in 0..2 {
            assert!((squared_length(&out, i) / 2.0 - 1.0).abs() < 1e-15);
        }
    }
}
