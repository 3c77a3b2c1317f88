//! Numbers with dimensions, as a file holds them before they become a matrix.

mod stack;

use crate::error::{Error, Place, Result};
use crate::matrix::Labels;
use crate::memory;
use crate::tensor::{Element, in_type};
use crate::text::counted;

use super::allowed_numbers::AllowedNumbers;
use super::dims::{checked_cells, shape_text};

/// Numbers with one to four dimensions, in the order of their last dimension first (row by row).
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T = f64> {
    dims: Vec<usize>,
    values: Vec<T>,
    /// True if the first dimension runs fastest, as in a file of Fortran order; outside this module only for
    /// [`Array::into_typed`].
    fortran: bool,
    boolean: bool,
    row_labels: Option<Labels>,
    col_labels: Option<Labels>,
    decimals: Option<usize>,
    digits: Option<usize>,
    roundoff: f64,
    /// True if a number is not the one in the source, but the nearest of the type T.
    inexact: bool,
    short_header: bool,
}

impl<T: Element> Array<T> {
    /// An array of these dimensions, filled row by row.
    ///
    /// # Errors
    /// If it holds no numbers, or another count than its dimensions say.
    pub fn new(dims: Vec<usize>, values: Vec<T>) -> Result<Array<T>> {
        let cells = checked_cells(&dims, usize::MAX)?;
        if cells != values.len() {
            return Err(Error::new(format!(
                "{} cannot fill {}",
                counted(values.len(), "number"),
                shape_text(&dims)
            )));
        }
        // A number without dimensions is a row of one.
        let dims = if dims.is_empty() { vec![1] } else { dims };
        Ok(Array {
            dims,
            values,
            fortran: false,
            boolean: false,
            row_labels: None,
            col_labels: None,
            decimals: None,
            digits: None,
            roundoff: 0.0,
            inexact: false,
            short_header: false,
        })
    }

    /// The same array, marked as `true` and `false` (1 and 0).
    pub(super) fn with_boolean(mut self, boolean: bool) -> Array<T> {
        self.boolean = boolean;
        self
    }

    /// The same array with the decimals that its source writes.
    pub(super) fn with_decimals(mut self, decimals: Option<usize>) -> Array<T> {
        self.decimals = decimals;
        self
    }

    /// The same array with the significant digits that its source writes.
    pub(super) fn with_digits(mut self, digits: Option<usize>) -> Array<T> {
        self.digits = digits;
        self
    }

    /// The same array with the unit roundoff of the type that its source stores.
    pub(super) fn with_roundoff(mut self, roundoff: f64) -> Array<T> {
        self.roundoff = roundoff;
        self
    }

    /// The same array, said to hold the numbers of its source, or the nearest to them.
    pub(super) fn with_inexact(mut self, inexact: bool) -> Array<T> {
        self.inexact = inexact;
        self
    }

    /// The same array, whose values stand with the first dimension running fastest.
    pub(super) fn in_fortran_order(mut self, fortran: bool) -> Array<T> {
        self.fortran = fortran;
        self
    }

    /// The same array row by row.
    pub(super) fn row_by_row(mut self) -> Array<T> {
        if !std::mem::take(&mut self.fortran) {
            return self;
        }
        let dims = &self.dims;
        let mut index = vec![0usize; dims.len()];
        let mut values = Vec::with_capacity(self.values.len());
        for _ in 0..self.values.len() {
            let at = index.iter().zip(dims).rev().fold(0, |at, (&i, &side)| at * side + i);
            values.push(self.values[at]);
            for (i, &side) in index.iter_mut().zip(dims).rev() {
                *i += 1;
                if *i < side {
                    break;
                }
                *i = 0;
            }
        }
        self.values = values;
        self
    }

    /// The same array, said to have a header with one name fewer than there are columns, so that the first column has names.
    pub(super) fn with_short_header(mut self, short: bool) -> Array<T> {
        self.short_header = short;
        self
    }

    /// The same array with names for its rows and columns.
    pub(super) fn labelled(mut self, rows: Option<Labels>, cols: Option<Labels>) -> Array<T> {
        self.row_labels = rows;
        self.col_labels = cols;
        self
    }

    /// The dimensions as the file has them: (T), (T, d), (H, T, d) or (1, H, T, d).
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// All numbers, row by row.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// True if the source holds truth values (NumPy's bool, `true` and `false`); they are 1 and 0 here.
    pub fn is_boolean(&self) -> bool {
        self.boolean
    }

    /// The names of the rows, where the source has them.
    pub fn row_labels(&self) -> Option<&Labels> {
        self.row_labels.as_ref()
    }

    /// The names of the columns, where the source has them.
    pub fn col_labels(&self) -> Option<&Labels> {
        self.col_labels.as_ref()
    }

