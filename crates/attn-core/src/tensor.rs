//! Numbers of any type: they are read from files, held by a node, passed to the kernel and shown.
//!
//! A [`Tensor`] has a type, dimensions, strides and numbers that its clones share; the numbers may also stay in a file until
//! they are asked for ([`Storage`]). As a matrix it is its heads side by side, a row for each token; [`Matrix`] is that view in
//! `f64`, with which the exact path computes. Widening a number to `f64` changes none.

use serde::Deserialize;
use std::borrow::Cow;
use std::convert::identity;
use std::fmt::Debug;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use attn_kernel::{Heads, Layout};
use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;
use half::vec::HalfBitsVecExt;
use half::{bf16, f16};

use crate::error::{Error, Result};
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
            self.values = Values::Matrix(matrix.labelled_by(rows.as_ref(), cols.as_ref()));
            return self;
        }
        self.row_labels = rows.filter(|labels| labels.len() == shape.rows);
        self.col_labels = cols.filter(|labels| labels.len() == shape.cols);
        let (rows, cols) = (self.row_labels.clone(), self.col_labels.clone());
        let view = self.view.take().map(|matrix| matrix.labelled_by(rows.as_ref(), cols.as_ref()));
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

    /// The numbers of one matrix taken as this many heads one below the other. Of a matrix of the exact path, where heads stand side
    /// by side, it is a copy; other numbers stay where they are.
    ///
    /// # Errors
    /// If there is no room for the copy.
    pub fn of_heads_below(mut self, heads: usize) -> Result<Tensor> {
        let (rows, cols) = (self.layout.rows / heads.max(1), self.layout.columns);
        if let Values::Matrix(matrix) = &self.values {
            memory::hold(memory::bytes_of::<f64>(matrix.rows().saturating_mul(cols)))?.keep();
            let cell = |i: usize, j: usize| matrix[(j / cols * rows + i, j % cols)];
            return Ok(Tensor::side_by_side(Matrix::from_fn(rows, heads * cols, cell), heads));
        }
        let head_stride = rows.saturating_mul(self.layout.row_stride);
        self.layout = Layout { heads, rows, head_stride, ..self.layout };
        Ok(self.labelled(None, None))
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

// The types that numbers are read in, computed in and held in.

/// The type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// 32 bits: 24 of them are digits.
    F32,
    /// 64 bits: 53 of them are digits.
    F64,
    /// 16 bits: 11 of them are digits.
    F16,
    /// 16 bits with the range of F32: 8 of them are digits.
    Bf16,
    /// True and false, as a mask may be: 1 and 0.
    Bool,
}

impl Dtype {
    /// Its name, as NumPy calls it shortly.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
            Dtype::F16 => "f16",
            Dtype::Bf16 => "bf16",
            Dtype::Bool => "bool",
        }
    }

    /// The bytes of one number.
    pub fn size(self) -> usize {
        match self {
            Dtype::F64 => 8,
            Dtype::F32 => 4,
            Dtype::F16 | Dtype::Bf16 => 2,
            Dtype::Bool => 1,
        }
    }
}

// Numbers that stay in a file until they are asked for.

/// Bytes that can be read from anywhere, by several readers at once.
pub trait Storage: Debug + Send + Sync {
    /// Its name in errors.
    fn name(&self) -> &str;

    /// Its length in bytes when it was opened.
    fn length(&self) -> u64;

    /// Fills the buffer with the bytes from an offset on.
    ///
    /// # Errors
    /// If they cannot be read, or fewer are left there than the buffer has room for.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;
}

/// Numbers in a [`Storage`], one after the other, their lowest bytes first.
#[derive(Clone, Debug)]
pub struct StoredNumbers {
    storage: Arc<dyn Storage>,
    start: u64,
    dtype: Dtype,
    count: usize,
}

