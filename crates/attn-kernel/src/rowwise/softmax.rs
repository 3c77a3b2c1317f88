//! The softmax of a row of scores, in place.

use std::ops::Range;

use super::sums::replace_and_sum;
use crate::exp2::{Exp2, RegisterExp2};
use crate::plain_decode::{VIRTUAL_LANES, fold};
use crate::real::Real;
use crate::simd::Simd;

/// eˣ for x ≤ 0.
fn exp() -> Exp2<f32> {
    Exp2::of_multiples(std::f32::consts::LOG2_E, 0)
}

/// The plain version: scores become weights, 0 for hidden keys.
///
/// The sum is sixteen chains, key j in chain j mod 16.
pub(super) fn softmax_plain(row: &mut [f32], visible: &[Range<usize>; 2]) {
    let exp = exp();
    let keys = || visible.iter().flat_map(Clone::clone);
    let max = keys().fold(f32::NEG_INFINITY, |max, j| Real::max(row[j], max));
    let reference = reference(max);
    let mut lanes = [0.0; VIRTUAL_LANES];
    for j in keys() {
        row[j] = exp.of(row[j] - reference);
        lanes[j % VIRTUAL_LANES] += row[j];
    }
    let sum = fold(lanes);
    for j in keys() {
        row[j] = if sum == 0.0 { 0.0 } else { row[j] / sum };
    }
    fill_hidden(row, visible, 0.0);
}

/// The number that is subtracted from the scores: the max, or 0 if it is −∞, since −∞ − −∞ is NaN.
#[inline(always)]
fn reference(max: f32) -> f32 {
    if max == f32::NEG_INFINITY { 0.0 } else { max }
}

/// Fills what no range has.
#[inline(always)]
fn fill_hidden(row: &mut [f32], [first, rest]: &[Range<usize>; 2], with: f32) {
    row[..first.start].fill(with);
    row[first.end..rest.start].fill(with);
    row[rest.end..].fill(with);
}

/// The same in registers: hidden scores are −∞ up to the end.
#[inline(always)]
pub(super) fn softmax_in_registers<S: Simd<f32>>(simd: S, row: &mut [f32], visible: &[Range<usize>; 2]) {
    fill_hidden(row, visible, f32::NEG_INFINITY);
    let [first, rest] = visible;
    // From the sixteen with the first visible key to the last visible key.
    let start = if first.is_empty() { rest.start } else { first.start };
    let start = start.min(rest.end) / VIRTUAL_LANES * VIRTUAL_LANES;
    let keys = &mut row[start..rest.end.max(start)];
    let max = reference(max_in_registers(simd, keys));
    let exp = RegisterExp2::new(simd, &exp());
    let max = simd.splat(max);
    let sum = replace_and_sum(simd, keys, f32::NEG_INFINITY, |scores| exp.of(simd.sub(scores, max)));
    if sum == 0.0 {
        row.fill(0.0);
        return;
    }
    let sums = simd.splat(sum);
    let mut registers = keys.chunks_exact_mut(S::LANES);
    for weights in &mut registers {
        // SAFETY: a chunk is as long as a register.
        unsafe { simd.store(simd.div(simd.load(weights), sums), weights) };
    }
    for weight in registers.into_remainder() {
        *weight /= sum;
    }
    fill_hidden(row, visible, 0.0);
}

#[inline(always)]
fn max_in_registers<S: Simd<f32>>(simd: S, row: &[f32]) -> f32 {
    let mut max = simd.splat(f32::NEG_INFINITY);
    let mut registers = row.chunks_exact(S::LANES);
    for scores in &mut registers {
        // SAFETY: a chunk is as long as a register.
        max = simd.max(unsafe { simd.load(scores) }, max);
    }
    let lanes = simd.numbers(max);
    let all = lanes[..S::LANES].iter().chain(registers.remainder());
    all.fold(f32::NEG_INFINITY, |max, score| Real::max(*score, max))
}
