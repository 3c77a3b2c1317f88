//! Rows and columns chosen, put together and rearranged: heads split and put side by side again, stacks, blocks, rows of a table.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Labels, Matrix};
use crate::tensor::Tensor;

/// `count` neighbouring columns from `start` (from 0): the block that belongs to one head.
///
/// # Errors
/// If the block reaches past the last column.
pub fn columns(x: &Matrix, start: usize, count: usize) -> Result<Matrix> {
    if start.checked_add(count).is_none_or(|end| end > x.cols()) {
        return Err(Error::new(format!(
            "columns {} to {} are asked of a {} matrix",
            start.saturating_add(1),
            start.saturating_add(count),
            x.shape()
        )));
    }
    let labels = x.col_labels().map(|labels| Labels::from(&labels[start..start + count]));
    Ok(Matrix::from_fn(x.rows(), count, |i, j| x[(i, start + j)])
        .labelled_by(x.row_labels(), labels.as_ref()))
}

/// Every `step`-th column from `start` (from 0) on: the columns of a head if the width is read as (d, H), not as (H, d).
///
/// # Errors
/// If the step is 0, or `start` lies past the last column.
pub fn every_nth_column(x: &Matrix, start: usize, step: usize) -> Result<Matrix> {
    if step == 0 || start >= x.cols() {
        return Err(Error::new(format!(
            "every column {step} from column {} on is asked of a {} matrix",
            start.saturating_add(1),
            x.shape()
        )));
    }
    let taken: Vec<usize> = (start..x.cols()).step_by(step).collect();
    let labels = x.col_labels().map(|labels| taken.iter().map(|&j| labels[j].clone()).collect());
    Ok(Matrix::from_fn(x.rows(), taken.len(), |i, j| x[(i, taken[j])])
        .labelled_by(x.row_labels(), labels.as_ref()))
}

/// Every column several times, side by side: `out[i,j] = x[i, ⌊j / times⌋]`, columns from 0.
///
/// # Errors
/// If a column is repeated 0 times.
pub fn repeat_columns(x: &Matrix, times: usize) -> Result<Matrix> {
    if times == 0 {
        return Err(Error::new("columns cannot be repeated 0 times"));
    }
    let repeated = Matrix::from_fn(x.rows(), x.cols().saturating_mul(times), |i, j| x[(i, j / times)]);
    Ok(repeated.with_row_labels(x.row_labels().cloned()))
}

/// The cells of `x`, read row by row into another shape; the labels are lost.
///
/// # Errors
/// If the shape has another number of cells.
pub fn reshape(x: &Matrix, rows: usize, cols: usize) -> Result<Matrix> {
    let same = x.rows().checked_mul(x.cols()) == rows.checked_mul(cols);
    if !same || cols == 0 {
        return Err(Error::new(format!("a {} matrix cannot be read as a {rows}×{cols} one", x.shape())));
    }
    let cell = |i: usize, j: usize| {
        let place = i * cols + j;
        x[(place / x.cols(), place % x.cols())]
    };
    Ok(Matrix::from_fn(rows, cols, cell))
}

/// `count` neighbouring rows from `start` (from 0).
///
/// # Errors
/// If they reach past the last row.
pub fn rows(x: &Matrix, start: usize, count: usize) -> Result<Matrix> {
    columns(&x.transposed(), start, count).map(|part| part.transposed()).map_err(|_| {
        Error::new(format!(
            "rows {} to {} are asked of a {} matrix",
            start.saturating_add(1),
            start.saturating_add(count),
            x.shape()
        ))
    })
}

/// The rows in reverse order, with their labels: `out[i,j] = x[n − 1 − i,j]`, i from 0.
pub fn reverse_rows(x: &Matrix) -> Matrix {
    let labels = x.row_labels().map(|labels| labels.iter().rev().cloned().collect());
    let last = x.rows().saturating_sub(1);
    Matrix::from_fn(x.rows(), x.cols(), |i, j| x[(last - i, j)]).labelled_by(labels.as_ref(), x.col_labels())
}

