//! Numbers with dimensions, as a file holds them before they become a matrix.

use crate::error::{Error, Place, Result};
use crate::graph::{MAX_CELLS, Op, Role};
use crate::kernel::Layout;
use crate::matrix::{Labels, Matrix};
use crate::memory;
use crate::tensor::{Element, Tensor, in_type};
use crate::text::{clip, counted};

/// Numbers with one to four dimensions, in the order of their last dimension first (row by row).
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T = f64> {
    dims: Vec<usize>,
    values: Vec<T>,
    /// What the source says of them.
    pub facts: ArrayFacts,
}

/// An array, with its name where the source gives one.
pub type NamedArray = (Option<String>, Array);

/// What a source says of its numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayFacts {
    /// The first dimension runs fastest, as in a file of Fortran order; outside this module only for [`Array::into_typed`].
    pub fortran: bool,
    /// They are truth values (NumPy's bool, `true` and `false`); these are 1 and 0 here.
    pub boolean: bool,
    /// The names of the rows.
    pub row_labels: Option<Labels>,
    /// The names of the columns.
    pub col_labels: Option<Labels>,
    /// The most decimals that any number carries, counted in the type of the source: an f32's 0.43 has two. At most
    /// [`super::number::MOST_DECIMALS`]; `None` for truth values and for arrays too large to be read by eye.
    pub decimals: Option<usize>,
    /// The significant digits of each number, where a text has as many of each and not as many decimals: 5 for
    /// `1.3882e+00 7.6811e-02`.
    pub digits: Option<usize>,
    /// The unit roundoff u of the type in which the source stores its numbers: a stored number is off by at most u of
    /// itself. 2⁻¹¹ for half precision, 2⁻⁸ for bfloat16, 2⁻²⁴ for single and 2⁻⁵³ for double; 0 for integers
    /// and for text that names no type of half precision.
    pub roundoff: f64,
    /// A number is not the one in the source, but the nearest of the type T: of integers beyond 2⁵³ in binary the nearest `f64`.
    pub inexact: bool,
    /// Its header has one name fewer than there are columns, so that the first column has the names of rows.
    pub short_header: bool,
    /// What a text was taken for where that had to be guessed, each a few words: `numbers with decimal commas`.
    pub told: Vec<String>,
}

impl<T: Element> Array<T> {
    /// An array of these dimensions, filled row by row.
    ///
    /// # Errors
    /// If it holds no numbers, or another count than its dimensions say.
    pub fn new(dims: Vec<usize>, values: Vec<T>) -> Result<Array<T>> {
        let cells = checked_cells(&dims, usize::MAX)?;
        if cells != values.len() {
            let (numbers, shape) = (counted(values.len(), "number"), shape_text(&dims));
            return Err(Error::new(format!("{numbers} cannot fill {shape}")));
        }
        // A number without dimensions is a row of one.
        let dims = if dims.is_empty() { vec![1] } else { dims };
        Ok(Array { dims, values, facts: ArrayFacts::default() })
    }

    /// The same array with what its source says of it.
    pub fn with(self, facts: ArrayFacts) -> Array<T> {
        Array { facts, ..self }
    }