impl StoredNumbers {
    /// The `count` numbers of this type that begin at byte `start`.
    ///
    /// # Errors
    /// If the storage ends before they do.
    pub fn new(storage: Arc<dyn Storage>, start: u64, dtype: Dtype, count: usize) -> Result<StoredNumbers> {
        let bytes = (count as u64).checked_mul(dtype.size() as u64);
        let end = bytes.and_then(|bytes| start.checked_add(bytes));
        if end.is_none_or(|end| end > storage.length()) {
            let length = storage.length();
            return Err(Error::new(format!(
                "{} of type {} from byte {start} on do not fit {length} bytes",
                counted(count, "number"),
                dtype.name()
            ))
            .in_source(storage.name()));
        }
        Ok(StoredNumbers { storage, start, dtype, count })
    }

    /// Their type.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The storage's name in errors.
    fn name(&self) -> &str {
        self.storage.name()
    }

    /// Reads some of them, by their places, straight into `bits`, which has room for just as many.
    ///
    /// # Errors
    /// If the storage cannot be read, or has become shorter.
    fn read<B: Pod>(&self, places: Range<usize>, bits: &mut [B]) -> Result<()> {
        let size = self.dtype.size();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(bits);
        if (places.len().checked_mul(size), places.end <= self.count) != (Some(bytes.len()), true) {
            let (Range { start, end }, room) = (places, bytes.len());
            return Err(Error::new(format!("numbers {start}..{end} do not fit {room} bytes"))
                .in_source(self.storage.name()));
        }
        self.storage.read_at(self.start + (places.start * size) as u64, bytes)?;
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Ok(())
    }
}

// Numbers in memory that the clones of a tensor share.

/// The bytes of a cache line.
const LINE: usize = 64;

/// From this many bytes on, numbers that are read from a file begin with a cache line: products then never read a part of one.
const ALIGNED_FROM: usize = 1 << 16;

/// Numbers, shared by clones.
#[derive(Clone, Debug)]
pub struct Shared<T> {
    all: Arc<Vec<T>>,
    /// The place of the first number; those before it are nobody's.
    start: usize,
    count: usize,
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(numbers: Vec<T>) -> Shared<T> {
        Shared { start: 0, count: numbers.len(), all: Arc::new(numbers) }
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.all[self.start..self.start + self.count]
    }
}

impl<T: Copy> Shared<T> {
    /// Puts more numbers behind these, where they are if no clone shares them.
    ///
    /// # Errors
    /// If there is no room for them.
    fn extend(&mut self, more: &[T]) -> Result<()> {
        let all = Arc::make_mut(&mut self.all);
        all.truncate(self.start + self.count);
        memory::grow(all, more.len(), usize::MAX)?;
        all.extend_from_slice(more);
        self.count += more.len();
        Ok(())
    }
}

/// `count` numbers that `read` writes, as `of_bits` makes them, from a file of this name.
///
/// # Errors
/// If there is no room for them, or `read` fails.
fn read_from<B: bytemuck::Pod, T>(
    name: &str,
    count: usize,
    of_bits: impl FnOnce(Vec<B>) -> Vec<T>,
    read: impl FnOnce(&mut [B]) -> Result<()>,
) -> Result<Shared<T>> {
    let per_line = LINE / size_of::<B>().max(1);
    let is_large = count.saturating_mul(size_of::<B>()) >= ALIGNED_FROM;
    let room = if is_large { count.saturating_add(per_line) } else { count };
    let mut bits: Vec<B> = memory::zeros(room).map_err(|error| error.in_source(name))?;
    let start = if is_large { bits.as_ptr().align_offset(LINE).min(per_line) } else { 0 };
    read(&mut bits[start..start + count])?;
    Ok(Shared { all: Arc::new(of_bits(bits)), start, count })
}

// One number of a tensor, in each type.

/// A type that the numbers of a [`Tensor`] may have.
pub trait Element: Copy + std::fmt::Debug + 'static {
    /// Its name among the types.
    const DTYPE: Dtype;
    /// The type of its bits, with the size that [`Dtype::size`] says: all bits are a value of it.
    type Bits: Pod;
    /// Numbers of this type as a tensor holds them.
    fn held(values: Shared<Self>) -> Values;
    /// The numbers, if they are in memory and of this type.
    fn of(values: &Values) -> Option<&[Self]>;
    /// The nearest value of this type; as a truth value, true unless x is 0.
    fn nearest(x: f64) -> Self;
    /// This number as an `f64`, without rounding.
    fn exactly(self) -> f64;
    /// Returns true if x has a value of this type, exact or rounded.
    fn holds(x: f64) -> bool;
    /// The numbers with these bits, without a copy of them; as a truth value, true unless they are 0.
    fn of_bits(bits: Vec<Self::Bits>) -> Vec<Self>;
}

