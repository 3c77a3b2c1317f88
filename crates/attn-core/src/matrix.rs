//! A matrix of `f64` whose rows and columns may carry labels.

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use nalgebra::DMatrix;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::text::counted;

/// The names of the rows, or of the columns, of a matrix: tokens, words, features.
pub type Labels = Arc<[String]>;

/// Rows times columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub cols: usize,
}

impl Shape {
    /// The places (row, column) of all cells, row by row.
    pub fn places(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.rows).flat_map(move |row| (0..self.cols).map(move |col| (row, col)))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×{}", self.rows, self.cols)
    }
}

/// A matrix with optional labels; clones share its cells. Rows are tokens; positions count from 0 in code and from 1 on the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    values: Arc<DMatrix<f64>>,
    row_labels: Option<Labels>,
    col_labels: Option<Labels>,
}

impl Matrix {
    fn unlabelled(values: DMatrix<f64>) -> Matrix {
        Matrix { values: Arc::new(values), row_labels: None, col_labels: None }
    }

    /// The matrix whose cell (i, j) is `cell(i, j)`.
    pub fn from_fn(rows: usize, cols: usize, cell: impl FnMut(usize, usize) -> f64) -> Matrix {
        Matrix::unlabelled(DMatrix::from_fn(rows, cols, cell))
    }

    /// A matrix written out row by row: `Matrix::of([[1.0, 2.0], [3.0, 4.0]])`.
    pub fn of<const ROWS: usize, const COLS: usize>(rows: [[f64; COLS]; ROWS]) -> Matrix {
        Matrix::from_fn(ROWS, COLS, |i, j| rows[i][j])
    }

    /// The matrix whose cells stand row by row in `values`.
    ///
    /// # Errors
    /// If there are not rows · cols values.
    pub fn from_row_major(rows: usize, cols: usize, values: &[f64]) -> Result<Matrix> {
        if rows.checked_mul(cols) != Some(values.len()) {
            return Err(Error::new(format!(
                "{} cannot fill a {rows}×{cols} matrix",
                counted(values.len(), "number")
            )));
        }
        Ok(Matrix::unlabelled(DMatrix::from_row_slice(rows, cols, values)))
    }

