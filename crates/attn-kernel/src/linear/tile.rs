//! M rows of the input times one panel of weights.

use std::ops::Range;

use super::pack::{PanelRow, widened};
use super::rows::Rows;
use super::upcoming::UpcomingWeights;
use crate::output::{RowId, SharedRows};
use crate::simd::{LoadWeights, MAX_LANES, Simd};
use crate::tile::accumulate;

/// A block of the inputs times a panel: what the sums of a tile go on with.
pub(super) struct Step<'a, L> {
    pub input: Rows<'a, f32>,
    /// The rows of the input that are multiplied.
    pub rows: Range<usize>,
    /// The block of the inputs.
    pub inputs: Range<usize>,
    /// Its weights.
    pub panel: &'a [L],
    /// The outputs of the panel.
    pub outputs: Range<usize>,
    /// The bias of the panel, to be added after the last block.
    pub bias: Option<L>,
}

impl<P: Copy, const R: usize> Step<'_, [P; R]> {
    /// Goes on with the sums in `output`, or starts with the first input: M rows at a time, then 4, 2, and one.
    ///
    /// # Safety
    /// The rows, inputs and outputs exist, and no other thread reads or writes these cells of the output meanwhile.
    #[inline(always)]
    pub unsafe fn multiply<S: LoadWeights + Simd<f32, Register = P>, W: Copy, const M: usize>(
        &self,
        simd: S,
        output: &SharedRows<'_, f32>,
        upcoming: &mut UpcomingWeights<W>,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let from = self.multiply_by::<S, W, M>(simd, output, upcoming, self.rows.start);
            let from = if M > 4 { self.multiply_by::<S, W, 4>(simd, output, upcoming, from) } else { from };
            let from = self.multiply_by::<S, W, 2>(simd, output, upcoming, from);
            self.multiply_by::<S, W, 1>(simd, output, upcoming, from);
        }
    }

    /// M rows at a time from row `from` on; returns the first row that is left.
    ///
    /// # Safety
    /// As for `multiply`.
    #[inline(always)]
    unsafe fn multiply_by<S: LoadWeights + Simd<f32, Register = P>, W: Copy, const M: usize>(
        &self,
        simd: S,
        output: &SharedRows<'_, f32>,
        upcoming: &mut UpcomingWeights<W>,
        from: usize,
    ) -> usize {
        let mut t = from;
        while t + M <= self.rows.end {
            upcoming.prefetch_some();
            let is_whole = self.outputs.len() == R * S::LANES;
            // SAFETY: the caller's promise.
            unsafe {
                if is_whole {
                    let cells: [&mut [f32]; M] = std::array::from_fn(|i| self.cells(output, t + i));
                    let sums: [PanelRow<S, R>; M] =
                        self.sums(simd, t, |i, r| simd.load(cells[i].get_unchecked(r * S::LANES..)));
                    for i in 0..M {
                        for r in 0..R {
                            simd.store(sums[i][r], cells[i].get_unchecked_mut(r * S::LANES..));
                        }
                    }
                } else {
                    let mut before = [[simd.splat(0.0); R]; M];
                    for (i, before) in before.iter_mut().enumerate() {
                        *before = widened(simd, self.cells(output, t + i));
                    }
                    let sums: [PanelRow<S, R>; M] = self.sums(simd, t, |i, r| before[i][r]);
                    for (i, sums) in sums.iter().enumerate() {
                        store_some(simd, sums, self.cells(output, t + i));
                    }
                }
            }
            t += M;
        }
        t
    }

    /// The sums of M rows from row t on, which were `before` after the block before this one.
    ///
    /// # Safety
    /// The rows and inputs exist.
    #[inline(always)]
    unsafe fn sums<S: LoadWeights + Simd<f32, Register = P>, const M: usize>(
        &self,
        simd: S,
        t: usize,
        before: impl Fn(usize, usize) -> P,
    ) -> [PanelRow<S, R>; M] {
        let mut sums: [PanelRow<S, R>; M] = [[simd.splat(0.0); R]; M];
        if self.inputs.start > 0 {
            for i in 0..M {
                for r in 0..R {
                    sums[i][r] = before(i, r);
                }
            }
        }
        if !self.inputs.is_empty() {
            // SAFETY: the caller has these rows and inputs.
            let rows: [*const f32; M] =
                std::array::from_fn(|i| unsafe { self.input.place(t + i, self.inputs.start) });
            // SAFETY: the panel has a row for each input of the block.
            sums = accumulate(simd, sums, |i, k| unsafe { *rows[i].add(k) }, self.panel);
        }
        if let Some(bias) = &self.bias {
            for i in 0..M {
                for r in 0..R {
                    sums[i][r] = simd.add(sums[i][r], bias[r]);
                }
            }
        }
        sums
    }

    /// The panel's outputs of row t.
    ///
    /// # Safety
    /// As for `multiply`; t is one of the rows.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    unsafe fn cells<'o>(&self, output: &'o SharedRows<'_, f32>, t: usize) -> &'o mut [f32] {
        // SAFETY: the caller has these cells.
        unsafe { output.row_mut(RowId { head: 0, row: t }, self.outputs.start, self.outputs.len()) }
    }
}

/// The first of the registers' numbers to `cells`, as many as there are.
#[inline(always)]
fn store_some<S: LoadWeights, const R: usize>(simd: S, registers: &PanelRow<S, R>, cells: &mut [f32]) {
    for (cells, register) in cells.chunks_mut(S::LANES).zip(registers) {
        let numbers: [f32; MAX_LANES] = simd.numbers(*register);
        cells.copy_from_slice(&numbers[..cells.len()]);
    }
}