    /// The most decimals that any number carries, counted in the type of the source: an f32's 0.43 has two. At most
    /// [`super::number::MOST_DECIMALS`]; `None` for truth values and for arrays too large to be read by eye.
    pub fn decimals(&self) -> Option<usize> {
        self.decimals
    }

    /// The significant digits of each number, where a text has as many of each and not as many decimals: 5 for
    /// `1.3882e+00 7.6811e-02`.
    pub fn digits(&self) -> Option<usize> {
        self.digits
    }

    /// The unit roundoff u of the type in which the source stores its numbers: a stored number is off by at most u of
    /// itself. 2⁻¹¹ for half precision, 2⁻⁸ for bfloat16, 2⁻²⁴ for single and 2⁻⁵³ for double; 0 for text and for integers.
    pub fn roundoff(&self) -> f64 {
        self.roundoff
    }

    /// True if a number is not the one in the source, but the nearest: of integers beyond 2⁵³ in binary the nearest `f64`.
    pub fn is_inexact(&self) -> bool {
        self.inexact
    }

    /// True if the header of a text has one name fewer than there are columns, so that the first column has the names of rows.
    pub(super) fn has_short_header(&self) -> bool {
        self.short_header
    }

    /// Checks that `allow` admits every number; `name` is the file, and the entry in it.
    ///
    /// # Errors
    /// At the row and column of the first number that may not.
    pub(super) fn checked(self, name: &str, allow: AllowedNumbers) -> Result<Array<T>> {
        let finite = |value: &T| value.exactly().is_finite();
        if self.values.iter().all(finite) {
            return Ok(self);
        }
        for (at, &value) in self.values.iter().enumerate() {
            allow.check(value.exactly()).map_err(|error| error.at(self.place(name, at)))?;
        }
        Ok(self)
    }

    /// The head, row and column of the number at a position of `values`.
    pub(super) fn place(&self, name: &str, at: usize) -> Place {
        let cols = self.dims.last().copied().unwrap_or(1).max(1);
        let rows = self.dims.iter().rev().nth(1).copied().unwrap_or(1).max(1);
        let heads = (self.values.len() / cols / rows).max(1);
        let (row, col, head) = if self.fortran {
            (at / heads % rows + 1, at / heads / rows + 1, at % heads + 1)
        } else {
            (at / cols % rows + 1, at % cols + 1, at / cols / rows + 1)
        };
        let name = if self.dims.len() > 2 { format!("{name}, head {head}") } else { name.to_string() };
        Place::Cell(name, row, col)
    }

    /// The same numbers in another type.
    ///
    /// # Errors
    /// At the first that is finite and beyond the type.
    pub(super) fn in_type<U: Element>(self, name: &str) -> Result<Array<U>> {
        let cell = |(at, value): (usize, &T)| {
            in_type(value.exactly()).map_err(|error| error.at(self.place(name, at)))
        };
        let mut values: Vec<U> =
            memory::reserved(self.values.len()).map_err(|error| error.in_source(name))?;
        for number in self.values.iter().enumerate().map(cell) {
            values.push(number?);
        }
        let changed = values.iter().zip(&self.values).any(|(new, old)| new.exactly() != old.exactly());
        let Array { dims, values: _, fortran, boolean, row_labels, col_labels, .. } = self;
        let Array { decimals, digits, roundoff, short_header, .. } = self;
        let inexact = self.inexact || changed;
        Ok(Array {
            dims,
            values,
            fortran,
            boolean,
            row_labels,
            col_labels,
            decimals,
            digits,
            roundoff,
            inexact,
            short_header,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_their_dimensions_or_are_no_array() {
        assert!(Array::new(vec![2, 2], vec![1.0]).is_err());
    }

    #[test]
    fn a_number_that_may_not_stand_there_is_named_with_its_cell() {
        let array = Array::new(vec![2, 1, 2], vec![0.0, 1.0, 2.0, f64::NEG_INFINITY]).unwrap();
        let said = array.clone().checked("q.npy", AllowedNumbers::FINITE).unwrap_err().to_string();
        assert!(said.starts_with("q.npy, head 2, row 1, column 2: `-inf`"), "{said}");
        assert!(array.checked("q.npy", AllowedNumbers::INFINITE).is_ok());
        let array = Array::new(vec![2, 2], vec![0.0, 1.0, f64::NAN, 3.0]).unwrap();
        let said = array.clone().checked("q.npy", AllowedNumbers::INFINITE).unwrap_err().to_string();
        assert!(said.starts_with("q.npy, row 2, column 1: this is NaN"), "{said}");
        assert!(array.checked("q.npy", AllowedNumbers::ANYTHING).is_ok());
    }
}
