//! A task where there are few rows: reading the weights takes most of the time.
//!
//! Weights in rows of inputs are read in place: those of some inputs for a register of outputs, one output a lane, are multiplied
//! by all rows while they are in registers; the sums stay in the nearest cache. Weights in rows of outputs are packed, as where
//! there are many rows, but in panels so small that they stay there too.

use std::marker::PhantomData;
use std::ops::Range;

use super::panels::{Group, PanelRow, load_column, prefetch_rows, row_starts, widened};
use super::problem::{Linear, RegisterWeight, WeightOrder};
use crate::memory::{LINE, Scratch, prefetch_far};
use crate::output::{RowId, SharedRows};
use crate::simd::{LoadWeights, MAX_LANES, Work};

/// The inputs whose weights are in registers together, of weights in rows of inputs. Each of their rows is read on its own, and
/// more rows at a time than this are more than the processor prefetches by itself.
const INPUTS_TOGETHER: usize = 4;

/// Prefetch distance, in inputs.
const PREFETCH_INPUTS: usize = 8;

/// The registers of outputs of a small panel: a sum waits for its last addition, so there must be several.
const REGISTERS: usize = 4;

/// The inputs of a small panel.
const PANEL_INPUTS: usize = 128;

/// The inputs that are added together, of weights in rows of inputs: with fewer, adding to the sums takes as long as multiplying.
const LINE_INPUTS: usize = 8;

/// Prefetch distance, in inputs.
const PREFETCH_LINE_INPUTS: usize = 8;

/// The maximum of registers that a cache line of weights fills.
const MAX_REGISTERS_PER_LINE: usize = 8;

/// The arguments of [`MultiplyFew`].
pub(crate) struct FewTask<'a, W> {
    pub linear: &'a Linear<'a, W>,
    pub outputs: Range<usize>,
    pub scratch: Scratch<'a>,
    pub output: &'a SharedRows<'a, f32>,
}

/// Some outputs of a layer, for all of its few rows.
struct Few<'a, W, S> {
    simd: S,
    linear: &'a Linear<'a, W>,
    outputs: Range<usize>,
    output: &'a SharedRows<'a, f32>,
}

/// The scratch memory of a task with this many rows and outputs, in bytes.
pub(super) fn scratch_bytes_of_few<S: LoadWeights>(order: WeightOrder, rows: usize, outputs: usize) -> usize {
    match order {
        WeightOrder::InOut => Scratch::bytes_of::<S::Register>(rows * outputs.div_ceil(S::LANES)),
        WeightOrder::OutIn => Scratch::bytes_of::<PanelRow<S, REGISTERS>>(PANEL_INPUTS),
    }
}

/// Computes the outputs of all rows.
///
/// # Safety
/// The outputs exist, and no other thread reads or writes these cells meanwhile.
pub(super) struct MultiplyFew<W>(PhantomData<W>);

impl<W: RegisterWeight, S: LoadWeights> Work<S> for MultiplyFew<W> {
    type Input<'a> = FewTask<'a, W>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, FewTask { linear, outputs, scratch, output }: FewTask<'_, W>) {
        let few = Few { simd, linear, outputs, output };
        // SAFETY: the caller's promise.
        unsafe {
            match linear.order {
                WeightOrder::InOut => few.multiply_in_place(scratch),
                WeightOrder::OutIn if linear.input.rows() == 1 => few.multiply_one_row(),
                WeightOrder::OutIn => few.multiply_small_panels(scratch),
            }
        }
    }
}

