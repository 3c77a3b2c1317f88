//! The numbers of a tensor: one, all, as a matrix, compared with those of another.

use super::{Tensor, Values};
use crate::error::{Error, Result};
use crate::kernel::Layout;
use crate::matrix::{Matrix, Shape};

impl Tensor {
    /// The number at row i, column j of all heads side by side; in `f64`, which changes none.
    ///
    /// # Panics
    /// If there is no such cell, or the numbers are in a file: [`Tensor::loaded`] reads them.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let Layout { rows, columns, head_stride, row_stride, column_stride, .. } = self.layout;
        assert!(i < rows && columns > 0, "row {i} of {rows}");
        self.values.at(j / columns * head_stride + i * row_stride + j % columns * column_stride)
    }

    /// The numbers of row i, in `f64`; of numbers in a file only these are read.
    ///
    /// # Errors
    /// If there is no such row, or it cannot be read.
    pub fn row(&self, i: usize) -> Result<Vec<f64>> {
        let shape = self.shape();
        if i >= shape.rows {
            return Err(Error::new(format!("there is no row {} in a tensor of {shape}", i + 1)));
        }
        if self.is_stored() {
            return Ok(self.rows(i..i + 1)?.cells().collect());
        }
        Ok((0..shape.cols).map(|j| self.at(i, j)).collect())
    }

    /// The number at row i, column j, wherever it is; none where there is no such cell, or it cannot be read.
    pub fn number(&self, i: usize, j: usize) -> Option<f64> {
        let shape = self.shape();
        if i >= shape.rows || j >= shape.cols {
            return None;
        }
        if let Some(matrix) = self.formed_matrix() {
            return Some(matrix[(i, j)]);
        }
        if self.is_stored() { self.row(i).ok()?.get(j).copied() } else { Some(self.at(i, j)) }
    }

    /// All cells, row by row.
    ///
    /// # Panics
    /// If the numbers are in a file; see [`Tensor::at`].
    pub fn cells(&self) -> impl Iterator<Item = f64> + '_ {
        let shape = self.shape();
        (0..shape.rows).flat_map(move |i| (0..shape.cols).map(move |j| self.at(i, j)))
    }

    /// Returns true if a number is NaN.
    pub fn any_nan(&self) -> bool {
        self.values.any(f64::is_nan)
    }

    /// Returns true if a number is ∞ or −∞.
    pub fn any_infinite(&self) -> bool {
        self.values.any(f64::is_infinite)
    }

    /// These numbers as a matrix, the heads side by side.
    ///
    /// # Errors
    /// If they are in a file and cannot be read.
    pub fn matrix(&self) -> Result<&Matrix> {
        if let Values::Matrix(matrix) = &self.values {
            return Ok(matrix);
        }
        if self.is_stored() && self.view.get().is_none() {
            let loaded = self.clone().loaded()?;
            return Ok(self.view.get_or_init(|| loaded.formed()));
        }
        Ok(self.view.get_or_init(|| self.formed()))
    }

    /// The matrix, where there is one already.
    pub fn formed_matrix(&self) -> Option<&Matrix> {
        if let Values::Matrix(matrix) = &self.values { Some(matrix) } else { self.view.get() }
    }

    fn formed(&self) -> Matrix {
        let Shape { rows, cols } = self.shape();
        let matrix = Matrix::from_fn(rows, cols, |i, j| self.at(i, j));
        matrix.with_row_labels(self.row_labels.clone()).with_col_labels(self.col_labels.clone())
    }

    /// These numbers as a matrix, with which the exact path computes; a matrix is moved, not copied.
    ///
    /// # Errors
    /// Those of [`Tensor::matrix`].
    pub fn into_matrix(self) -> Result<Matrix> {
        if let Values::Matrix(matrix) = self.values {
            return Ok(matrix);
        }
        self.matrix().cloned()
    }

    /// Returns true if both are clones of one tensor, so that nothing has to be compared. False says nothing.
    pub fn shares_numbers(&self, other: &Tensor) -> bool {
        match (self.values.bytes(), other.values.bytes()) {
            (Some(a), Some(b)) => !a.is_empty() && std::ptr::eq(a, b) && self.layout == other.layout,
            _ => false,
        }
    }

    /// Returns true if both have the same type, shape and bits, wherever they are stored.
    pub fn same_bits(&self, other: &Tensor) -> bool {
        let is_there = !self.is_stored() && !other.is_stored();
        self.dtype() == other.dtype()
            && self.shape() == other.shape()
            && is_there
            && (self.shares_numbers(other)
                || self.cells().zip(other.cells()).all(|(a, b)| a.to_bits() == b.to_bits()))
    }
}

/// Two tensors are equal if their names are, and their numbers: NaN is no number, and −0 is +0 for a matrix; the numbers of the
/// fast path are compared by their bits.
impl PartialEq for Tensor {
    fn eq(&self, other: &Tensor) -> bool {
        if let (Values::Matrix(a), Values::Matrix(b)) = (&self.values, &other.values) {
            return a == b;
        }
        let labels = |tensor: &Tensor| (tensor.row_labels().cloned(), tensor.col_labels().cloned());
        self.is_exact() == other.is_exact() && labels(self) == labels(other) && self.same_bits(other)
    }
}
