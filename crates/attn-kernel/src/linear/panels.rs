//! A task where there are many rows: a group of outputs. A block of their weights is widened and packed with one output a lane, and all
//! rows of the input are multiplied by it, a tile at a time.

use std::marker::PhantomData;
use std::ops::Range;

use super::problem::{Linear, RegisterWeight, Rows, WeightOrder};
use crate::memory::{LINE, Scratch, prefetch_far, prefetch_near};
use crate::output::{RowId, SharedRows};
use crate::simd::{LoadWeights, MAX_LANES, Simd, Work};
use crate::tile::accumulate;

/// The inputs of a block: a panel of them fits half of the nearest cache.
const INPUTS: usize = 256;

/// The outputs of a group: the panels of a block, and the weights of the next one, fit the second cache.
pub(super) const GROUP_OUTPUTS: usize = 128;

/// The rows that are multiplied by one panel after the other: a block of their inputs fits the second cache too.
const ROWS_TOGETHER: usize = 96;

/// Some outputs, for some rows of the input.
pub(super) struct Group<'a, W> {
    pub linear: &'a Linear<'a, W>,
    pub rows: Range<usize>,
    pub outputs: Range<usize>,
    pub output: &'a SharedRows<'a, f32>,
    /// The outputs of the group that this thread takes next, as far as that is known.
    pub next_outputs: Range<usize>,
}

/// The arguments of [`MultiplyGroup`].
pub struct GroupTask<'a, W> {
    /// At most [`GROUP_OUTPUTS`] outputs.
    pub(super) group: Group<'a, W>,
    pub(super) scratch: Scratch<'a>,
}

/// The scratch memory of a task, in bytes.
pub(super) fn scratch_bytes<S: LoadWeights, const R: usize>() -> usize {
    Scratch::bytes_of::<PanelRow<S, R>>(INPUTS * GROUP_OUTPUTS.div_ceil(R * S::LANES))
}

/// Computes the outputs of the group.
///
/// # Safety
/// The rows and outputs exist, and no other thread reads or writes these cells meanwhile.
pub(super) struct MultiplyGroup<W, const R: usize, const M: usize>(PhantomData<W>);

impl<W: RegisterWeight, S: LoadWeights, const R: usize, const M: usize> Work<S> for MultiplyGroup<W, R, M> {
    type Input<'a> = GroupTask<'a, W>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, GroupTask { group, mut scratch }: GroupTask<'_, W>) {
        let panels = scratch.take::<PanelRow<S, R>>(INPUTS * group.outputs.len().div_ceil(R * S::LANES));
        // SAFETY: the caller's promise.
        unsafe { group.multiply::<S, R, M>(simd, panels, INPUTS) };
    }
}

impl<W: RegisterWeight> Group<'_, W> {
    /// Block after block of `length` inputs, for each panel after panel of R registers of outputs, for each M rows at a time.
    ///
    /// # Safety
    /// As for [`MultiplyGroup`].
    #[inline(always)]
    pub unsafe fn multiply<S: LoadWeights, const R: usize, const M: usize>(
        &self,
        simd: S,
        panels: &mut [PanelRow<S, R>],
        length: usize,
    ) {
        let Group { linear, rows, outputs, output, .. } = self;
        let width = R * S::LANES;
        // Without inputs there is still an empty block, which writes the bias.
        for start in (0..linear.inputs().max(1)).step_by(length) {
            let inputs = start..(start + length).min(linear.inputs());
            match linear.order {
                WeightOrder::OutIn => self.pack_rows(simd, &inputs, panels, length),
                WeightOrder::InOut => self.pack_columns(simd, &inputs, panels, length),
            }
            let tiles = rows.len().div_ceil(M) * outputs.len().div_ceil(width);
            let mut upcoming = self.after(&inputs, length, tiles);
            let bias = linear.bias.filter(|_| inputs.end == linear.inputs());
            for start in rows.clone().step_by(ROWS_TOGETHER) {
                let rows = start..(start + ROWS_TOGETHER).min(rows.end);
                for (number, first) in outputs.clone().step_by(width).enumerate() {
                    let outputs = first..(first + width).min(outputs.end);
                    let step = Step {
                        input: linear.input,
                        rows: rows.clone(),
                        inputs: inputs.clone(),
                        panel: &panels[number * length..][..inputs.len()],
                        bias: bias.map(|bias| widened(simd, &bias[outputs.clone()])),
                        outputs,
                    };
                    // SAFETY: the caller's promise.
                    unsafe { step.multiply::<S, W, M>(simd, output, &mut upcoming) };
                }
            }
        }
    }

    /// The weights that this thread needs next.
    #[inline(always)]
    fn after(&self, inputs: &Range<usize>, length: usize, tiles: usize) -> UpcomingWeights<W> {
        let all = self.linear.inputs();
        if inputs.end < all {
            let inputs = inputs.end..(inputs.end + length).min(all);
            return UpcomingWeights::new(self.linear, inputs, self.outputs.clone(), tiles);
        }
        UpcomingWeights::new(self.linear, 0..length.min(all), self.next_outputs.clone(), tiles)
    }
}

