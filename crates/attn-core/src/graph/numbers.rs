//! Numbers in the type in which they were read or computed: held once, however many there are.

use super::typed::{Dtype, Typed, Values, in_type};
use crate::attention::Pairs;
use crate::error::{Error, Result};
use crate::kernel::{Heads, Layout};
use crate::matrix::{Labels, Matrix, Shape};
use crate::memory;
use crate::text::counted;

/// So many numbers are held as a [`Matrix`] too, so that they can be looked at cell by cell.
pub const MOST_LOOKED_AT: usize = 100_000;

/// Of a computation on the fast path a matrix of more numbers is shown by its edges, as NumPy does.
pub const MOST_SHOWN: usize = 1000;

/// The numbers of one or many heads, read through a layout. As a matrix they are the heads side by side: a row for each
/// token.
#[derive(Clone, Debug)]
pub struct Numbers {
    values: Values,
    layout: Layout,
    matrix: Option<Matrix>,
    /// Whether a number is not the one that was given, but the nearest of this type.
    inexact: bool,
    /// Whether they came as a stack of heads, be it of one.
    stack: bool,
    row_labels: Option<Labels>,
    col_labels: Option<Labels>,
}

impl Numbers {
    /// `values`, which are moved, not copied, read through `layout`.
    ///
    /// # Errors
    /// If the layout reaches past the values.
    pub fn new<T: Typed>(values: Vec<T>, layout: Layout) -> Result<Numbers> {
        Heads::new("an array", &values, layout)?;
        let values = T::held(values);
        let (inexact, stack, row_labels, col_labels) = (false, false, None, None);
        let numbers = Numbers { values, layout, matrix: None, inexact, stack, row_labels, col_labels };
        let shape = numbers.shape();
        match shape.rows.saturating_mul(shape.cols) <= MOST_LOOKED_AT {
            true => Ok(numbers.with_matrix()),
            false => Ok(numbers),
        }
    }

    /// The same numbers, held as a matrix too, however many they are: for a step that is computed from them.
    pub fn with_matrix(mut self) -> Numbers {
        if self.matrix.is_none() {
            let Shape { rows, cols } = self.shape();
            let matrix = Matrix::from_fn(rows, cols, |i, j| self.at(i, j));
            let matrix = matrix.with_row_labels(self.row_labels.clone());
            self.matrix = Some(matrix.with_col_labels(self.col_labels.clone()));
        }
        self
    }

    /// A matrix in this type, each number rounded to the nearest.
    ///
    /// # Errors
    /// If a finite number is beyond the type.
    pub fn rounded<T: Typed>(matrix: &Matrix) -> Result<Numbers> {
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
        let numbers = Numbers::new(values, Layout::stacked(1, matrix.rows(), matrix.cols()))?;
        let numbers = numbers.with_inexact(inexact);
        Ok(numbers.labelled(matrix.row_labels().cloned(), matrix.col_labels().cloned()))
    }

    /// The same numbers with names for rows and columns, as far as they fit.
    pub fn labelled(mut self, rows: Option<Labels>, cols: Option<Labels>) -> Numbers {
        let shape = self.shape();
        self.row_labels = rows.filter(|labels| labels.len() == shape.rows);
        self.col_labels = cols.filter(|labels| labels.len() == shape.cols);
        let (rows, cols) = (self.row_labels.clone(), self.col_labels.clone());
        self.matrix = self.matrix.map(|matrix| matrix.with_row_labels(rows).with_col_labels(cols));
        self
    }

    /// The same numbers, said to be those that were given, or the nearest to them.
    pub fn with_inexact(mut self, inexact: bool) -> Numbers {
        self.inexact = inexact;
        self
    }

    /// Whether a number is not the one that was given, but the nearest of this type.
    pub fn is_inexact(&self) -> bool {
        self.inexact
    }

    /// The same numbers, said to have come as a stack of heads or as one matrix.
    pub fn with_stack(mut self, stack: bool) -> Numbers {
        self.stack = stack;
        self
    }

    /// Whether they came as a stack of heads, be it of one.
    pub fn is_stack(&self) -> bool {
        self.stack
    }

