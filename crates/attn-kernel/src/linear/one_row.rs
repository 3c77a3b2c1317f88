//! A task with one row of x, such as the next token of a text: reading the weights takes nearly all of the time.
//!
//! Weights in rows of inputs are multiplied as they lie in memory, cache line by cache line. Of weights in rows of outputs, squares
//! are transposed in registers.

use std::ops::Range;

use super::pack::{load_column, prefetch_rows, row_starts};
use super::problem::Linear;
use super::weight::RegisterWeight;
use crate::prefetch::{self, LINE};
use crate::simd::{LoadWeights, MAX_LANES};

/// The inputs that are added together, of weights in rows of inputs: with fewer, adding to the sums takes as long as multiplying.
const INPUTS_TOGETHER: usize = 8;

/// Prefetch distance, in inputs.
const PREFETCH_INPUTS: usize = 8;

/// The maximum of registers that a cache line of weights fills.
const MAX_REGISTERS_PER_LINE: usize = 8;

/// Weights in rows of inputs: adds all inputs to the sums of the outputs whose weights fill whole cache lines, and returns the number
/// of these outputs.
#[inline(always)]
pub(super) fn add_whole_lines<W: RegisterWeight, S: LoadWeights>(
    simd: S,
    linear: &Linear<'_, W>,
    outputs: &Range<usize>,
    sums: &mut [S::Register],
) -> usize {
    let per_line = LINE / size_of::<W>();
    let whole = outputs.len() - outputs.len() % per_line;
    let sums = &mut sums[..whole / S::LANES];
    let together = linear.inputs() - linear.inputs() % INPUTS_TOGETHER;
    for k in (0..together).step_by(INPUTS_TOGETHER) {
        add_inputs::<W, S, INPUTS_TOGETHER>(simd, linear, (k, outputs.start), sums);
    }
    for k in together..linear.inputs() {
        add_inputs::<W, S, 1>(simd, linear, (k, outputs.start), sums);
    }
    whole
}

/// The inputs k .. k + I, for the outputs from `first` on.
#[inline(always)]
fn add_inputs<W: RegisterWeight, S: LoadWeights, const I: usize>(
    simd: S,
    linear: &Linear<'_, W>,
    (k, first): (usize, usize),
    sums: &mut [S::Register],
) {
    let per_line = LINE / size_of::<W>();
    let registers = per_line / S::LANES;
    let stride = linear.weights.stride();
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
            prefetch::far(weights.wrapping_add(PREFETCH_INPUTS * stride));
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
pub(super) fn sums_of_outputs<W: RegisterWeight, S: LoadWeights, const R: usize>(
    simd: S,
    linear: &Linear<'_, W>,
    firsts: [usize; R],
    end: usize,
) -> [S::Register; R] {
    let x = linear.input.row(0);
    let together = W::PER_LANE * S::LANES;
    let squares = x.len() / together;
    let outputs = firsts.map(|first| first..(first + S::LANES).min(end));
    let starts = outputs.each_ref().map(|outputs| row_starts(linear, outputs));
    let ahead = R * S::LANES * linear.weights.stride();
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
