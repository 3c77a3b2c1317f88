//! How alike two rows are: cosine, Euclidean distance, unit length. (The dot product is `product_transposed`.)

use super::product::same_width;
use crate::error::Result;
use crate::matrix::Matrix;

/// Cosine similarity between rows: `out[i,j] = a_i · b_j / (|a_i| · |b_j|)`. A row of zeros has no direction: its
/// cosines are 0.
///
/// # Shapes
/// `a` is (n, d), `b` is (m, d); the result is (n, m), labelled by the rows of both.
/// # Errors
/// If the rows differ in width.
/// # Source
/// “Mathematical details behind self-attention”, section Word Similarity.
pub fn cosine(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    let dots = super::product_transposed(a, b)?;
    let length_a: Vec<f64> = (0..a.rows()).map(|i| squared_length(a, i).sqrt()).collect();
    let length_b: Vec<f64> = (0..b.rows()).map(|j| squared_length(b, j).sqrt()).collect();
    let cell = |i: usize, j: usize| {
        if length_a[i] == 0.0 || length_b[j] == 0.0 {
            return 0.0;
        }
        dots[(i, j)] / (length_a[i] * length_b[j])
    };
    Ok(Matrix::from_fn(dots.rows(), dots.cols(), cell).labelled_like(&dots))
}

/// Euclidean distance between rows: `out[i,j] = √(Σ_k (a[i,k] − b[j,k])²)`.
///
/// # Shapes
/// `a` is (n, d), `b` is (m, d); the result is (n, m), labelled by the rows of both.
/// # Errors
/// If the rows differ in width.
pub fn euclidean(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    same_width(a, b)?;
    let cell = |i, j| {
        let squares = (0..a.cols()).fold(0.0, |sum, k| {
            let difference = a[(i, k)] - b[(j, k)];
            sum + difference * difference
        });
        f64::sqrt(squares)
    };
    Ok(Matrix::from_fn(a.rows(), b.rows(), cell)
        .with_row_labels(a.row_labels().cloned())
        .with_col_labels(b.row_labels().cloned()))
}

/// Every row divided by its length: `out[i,j] = a[i,j] / |a_i|`. A row of zeros stays as it is.
pub fn unit_rows(a: &Matrix) -> Matrix {
    let length: Vec<f64> = (0..a.rows()).map(|i| squared_length(a, i).sqrt()).collect();
    let cell = |i: usize, j: usize| if length[i] == 0.0 { 0.0 } else { a[(i, j)] / length[i] };
    Matrix::from_fn(a.rows(), a.cols(), cell).labelled_like(a)
}

/// The sum of the squares of row `i`: `Σ_k a[i,k]²`.
pub fn squared_length(a: &Matrix, i: usize) -> f64 {
    a.row(i).fold(0.0, |sum, x| sum + x * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bat_is_as_far_in_angle_from_cave_as_from_racket() {
        let words = Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]);
        let cosines = cosine(&words, &words).unwrap();
        // The table of document 002: 1, 0.71 and 0 at two decimals.
        let expected = [[1.0, 0.71, 0.71], [0.71, 1.0, 0.0], [0.71, 0.0, 1.0]];
        for (i, row) in expected.iter().enumerate() {
            for (j, &cell) in row.iter().enumerate() {
                assert!((cosines[(i, j)] - cell).abs() < 0.005, "cell {i},{j}: {}", cosines[(i, j)]);
            }
        }
    }

    #[test]
    fn a_row_of_zeros_has_cosine_zero_with_everything() {
        let words = Matrix::of([[0.0, 0.0], [1.0, 2.0]]);
        assert!(cosine(&words, &words).unwrap().row(0).all(|x| x == 0.0));
    }

    #[test]
    fn euclidean_distance_of_a_3_4_5_triangle_is_5() {
        let distance = euclidean(&Matrix::of([[0.0, 0.0]]), &Matrix::of([[3.0, 4.0]])).unwrap();
        assert_eq!(distance[(0, 0)], 5.0);
    }
}
