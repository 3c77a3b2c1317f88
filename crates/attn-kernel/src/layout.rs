//! The layout of the numbers of many heads in memory.

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
            _ => Err(Error::Shape(format!(
                "{name}: {} of {}×{} do not fit {}",
                counted(self.heads, "head"),
                self.rows,
                self.columns,
                counted(available, "number")
            ))),
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