/// The methods that all floating-point types share.
macro_rules! floating {
    ($type:ty, $dtype:ident, $nearest:expr, $exactly:expr, $bits:ty, $of_bits:expr) => {
        impl Element for $type {
            const DTYPE: Dtype = Dtype::$dtype;
            type Bits = $bits;

            fn held(values: Shared<$type>) -> Values {
                Values::$dtype(values)
            }

            fn of(values: &Values) -> Option<&[$type]> {
                if let Values::$dtype(values) = values { Some(values) } else { None }
            }

            fn nearest(x: f64) -> $type {
                $nearest(x)
            }

            fn exactly(self) -> f64 {
                $exactly(self)
            }

            fn holds(x: f64) -> bool {
                !x.is_finite() || $nearest(x).is_finite()
            }

            fn of_bits(bits: Vec<$bits>) -> Vec<$type> {
                $of_bits(bits)
            }
        }
    };
}

floating!(f32, F32, |x: f64| x as f32, f64::from, f32, identity);
floating!(f16, F16, f16::from_f64, f64::from, u16, HalfBitsVecExt::reinterpret_into);
floating!(bf16, Bf16, bf16::from_f64, f64::from, u16, HalfBitsVecExt::reinterpret_into);

impl Element for f64 {
    const DTYPE: Dtype = Dtype::F64;
    type Bits = f64;

    fn held(values: Shared<f64>) -> Values {
        Values::F64(values)
    }

    fn of(values: &Values) -> Option<&[f64]> {
        match values {
            Values::F64(values) => Some(values),
            Values::Matrix(matrix) => Some(matrix.column_by_column()),
            _ => None,
        }
    }

    fn nearest(x: f64) -> f64 {
        x
    }

    fn exactly(self) -> f64 {
        self
    }

    fn holds(_: f64) -> bool {
        true
    }

    fn of_bits(bits: Vec<f64>) -> Vec<f64> {
        bits
    }
}

impl Element for bool {
    const DTYPE: Dtype = Dtype::Bool;
    type Bits = u8;

    fn held(values: Shared<bool>) -> Values {
        Values::Bool(values)
    }

    fn of(values: &Values) -> Option<&[bool]> {
        if let Values::Bool(values) = values { Some(values) } else { None }
    }

    fn nearest(x: f64) -> bool {
        x != 0.0
    }

    fn exactly(self) -> f64 {
        f64::from(u8::from(self))
    }

    fn holds(x: f64) -> bool {
        !x.is_nan() && x != f64::INFINITY
    }

    fn of_bits(bits: Vec<u8>) -> Vec<bool> {
        bits.into_iter().map(|byte| byte != 0).collect()
    }
}

/// A number in this type.
///
/// # Errors
/// If the type has none for it.
pub fn in_type<T: Element>(x: f64) -> Result<T> {
    match (T::holds(x), T::DTYPE) {
        (true, _) => Ok(T::nearest(x)),
        (false, Dtype::Bool) => {
            Err(Error::new(format!("{x} is neither true nor false")).help("write 1 for true and 0 for false"))
        }
        (false, dtype) => Err(Error::new(format!("{x:e} is too large for {}", dtype.name()))
            .help("give --dtype f64, or scale the numbers down")),
    }
}

// The numbers of a tensor: in memory, shared by its clones, or in a file.

/// Numbers of one type.
#[derive(Clone, Debug)]
pub enum Values {
    /// In single precision.
    F32(Shared<f32>),
    /// In double precision.
    F64(Shared<f64>),
    /// In half precision.
    F16(Shared<f16>),
    /// Numbers in bfloat16.
    Bf16(Shared<bf16>),
    /// Truth values.
    Bool(Shared<bool>),
    /// In double precision, as the exact path computes with them: the cells of a matrix, column by column.
    Matrix(Matrix),
    /// In a file, from which they are read when they are asked for.
    Stored(StoredNumbers),
}

