//! The inputs: the numbers of many heads, and a view of one head or of a block of it.

use std::ops::Range;

use crate::error::Result;
use crate::layout::Layout;

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

    /// One head, from 0.
    pub(crate) fn head(&self, head: usize) -> View<'a, T> {
        debug_assert!(head < self.layout.heads);
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
        debug_assert!(i < self.rows && j < self.columns && self.has_contiguous_rows());
        // SAFETY: every block of a layout that fits lies inside the numbers, and the caller keeps to the block.
        unsafe { *self.numbers.get_unchecked(i * self.row_stride + j) }
    }

    /// The address of row i.
    #[inline(always)]
    pub fn row_start(&self, i: usize) -> *const T {
        debug_assert!(i < self.rows);
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
        debug_assert!(rows.end <= self.rows && columns.end <= self.columns);
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