/// Puts matrices side by side: `[a b …]`.
///
/// # Shapes
/// All have n rows; the result has n rows and the widths added up.
/// # Errors
/// If the numbers of rows differ, or there is nothing to put together.
/// # Source
/// Vaswani et al. 2017, section 3.2.2: `Concat(head_1, …, head_h)`.
pub fn concatenate(parts: &[&Matrix]) -> Result<Matrix> {
    let first = parts.first().ok_or_else(|| Error::new("there are no heads to put side by side"))?;
    if let Some(other) = parts.iter().find(|part| part.rows() != first.rows()) {
        return Err(Error::new(format!(
            "a {} matrix and a {} matrix cannot stand side by side: they have different numbers of rows",
            other.shape(),
            first.shape()
        )));
    }
    let cells: Vec<(usize, usize)> =
        parts.iter().enumerate().flat_map(|(p, part)| (0..part.cols()).map(move |j| (p, j))).collect();
    let labels: Option<Vec<&Labels>> = parts.iter().map(|part| part.col_labels()).collect();
    let labels = labels.map(|all| all.iter().flat_map(|labels| labels.iter().cloned()).collect());
    Ok(Matrix::from_fn(first.rows(), cells.len(), |i, j| parts[cells[j].0][(i, cells[j].1)])
        .labelled_by(first.row_labels(), labels.as_ref()))
}

/// Puts matrices on top of each other: `[a ; b ; …]`, the rows of the first above those of the second. The rows get these
/// names, or keep their own where all have some.
///
/// # Shapes
/// All have d columns; the result has d columns and the numbers of rows added up.
/// # Errors
/// If the widths differ, or there is nothing to stack.
/// # Source
/// “Multi-Headed attention as matrix multiplication”, section Computing the attention weights: vectors stacked as rows.
pub fn stack(parts: &[&Matrix], names: Option<Labels>) -> Result<Matrix> {
    let first = parts.first().ok_or_else(|| Error::new("there are no rows to stack"))?;
    if let Some(other) = parts.iter().find(|part| part.cols() != first.cols()) {
        return Err(Error::new(format!(
            "a {} matrix cannot stand below a {} one: the numbers of columns differ",
            other.shape(),
            first.shape()
        )));
    }
    let turned: Vec<Matrix> = parts.iter().map(|part| part.transposed()).collect();
    let whole = concatenate(&turned.iter().collect::<Vec<_>>())?.transposed();
    let names = names.filter(|names| names.len() == whole.rows()).or_else(|| whole.row_labels().cloned());
    Ok(whole.with_row_labels(names))
}

/// The key/value head that query head `head` reads: `⌈h · G / H⌉` with heads counted from 1; here from 0 on both sides.
///
/// # Panics
/// If there are no heads.
/// # Source
/// Ainslie et al. 2023, “GQA”, section 2.2.
pub fn key_value_head(head: usize, heads: usize, key_value_heads: usize) -> usize {
    head * key_value_heads / heads
}

// The numbers of a row in the order of their size.

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

// Blocks of neighbouring cells, as a tiled kernel cuts a matrix of scores.

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

// The rows of an embedding table that a text has.