impl Values {
    /// Their type.
    pub fn dtype(&self) -> Dtype {
        match self {
            Values::F32(_) => Dtype::F32,
            Values::F64(_) | Values::Matrix(_) => Dtype::F64,
            Values::F16(_) => Dtype::F16,
            Values::Bf16(_) => Dtype::Bf16,
            Values::Bool(_) => Dtype::Bool,
            Values::Stored(stored) => stored.dtype(),
        }
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::F16(values) => values.len(),
            Values::Bf16(values) => values.len(),
            Values::Bool(values) => values.len(),
            Values::Matrix(matrix) => matrix.column_by_column().len(),
            Values::Stored(stored) => stored.count(),
        }
    }

    /// The bytes of floating-point numbers in memory, as the machine has them.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Values::F32(values) => Some(bytemuck::cast_slice(values)),
            Values::F64(values) => Some(bytemuck::cast_slice(values)),
            Values::F16(values) => Some(bytemuck::cast_slice::<u16, _>(values.reinterpret_cast())),
            Values::Bf16(values) => Some(bytemuck::cast_slice::<u16, _>(values.reinterpret_cast())),
            Values::Matrix(matrix) => Some(bytemuck::cast_slice(matrix.column_by_column())),
            Values::Bool(_) | Values::Stored(_) => None,
        }
    }

    /// The number at a place, in `f64`, which changes none.
    ///
    /// # Panics
    /// If there is no such place, or the numbers are in a file.
    pub fn at(&self, place: usize) -> f64 {
        match self {
            Values::F32(values) => f64::from(values[place]),
            Values::F64(values) => values[place],
            Values::F16(values) => f64::from(values[place]),
            Values::Bf16(values) => f64::from(values[place]),
            Values::Bool(values) => f64::from(u8::from(values[place])),
            Values::Matrix(matrix) => matrix.column_by_column()[place],
            Values::Stored(_) => panic!("these numbers are in a file: `Tensor::loaded` reads them"),
        }
    }

    /// Returns true if the condition holds for one of them; truth values are finite.
    fn any(&self, is: fn(f64) -> bool) -> bool {
        match self {
            Values::F32(values) => values.iter().any(|x| is(f64::from(*x))),
            Values::F64(values) => values.iter().any(|x| is(*x)),
            Values::F16(values) => values.iter().any(|x| is(f64::from(*x))),
            Values::Bf16(values) => values.iter().any(|x| is(f64::from(*x))),
            Values::Matrix(matrix) => matrix.column_by_column().iter().any(|x| is(*x)),
            Values::Bool(_) | Values::Stored(_) => false,
        }
    }
}

// More rows below those of a tensor, as a cache gets them token by token.

impl Tensor {
    /// Puts rows below those of this tensor, which then has these names. Numbers that no other tensor shares stay where they are.
    /// Returns false, and changes nothing, unless both are matrices of `f32` in rows of the same width.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn append(&mut self, rows: &Tensor, names: Option<&Labels>) -> Result<bool> {
        let (Some(more), true) = (rows.slice::<f32>(), self.is_row_by_row() && rows.is_row_by_row()) else {
            return Ok(false);
        };
        let (Values::F32(numbers), true) = (&mut self.values, self.layout.columns == rows.layout.columns)
        else {
            return Ok(false);
        };
        numbers.extend(more)?;
        self.layout = Layout::stacked(1, self.layout.rows + rows.layout.rows, self.layout.columns);
        self.row_labels = names.filter(|names| names.len() == self.layout.rows).cloned();
        self.view = OnceLock::new();
        Ok(true)
    }

    /// Returns true if it is one matrix whose numbers lie row after row, and no others with them.
    fn is_row_by_row(&self) -> bool {
        let Layout { heads, rows, columns, row_stride, column_stride, .. } = self.layout;
        heads == 1 && column_stride == 1 && row_stride == columns && self.values.count() == rows * columns
    }
}

