//! Numbers of any type: they are read from files, held by a node, passed to the kernel and shown.
//!
//! A [`Tensor`] has a type, dimensions, strides and numbers that its clones share; the numbers may also stay in a file until
//! they are asked for ([`Storage`]). As a matrix it is its heads side by side, a row for each token; [`Matrix`] is that view in
//! `f64`, with which the exact path computes. Widening a number to `f64` changes none.

mod append;
mod dtype;
mod element;
mod load;
mod numbers;
mod replaced;
mod shared;
mod storage;
mod values;

use std::sync::OnceLock;

pub use dtype::Dtype;
pub use element::{Element, in_type};
pub use storage::{Storage, StoredNumbers};
pub use values::Values;

use crate::error::{Error, Result};
use crate::kernel::{Heads, Layout};
use crate::matrix::{Labels, Matrix, Shape};
use crate::memory;
use crate::text::counted;

/// At most this many numbers of the fast path are looked at cell by cell, as a [`Matrix`].
pub const MOST_LOOKED_AT: usize = 100_000;

/// Of a computation on the fast path a matrix of more numbers is shown by its edges, as NumPy does.
pub const MOST_SHOWN: usize = 1000;

/// The numbers of one or many heads, read through a layout.
#[derive(Clone, Debug)]
pub struct Tensor {
    values: Values,
    layout: Layout,
    /// True if the numbers came as a stack of heads, even of one: then there are three dimensions.
    stack: bool,
    /// True if a number was rounded to this type.
    inexact: bool,
    row_labels: Option<Labels>,
    col_labels: Option<Labels>,
    /// These numbers as a matrix, made at the first request.
    view: OnceLock<Matrix>,
}

impl From<Matrix> for Tensor {
    /// The matrix itself, without a copy.
    fn from(matrix: Matrix) -> Tensor {
        Tensor::side_by_side(matrix, 1)
    }
}

impl Tensor {
    /// `values`, which are moved, not copied, read through `layout`.
    ///
    /// # Errors
    /// If the layout reaches past the values.
    pub fn new<T: Element>(values: Vec<T>, layout: Layout) -> Result<Tensor> {
        Heads::new("an array", &values, layout)?;
        Ok(Tensor::of(T::held(values.into()), layout))
    }

    /// A matrix in which this many heads stand side by side.
    pub fn side_by_side(matrix: Matrix, heads: usize) -> Tensor {
        let Shape { rows, cols } = matrix.shape();
        let columns = cols / heads.max(1);
        let head_stride = columns.saturating_mul(rows);
        let layout = Layout { heads, rows, columns, head_stride, row_stride: 1, column_stride: rows };
        Tensor::of(Values::Matrix(matrix), layout)
    }

    fn of(values: Values, layout: Layout) -> Tensor {
        let (stack, inexact, row_labels, col_labels) = (false, false, None, None);
        Tensor { values, layout, stack, inexact, row_labels, col_labels, view: OnceLock::new() }
    }

    /// A matrix in this type, each number rounded to the nearest.
    ///
    /// # Errors
    /// If a finite number is beyond the type, or there is no room for the numbers.
    pub fn rounded<T: Element>(matrix: &Matrix) -> Result<Tensor> {
        let cell = |(at, x): (usize, f64)| {
            in_type(x).map_err(|error| {
                let (row, column) = (at / matrix.cols() + 1, at % matrix.cols() + 1);
                error.in_source(format!("row {row}, column {column}"))
            })
        };
        let mut values: Vec<T> = memory::reserved(matrix.rows().saturating_mul(matrix.cols()))?;
        for number in matrix.cells().enumerate().map(cell) {
            values.push(number?);
        }
        let inexact = values.iter().zip(matrix.cells()).any(|(value, x)| value.exactly() != x);
        let tensor = Tensor::new(values, Layout::stacked(1, matrix.rows(), matrix.cols()))?;
        Ok(tensor.with_inexact(inexact).labelled(matrix.row_labels().cloned(), matrix.col_labels().cloned()))
    }