impl<W: RegisterWeight, S: LoadWeights> Few<'_, W, S> {
    /// One row: squares of weights are transposed and multiplied without leaving the registers, for two registers of outputs in turn,
    /// since a sum waits for its last addition.
    ///
    /// # Safety
    /// As for [`MultiplyFew`].
    #[inline(always)]
    unsafe fn multiply_one_row(&self) {
        let Few { outputs, output, .. } = self;
        // SAFETY: the caller has these cells.
        let cells = unsafe { output.row_mut(RowId { head: 0, row: 0 }, outputs.start, outputs.len()) };
        for (cells, first) in cells.chunks_mut(2 * S::LANES).zip(outputs.clone().step_by(2 * S::LANES)) {
            let end = (first + 2 * S::LANES).min(outputs.end);
            let middle = (first + S::LANES).min(end);
            let sums = if middle < end {
                self.sums_of_outputs([first, middle], end)
            } else {
                let [sum] = self.sums_of_outputs([first], end);
                [sum, sum]
            };
            for (cells, (sum, first)) in cells.chunks_mut(S::LANES).zip(sums.into_iter().zip([first, middle]))
            {
                self.store_with_bias(first, sum, cells);
            }
        }
    }

    /// Adds the bias of the outputs from `first` on, and writes as many as there are cells.
    #[inline(always)]
    fn store_with_bias(&self, first: usize, sum: S::Register, cells: &mut [f32]) {
        let simd = self.simd;
        let bias = self.linear.bias.map(|bias| widened::<_, S, 1>(simd, &bias[first..][..cells.len()]));
        let sum = bias.map_or(sum, |[bias]| simd.add(sum, bias));
        let numbers: [f32; MAX_LANES] = simd.numbers(sum);
        cells.copy_from_slice(&numbers[..cells.len()]);
    }

    /// Panel after panel, each a group of its own.
    ///
    /// # Safety
    /// As for [`MultiplyFew`].
    #[inline(always)]
    unsafe fn multiply_small_panels(&self, mut scratch: Scratch<'_>) {
        let Few { simd, linear, ref outputs, output } = *self;
        let panel = scratch.take::<PanelRow<S, REGISTERS>>(PANEL_INPUTS);
        for first in outputs.clone().step_by(REGISTERS * S::LANES) {
            let outputs = first..(first + REGISTERS * S::LANES).min(outputs.end);
            let rows = 0..linear.input.rows();
            let group = Group { linear, rows, outputs, output, next_outputs: 0..0 };
            // SAFETY: the caller's promise.
            unsafe { group.multiply::<S, REGISTERS, 2>(simd, panel, PANEL_INPUTS) };
        }
    }

    /// Block after block of the inputs, each for all outputs.
    ///
    /// # Safety
    /// As for [`MultiplyFew`].
    #[inline(always)]
    unsafe fn multiply_in_place(&self, mut scratch: Scratch<'_>) {
        let Few { simd, linear, ref outputs, output } = *self;
        let rows = linear.input.rows();
        // For each register of outputs, the sums of all rows.
        let sums = scratch.take::<S::Register>(rows * outputs.len().div_ceil(S::LANES));
        sums.fill(simd.splat(0.0));
        let done = if rows == 1 { self.add_whole_lines(sums) } else { 0 };
        self.add_columns(&(outputs.start + done..outputs.end), &mut sums[done / S::LANES * rows..]);
        let starts = outputs.clone().step_by(S::LANES);
        for (first, sums) in starts.zip(sums.chunks_exact(rows)) {
            let count = S::LANES.min(outputs.end - first);
            for (row, sum) in sums.iter().enumerate() {
                // SAFETY: the caller has these cells.
                let cells = unsafe { output.row_mut(RowId { head: 0, row }, first, count) };
                self.store_with_bias(first, *sum, cells);
            }
        }
    }

    /// Weights in rows of inputs: some inputs at a time, all outputs for each.
    #[inline(always)]
    fn add_columns(&self, outputs: &Range<usize>, sums: &mut [S::Register]) {
        let inputs = self.linear.inputs();
        let whole = inputs - inputs % INPUTS_TOGETHER;
        for k in (0..whole).step_by(INPUTS_TOGETHER) {
            self.add_inputs::<INPUTS_TOGETHER>(k, outputs, sums);
        }
        for k in whole..inputs {
            self.add_inputs::<1>(k, outputs, sums);
        }
    }

    /// The inputs k .. k + I.
    #[inline(always)]
    fn add_inputs<const I: usize>(&self, k: usize, outputs: &Range<usize>, sums: &mut [S::Register]) {
        let (simd, linear) = (self.simd, self.linear);
        let rows = linear.input.rows();
        let weights: [&[W]; I] = std::array::from_fn(|i| &linear.weights.row(k + i)[outputs.clone()]);
        let whole = outputs.len() - outputs.len() % S::LANES;
        let ahead = PREFETCH_INPUTS * linear.weights.columns();
        for (n, sums) in (0..whole).step_by(S::LANES).zip(sums.chunks_exact_mut(rows)) {
            if n.is_multiple_of(LINE / size_of::<W>()) {
                // The same outputs of the inputs after these: rows are too far apart for the processor to see what comes next.
                for row in &weights {
                    prefetch_far(row.as_ptr().wrapping_add(n + ahead));
                }
            }
            let mut registers = [simd.splat(0.0); I];
            for i in 0..I {
                // SAFETY: a register of weights is left in every row.
                registers[i] = unsafe { W::load(simd, weights[i].as_ptr().add(n)) };
            }
            self.multiply_add(k, &registers, sums);
        }
        if whole < outputs.len() {
            let weights: [S::Register; I] = std::array::from_fn(|i| {
                let [register] = widened(simd, &weights[i][whole..]);
                register
            });
            self.multiply_add(k, &weights, &mut sums[whole / S::LANES * rows..][..rows]);
        }
    }

    /// Adds to the sums of every row its inputs from k on times the weights, a register for each input.
    #[inline(always)]
    fn multiply_add(&self, k: usize, weights: &[S::Register], sums: &mut [S::Register]) {
        let (simd, input) = (self.simd, &self.linear.input);
        assert!(sums.len() <= input.rows() && k + weights.len() <= input.columns());
        let mut x = input.start().wrapping_add(k);
        for sum in sums {
            let mut row = *sum;
            for (i, weights) in weights.iter().enumerate() {
                // SAFETY: the row has these inputs.
                row = simd.mul_add(simd.splat(unsafe { *x.add(i) }), *weights, row);
            }
            *sum = row;
            x = x.wrapping_add(input.columns());
        }
    }

    // A task with one row of x, such as the next token of a text: reading the weights takes nearly all of the time.
    //
    // Weights in rows of inputs are multiplied as they lie in memory, cache line by cache line. Of weights in rows of outputs, squares
    // are transposed in registers.

    /// Weights in rows of inputs: adds all inputs to the sums of the outputs whose weights fill whole cache lines, and returns the number
    /// of these outputs.
    #[inline(always)]
    fn add_whole_lines(&self, sums: &mut [S::Register]) -> usize {
        let (inputs, outputs) = (self.linear.inputs(), self.outputs.len());
        let whole = outputs - outputs % (LINE / size_of::<W>());
        let sums = &mut sums[..whole / S::LANES];
        let together = inputs - inputs % LINE_INPUTS;
        for k in (0..together).step_by(LINE_INPUTS) {
            self.add_lines::<LINE_INPUTS>(k, sums);
        }
        for k in together..inputs {
            self.add_lines::<1>(k, sums);
        }
        whole
    }

    /// The inputs k .. k + I, for the first outputs.
    #[inline(always)]
    fn add_lines<const I: usize>(&self, k: usize, sums: &mut [S::Register]) {
        let (simd, linear, first) = (self.simd, self.linear, self.outputs.start);
        let per_line = LINE / size_of::<W>();
        let registers = per_line / S::LANES;
        let stride = linear.weights.columns();
        let x = &linear.input.row(0)[k..k + I];
        let x: [S::Register; I] = std::array::from_fn(|i| simd.splat(x[i]));
        assert!(k + I <= linear.weights.rows() && first + sums.len() * S::LANES <= linear.weights.columns());
        let mut line = linear.weights.start().wrapping_add(k * stride + first);
        for sums in sums.chunks_exact_mut(registers) {
            let mut held = [simd.splat(0.0); MAX_REGISTERS_PER_LINE];
            held[..registers].copy_from_slice(sums);
            let mut weights = line;
            for x in x {
                // The rows are too far apart for the processor to see by itself what comes next.
                prefetch_far(weights.wrapping_add(PREFETCH_LINE_INPUTS * stride));
                for r in 0..registers {
                    // SAFETY: the weights have these inputs, and a cache line of these outputs.
                    held[r] = simd.mul_add(x, unsafe { W::load(simd, weights.add(r * S::LANES)) }, held[r]);
                }
                weights = weights.wrapping_add(stride);
            }
            sums.copy_from_slice(&held[..registers]);
            line = line.wrapping_add(per_line);
        }
    }

    /// The sums of one row for R registers of outputs, which begin with `firsts` and end before `end`.
    ///
    /// Every register of outputs is a cache line behind the one before it: where the rows of weights are a multiple of 4096 bytes, the
    /// same line of all of them would not fit the nearest cache.
    #[inline(always)]
    fn sums_of_outputs<const R: usize>(&self, firsts: [usize; R], end: usize) -> [S::Register; R] {
        let (simd, linear) = (self.simd, self.linear);
        let x = linear.input.row(0);
        let together = W::PER_LANE * S::LANES;
        let squares = x.len() / together;
        let outputs = firsts.map(|first| first..(first + S::LANES).min(end));
        let starts = outputs.each_ref().map(|outputs| row_starts(linear, outputs));
        let ahead = R * S::LANES * linear.weights.columns();
        let behind = LINE.div_ceil(together * size_of::<W>());
        let mut sums = [simd.splat(0.0); R];
        let mut weights = [[simd.splat(0.0); MAX_LANES]; 2];
        for step in 0..squares + (R - 1) * behind {
            for r in 0..R {
                let square = step.wrapping_sub(r * behind);
                if square >= squares {
                    continue;
                }
                let k = square * together;
                prefetch_rows::<W, S>(&starts[r], k, ahead);
                // SAFETY: this many weights are left in every row.
                unsafe { W::load_square(simd, &starts[r], k, &mut weights) };
                for (i, weights) in weights.as_flattened()[..together].iter().enumerate() {
                    // SAFETY: this many inputs are left.
                    let x = simd.splat(unsafe { *x.get_unchecked(k + i) });
                    sums[r] = simd.mul_add(x, *weights, sums[r]);
                }
            }
        }
        for k in squares * together..x.len() {
            for r in 0..R {
                sums[r] = simd.mul_add(simd.splat(x[k]), load_column(simd, linear, &outputs[r], k), sums[r]);
            }
        }
        sums
    }
}
