//! Matrices of a demo, fitted to the user's matrices.

use crate::matrix::Matrix;

/// The first `count` of these rows, repeated where there are fewer.
pub(super) fn rows_over_and_over<const ROWS: usize, const COLS: usize>(
    rows: [[f64; COLS]; ROWS],
    count: usize,
) -> Matrix {
    Matrix::from_fn(count, COLS, |i, j| rows[i % ROWS][j])
}

/// The permutation of `count` rows that turns the order of the first `turned` round and leaves the others.
pub(super) fn reversal(count: usize, turned: usize) -> Matrix {
    let source = |i: usize| if i < turned { turned - 1 - i } else { i };
    Matrix::from_fn(count, count, |i, j| if j == source(i) { 1.0 } else { 0.0 })
}