    /// The names of the rows, where they have any.
    pub fn row_labels(&self) -> Option<&Labels> {
        self.row_labels.as_ref()
    }

    /// The names of the columns, where they have any.
    pub fn col_labels(&self) -> Option<&Labels> {
        self.col_labels.as_ref()
    }

    /// The numbers of one matrix taken as so many heads side by side; those of as many heads stay as they are.
    ///
    /// # Errors
    /// If the columns cannot be shared out evenly.
    pub fn of_heads(mut self, heads: usize) -> Result<Numbers> {
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

    /// The heads, if the numbers are of this type.
    pub fn heads<T: Typed>(&self) -> Option<Heads<'_, T>> {
        Heads::new("an array", T::of(&self.values)?, self.layout).ok()
    }

    /// The only head, as cells of pairs of a query and a key, if the numbers are of this type.
    pub fn pairs<T: Typed>(&self) -> Option<Pairs<'_, T>> {
        Pairs::new(T::of(&self.values)?, self.layout).ok()
    }

    /// How many heads they are.
    pub fn head_count(&self) -> usize {
        self.layout.heads
    }

    /// The heads side by side: rows times all columns.
    pub fn shape(&self) -> Shape {
        Shape { rows: self.layout.rows, cols: self.layout.heads * self.layout.columns }
    }

    /// Their type.
    pub fn dtype(&self) -> Dtype {
        match self.values {
            Values::F32(_) => Dtype::F32,
            Values::F64(_) => Dtype::F64,
            Values::Bool(_) => Dtype::Bool,
        }
    }

    /// The number at row i, column j of all heads side by side; in `f64`, which changes none.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let Layout { rows, columns, head_stride, row_stride, column_stride, .. } = self.layout;
        assert!(i < rows && columns > 0, "row {i} of {rows}");
        let place = j / columns * head_stride + i * row_stride + j % columns * column_stride;
        match &self.values {
            Values::F32(values) => f64::from(values[place]),
            Values::F64(values) => values[place],
            Values::Bool(values) => values[place].exactly(),
        }
    }

    /// All cells, row by row.
    pub fn cells(&self) -> impl Iterator<Item = f64> + '_ {
        let shape = self.shape();
        (0..shape.rows).flat_map(move |i| (0..shape.cols).map(move |j| self.at(i, j)))
    }

    /// Whether a number is NaN.
    pub fn any_nan(&self) -> bool {
        match &self.values {
            Values::F32(values) => values.iter().any(|x| x.is_nan()),
            Values::F64(values) => values.iter().any(|x| x.is_nan()),
            Values::Bool(_) => false,
        }
    }

    /// Whether a number is ∞ or −∞.
    pub fn any_infinite(&self) -> bool {
        match &self.values {
            Values::F32(values) => values.iter().any(|x| x.is_infinite()),
            Values::F64(values) => values.iter().any(|x| x.is_infinite()),
            Values::Bool(_) => false,
        }
    }

    /// The same numbers as a matrix, where they are few enough to be looked at.
    pub fn matrix(&self) -> Option<&Matrix> {
        self.matrix.as_ref()
    }

    /// Whether both have the same type, shape and bits, wherever they lie.
    pub fn same_bits(&self, other: &Numbers) -> bool {
        self.dtype() == other.dtype()
            && self.shape() == other.shape()
            && self.cells().zip(other.cells()).all(|(a, b)| a.to_bits() == b.to_bits())
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Numbers) -> bool {
        let labels = |numbers: &Numbers| (numbers.row_labels.clone(), numbers.col_labels.clone());
        labels(self) == labels(other) && self.same_bits(other)
    }
}

/// What is to be seen of rows or columns too many to look at: the first and the last, and `None` for those between.
pub fn edges(count: usize) -> Vec<Option<usize>> {
    const EDGE: usize = 3;
    if count <= 2 * EDGE + 1 {
        return (0..count).map(Some).collect();
    }
    (0..EDGE).map(Some).chain([None]).chain((count - EDGE..count).map(Some)).collect()
}