// M rows of the input times one panel of weights.

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

// Weights from memory to panels: widened, one output a lane.

/// The weights of one input for R · LANES outputs, one a lane.
pub(super) type PanelRow<S, const R: usize> = [<S as Simd<f32>>::Register; R];

// Panels are filled with the weights of a block, a row for each input: R · LANES of the outputs a panel, zeros past the last. Panels
// are `length` rows apart.

/// Prefetch distance, in rows of weights.
const PREFETCH_ROWS: usize = 8;

/// Prefetches the cache lines of these weights.
#[inline(always)]
fn prefetch_all<W>(weights: &[W]) {
    for line in weights.chunks(LINE / size_of::<W>()) {
        prefetch_near(line.as_ptr());
    }
}

/// R registers of weights, zeros past the last.
#[inline(always)]
pub(super) fn widened<W: RegisterWeight, S: LoadWeights, const R: usize>(
    simd: S,
    weights: &[W],
) -> PanelRow<S, R> {
    let mut row = [simd.splat(0.0); R];
    for (register, weights) in row.iter_mut().zip(weights.chunks(S::LANES)) {
        let mut numbers = [0.0; MAX_LANES];
        for (number, weight) in numbers.iter_mut().zip(weights) {
            *number = weight.widen();
        }
        // SAFETY: there are as many as any register holds.
        *register = unsafe { simd.load(&numbers) };
    }
    row
}

impl<W: RegisterWeight> Group<'_, W> {
    /// Weights in rows of inputs: they only have to be widened. Row by row, as memory likes it.
    #[inline(always)]
    fn pack_columns<S: LoadWeights, const R: usize>(
        &self,
        simd: S,
        inputs: &Range<usize>,
        panels: &mut [PanelRow<S, R>],
        length: usize,
    ) {
        let Group { linear, outputs, .. } = self;
        let whole = outputs.len() - outputs.len() % (R * S::LANES);
        for (at, k) in inputs.clone().enumerate() {
            let weights = &linear.weights.row(k)[outputs.clone()];
            if k + PREFETCH_ROWS < inputs.end {
                prefetch_all(&linear.weights.row(k + PREFETCH_ROWS)[outputs.clone()]);
            }
            let rows = panels[at..].iter_mut().step_by(length);
            for (row, weights) in rows.zip(weights[..whole].chunks_exact(R * S::LANES)) {
                for r in 0..R {
                    // SAFETY: there are R registers of weights.
                    row[r] = unsafe { W::load(simd, weights.as_ptr().add(r * S::LANES)) };
                }
            }
            if whole < weights.len() {
                panels[whole / (R * S::LANES) * length + at] = widened(simd, &weights[whole..]);
            }
        }
    }

    /// Weights in rows of outputs: squares of them are transposed in registers.
    #[inline(always)]
    fn pack_rows<S: LoadWeights, const R: usize>(
        &self,
        simd: S,
        inputs: &Range<usize>,
        panels: &mut [PanelRow<S, R>],
        length: usize,
    ) {
        let Group { linear, outputs, .. } = self;
        let together = W::PER_LANE * S::LANES;
        let whole = inputs.len() - inputs.len() % together;
        let mut square = [[simd.splat(0.0); MAX_LANES]; 2];
        for (number, first) in outputs.clone().step_by(S::LANES).enumerate() {
            let panel = &mut panels[number / R * length..][..inputs.len()];
            let (squares, last) = panel.split_at_mut(whole);
            let outputs = first..(first + S::LANES).min(outputs.end);
            let rows = row_starts(linear, &outputs);
            // The same inputs for the outputs after these: they are next, or soon.
            let ahead = R * S::LANES * linear.weights.columns();
            for (panel, k) in squares.chunks_exact_mut(together).zip((inputs.start..).step_by(together)) {
                prefetch_rows::<W, S>(&rows, k, ahead);
                // SAFETY: this many weights are left in every row.
                unsafe { W::load_square(simd, &rows, k, &mut square) };
                for (row, register) in panel.iter_mut().zip(square.as_flattened()) {
                    row[number % R] = *register;
                }
            }
            for (row, k) in last.iter_mut().zip(inputs.start + whole..) {
                row[number % R] = load_column(simd, linear, &outputs, k);
            }
        }
    }
}

