//! Weights from memory to panels: widened, one output a lane.

use std::ops::Range;

use super::problem::{Linear, WeightOrder};
use super::weight::RegisterWeight;
use crate::prefetch::{self, LINE};
use crate::simd::{LoadWeights, MAX_LANES, Simd};

/// The weights of one input for R · LANES outputs, one a lane.
pub(super) type PanelRow<S, const R: usize> = [<S as Simd<f32>>::Register; R];

/// Fills panels with the weights of the block `inputs`, a row for each, for the outputs: R · LANES of them a panel, zeros past the
/// last. Panels are `length` rows apart.
#[inline(always)]
pub(super) fn pack<W: RegisterWeight, S: LoadWeights, const R: usize>(
    simd: S,
    linear: &Linear<'_, W>,
    inputs: &Range<usize>,
    outputs: &Range<usize>,
    panels: &mut [PanelRow<S, R>],
    length: usize,
) {
    match linear.order {
        WeightOrder::OutIn => pack_rows::<W, S, R>(simd, linear, inputs, outputs, panels, length),
        WeightOrder::InOut => pack_columns::<W, S, R>(simd, linear, inputs, outputs, panels, length),
    }
}

/// Weights in rows of inputs: they only have to be widened. Row by row, as memory likes it.
#[inline(always)]
fn pack_columns<W: RegisterWeight, S: LoadWeights, const R: usize>(
    simd: S,
    linear: &Linear<'_, W>,
    inputs: &Range<usize>,
    outputs: &Range<usize>,
    panels: &mut [PanelRow<S, R>],
    length: usize,
) {
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

/// Prefetch distance, in rows of weights.
const PREFETCH_ROWS: usize = 8;

/// Prefetches the cache lines of these weights.
#[inline(always)]
fn prefetch_all<W>(weights: &[W]) {
    for line in weights.chunks(LINE / size_of::<W>()) {
        prefetch::near(line.as_ptr());
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

/// Weights in rows of outputs: squares of them are transposed in registers.
#[inline(always)]
fn pack_rows<W: RegisterWeight, S: LoadWeights, const R: usize>(
    simd: S,
    linear: &Linear<'_, W>,
    inputs: &Range<usize>,
    outputs: &Range<usize>,
    panels: &mut [PanelRow<S, R>],
    length: usize,
) {
    let together = W::PER_LANE * S::LANES;
    let whole = inputs.len() - inputs.len() % together;
    let mut square = [[simd.splat(0.0); MAX_LANES]; 2];
    for (number, first) in outputs.clone().step_by(S::LANES).enumerate() {
        let panel = &mut panels[number / R * length..][..inputs.len()];
        let (squares, last) = panel.split_at_mut(whole);
        let outputs = first..(first + S::LANES).min(outputs.end);
        let rows = row_starts(linear, &outputs);
        // The same inputs for the outputs after these: they are next, or soon.
        let ahead = R * S::LANES * linear.weights.stride();
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

/// Prefetches what lies `ahead` weights after the k-th of each row, once for each cache line.
#[inline(always)]
pub(super) fn prefetch_rows<W, S: LoadWeights>(rows: &[*const W; MAX_LANES], k: usize, ahead: usize) {
    if (k * size_of::<W>()).is_multiple_of(LINE) {
        for row in &rows[..S::LANES] {
            prefetch::far(row.wrapping_add(k + ahead));
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
