//! The inputs: the layout of the numbers of many heads in memory, and a view of one head or of a block of it.

use std::fmt;
use std::ops::Range;

use crate::error::{Error, Result, counted};

/// heads × rows × columns, each with its stride, in numbers. A stride of 0 repeats (one mask for all heads).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of heads.
    pub heads: usize,
    /// The rows of a head: tokens.
    pub rows: usize,
    /// The columns: the width of a head.
    pub columns: usize,
    /// From one head to the next.
    pub head_stride: usize,
    /// From one row to the next.
    pub row_stride: usize,
    /// From one column to the next; 1 is the fast case.
    pub column_stride: usize,
}

/// The maximum number of heads, rows or columns. With a stride of 0 memory sets no limit, but the arithmetic of sizes must not
/// overflow.
const MAX_COUNT: usize = 1 << 31;

impl Layout {
    /// One head after the other, each row by row: NumPy's (heads, rows, columns).
    pub fn stacked(heads: usize, rows: usize, columns: usize) -> Layout {
        let head_stride = rows.saturating_mul(columns);
        Layout { heads, rows, columns, head_stride, row_stride: columns, column_stride: 1 }
    }

    /// The heads side by side in every row: NumPy's (rows, heads · columns), as the projections give them.
    pub fn side_by_side(heads: usize, rows: usize, columns: usize) -> Layout {
        let row_stride = heads.saturating_mul(columns);
        Layout { heads, rows, columns, head_stride: columns, row_stride, column_stride: 1 }
    }

    /// The length of the shortest slice that holds it, or `None` if that overflows.
    fn reach(&self) -> Option<usize> {
        if self.heads == 0 || self.rows == 0 || self.columns == 0 {
            return Some(0);
        }
        let last = |count: usize, stride: usize| (count - 1).checked_mul(stride);
        last(self.heads, self.head_stride)?
            .checked_add(last(self.rows, self.row_stride)?)?
            .checked_add(last(self.columns, self.column_stride)?)?
            .checked_add(1)
    }

    /// # Errors
    /// If it reaches past `available` numbers, or has more than 2³¹ heads, rows or columns.
    pub(crate) fn fits(&self, available: usize, name: &str) -> Result<()> {
        match self.reach() {
            Some(needed)
                if needed <= available && self.heads.max(self.rows).max(self.columns) <= MAX_COUNT =>
            {
                Ok(())
            }
            _ => Err(Error::Shape(format!("{name}: {self} do not fit {}", counted(available, "number")))),
        }
    }

    /// Returns true if the numbers of a row are contiguous.
    #[inline(always)]
    pub(crate) fn has_contiguous_rows(&self) -> bool {
        self.column_stride == 1 || self.columns <= 1
    }

    /// Returns true if no two of its cells share an address.
    pub(crate) fn is_one_to_one(&self) -> bool {
        let mut extents = [
            (self.head_stride, self.heads),
            (self.row_stride, self.rows),
            (self.column_stride, self.columns),
        ];
        extents.sort_unstable();
        let mut reach = 0usize;
        let is_empty = extents.iter().any(|(_, count)| *count == 0);
        is_empty
            || extents.into_iter().filter(|(_, count)| *count > 1).all(|(stride, count)| {
                let apart = stride > reach;
                reach = reach.saturating_add(stride.saturating_mul(count - 1));
                apart
            })
    }
}

/// “2 heads of 3×4”.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}×{}", counted(self.heads, "head"), self.rows, self.columns)
    }
}

/// Many heads of numbers to read.
#[derive(Clone, Copy, Debug)]
pub struct Heads<'a, T> {
    numbers: &'a [T],
    layout: Layout,
}

impl<'a, T: Copy> Heads<'a, T> {
    /// `numbers` read through `layout`.
    ///
    /// # Errors
    /// If the layout reaches past the numbers; the error calls them `name`.
    pub fn new(name: &str, numbers: &'a [T], layout: Layout) -> Result<Heads<'a, T>> {
        layout.fits(numbers.len(), name)?;
        Ok(Heads { numbers, layout })
    }

    /// The layout.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// All numbers as they lie in memory.
    pub fn numbers(&self) -> &'a [T] {
        self.numbers
    }

