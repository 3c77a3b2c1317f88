//! The destination of the results: the caller's slices, written by several threads.

use std::marker::PhantomData;

use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::problem::Attention;
use crate::real::Real;

/// The caller's memory for the result.
#[derive(Debug)]
pub struct Output<'a, T> {
    numbers: &'a mut [T],
    layout: Layout,
    log_sum_exps: Option<&'a mut [T]>,
}

impl<'a, T: Real> Output<'a, T> {
    /// O, written to `numbers` through `layout`, which is (H, T, d_v).
    pub fn new(numbers: &'a mut [T], layout: Layout) -> Output<'a, T> {
        Output { numbers, layout, log_sum_exps: None }
    }

    /// With the log-sum-exp of each row too: (H, T), head by head.
    pub fn with_log_sum_exps(self, log_sum_exps: &'a mut [T]) -> Output<'a, T> {
        Output { log_sum_exps: Some(log_sum_exps), ..self }
    }

    /// The output as threads write it.
    ///
    /// # Errors
    /// [`Error::Shape`] if it does not have the shape of the result, reaches past its numbers, or has two cells in one place.
    pub(crate) fn for_result_of(self, attention: &Attention<'_, T>) -> Result<Results<'a, T>> {
        let (q, v, layout) = (attention.q.layout(), attention.v.layout(), self.layout);
        if (layout.heads, layout.rows, layout.columns) != (q.heads, q.rows, v.columns) {
            let result = Layout::stacked(q.heads, q.rows, v.columns);
            return Err(Error::Shape(format!("the output of {result} does not fit: it is {layout}")));
        }
        let output = SharedRows::new(self.numbers, layout)?;
        let of_lse = Layout::stacked(q.heads, q.rows, 1);
        let log_sum_exps = self.log_sum_exps.map(|numbers| SharedRows::new(numbers, of_lse)).transpose()?;
        Ok(Results { output, log_sum_exps })
    }
}

/// One row of one head, both from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowId {
    pub head: usize,
    pub row: usize,
}

/// Rows that several threads write at the same time, each its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedRows<'a, T> {
    numbers: *mut T,
    layout: Layout,
    borrowed: PhantomData<&'a mut [T]>,
}

// SAFETY: it is a borrowed slice, written through `set` and `row_mut`, whose callers keep to rows of their own.
unsafe impl<T: Send> Send for SharedRows<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for SharedRows<'_, T> {}

impl<'a, T: Copy> SharedRows<'a, T> {
    /// `numbers` written through `layout`.
    ///
    /// # Errors
    /// [`Error::Shape`] if the layout reaches past the numbers, or has two cells in one place.
    pub fn new(numbers: &'a mut [T], layout: Layout) -> Result<SharedRows<'a, T>> {
        layout.fits(numbers.len(), "the output")?;
        if !layout.is_one_to_one() {
            return Err(Error::Shape("two cells of the output would be in the same place".to_string()));
        }
        Ok(SharedRows { numbers: numbers.as_mut_ptr(), layout, borrowed: PhantomData })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// Returns true if the numbers of a row are contiguous.
    #[inline(always)]
    pub fn has_contiguous_rows(&self) -> bool {
        self.layout.has_contiguous_rows()
    }

    /// `count` numbers of a row, from column `column` on.
    ///
    /// # Safety
    /// The row and the columns exist, `has_contiguous_rows`, and nothing else reads or writes these numbers meanwhile.
    #[inline(always)]
    pub unsafe fn row_mut(&self, id: RowId, column: usize, count: usize) -> &'a mut [T] {
        assert_in_tests!(self.has_contiguous_rows() && column + count <= self.layout.columns);
        // SAFETY: the layout fits the slice and is one-to-one; the caller has the numbers for itself.
        unsafe { std::slice::from_raw_parts_mut(self.place(id, column), count) }
    }

    /// Writes one number.
    ///
    /// # Safety
    /// The cell exists, and no other thread reads or writes its row meanwhile.
    #[inline(always)]
    pub unsafe fn set(&self, id: RowId, column: usize, number: T) {
        // SAFETY: the layout fits the slice and is one-to-one; the caller has the row for itself.
        unsafe { self.place(id, column).write(number) }
    }

    /// # Safety
    /// The cell exists.
    #[inline(always)]
    unsafe fn place(&self, RowId { head, row }: RowId, column: usize) -> *mut T {
        let Layout { head_stride, row_stride, column_stride, .. } = self.layout;
        assert_in_tests!(head < self.layout.heads && row < self.layout.rows && column < self.layout.columns);
        // SAFETY: the layout fits the slice.
        unsafe { self.numbers.add(head * head_stride + row * row_stride + column * column_stride) }
    }
}

/// The results as threads write them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Results<'a, T> {
    /// O, (H, T, d_v).
    pub output: SharedRows<'a, T>,
    /// The log-sum-exps if asked for, (H, T, 1).
    pub log_sum_exps: Option<SharedRows<'a, T>>,
}

impl<T: Copy> Results<'_, T> {
    /// Writes one row of both.
    ///
    /// # Safety
    /// The row exists, and no other thread reads or writes it meanwhile.
    #[inline(always)]
    pub unsafe fn write_row(&self, id: RowId, row: &[T], log_sum_exp: T) {
        for (c, &x) in row.iter().enumerate() {
            // SAFETY: the row is the caller's.
            unsafe { self.output.set(id, c, x) };
        }
        if let Some(log_sum_exps) = self.log_sum_exps {
            // SAFETY: the row is the caller's.
            unsafe { log_sum_exps.set(id, 0, log_sum_exp) };
        }
    }
}