    /// The matrix with these rows.
    ///
    /// # Errors
    /// If the rows differ in length.
    pub fn from_rows(rows: &[Vec<f64>]) -> Result<Matrix> {
        let cols = rows.first().map_or(0, Vec::len);
        if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != cols) {
            return Err(Error::new(format!(
                "row {} has {}, but row 1 has {cols}",
                i + 1,
                counted(row.len(), "number")
            ))
            .of_kind(ErrorKind::Shape));
        }
        Ok(Matrix::from_fn(rows.len(), cols, |i, j| rows[i][j]))
    }

    /// The matrix whose cells stand column by column in `values`, rows · cols of them.
    pub(crate) fn from_columns(rows: usize, cols: usize, values: Vec<f64>) -> Matrix {
        Matrix::unlabelled(DMatrix::from_vec(rows, cols, values))
    }

    /// All cells the same.
    pub fn filled(rows: usize, cols: usize, value: f64) -> Matrix {
        Matrix::from_fn(rows, cols, |_, _| value)
    }

    /// Ones on the diagonal, zeros elsewhere.
    pub fn identity(n: usize) -> Matrix {
        Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// This matrix with names for its rows. Names that do not fit the number of rows are dropped.
    pub fn with_row_labels(mut self, labels: Option<Labels>) -> Matrix {
        self.row_labels = labels.filter(|labels| labels.len() == self.rows());
        self
    }

    /// This matrix with names for its columns. Names that do not fit the number of columns are dropped.
    pub fn with_col_labels(mut self, labels: Option<Labels>) -> Matrix {
        self.col_labels = labels.filter(|labels| labels.len() == self.cols());
        self
    }

    /// This matrix with these names for its rows and its columns, where they fit.
    pub fn labelled_by(self, rows: Option<&Labels>, cols: Option<&Labels>) -> Matrix {
        self.with_row_labels(rows.cloned()).with_col_labels(cols.cloned())
    }

    /// This matrix with names for its rows, for matrices written out in code.
    pub fn rows_named(self, names: &[&str]) -> Matrix {
        self.with_row_labels(Some(labels(names)))
    }

    /// This matrix with names for its columns, for matrices written out in code.
    pub fn cols_named(self, names: &[&str]) -> Matrix {
        self.with_col_labels(Some(labels(names)))
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.values.nrows()
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.values.ncols()
    }

    /// Rows times columns.
    pub fn shape(&self) -> Shape {
        Shape { rows: self.rows(), cols: self.cols() }
    }

    /// The names of the rows, where they have any.
    pub fn row_labels(&self) -> Option<&Labels> {
        self.row_labels.as_ref()
    }

    /// The names of the columns, where they have any.
    pub fn col_labels(&self) -> Option<&Labels> {
        self.col_labels.as_ref()
    }

    /// The cells of row `i`, from left to right.
    pub fn row(&self, i: usize) -> impl Iterator<Item = f64> + '_ {
        (0..self.cols()).map(move |j| self[(i, j)])
    }

    /// The cells of column `j`, from top to bottom.
    pub fn col(&self, j: usize) -> impl Iterator<Item = f64> + '_ {
        (0..self.rows()).map(move |i| self[(i, j)])
    }

    /// Column `j` as it lies in memory.
    pub(crate) fn column(&self, j: usize) -> &[f64] {
        &self.values.as_slice()[j * self.rows()..][..self.rows()]
    }

    /// All cells as they lie in memory, column by column.
    pub(crate) fn column_by_column(&self) -> &[f64] {
        self.values.as_slice()
    }

    /// All cells, row by row.
    pub fn cells(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.rows()).flat_map(move |i| self.row(i))
    }

    /// Rows become columns; the labels go along.
    pub fn transposed(&self) -> Matrix {
        Matrix {
            values: Arc::new(self.values.transpose()),
            row_labels: self.col_labels.clone(),
            col_labels: self.row_labels.clone(),
        }
    }

    /// `f` of every cell, with the same labels.
    pub fn map(&self, f: impl FnMut(f64) -> f64) -> Matrix {
        Matrix {
            values: Arc::new(self.values.map(f)),
            row_labels: self.row_labels.clone(),
            col_labels: self.col_labels.clone(),
        }
    }

    /// Returns true if both have the same shape and the same bits in every cell (so that NaN equals NaN, and +0 is not −0).
    pub fn same_bits(&self, other: &Matrix) -> bool {
        self.shape() == other.shape()
            && self.cells().zip(other.cells()).all(|(a, b)| a.to_bits() == b.to_bits())
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, at: (usize, usize)) -> &f64 {
        &self.values[at]
    }
}

/// Returns true if two numbers are equal, where NaN equals NaN and −0 equals +0.
pub fn same_number(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

/// Names as labels.
pub fn labels(names: &[&str]) -> Labels {
    names.iter().map(|name| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_takes_the_labels_along() {
        let matrix = Matrix::of([[1.0, 2.0, 3.0]]).rows_named(&["bat"]).cols_named(&["x", "y", "z"]);
        let turned = matrix.transposed();
        assert_eq!(turned.shape(), Shape { rows: 3, cols: 1 });
        assert_eq!(turned.row_labels().unwrap()[2], "z");
        assert_eq!(turned.col_labels().unwrap()[0], "bat");
        assert_eq!(turned[(1, 0)], 2.0);
    }

    #[test]
    fn ragged_rows_are_refused_with_both_lengths() {
        let error = Matrix::from_rows(&[vec![1.0, 2.0], vec![3.0]]).unwrap_err();
        assert_eq!(error.to_string(), "row 2 has 1 number, but row 1 has 2");
    }

    #[test]
    fn cells_run_row_by_row() {
        let matrix = Matrix::of([[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(matrix.cells().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
    }
}
