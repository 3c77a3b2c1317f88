//! The numbers of a step: as they lie in memory, in single precision, or as a matrix in double precision.

use std::borrow::Cow;

use crate::error::Result;
use crate::kernel::Layout;
use crate::matrix::{Labels, Matrix};
use crate::memory;
use crate::tensor::Tensor;

/// The numbers as a matrix of `f64`, without keeping it.
pub(super) fn as_matrix(tensor: &Tensor) -> Result<Cow<'_, Matrix>> {
    if let Some(matrix) = tensor.formed_matrix() {
        return Ok(Cow::Borrowed(matrix));
    }
    if tensor.is_stored() {
        return tensor.clone().into_matrix().map(Cow::Owned);
    }
    let shape = tensor.shape();
    let matrix = Matrix::from_fn(shape.rows, shape.cols, |i, j| tensor.at(i, j));
    let (rows, cols) = (tensor.row_labels().cloned(), tensor.col_labels().cloned());
    Ok(Cow::Owned(matrix.with_row_labels(rows).with_col_labels(cols)))
}

/// A matrix in single precision. Numbers beyond its range become infinite, as they do in every program that computes in it.
pub(super) fn rounded(matrix: &Matrix) -> Result<Tensor> {
    let mut values: Vec<f32> = memory::room_for(matrix.rows().saturating_mul(matrix.cols()))?;
    values.extend(matrix.cells().map(|x| x as f32));
    named(values, (matrix.rows(), matrix.cols()), matrix.row_labels(), matrix.col_labels())
}

/// Numbers row by row, with names for rows and columns.
pub(super) fn named(
    values: Vec<f32>,
    (rows, cols): (usize, usize),
    row_labels: Option<&Labels>,
    col_labels: Option<&Labels>,
) -> Result<Tensor> {
    let tensor = Tensor::new(values, Layout::stacked(1, rows, cols))?;
    Ok(tensor.labelled(row_labels.cloned(), col_labels.cloned()))
}

/// The numbers row by row in single precision: where they lie, or rounded.
pub(super) fn singles(tensor: &Tensor) -> Result<Cow<'_, [f32]>> {
    let Layout { heads, columns, row_stride, column_stride, .. } = tensor.layout();
    let in_place = heads == 1 && column_stride == 1 && row_stride == columns;
    if let (Some(values), true) = (tensor.slice::<f32>(), in_place) {
        return Ok(Cow::Borrowed(values));
    }
    let shape = tensor.shape();
    let mut values: Vec<f32> = memory::room_for(shape.rows.saturating_mul(shape.cols))?;
    match tensor.is_stored() {
        true => values.extend(tensor.clone().loaded()?.cells().map(|x| x as f32)),
        false => values.extend(tensor.cells().map(|x| x as f32)),
    }
    Ok(Cow::Owned(values))
}
