//! Demos of «Multi-Headed attention as matrix multiplication».

mod pairwise;
mod vectorize;
mod weighted_sum;

use super::Demo;
use crate::matrix::Matrix;

/// In the order of the document's sections.
pub const DEMOS: &[Demo] = &[pairwise::DEMO, weighted_sum::DEMO, vectorize::DEMO];

/// The first `count` of these rows, over and over where there are fewer: a matrix that fits what the user put in.
fn rows_over_and_over<const ROWS: usize, const COLS: usize>(
    rows: [[f64; COLS]; ROWS],
    count: usize,
) -> Matrix {
    Matrix::from_fn(count, COLS, |i, j| rows[i % ROWS][j])
}