/// Prefetches what lies `ahead` weights after the k-th of each row, once for each cache line.
#[inline(always)]
pub(super) fn prefetch_rows<W, S: LoadWeights>(rows: &[*const W; MAX_LANES], k: usize, ahead: usize) {
    if (k * size_of::<W>()).is_multiple_of(LINE) {
        for row in &rows[..S::LANES] {
            prefetch_far(row.wrapping_add(k + ahead));
        }
    }
}

/// The addresses of the rows of `outputs`, at most LANES of them, of weights in rows of outputs; past the last, of the last.
#[inline(always)]
pub(super) fn row_starts<W: Copy>(linear: &Linear<'_, W>, outputs: &Range<usize>) -> [*const W; MAX_LANES] {
    assert!(!outputs.is_empty() && outputs.end <= linear.weights.rows());
    std::array::from_fn(|lane| linear.weights.row((outputs.start + lane).min(outputs.end - 1)).as_ptr())
}

/// The weights of input k for at most LANES outputs, of weights in rows of outputs; zeros past the last.
#[inline(always)]
pub(super) fn load_column<W: RegisterWeight, S: LoadWeights>(
    simd: S,
    linear: &Linear<'_, W>,
    outputs: &Range<usize>,
    k: usize,
) -> S::Register {
    let mut column = [0.0; MAX_LANES];
    for (number, n) in column.iter_mut().zip(outputs.clone()) {
        *number = linear.weights.row(n)[k].widen();
    }
    // SAFETY: there are as many as any register holds.
    unsafe { simd.load(&column) }
}

// The weights of the next block, prefetched while this one is multiplied: reading memory then takes no time of its own.

/// The cache lines of a block of weights that have not been prefetched yet.
pub(super) struct UpcomingWeights<W> {
    row: *const W,
    stride: usize,
    rows_left: usize,
    lines_per_row: usize,
    line: usize,
    /// The lines that are prefetched at a time, so that the last ones come with the last tile.
    at_a_time: usize,
}

impl<W: Copy> UpcomingWeights<W> {
    /// The weights of these inputs for these outputs, to be prefetched `times` times some.
    #[inline(always)]
    pub fn new(
        linear: &Linear<'_, W>,
        inputs: Range<usize>,
        outputs: Range<usize>,
        times: usize,
    ) -> UpcomingWeights<W> {
        let (rows, columns) = match linear.order {
            WeightOrder::OutIn => (outputs, inputs),
            WeightOrder::InOut => (inputs, outputs),
        };
        let lines_per_row = (columns.len() * size_of::<W>()).div_ceil(LINE);
        let stride = linear.weights.columns();
        UpcomingWeights {
            row: linear.weights.start().wrapping_add(rows.start * stride + columns.start),
            stride,
            rows_left: if lines_per_row == 0 { 0 } else { rows.len() },
            lines_per_row,
            line: 0,
            at_a_time: (rows.len() * lines_per_row).div_ceil(times.max(1)),
        }
    }

    /// Prefetches some more of them.
    #[inline(always)]
    pub fn prefetch_some(&mut self) {
        for _ in 0..self.at_a_time {
            if self.rows_left == 0 {
                return;
            }
            prefetch_far(self.row.wrapping_add(self.line * (LINE / size_of::<W>())));
            self.line += 1;
            if self.line == self.lines_per_row {
                self.line = 0;
                self.rows_left -= 1;
                self.row = self.row.wrapping_add(self.stride);
            }
        }
    }
}
