//! The similarity of two rows: cosine, Euclidean distance, unit length. (The dot product is `product_transposed`.)

use std::borrow::Cow;

use super::product::same_width;
use crate::error::Result;
use crate::matrix::Matrix;

/// Cosine similarity between rows: `out[i,j] = a_i · b_j / (|a_i| · |b_j|)`. A row of zeros has no direction: its
/// cosines are 0. Rows of very large or very small numbers are brought into range first, which changes no cosine.
///
/// # Shapes
/// `a` is (n, d), `b` is (m, d); the result is (n, m), labelled by the rows of both.
/// # Errors
/// If the rows differ in width.
/// # Source
/// “Mathematical details behind self-attention”, section Word Similarity.
pub fn cosine(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    let (a, b) = (in_range(a), in_range(b));
    let dots = super::product_transposed(&a, &b)?;
    let length_a: Vec<f64> = (0..a.rows()).map(|i| squared_length(&a, i).sqrt()).collect();
    let length_b: Vec<f64> = (0..b.rows()).map(|j| squared_length(&b, j).sqrt()).collect();
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
        let differences = || (0..a.cols()).map(|k| a[(i, k)] - b[(j, k)]);
        let factor = range_factor(differences());
        let squares = differences().fold(0.0, |sum, difference| {
            let difference = difference * factor;
            sum + difference * difference
        });
        f64::sqrt(squares) / factor
    };
    Ok(Matrix::from_fn(a.rows(), b.rows(), cell)
        .with_row_labels(a.row_labels().cloned())
        .with_col_labels(b.row_labels().cloned()))
}

/// Every row divided by its length: `out[i,j] = a[i,j] / |a_i|`. A row of zeros stays as it is.
pub fn unit_rows(a: &Matrix) -> Matrix {
    let a = in_range(a);
    let length: Vec<f64> = (0..a.rows()).map(|i| squared_length(&a, i).sqrt()).collect();
    let cell = |i: usize, j: usize| if length[i] == 0.0 { 0.0 } else { a[(i, j)] / length[i] };
    Matrix::from_fn(a.rows(), a.cols(), cell).labelled_like(&a)
}

/// Every row whose squares would leave the range of an `f64`, times a power of two.
fn in_range(a: &Matrix) -> Cow<'_, Matrix> {
    let factors: Vec<f64> = (0..a.rows()).map(|i| range_factor(a.row(i))).collect();
    if factors.iter().all(|&factor| factor == 1.0) {
        Cow::Borrowed(a)
    } else {
        let cell = |i: usize, j: usize| a[(i, j)] * factors[i];
        Cow::Owned(Matrix::from_fn(a.rows(), a.cols(), cell).labelled_like(a))
    }
}

/// 1 where the squares of these numbers stay in range, else a power of two that brings them there.
pub fn range_factor(numbers: impl Iterator<Item = f64>) -> f64 {
    // 2⁴⁰⁰ and 2⁶⁰⁰, exactly.
    let (limit, power) = (f64::from_bits((1023 + 400) << 52), f64::from_bits((1023 + 600) << 52));
    match numbers.fold(0.0, |max, x: f64| if x.abs() > max { x.abs() } else { max }) {
        max if max > limit && max.is_finite() => 1.0 / power,
        max if max < 1.0 / limit && max > 0.0 => power,
        _ => 1.0,
    }
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
    fn directions_and_distances_of_tiny_and_huge_vectors_are_right() {
        for size in [5e-324, 1e-320, 1e-200, 1e-100, 1.0, 1e100, 1e200, 1e308] {
            let words = Matrix::of([[size, 0.0], [0.0, size], [size, size]]);
            let cosines = cosine(&words, &words).unwrap();
            assert_eq!((cosines[(0, 0)], cosines[(0, 1)]), (1.0, 0.0), "{size:e}");
            assert!((cosines[(0, 2)] - 0.5f64.sqrt()).abs() < 1e-15, "{size:e}: {}", cosines[(0, 2)]);
            assert_eq!(unit_rows(&words)[(0, 0)], 1.0, "{size:e}");
            assert_eq!(euclidean(&words, &words).unwrap()[(2, 0)], size);
        }
        // A long row beside a short one.
        let mixed = Matrix::of([[3e200, 4e200], [3e-200, 4e-200]]);
        assert!((cosine(&mixed, &mixed).unwrap()[(0, 1)] - 1.0).abs() < 1e-15);
        assert_eq!(
            euclidean(&Matrix::of([[3e-200, 4e-200]]), &Matrix::of([[0.0, 0.0]])).unwrap()[(0, 0)],
            5e-200
        );
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
