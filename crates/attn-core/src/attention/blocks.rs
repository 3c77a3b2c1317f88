//! Blocks of neighbouring cells, as a tiled kernel cuts a matrix of scores.

use crate::error::{Error, Result};
use crate::matrix::{Labels, Matrix};

/// The sum of each block of `rows`×`cols` neighbouring cells: `out[i,j] = Σ x[k,l]` over the cells of block (i, j), row by
/// row and from left to right.
///
/// # Shapes
/// `x` is (n, m); the result is (⌈n / rows⌉, ⌈m / cols⌉). The last blocks are smaller where the sides do not divide. Rows and
/// columns are named after what they cover: `3…4`.
/// # Errors
/// If a block has no rows or no columns.
pub fn block_sums(x: &Matrix, rows: usize, cols: usize) -> Result<Matrix> {
    if rows == 0 || cols == 0 {
        return Err(Error::new(format!("a block of {rows}×{cols} cells holds nothing")));
    }
    let sum = |i: usize, j: usize| {
        let cells = block(i, rows, x.rows()).flat_map(|k| block(j, cols, x.cols()).map(move |l| (k, l)));
        cells.fold(0.0, |sum, (k, l)| sum + x[(k, l)])
    };
    Ok(Matrix::from_fn(x.rows().div_ceil(rows), x.cols().div_ceil(cols), sum)
        .with_row_labels(Some(spans(x.row_labels(), rows, x.rows())))
        .with_col_labels(Some(spans(x.col_labels(), cols, x.cols()))))
}

/// The places of block `index` (from 0) on a side of this length, cut into blocks of `size`.
fn block(index: usize, size: usize, length: usize) -> std::ops::Range<usize> {
    let start = index.saturating_mul(size).min(length);
    start..start.saturating_add(size).min(length)
}

/// The names of the blocks along one side, from the first name to the last: `3…4`, or `3` alone.
fn spans(names: Option<&Labels>, size: usize, length: usize) -> Labels {
    let name = |at: usize| names.map_or_else(|| (at + 1).to_string(), |names| names[at].clone());
    let span = |index: usize| {
        let places = block(index, size, length);
        match places.len() {
            1 => name(places.start),
            _ => format!("{}…{}", name(places.start), name(places.end - 1)),
        }
    };
    (0..length.div_ceil(size)).map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_at_the_edges_sum_what_is_left() {
        // Rows 1 2 3 and 10 20 30, down to a last row of ones.
        let x = Matrix::of([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [1.0, 1.0, 1.0]]);
        let sums = block_sums(&x, 2, 2).unwrap();
        assert_eq!(sums.row(0).chain(sums.row(1)).collect::<Vec<_>>(), [33.0, 33.0, 2.0, 1.0]);
        assert_eq!(sums.row_labels().unwrap()[..], ["1…2", "3"]);
        let all = block_sums(&x.rows_named(&["a", "b", "c"]), usize::MAX, usize::MAX).unwrap();
        assert_eq!((all[(0, 0)], &all.row_labels().unwrap()[0][..]), (69.0, "a…c"));
    }

    #[test]
    fn a_block_without_cells_is_refused_and_a_matrix_without_cells_has_no_blocks() {
        assert!(block_sums(&Matrix::identity(2), 0, 1).is_err());
        assert_eq!(block_sums(&Matrix::filled(0, 3, 0.0), 2, 2).unwrap().rows(), 0);
    }
}
