//! Where the numbers of many heads lie in memory.

use crate::error::{Error, Result, counted};

/// heads × rows × columns, each with the distance between neighbours, in numbers. A distance of 0 repeats (one mask for all heads).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How many heads.
    pub heads: usize,
    /// How many rows a head has: tokens.
    pub rows: usize,
    /// How many columns: the width of a head.
    pub columns: usize,
    /// From one head to the next.
    pub head_stride: usize,
    /// From one row to the next.
    pub row_stride: usize,
    /// From one column to the next; 1 is the fast case.
    pub column_stride: usize,
}

/// So many heads, rows or columns at most: where a distance of 0 repeats them, no memory sets a limit, but the arithmetic of
/// sizes must not overflow.
const MOST: usize = 1 << 31;

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

    /// How many numbers it reaches over, or `None` if no memory is so large.
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
    fn fits(&self, available: usize, name: &str) -> Result<()> {
        match self.reach() {
            Some(needed) if needed <= available && self.heads.max(self.rows).max(self.columns) <= MOST => {
                Ok(())
            }
            _ => Err(Error::new(format!(
                "{name}: {} of {}×{} do not fit {}",
                counted(self.heads, "head"),
                self.rows,
                self.columns,
                counted(available, "number")
            ))),
        }
    }

    /// Whether the numbers of a row are neighbours, as a single one is of itself.
    #[inline(always)]
    fn has_neighbours(&self) -> bool {
        self.column_stride == 1 || self.columns <= 1
    }

    /// Whether no two of its numbers share a place.
    fn is_one_to_one(&self) -> bool {
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
    pub(super) fn head(&self, head: usize) -> View<'a, T> {
        debug_assert!(head < self.layout.heads);
        let Layout { rows, columns, row_stride, column_stride, head_stride, .. } = self.layout;
        let start = head.saturating_mul(head_stride).min(self.numbers.len());
        View { numbers: &self.numbers[start..], rows, columns, row_stride, column_stride }
    }
}

/// One head, or a block of it: rows × columns somewhere in a slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a, T> {
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

    /// Whether the numbers of a row are neighbours, as a single one is of itself.
    #[inline(always)]
    pub fn has_neighbours(&self) -> bool {
        self.column_stride == 1 || self.columns <= 1
    }

    /// The number at row i, column j, for a view whose rows are neighbours, without a check.
    ///
    /// # Safety
    /// i < rows, j < columns, and `has_neighbours`.
    #[inline(always)]
    pub unsafe fn at_neighbour(&self, i: usize, j: usize) -> T {
        debug_assert!(i < self.rows && j < self.columns && self.has_neighbours());
        // SAFETY: every block of a layout that fits lies inside the numbers, and the caller keeps to the block.
        unsafe { *self.numbers.get_unchecked(i * self.row_stride + j) }
    }

    /// Where row i begins.
    #[inline(always)]
    pub fn start_of(&self, i: usize) -> *const T {
        debug_assert!(i < self.rows);
        self.numbers.as_ptr().wrapping_add(i * self.row_stride)
    }

    /// `rows` rows from `row` and `columns` columns from `column` on.
    #[inline(always)]
    pub fn block(&self, (row, rows): (usize, usize), (column, columns): (usize, usize)) -> View<'a, T> {
        debug_assert!(row + rows <= self.rows && column + columns <= self.columns);
        let start = row * self.row_stride + column * self.column_stride;
        // An empty block may begin where nothing is any more.
        View { numbers: &self.numbers[start.min(self.numbers.len())..], rows, columns, ..*self }
    }

    /// The same numbers with those of a row side by side: where they are already, or in `copy`.
    #[inline(always)]
    pub fn with_neighbours<'s>(&self, copy: &'s mut [T]) -> View<'s, T>
    where
        'a: 's,
    {
        if self.has_neighbours() {
            return *self;
        }
        for (i, row) in copy.chunks_exact_mut(self.columns).take(self.rows).enumerate() {
            for (j, number) in row.iter_mut().enumerate() {
                *number = self.at(i, j);
            }
        }
        View { numbers: copy, row_stride: self.columns, column_stride: 1, ..*self }
    }

    /// So many numbers [`View::with_neighbours`] copies for `rows` rows.
    pub fn copied(&self, rows: usize) -> usize {
        if self.has_neighbours() { 0 } else { rows * self.columns }
    }

    /// From one row to the next, in numbers.
    #[inline(always)]
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Row i from column `column` on, all that is left of it, of a view whose rows are neighbours.
    #[inline(always)]
    pub fn row(&self, i: usize, column: usize) -> &'a [T] {
        assert!(self.has_neighbours());
        let (start, count) = (i * self.row_stride + column, self.columns - column);
        // An empty row may begin where nothing is any more.
        &self.numbers[start.min(self.numbers.len())..][..count]
    }
}

/// Many heads of numbers to write, by several threads at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output<'a, T> {
    numbers: *mut T,
    layout: Layout,
    borrowed: std::marker::PhantomData<&'a mut [T]>,
}

// SAFETY: it is a borrowed slice, written through `set` and `row_mut`, whose callers keep to rows of their own.
unsafe impl<T: Send> Send for Output<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Output<'_, T> {}

impl<'a, T: Copy> Output<'a, T> {
    /// `numbers` written through `layout`.
    ///
    /// # Errors
    /// If the layout reaches past the numbers, or has two numbers in one place.
    pub fn new(numbers: &'a mut [T], layout: Layout) -> Result<Output<'a, T>> {
        layout.fits(numbers.len(), "the output")?;
        if !layout.is_one_to_one() {
            return Err(Error::new("two cells of the output would be in the same place"));
        }
        Ok(Output { numbers: numbers.as_mut_ptr(), layout, borrowed: std::marker::PhantomData })
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// Whether the numbers of a row are neighbours.
    #[inline(always)]
    pub fn has_neighbours(&self) -> bool {
        self.layout.has_neighbours()
    }

    /// `count` neighbours of a row.
    ///
    /// # Safety
    /// The head, the row and the columns exist, `has_neighbours`, and nobody else reads or writes this row meanwhile.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn row_mut(&self, (head, row): (usize, usize), column: usize, count: usize) -> &mut [T] {
        debug_assert!(self.has_neighbours() && column + count <= self.layout.columns);
        // SAFETY: the layout fits the slice and is one-to-one; the caller has the row for itself.
        unsafe { std::slice::from_raw_parts_mut(self.place(head, row, column), count) }
    }

    /// Writes one number.
    ///
    /// # Safety
    /// The cell exists, and nobody else reads or writes its row meanwhile.
    #[inline(always)]
    pub unsafe fn set(&self, (head, row): (usize, usize), column: usize, number: T) {
        // SAFETY: the layout fits the slice and is one-to-one; the caller has the row for itself.
        unsafe { self.place(head, row, column).write(number) }
    }

    /// # Safety
    /// The cell exists.
    #[inline(always)]
    unsafe fn place(&self, head: usize, row: usize, column: usize) -> *mut T {
        let Layout { head_stride, row_stride, column_stride, .. } = self.layout;
        debug_assert!(head < self.layout.heads && row < self.layout.rows && column < self.layout.columns);
        // SAFETY: the layout fits the slice.
        unsafe { self.numbers.add(head * head_stride + row * row_stride + column * column_stride) }
    }
}

/// Where the results go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results<'a, T> {
    /// O, (H, T, d_v).
    pub output: Output<'a, T>,
    /// The log-sum-exps on request, (H, T, 1).
    pub lse: Option<Output<'a, T>>,
}
