//! Numbers of any type: they are read from files, held by a node, passed to the kernel and shown.
//!
//! A [`Tensor`] has a type, dimensions, strides and numbers that its clones share; the numbers may also stay in a file until
//! they are asked for ([`Storage`]). As a matrix it is its heads side by side, a row for each token; [`Matrix`] is that view in
//! `f64`, with which the exact path computes. Widening a number to `f64` changes none.

mod dtype;
mod element;
mod storage;
mod values;

use std::ops::Range;
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
        Ok(Tensor::of(T::held(values), layout))
    }

    /// Numbers in a file: (rows, columns), or (heads, rows, columns), the last dimension running fastest. One dimension is a row.
    ///
    /// # Errors
    /// If there are more dimensions, or as many numbers are not there.
    pub fn stored(stored: StoredNumbers, dims: &[usize]) -> Result<Tensor> {
        let (heads, rows, columns) = match *dims {
            [columns] => (1, 1, columns),
            [rows, columns] => (1, rows, columns),
            [heads, rows, columns] => (heads, rows, columns),
            _ => {
                let many = counted(dims.len(), "dimension");
                return Err(Error::new(format!(
                    "a tensor with {many} is neither a matrix nor a stack of them"
                )));
            }
        };
        let cells = heads.checked_mul(rows).and_then(|cells| cells.checked_mul(columns));
        if cells != Some(stored.count()) {
            let count = counted(stored.count(), "number");
            return Err(Error::new(format!("{count} cannot fill {dims:?}")));
        }
        let tensor = Tensor::of(Values::Stored(stored), Layout::stacked(heads, rows, columns));
        Ok(tensor.with_stack(dims.len() > 2))
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

    /// These numbers, read into memory.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn loaded(mut self) -> Result<Tensor> {
        if let Values::Stored(stored) = &self.values {
            self.values = in_memory(stored, 0..stored.count())?;
        }
        Ok(self)
    }

    /// Neighbouring rows of one matrix, in memory; of numbers in a file only these are read.
    ///
    /// # Errors
    /// If it is a stack of several heads, there are no such rows, or they cannot be read.
    pub fn rows(&self, rows: Range<usize>) -> Result<Tensor> {
        let Layout { heads, columns, row_stride, .. } = self.layout;
        if heads != 1 || rows.end > self.layout.rows || rows.start > rows.end {
            let (start, end, shape) = (rows.start, rows.end, self.shape());
            return Err(Error::new(format!("there are no rows {start}..{end} in a tensor of {shape}")));
        }
        let layout = Layout::stacked(1, rows.len(), columns);
        let labels = self.row_labels().map(|labels| labels[rows.clone()].iter().cloned().collect());
        let part = match &self.values {
            Values::Stored(stored) => {
                Tensor::of(in_memory(stored, rows.start * row_stride..rows.end * row_stride)?, layout)
            }
            _ => Tensor::from(Matrix::from_fn(rows.len(), columns, |i, j| self.at(rows.start + i, j))),
        };
        Ok(part.with_inexact(self.inexact).labelled(labels, self.col_labels().cloned()))
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

    /// The number at row i, column j of all heads side by side; in `f64`, which changes none.
    ///
    /// # Panics
    /// If there is no such cell, or the numbers are in a file: [`Tensor::loaded`] reads them.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let Layout { rows, columns, head_stride, row_stride, column_stride, .. } = self.layout;
        assert!(i < rows && columns > 0, "row {i} of {rows}");
        self.values.at(j / columns * head_stride + i * row_stride + j % columns * column_stride)
    }

    /// All cells, row by row.
    ///
    /// # Panics
    /// As [`Tensor::at`], if the numbers are in a file.
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
    /// As [`Tensor::matrix`].
    pub fn into_matrix(self) -> Result<Matrix> {
        if let Values::Matrix(matrix) = self.values {
            return Ok(matrix);
        }
        self.matrix().cloned()
    }

    /// Returns true if both have the same type, shape and bits, wherever they are stored.
    pub fn same_bits(&self, other: &Tensor) -> bool {
        let is_there = !self.is_stored() && !other.is_stored();
        self.dtype() == other.dtype()
            && self.shape() == other.shape()
            && is_there
            && self.cells().zip(other.cells()).all(|(a, b)| a.to_bits() == b.to_bits())
    }
}

/// Some of the numbers in a file, by their places.
fn in_memory(stored: &StoredNumbers, places: Range<usize>) -> Result<Values> {
    fn read<T: Element>(stored: &StoredNumbers, places: Range<usize>) -> Result<Values> {
        let mut values: Vec<T> =
            memory::reserved(places.len()).map_err(|error| error.in_source(stored.name()))?;
        stored.read(places, |bytes| {
            values.extend(bytes.chunks_exact(T::DTYPE.size()).filter_map(T::of_bytes));
        })?;
        Ok(T::held(values))
    }
    match stored.dtype() {
        Dtype::F32 => read::<f32>(stored, places),
        Dtype::F64 => read::<f64>(stored, places),
        Dtype::F16 => read::<half::f16>(stored, places),
        Dtype::Bf16 => read::<half::bf16>(stored, places),
        Dtype::Bool => read::<bool>(stored, places),
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
    use std::sync::{Arc, Mutex};

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

    /// Bytes that remember which of them were read.
    #[derive(Debug)]
    struct Bytes(Vec<u8>, Mutex<Vec<Range<usize>>>);

    impl Storage for Bytes {
        fn name(&self) -> &str {
            "bytes"
        }

        fn length(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
            let place = offset as usize..offset as usize + buffer.len();
            buffer.copy_from_slice(&self.0[place.clone()]);
            self.1.lock().unwrap().push(place);
            Ok(())
        }
    }

    #[test]
    fn of_numbers_in_a_file_only_those_are_read_that_are_asked_for() {
        let numbers: Vec<u8> = (0..6).flat_map(|i| f64::from(i).to_le_bytes()).collect();
        let bytes = Arc::new(Bytes([vec![0; 3], numbers].concat(), Mutex::default()));
        let stored = StoredNumbers::new(bytes.clone(), 3, Dtype::F64, 6).unwrap();
        let tensor = Tensor::stored(stored, &[3, 2]).unwrap();
        assert!(tensor.is_stored() && bytes.1.lock().unwrap().is_empty());
        assert_eq!(tensor.rows(1..2).unwrap().cells().collect::<Vec<_>>(), [2.0, 3.0]);
        assert_eq!(*bytes.1.lock().unwrap(), vec![std::ops::Range { start: 19, end: 35 }]);
        assert_eq!(tensor.matrix().unwrap()[(2, 1)], 5.0);
        assert!(tensor.rows(2..4).is_err());
        let error = StoredNumbers::new(bytes, 4, Dtype::F64, 6).unwrap_err().to_string();
        assert!(
            error.starts_with("bytes: 6 numbers of type f64 from byte 4 on do not fit 51 bytes"),
            "{error}"
        );
    }
}