    /// The same array row by row.
    pub fn row_by_row(mut self) -> Array<T> {
        if !std::mem::take(&mut self.facts.fortran) {
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

    /// The same array with names for its rows and columns.
    pub fn labelled(mut self, rows: Option<Labels>, cols: Option<Labels>) -> Array<T> {
        (self.facts.row_labels, self.facts.col_labels) = (rows, cols);
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

    /// The names of the rows, where the source has them.
    pub fn row_labels(&self) -> Option<&Labels> {
        self.facts.row_labels.as_ref()
    }

    /// The names of the columns, where the source has them.
    pub fn col_labels(&self) -> Option<&Labels> {
        self.facts.col_labels.as_ref()
    }

    /// Checks that `allow` admits every number; `name` is the file, and the entry in it.
    ///
    /// # Errors
    /// At the row and column of the first number that may not.
    pub fn checked(self, name: &str, allow: AllowedNumbers) -> Result<Array<T>> {
        for (at, &value) in self.values.iter().enumerate() {
            allow.check(value.exactly()).map_err(|error| error.at(self.place(name, at)))?;
        }
        Ok(self)
    }

    /// The head, row and column of the number at a position of `values`.
    pub fn place(&self, name: &str, at: usize) -> Place {
        let cols = self.dims.last().copied().unwrap_or(1).max(1);
        let rows = self.dims.iter().rev().nth(1).copied().unwrap_or(1).max(1);
        let heads = (self.values.len() / cols / rows).max(1);
        let (row, col, head) = if self.facts.fortran {
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
    pub fn in_type<U: Element>(self, name: &str) -> Result<Array<U>> {
        let cell = |(at, value): (usize, &T)| {
            in_type(value.exactly()).map_err(|error| error.at(self.place(name, at)))
        };
        let mut values: Vec<U> =
            memory::reserved(self.values.len()).map_err(|error| error.in_source(name))?;
        for number in self.values.iter().enumerate().map(cell) {
            values.push(number?);
        }
        let changed = values.iter().zip(&self.values).any(|(new, old)| new.exactly() != old.exactly());
        let inexact = self.facts.inexact || changed;
        Ok(Array { dims: self.dims, values, facts: ArrayFacts { inexact, ..self.facts } })
    }
}

// Arrays as matrices: one, or one for each head.

impl<T: Element> Array<T> {
    /// The number of heads, and the rows and columns of each: (H, T, d) or (1, H, T, d) is a stack of H, anything less is one.
    ///
    /// # Errors
    /// If it is a stack of several where it may be none, has four dimensions and the first is not 1, or more than four.
    fn heads(&self, may_be_stack: bool) -> Result<(usize, usize, usize)> {
        let shape = shape_text(&self.dims);
        match self.dims[..] {
            [cols] => Ok((1, 1, cols)),
            [rows, cols] => Ok((1, rows, cols)),
            [heads, _, _] | [1, heads, _, _] if heads > 1 && !may_be_stack => {
                let what =
                    format!("this is a stack of {heads} heads of shape {shape}, but one matrix is needed");
                Err(Error::new(what)
                    .help("give one (T, d) matrix; only Q, K, V, masks and biases may be stacks of heads"))
            }
            [heads, rows, cols] | [1, heads, rows, cols] => Ok((heads, rows, cols)),
            [batch, _, _, _] => {
                let what = format!(
                    "this is a batch of {batch} sequences, shape {shape}, but one sequence is needed"
                );
                Err(Error::new(what).help("save one sequence of the batch: (H, T, d) or (1, H, T, d)"))
            }
            _ => {
                let count = counted(self.dims.len(), "dimension");
                Err(Error::new(format!("this array has {count}: its shape is {shape}"))
                    .help("a matrix has two, a stack of heads three: (H, T, d)"))
            }
        }
    }

    /// The numbers of a role as the kernel reads them: the values stay where they are.
    ///
    /// # Errors
    /// As [`Array::into_heads`], and if heads are stacked where one matrix belongs.
    pub fn into_typed(self, role: Role) -> Result<Tensor> {
        let (heads, rows, columns) = self.heads(role.has_heads() || role.is_beside_scores())?;
        let layout = if self.facts.fortran {
            Layout { heads, rows, columns, head_stride: 1, row_stride: heads, column_stride: heads * rows }
        } else {
            Layout::stacked(heads, rows, columns)
        };
        let tensor = Tensor::new(self.values, layout)?.with_inexact(self.facts.inexact);
        Ok(tensor.with_stack(self.dims.len() > 2).labelled(self.facts.row_labels, self.facts.col_labels))
    }
}

impl Array {
    /// The numbers of a role as the exact path computes with them: a matrix, of a stack the heads side by side. The truth values
    /// of a mask stay what they are.
    ///
    /// # Errors
    /// As [`Array::into_typed`].
    pub fn into_exact(self, role: Role) -> Result<Tensor> {
        let (heads, ..) = self.heads(role.has_heads() || role.is_beside_scores())?;
        if role == Role::Mask && self.facts.boolean {
            return self.in_type::<bool>(role.name())?.into_typed(role);
        }
        let (stack, inexact) = (self.dims.len() > 2, self.facts.inexact);
        let matrix = match heads {
            1 => self.into_matrix()?,
            _ => Op::Concatenate.apply(&self.into_heads()?.iter().collect::<Vec<_>>())?,
        };
        Ok(Tensor::side_by_side(matrix, heads).with_stack(stack).with_inexact(inexact))
    }

    /// The array as one matrix; a one-dimensional one is a single row, a stack of one head is that head.
    ///
    /// # Errors
    /// If it is a stack of several heads, or has more dimensions than that.
    pub fn into_matrix(self) -> Result<Matrix> {
        let (_, rows, cols) = self.heads(false)?;
        let matrix = Matrix::from_row_major(rows, cols, &self.values)?;
        Ok(matrix.labelled_by(self.row_labels(), self.col_labels()))
    }

    /// The array as one matrix per head: (H, T, d) or (1, H, T, d) gives H matrices, a plain matrix one.
    ///
    /// # Errors
    /// If it has four dimensions and the first is not 1, or more than four.
    pub fn into_heads(self) -> Result<Vec<Matrix>> {
        let (heads, rows, cols) = self.heads(true)?;
        let labelled = |matrix: Matrix| matrix.labelled_by(self.row_labels(), self.col_labels());
        // All sides are at least 1: `checked_cells` refuses an empty array.
        self.values
            .chunks_exact(rows * cols)
            .take(heads)
            .map(|head| Matrix::from_row_major(rows, cols, head).map(labelled))
            .collect()
    }
}

// Dimensions of arrays, checked before anything is reserved for them.

/// The most cells of one array: a gibibyte of `f64`.
pub(super) const MOST_CELLS: usize = crate::graph::MAX_CELLS;

/// The number of cells that dimensions span, at least one and at most `most`.
///
/// # Errors
/// If there are none, or too many.
pub fn checked_cells(dims: &[usize], most: usize) -> Result<usize> {
    let cells = dims.iter().try_fold(1usize, |product, &side| product.checked_mul(side));
    match cells {
        Some(0) => Err(Error::new(format!("there are no numbers: the shape is {}", shape_text(dims)))),
        Some(cells) if cells <= most => Ok(cells),
        _ if most == usize::MAX => {
            Err(Error::new(format!("the shape {} has more numbers than any memory holds", shape_text(dims)))
                .help("the header is wrong: save the array again"))
        }
        _ => Err(Error::new(format!("the shape {} has more than {most} numbers", shape_text(dims)))
            .help("save a part of it; attn attend --fast reads larger Q, K, V, masks and biases")),
    }
}

/// `(2, 3, 4)`, as NumPy writes a shape; short whatever the number of dimensions.
pub fn shape_text(dims: &[usize]) -> String {
    let shown: Vec<String> = dims.iter().take(6).map(usize::to_string).collect();
    match dims.len() {
        1 => format!("({},)", shown.concat()),
        0..=6 => format!("({})", shown.join(", ")),
        more => format!("({}, … {more} dimensions)", shown.join(", ")),
    }
}

// Which numbers may stand where.

/// The non-finite numbers that are allowed at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllowedNumbers {
    /// ∞ and −∞, as in a mask or in scores.
    pub infinite: bool,
    /// NaN, as in a result to be compared.
    pub nan: bool,
}

impl AllowedNumbers {
    /// Finite numbers alone: what is computed with.
    pub const FINITE: AllowedNumbers = AllowedNumbers { infinite: false, nan: false };
    /// Also ±∞: masks, biases and scores.
    pub const INFINITE: AllowedNumbers = AllowedNumbers { infinite: true, nan: false };
    /// Everything: results that may themselves show a mistake.
    pub const ANYTHING: AllowedNumbers = AllowedNumbers { infinite: true, nan: true };

    /// Checks that `value` is allowed here.
    ///
    /// # Errors
    /// If it is not; the error has no place yet.
    pub fn check(self, value: f64) -> Result<()> {
        if value.is_nan() && !self.nan {
            return Err(Error::new("this is NaN, not a number")
                .help("replace it; to hide a pair of tokens write -inf in a mask"));
        }
        if value.is_infinite() && !self.infinite {
            let written = if value > 0.0 { "inf" } else { "-inf" };
            return Err(Error::new(format!("`{written}` is not a finite number"))
                .help("write a finite number; only masks, biases and scores may be infinite"));
        }
        Ok(())
    }
}

// The limits of the bytes read from one file, and unpacked from it.

/// The most bytes that are read as a whole: text, JSON, standard input, one array.
const MOST_BYTES: u64 = 1 << 30;

/// The most bytes of one array that is only passed to the fast path.
const MOST_LARGE_BYTES: u64 = 1 << 34;

/// The limits of the bytes read from one file, and unpacked from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The most bytes that are read or unpacked.
    pub whole: u64,
    /// The most numbers of an array in binary.
    pub cells: usize,
    /// The count of numbers from which the limit was computed, if it was; then no larger file is opened.
    pub numbers: Option<usize>,
}

impl Limit {
    /// The limit of any file: 1 GiB at once.
    pub const ANY: Limit = Limit { whole: MOST_BYTES, cells: MAX_CELLS, numbers: None };

    /// The limit of a file whose arrays in binary are only passed to the fast path: 16 GiB. The limit of text is that of any
    /// file, because text is read as a whole.
    pub const LARGE: Limit = Limit { cells: usize::MAX, ..Limit::ANY };

    /// The limit of a file of `numbers` numbers: 64 bytes each, rounded up to whole MiB. A number takes at most 25 bytes as text;
    /// the rest is for names, for what is handed in beside it, and for JSON.
    pub fn of_numbers(numbers: usize) -> Limit {
        let bytes = (numbers as u64).saturating_mul(64).clamp(1, MOST_BYTES);
        Limit { whole: bytes.div_ceil(1 << 20) << 20, numbers: Some(numbers), ..Limit::ANY }
    }

    /// The most bytes of arrays that are read from one file, or unpacked from it.
    pub fn unpacked(self) -> u64 {
        if self.cells > MAX_CELLS { MOST_LARGE_BYTES } else { self.whole }
    }

    /// The error for a file that is larger.
    pub fn too_large(self, name: &str) -> Error {
        let size = self.whole >> 20;
        let error = match self.numbers {
            Some(numbers) => Error::new(format!(
                "the file is larger than {size} MiB, but the exercise has only {}",
                counted(numbers, "number")
            ))
            .help("hand in only what you computed"),
            None => {
                Error::new(format!("the file is larger than {size} MiB; files of this kind are read at once"))
                    .help("save a part of it, or save it as .npy")
            }
        };
        error.in_source(name)
    }
}

// One entry of a file that holds several, whatever the format of the file.

/// One entry of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<T = f64> {
    /// Numbers.
    Array(Array<T>),
    /// A list of strings, such as tokens.
    Words(Vec<String>),
}

impl<T> Item<T> {
    /// The numbers of an array.
    ///
    /// # Errors
    /// If these are words; the error has no place yet.
    pub fn into_array(self) -> Result<Array<T>> {
        match self {
            Item::Array(array) => Ok(array),
            Item::Words(_) => Err(Error::new("this holds words, but numbers are needed")),
        }
    }
}

/// The name of an entry in errors: `weights.npz, W_Q`.
pub fn entry_name(file: &str, entry: &str) -> String {
    format!("{file}, {}", clip(entry))
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

    fn counting(dims: &[usize]) -> Array {
        let cells = dims.iter().product();
        Array::new(dims.to_vec(), (0..cells).map(|i| i as f64).collect()).unwrap()
    }

    #[test]
    fn one_dimension_is_one_row() {
        let matrix = counting(&[3]).into_matrix().unwrap();
        assert!(matrix.same_bits(&Matrix::of([[0.0, 1.0, 2.0]])));
    }

    #[test]
    fn a_stack_becomes_one_matrix_a_head() {
        for dims in [&[2, 2, 3][..], &[1, 2, 2, 3]] {
            let heads = counting(dims).into_heads().unwrap();
            assert_eq!(heads.len(), 2);
            assert!(heads[1].same_bits(&Matrix::of([[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]])));
        }
    }

    #[test]
    fn a_stack_where_a_matrix_belongs_says_so() {
        let said = counting(&[2, 2, 3]).into_matrix().unwrap_err().to_string();
        assert!(said.contains("a stack of 2 heads of shape (2, 2, 3)"), "{said}");
        assert!(counting(&[1, 1, 2, 3]).into_matrix().is_ok());
    }

    #[test]
    fn a_batch_and_a_fifth_dimension_are_refused() {
        let said = counting(&[2, 2, 2, 3]).into_heads().unwrap_err().to_string();
        assert!(said.starts_with("this is a batch of 2"), "{said}");
        assert!(counting(&[1, 1, 1, 2, 3]).into_heads().is_err());
    }

    #[test]
    fn shapes_are_checked_before_anything_is_reserved() {
        assert!(checked_cells(&[1 << 62, 1 << 62], usize::MAX).is_err());
        assert!(checked_cells(&[1 << 40], MOST_CELLS).is_err());
        assert!(checked_cells(&[3, 0], MOST_CELLS).is_err());
        assert_eq!(checked_cells(&[], MOST_CELLS).unwrap(), 1);
    }
}
