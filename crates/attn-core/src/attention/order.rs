//! The numbers of a row in the order of their size.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::matrix::Matrix;

/// Which number of a row comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The smallest.
    Ascending,
    /// The largest.
    Descending,
}

/// The numbers of each row in this order: `out[i,j]` is the j-th smallest (or largest) of row i. A NaN counts as larger than
/// every number, as in NumPy's `sort`.
///
/// # Shapes
/// The same as x; the columns lose their labels, as their numbers come from different columns.
pub fn sort_rows(x: &Matrix, order: Order) -> Matrix {
    let sorted = |i: usize| {
        let mut row: Vec<f64> = x.row(i).collect();
        row.sort_by(by_size);
        if order == Order::Descending {
            row.reverse();
        }
        row
    };
    let rows: Vec<Vec<f64>> = (0..x.rows()).map(sorted).collect();
    Matrix::from_fn(x.rows(), x.cols(), |i, j| rows[i][j]).with_row_labels(x.row_labels().cloned())
}

fn by_size(a: &f64, b: &f64) -> Ordering {
    a.is_nan().cmp(&b.is_nan()).then(a.partial_cmp(b).unwrap_or(Ordering::Equal))
}