    /// These numbers in type T, which the fused kernel reads: unchanged if they have this type, else each rounded to the
    /// nearest.
    ///
    /// # Errors
    /// If a finite number is beyond the type, or the numbers cannot be read.
    pub fn in_type<T: Element>(self) -> Result<Tensor> {
        if self.dtype() == T::DTYPE && !self.is_exact() {
            return self.loaded();
        }
        let (heads, stack, inexact) = (self.layout.heads, self.stack, self.inexact);
        let rounded = Tensor::rounded::<T>(self.matrix()?)?;
        let inexact = inexact || rounded.inexact;
        Ok(rounded.of_heads(heads)?.with_stack(stack).with_inexact(inexact))
    }

    /// These numbers with names for rows and columns, as far as they fit.
    pub fn labelled(mut self, rows: Option<Labels>, cols: Option<Labels>) -> Tensor {
        let shape = self.shape();
        if let Values::Matrix(matrix) = self.values {
            self.values = Values::Matrix(matrix.with_row_labels(rows).with_col_labels(cols));
            return self;
        }
        self.row_labels = rows.filter(|labels| labels.len() == shape.rows);
        self.col_labels = cols.filter(|labels| labels.len() == shape.cols);
        let (rows, cols) = (self.row_labels.clone(), self.col_labels.clone());
        let view = self.view.take().map(|matrix| matrix.with_row_labels(rows).with_col_labels(cols));
        self.view = view.map_or_else(OnceLock::new, OnceLock::from);
        self
    }

    /// One row of numbers in each of `rows` rows. Of a matrix of the exact path it is a copy; other numbers stay where they are.
    ///
    /// # Errors
    /// If there is no room for the copies.
    pub fn in_every_row(mut self, rows: usize) -> Result<Tensor> {
        if let Values::Matrix(matrix) = &self.values {
            let cols = matrix.cols();
            memory::hold(memory::bytes_of::<f64>(rows.saturating_mul(cols)))?.keep();
            let copies = Matrix::from_fn(rows, cols, |_, j| matrix[(0, j)]);
            return Ok(Tensor::from(copies.with_col_labels(matrix.col_labels().cloned())));
        }
        self.layout = Layout { rows, row_stride: 0, ..self.layout };
        self.row_labels = None;
        self.view = OnceLock::new();
        Ok(self)
    }

    /// This tensor, marked as exact or as rounded.
    pub fn with_inexact(mut self, inexact: bool) -> Tensor {
        self.inexact = inexact;
        self
    }

    /// Returns true if a number was rounded to this type.
    pub fn is_inexact(&self) -> bool {
        self.inexact
    }

    /// This tensor, marked as a stack of heads or as one matrix.
    pub fn with_stack(mut self, stack: bool) -> Tensor {
        self.stack = stack;
        self
    }

    /// Returns true if the numbers came as a stack of heads, even of one.
    pub fn is_stack(&self) -> bool {
        self.stack
    }

    /// Returns true if it is a matrix of the exact path.
    pub fn is_exact(&self) -> bool {
        matches!(self.values, Values::Matrix(_))
    }

    /// Returns true if its numbers are still in a file.
    pub fn is_stored(&self) -> bool {
        matches!(self.values, Values::Stored(_))
    }

    /// The names of the rows, where they have any.
    pub fn row_labels(&self) -> Option<&Labels> {
        match &self.values {
            Values::Matrix(matrix) => matrix.row_labels(),
            _ => self.row_labels.as_ref(),
        }
    }

    /// The names of the columns, where they have any.
    pub fn col_labels(&self) -> Option<&Labels> {
        match &self.values {
            Values::Matrix(matrix) => matrix.col_labels(),
            _ => self.col_labels.as_ref(),
        }
    }

    /// The numbers of one matrix taken as this many heads side by side; numbers of that many heads stay as they are.
    ///
    /// # Errors
    /// If the columns cannot be shared out evenly.
    pub fn of_heads(mut self, heads: usize) -> Result<Tensor> {
        let Layout { columns, column_stride, .. } = self.layout;
        if self.layout.heads == heads {
            return Ok(self);
        }
        if self.layout.heads != 1 || heads == 0 || !columns.is_multiple_of(heads) {
            return Err(Error::new(format!(
                "{} of {} cannot be regrouped into {}",
                counted(self.layout.heads, "head"),
                counted(columns, "column"),
                counted(heads, "head")
            )));
        }
        let columns = columns / heads;
        self.layout = Layout { heads, columns, head_stride: columns * column_stride, ..self.layout };
        Ok(self)
    }