// Tensors whose numbers are in a file, and reading them.

impl Tensor {
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

    /// These numbers where they are, or read into memory if they are in a file.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn in_memory(&self) -> Result<Cow<'_, Tensor>> {
        if self.is_stored() { self.clone().loaded().map(Cow::Owned) } else { Ok(Cow::Borrowed(self)) }
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
}

/// Some of the numbers in a file, by their places.
fn in_memory(stored: &StoredNumbers, places: Range<usize>) -> Result<Values> {
    fn read<T: Element>(stored: &StoredNumbers, places: Range<usize>) -> Result<Values> {
        let read = |bits: &mut [T::Bits]| stored.read(places.clone(), bits);
        Ok(T::held(read_from(stored.name(), places.len(), T::of_bits, read)?))
    }
    match stored.dtype() {
        Dtype::F32 => read::<f32>(stored, places),
        Dtype::F64 => read::<f64>(stored, places),
        Dtype::F16 => read::<half::f16>(stored, places),
        Dtype::Bf16 => read::<half::bf16>(stored, places),
        Dtype::Bool => read::<bool>(stored, places),
    }
}

// The numbers of a tensor: one, all, as a matrix, compared with those of another.

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
        matrix.labelled_by(self.row_labels.as_ref(), self.col_labels.as_ref())
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

// A tensor with some other numbers.