/// The row of each token: `out[i] = table[ids[i]]`, where ids count from 0. Of a table in a file only these rows are read.
///
/// # Shapes
/// `table` is (vocabulary, d); the result is (ids, d).
/// # Errors
/// If there is no such row, or it cannot be read.
pub fn token_rows(table: &Tensor, ids: &[usize]) -> Result<Matrix> {
    let shape = table.shape();
    if let Some((at, id)) = ids.iter().enumerate().find(|(_, id)| **id >= shape.rows) {
        return Err(Error::new(format!(
            "token {} has the id {id}, but the table has {} rows",
            at + 1,
            shape.rows
        ))
        .of_kind(ErrorKind::Shape)
        .help(format!("ids count from 0 to {}", shape.rows.saturating_sub(1))));
    }
    let mut rows = Vec::with_capacity(ids.len());
    for &id in ids {
        rows.push(table.row(id)?);
    }
    Ok(Matrix::from_fn(ids.len(), shape.cols, |i, j| rows[i][j]).with_col_labels(table.col_labels().cloned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_taken_apart_and_put_together_again_are_the_whole() {
        let x = Matrix::from_fn(3, 6, |i, j| (10 * i + j) as f64);
        let parts: Vec<Matrix> = (0..3).map(|h| columns(&x, 2 * h, 2).unwrap()).collect();
        assert!(concatenate(&parts.iter().collect::<Vec<_>>()).unwrap().same_bits(&x));
    }

    #[test]
    fn every_second_column_is_what_numpy_slices_with_a_step() {
        let x = Matrix::of([[0.0, 1.0, 2.0, 3.0, 4.0]]).cols_named(&["a", "b", "c", "d", "e"]);
        let taken = every_nth_column(&x, 1, 2).unwrap();
        assert_eq!(taken, Matrix::of([[1.0, 3.0]]).cols_named(&["b", "d"]));
        assert!(every_nth_column(&x, 5, 2).is_err() && every_nth_column(&x, 0, 0).is_err());
    }

    #[test]
    fn reshaping_reads_row_by_row() {
        let x = Matrix::of([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        assert!(reshape(&x, 3, 2).unwrap().same_bits(&Matrix::of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])));
        assert!(reshape(&x, 4, 2).is_err() && reshape(&x, 0, 0).is_err());
    }

    #[test]
    fn rows_taken_apart_and_stacked_again_are_the_whole_with_its_labels() {
        let x = Matrix::from_fn(3, 2, |i, j| (10 * i + j) as f64).rows_named(&["a", "b", "c"]);
        let parts = [rows(&x, 0, 1).unwrap(), rows(&x, 1, 2).unwrap()];
        assert_eq!(stack(&parts.iter().collect::<Vec<_>>(), None).unwrap(), x);
    }

    #[test]
    fn stacked_rows_take_new_names_if_there_is_one_for_each() {
        let (a, b) = (Matrix::of([[1.0]]).rows_named(&["bat"]), Matrix::of([[2.0]]).rows_named(&["cave"]));
        let named = |names: &[&str]| {
            let names = Some(crate::matrix::labels(names));
            stack(&[&a, &b], names).unwrap().row_labels().unwrap().to_vec()
        };
        assert_eq!(named(&["first", "second"]), ["first", "second"]);
        assert_eq!(named(&["one", "too", "many"]), ["bat", "cave"]);
    }

    #[test]
    fn stacking_rows_of_different_widths_names_both_shapes() {
        let error = stack(&[&Matrix::identity(2), &Matrix::identity(3)], None).unwrap_err().to_string();
        assert!(
            error.contains("3×3") && error.contains("2×2") && error.contains("columns differ"),
            "{error}"
        );
        assert!(stack(&[], None).is_err());
    }

    #[test]
    fn grouped_heads_follow_the_ceiling_rule_counted_from_one() {
        for (heads, groups) in [(4_usize, 4), (4, 2), (4, 1), (32, 8), (6, 3)] {
            for h in 1..=heads {
                let ceiling = (h * groups).div_ceil(heads);
                assert_eq!(
                    key_value_head(h - 1, heads, groups) + 1,
                    ceiling,
                    "head {h} of {heads} over {groups}"
                );
            }
        }
    }

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

    #[test]
    fn a_repeated_token_has_the_same_row_again() {
        let table = Tensor::from(Matrix::of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]));
        let rows = token_rows(&table, &[2, 0, 2]).unwrap();
        assert_eq!(rows, Matrix::of([[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]]));
        let said = token_rows(&table, &[0, 3]).unwrap_err().to_string();
        assert!(said.starts_with("token 2 has the id 3, but the table has 3 rows"), "{said}");
    }
}