    /// The heads, if the numbers are in memory and of this type.
    pub fn heads<T: Element>(&self) -> Option<Heads<'_, T>> {
        Heads::new("an array", self.slice()?, self.layout).ok()
    }

    /// The numbers as they lie in memory, if they are there and of this type; [`Tensor::layout`] says which is which.
    pub fn slice<T: Element>(&self) -> Option<&[T]> {
        T::of(&self.values)
    }

    /// The bytes of floating-point numbers in memory.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.values.bytes()
    }

    /// The layout of the numbers.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The number of heads.
    pub fn head_count(&self) -> usize {
        self.layout.heads
    }

    /// Its dimensions: (rows, columns), or of a stack (heads, rows, columns).
    pub fn dims(&self) -> Vec<usize> {
        let Layout { heads, rows, columns, .. } = self.layout;
        if self.stack { vec![heads, rows, columns] } else { vec![rows, heads * columns] }
    }

    /// The heads side by side: rows times all columns.
    pub fn shape(&self) -> Shape {
        Shape { rows: self.layout.rows, cols: self.layout.heads * self.layout.columns }
    }

    /// Their type.
    pub fn dtype(&self) -> Dtype {
        self.values.dtype()
    }
}

/// The positions that are shown of too many rows or columns: the first and the last, and `None` for those between.
pub fn edges(count: usize) -> Vec<Option<usize>> {
    const EDGE: usize = 3;
    if count <= 2 * EDGE + 1 {
        return (0..count).map(Some).collect();
    }
    (0..EDGE).map(Some).chain([None]).chain((count - EDGE..count).map(Some)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_and_its_tensor_are_the_same_cells() {
        let matrix = Matrix::of([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).rows_named(&["bat", "cave"]);
        let tensor = Tensor::from(matrix.clone());
        assert!(tensor.is_exact() && tensor.matrix().unwrap() == &matrix);
        assert_eq!(tensor.cells().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(tensor.row_labels().unwrap()[1], "cave");
        assert!(std::ptr::eq(tensor.slice::<f64>().unwrap(), matrix.column_by_column()), "nothing is copied");
    }

    #[test]
    fn heads_are_the_same_numbers_side_by_side_or_stacked() {
        let stack =
            Tensor::new(vec![1.0_f32, 2.0, 3.0, 4.0], Layout::stacked(2, 1, 2)).unwrap().with_stack(true);
        assert_eq!(stack.dims(), [2, 1, 2]);
        assert_eq!(stack.shape(), Shape { rows: 1, cols: 4 });
        let exact = Tensor::side_by_side(stack.matrix().unwrap().clone(), 2);
        assert_eq!(exact.cells().collect::<Vec<_>>(), stack.cells().collect::<Vec<_>>());
        let again = exact.in_type::<f32>().unwrap();
        assert!(again.same_bits(&stack) && again.head_count() == 2);
    }

    #[test]
    fn a_type_that_fits_is_passed_on_as_it_is_and_another_is_rounded() {
        let half = Tensor::new(vec![half::f16::from_f64(0.1); 2], Layout::stacked(1, 1, 2)).unwrap();
        let single = half.clone().in_type::<f32>().unwrap();
        assert_eq!(single.at(0, 1), half.at(0, 1), "a wider type changes no number");
        assert!(!single.is_inexact());
        let shared = single.clone().in_type::<f32>().unwrap();
        assert!(std::ptr::eq(shared.slice::<f32>().unwrap(), single.slice::<f32>().unwrap()));
        assert!(Tensor::from(Matrix::of([[0.1]])).in_type::<f32>().unwrap().is_inexact());
        assert!(Tensor::from(Matrix::of([[1e300]])).in_type::<f32>().is_err());
    }
}