    /// The number of a head at row i, column j, all from 0.
    pub fn at(&self, head: usize, i: usize, j: usize) -> T {
        self.head(head).at(i, j)
    }

    /// One head, from 0.
    pub(crate) fn head(&self, head: usize) -> View<'a, T> {
        assert_in_tests!(head < self.layout.heads);
        let Layout { rows, columns, row_stride, column_stride, head_stride, .. } = self.layout;
        let start = head.saturating_mul(head_stride).min(self.numbers.len());
        View { numbers: &self.numbers[start..], rows, columns, row_stride, column_stride }
    }
}

/// One head, or a block of it: rows × columns somewhere in a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a, T> {
    numbers: &'a [T],
    pub rows: usize,
    pub columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T: Copy> View<'a, T> {
    /// The number at row i, column j.
    #[inline(always)]
    pub fn at(&self, i: usize, j: usize) -> T {
        self.numbers[i * self.row_stride + j * self.column_stride]
    }

    /// Returns true if the numbers of a row are contiguous.
    #[inline(always)]
    pub fn has_contiguous_rows(&self) -> bool {
        self.column_stride == 1 || self.columns <= 1
    }

    /// The number at row i, column j of a view with contiguous rows, without a bounds check.
    ///
    /// # Safety
    /// i < rows, j < columns, and `has_contiguous_rows`.
    #[inline(always)]
    pub unsafe fn at_unchecked(&self, i: usize, j: usize) -> T {
        assert_in_tests!(i < self.rows && j < self.columns && self.has_contiguous_rows());
        // SAFETY: every block of a layout that fits lies inside the numbers, and the caller keeps to the block.
        unsafe { *self.numbers.get_unchecked(i * self.row_stride + j) }
    }

    /// The address of row i.
    #[inline(always)]
    pub fn row_start(&self, i: usize) -> *const T {
        assert_in_tests!(i < self.rows);
        self.numbers.as_ptr().wrapping_add(i * self.row_stride)
    }

    /// All columns of these rows.
    #[inline(always)]
    pub fn rows(&self, rows: &Range<usize>) -> View<'a, T> {
        self.block(rows, &(0..self.columns))
    }

    /// These rows and columns.
    #[inline(always)]
    pub fn block(&self, rows: &Range<usize>, columns: &Range<usize>) -> View<'a, T> {
        assert_in_tests!(rows.end <= self.rows && columns.end <= self.columns);
        let start = rows.start * self.row_stride + columns.start * self.column_stride;
        // The start of an empty block may lie past the end.
        let numbers = &self.numbers[start.min(self.numbers.len())..];
        View { numbers, rows: rows.len(), columns: columns.len(), ..*self }
    }

    /// These numbers with contiguous rows: in place, or copied into `copy`.
    #[inline(always)]
    pub fn contiguous<'s>(&self, copy: &'s mut [T]) -> View<'s, T>
    where
        'a: 's,
    {
        if self.has_contiguous_rows() {
            return *self;
        }
        for (i, row) in copy.chunks_exact_mut(self.columns).take(self.rows).enumerate() {
            for (j, number) in row.iter_mut().enumerate() {
                *number = self.at(i, j);
            }
        }
        View { numbers: copy, row_stride: self.columns, column_stride: 1, ..*self }
    }

    /// The number of elements that [`View::contiguous`] copies for `rows` rows.
    pub fn copy_len(&self, rows: usize) -> usize {
        if self.has_contiguous_rows() { 0 } else { rows * self.columns }
    }

    /// From one row to the next, in numbers.
    #[inline(always)]
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Row i from column `column` to its end, of a view with contiguous rows.
    #[inline(always)]
    pub fn row(&self, i: usize, column: usize) -> &'a [T] {
        assert!(self.has_contiguous_rows());
        let (start, count) = (i * self.row_stride + column, self.columns - column);
        // The start of an empty row may lie past the end.
        &self.numbers[start.min(self.numbers.len())..][..count]
    }
}
