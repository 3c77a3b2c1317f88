//! Splitting a width into heads, putting the heads side by side again, and stacking rows.

use crate::error::{Error, Result};
use crate::matrix::{Labels, Matrix};

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
        .with_row_labels(x.row_labels().cloned())
        .with_col_labels(labels))
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
        .with_row_labels(x.row_labels().cloned())
        .with_col_labels(labels))
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
    Matrix::from_fn(x.rows(), x.cols(), |i, j| x[(last - i, j)])
        .with_row_labels(labels)
        .with_col_labels(x.col_labels().cloned())
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
        .with_row_labels(first.row_labels().cloned())
        .with_col_labels(labels))
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
}