impl Tensor {
    /// These numbers in their own type `T`, in memory, with others in some cells: row and column from 0, and the number, which is
    /// rounded to the type. The last one for a cell counts.
    ///
    /// # Errors
    /// If they are of another type or cannot be read, there is no such cell, a finite number is beyond the type, or there is no room
    /// for a copy.
    pub fn replaced<T: Element>(&self, cells: &[(usize, usize, f64)]) -> Result<Tensor> {
        let here = self.in_memory()?;
        let Layout { rows, columns, heads, head_stride, row_stride, column_stride } = self.layout();
        let own = here.slice::<T>().ok_or_else(|| Error::new("these numbers have another type"))?;
        let mut values: Vec<T> = memory::reserved(own.len())?;
        values.extend_from_slice(own);
        let mut is_inexact = self.is_inexact();
        for &(i, j, x) in cells {
            if i >= rows || j >= heads * columns {
                return Err(Error::new(format!(
                    "there is no cell [{},{}] in a tensor of {}",
                    i + 1,
                    j + 1,
                    self.shape()
                )));
            }
            let value: T = in_type(x)?;
            is_inexact |= value.exactly() != x;
            values[j / columns * head_stride + i * row_stride + j % columns * column_stride] = value;
        }
        let replaced =
            Tensor::new(values, self.layout())?.with_stack(self.is_stack()).with_inexact(is_inexact);
        Ok(replaced.labelled(self.row_labels().cloned(), self.col_labels().cloned()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use crate::matrix::{Matrix, labels};

    use super::{Storage, *};

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

    #[test]
    fn many_numbers_from_a_file_begin_with_a_cache_line() {
        let read = |count: usize| {
            let write = |bits: &mut [f32]| {
                bits.iter_mut().enumerate().for_each(|(at, bits)| *bits = at as f32);
                Ok(())
            };
            read_from::<f32, f32>("a file", count, |bits| bits, write).unwrap()
        };
        let many = read(100_000);
        assert_eq!(many.as_ptr().addr() % LINE, 0);
        assert_eq!((many.len(), many[0], many[99_999]), (100_000, 0.0, 99_999.0));
        assert_eq!(read(3)[..], [0.0, 1.0, 2.0]);
    }

    #[test]
    fn more_numbers_come_behind_these_and_a_clone_keeps_its_own() {
        let mut numbers = Shared { all: Arc::new(vec![7, 1, 2, 8]), start: 1, count: 2 };
        let before = numbers.clone();
        numbers.extend(&[3, 4]).unwrap();
        assert_eq!((&numbers[..], &before[..]), (&[1, 2, 3, 4][..], &[1, 2][..]));
        let place = numbers.as_ptr();
        drop(before);
        numbers.extend(&[]).unwrap();
        assert_eq!(numbers.as_ptr(), place);
    }

    #[test]
    fn each_type_rounds_to_its_nearest_number_and_says_what_it_cannot_hold() {
        assert_eq!(f16::nearest(0.43).exactly(), 0.429_931_640_625);
        assert_eq!(bf16::nearest(0.43).exactly(), 0.429_687_5);
        assert!(in_type::<f16>(65_504.0).is_ok());
        assert_eq!(
            in_type::<f16>(1e5).unwrap_err().to_string().lines().next(),
            Some("1e5 is too large for f16")
        );
        assert!(
            in_type::<bf16>(1e38).is_ok() && in_type::<f32>(1e39).is_err() && in_type::<f64>(1e300).is_ok()
        );
    }

    #[test]
    fn bits_are_the_numbers_that_a_file_has() {
        fn of<T: Element>(bits: Vec<T::Bits>) -> Vec<f64> {
            assert_eq!(size_of::<T::Bits>(), T::DTYPE.size());
            T::of_bits(bits).into_iter().map(T::exactly).collect()
        }
        assert_eq!(of::<f16>(vec![0x3e00, 0xc000]), [1.5, -2.0]);
        assert_eq!(of::<bf16>(vec![0x3fc0, 0xc000]), [1.5, -2.0]);
        assert_eq!(of::<f32>(vec![1.5, -2.0]), [1.5, -2.0]);
        assert_eq!(of::<f64>(vec![1.5, -2.0]), [1.5, -2.0]);
        assert_eq!(of::<bool>(vec![0, 1, 2]), [0.0, 1.0, 1.0]);
    }

    fn rows(values: &[f32], rows: usize) -> Tensor {
        Tensor::new(values.to_vec(), Layout::stacked(1, rows, values.len() / rows)).unwrap()
    }

    #[test]
    fn rows_come_below_and_a_tensor_that_shares_the_numbers_keeps_its_own() {
        let mut cache = rows(&[1.0, 2.0], 1);
        let before = cache.clone();
        let names = labels(&["bat", "cave"]);
        assert!(cache.append(&rows(&[3.0, 4.0], 1), Some(&names)).unwrap());
        assert_eq!(cache.cells().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(cache.row_labels(), Some(&names));
        assert_eq!(before.cells().collect::<Vec<_>>(), [1.0, 2.0]);
    }

    #[test]
    fn other_types_and_widths_are_left_as_they_are() {
        let mut cache = rows(&[1.0, 2.0], 1);
        assert!(!cache.append(&rows(&[3.0], 1), None).unwrap());
        assert!(!cache.append(&Tensor::from(Matrix::identity(2)), None).unwrap());
        assert_eq!(cache.cells().collect::<Vec<_>>(), [1.0, 2.0]);
        let mut exact = Tensor::from(Matrix::identity(2));
        assert!(!exact.append(&rows(&[3.0, 4.0], 1), None).unwrap());
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

    #[test]
    fn one_number_is_replaced_and_the_others_keep_their_bits() {
        let heads =
            Tensor::new(vec![1.0_f32, 2.0, 3.0, 4.0], Layout::stacked(2, 1, 2)).unwrap().with_stack(true);
        let other = heads.replaced::<f32>(&[(0, 2, 7.0), (0, 2, 0.1)]).unwrap();
        let third = f64::from(0.1_f32);
        assert_eq!(other.cells().collect::<Vec<_>>(), [1.0, 2.0, third, 4.0]);
        assert_eq!(heads.at(0, 2), 3.0, "clones do not share it");
        assert!(other.is_inexact() && other.dims() == heads.dims());
        assert!(
            heads.replaced::<f32>(&[(1, 0, 1.0)]).is_err() && heads.replaced::<f32>(&[(0, 4, 1.0)]).is_err()
        );
        assert!(heads.replaced::<f32>(&[(0, 0, 1e300)]).is_err() && heads.replaced::<f64>(&[]).is_err());
    }
}
