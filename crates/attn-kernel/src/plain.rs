//! The plain version: one query, one number at a time. Read this first.
//!
//! Every faster version computes the same in the same order, and so to the same bits. It also runs where the processor has no
//! instruction set that is known here. See [the crate](crate) for the idea.

use std::ops::Range;

use crate::exp2::Exp2;
use crate::memory::Scratch;
use crate::output::{Results, RowId};
use crate::problem::Head;
use crate::real::Real;
use crate::visibility::{BLOCK, blocks};

/// The running max m and the running sum l of one row: the max of the scores so far, and the sum of the weights relative to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftmaxState<T> {
    pub max: T,
    pub sum: T,
}

impl<T: Real> SoftmaxState<T> {
    /// Before the first score.
    pub const EMPTY: SoftmaxState<T> = SoftmaxState { max: T::NEG_INFINITY, sum: T::ZERO };

    /// Before the first key of a row: empty, or the sink alone, whose weight relative to itself is 1 (2^−shift).
    #[inline(always)]
    pub fn start(head: &Head<'_, T>, shift: u32) -> SoftmaxState<T> {
        match head.sink {
            Some(sink) => SoftmaxState { max: sink, sum: head.exp2(shift).of(T::ZERO) },
            None => SoftmaxState::EMPTY,
        }
    }

    /// 1 / l, the factor of the accumulator at the end; 0 for a fully masked row.
    #[inline(always)]
    pub fn inverse(&self) -> T {
        if self.sum == T::ZERO { T::ZERO } else { T::ONE / self.sum }
    }

    /// The number that is subtracted from the scores: the running max, or 0 while it is −∞, since −∞ − −∞ is NaN.
    #[inline(always)]
    pub fn reference(&self) -> T {
        if self.max == T::NEG_INFINITY { T::ZERO } else { self.max }
    }

    /// ln Σ exp(score) over the visible keys and the sink; for a fully masked row the sink, −∞ without one. Computed in `f64`,
    /// once a row.
    pub fn log_sum_exp(&self, head: &Head<'_, T>, shift: u32) -> T {
        if self.sum == T::ZERO {
            return T::NEG_INFINITY;
        }
        let scale = if head.scale_first { 1.0 } else { head.scale.to_f64() };
        let unshifted = self.sum.to_f64() * libm::pow(2.0, f64::from(shift));
        T::from_f64(self.max.to_f64() * scale + libm::log(unshifted))
    }
}

/// The order of the additions in a row's two kinds of sums. It decides their last bits.
pub(crate) trait SumOrder {
    /// q_i · k_j.
    fn dot<T: Real>(head: &Head<'_, T>, i: usize, j: usize) -> T;
    /// The sum of the weights of the keys from `first` on, all of one block.
    fn sum<T: Real>(weights: &[T], first: usize) -> T;
}

/// The order for tiles of queries: a dot product from left to right, the weights in four chains.
pub(crate) struct TileOrder;

impl SumOrder for TileOrder {
    #[inline(always)]
    fn dot<T: Real>(head: &Head<'_, T>, i: usize, j: usize) -> T {
        let mut sum = T::ZERO;
        for c in 0..head.q.columns {
            sum = head.k.at(j, c).mul_add(head.q.at(i, c), sum);
        }
        sum
    }

    #[inline(always)]
    fn sum<T: Real>(weights: &[T], first: usize) -> T {
        let mut chains = [T::ZERO; 4];
        for (weight, j) in weights.iter().zip(first..) {
            chains[j % 4] = chains[j % 4] + *weight;
        }
        (chains[0] + chains[1]) + (chains[2] + chains[3])
    }
}

/// The scratch memory of a thread in bytes: a row of the output.
pub(crate) fn scratch_bytes<T: Real>(head: &Head<'_, T>) -> usize {
    Scratch::bytes_of::<T>(head.v.columns)
}

/// Computes the rows `queries` of head `number` and writes them.
///
/// # Safety
/// The rows of the outputs exist, and no other thread reads or writes them meanwhile.
pub(crate) unsafe fn attend_rows<T: Real>(
    head: &Head<'_, T>,
    number: usize,
    queries: Range<usize>,
    mut scratch: Scratch<'_>,
    results: &Results<'_, T>,
) {
    let row = scratch.take::<T>(head.v.columns);
    for i in queries {
        let log_sum_exp = without_overflow(head, row, |shift, row| {
            let mut state = SoftmaxState::start(head, shift);
            attend_keys::<T, TileOrder>(head, i, head.visibility.keys(&(i..i + 1)), shift, &mut state, row);
            state
        });
        // SAFETY: the row is the caller's.
        unsafe { results.write_row(RowId { head: number, row: i }, row, log_sum_exp) };
    }
}

/// Attends from query i to two ranges of keys: updates the softmax state and the accumulator, which is not yet divided by the sum.
#[inline(always)]
pub(crate) fn attend_keys<T: Real, O: SumOrder>(
    head: &Head<'_, T>,
    i: usize,
    keys: [Range<usize>; 2],
    shift: u32,
    state: &mut SoftmaxState<T>,
    accumulator: &mut [T],
) {
    let exp2 = head.exp2(shift);
    let mut weights = [T::ZERO; BLOCK];
    for keys in blocks(keys) {
        let weights = &mut weights[..keys.len()];
        let old_max = state.max;
        // 1. The scores, −∞ for a hidden key, and the running max.
        for (score, j) in weights.iter_mut().zip(keys.clone()) {
            let is_visible = head.visibility.is_visible(i, j);
            *score = if is_visible { head.score(O::dot(head, i, j), i, j) } else { T::NEG_INFINITY };
            state.max = state.max.max(*score);
        }
        // 2. The weights relative to the max, and the running sum, first corrected to the new max.
        let reference = state.reference();
        for weight in weights.iter_mut() {
            *weight = exp2.of(*weight - reference);
        }
        let correction = exp2.correction(old_max - reference);
        state.sum = state.sum.mul_add(correction, O::sum(weights, keys.start));
        // 3. The weighted values. Those of hidden keys are not read: 0 · NaN would be NaN.
        for (c, x) in accumulator.iter_mut().enumerate() {
            let mut sum = T::ZERO;
            for (&weight, j) in weights.iter().zip(keys.clone()) {
                if head.visibility.is_visible(i, j) {
                    sum = head.v.at(j, c).mul_add(weight, sum);
                }
            }
            *x = x.mul_add(correction, sum);
        }
    }
}

/// Computes a row by `attend`, divides it by its sum, and returns its log-sum-exp. Where the weighted sum of huge values
/// overflows although their mean does not, the row is computed again with weights 2^shift times smaller.
#[inline(always)]
pub(crate) fn without_overflow<T: Real>(
    head: &Head<'_, T>,
    row: &mut [T],
    mut attend: impl FnMut(u32, &mut [T]) -> SoftmaxState<T>,
) -> T {
    let mut shift = 0;
    loop {
        row.fill(T::ZERO);
        let state = attend(shift, row);
        let inverse = state.inverse();
        for x in row.iter_mut() {
            // Adding 0 turns −0 into +0, so that a skipped block and a hidden one give the same bits.
            *x = x.mul_add(inverse, T::ZERO);
        }
        if shift != 0 || row.iter().all(|x| x.to_f64().is_finite()) {
            return state.log_sum_exp(head, shift);
        }
        shift = head.shift_against_overflow();
    }
}

// The plain version for a few queries over many keys, as when decoding with a cache.
//
// A few queries do not fill a tile. Here the lanes run along the columns, so that a key is read once, whole, for all queries
// of its group. A dot product is then a sum over sixteen lanes, and a long cache is cut into parts that are attended to
// separately and merged in order. Nothing else differs.

/// The lanes of a dot product, whatever the processor's registers hold.
pub(crate) const VIRTUAL_LANES: usize = 16;

/// The minimum number of keys in a part, a multiple of the block.
const PART: usize = 1024;

/// The maximum number of parts of a head. Longer caches have longer parts, so that the partial results stay small.
const MAX_PARTS: usize = 64;

/// The keys of part `part`, out of `keys`.
pub(crate) fn part(part: usize, keys: usize) -> Range<usize> {
    let length = PART * keys.div_ceil(PART * MAX_PARTS).max(1);
    (part * length).min(keys)..((part + 1) * length).min(keys)
}

/// The number of parts.
pub(crate) fn parts(keys: usize) -> usize {
    keys.div_ceil(PART * keys.div_ceil(PART * MAX_PARTS).max(1))
}

/// The sum of sixteen lanes, halved again and again: 16 → 8 → 4 → 2 → 1.
#[inline(always)]
pub(crate) fn fold<T: Real>(mut lanes: [T; VIRTUAL_LANES]) -> T {
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            lanes[lane] = lanes[lane] + lanes[lane + half];
        }
    }
    lanes[0]
}

/// The order for a few queries: sixteen lanes, lane l for the columns (or keys) l, l + 16, …
struct DecodeOrder;

impl SumOrder for DecodeOrder {
    #[inline(always)]
    fn dot<T: Real>(head: &Head<'_, T>, i: usize, j: usize) -> T {
        let mut lanes = [T::ZERO; VIRTUAL_LANES];
        for c in 0..head.q.columns {
            let lane = &mut lanes[c % VIRTUAL_LANES];
            *lane = head.k.at(j, c).mul_add(head.q.at(i, c), *lane);
        }
        fold(lanes)
    }

    #[inline(always)]
    fn sum<T: Real>(weights: &[T], first: usize) -> T {
        let mut lanes = [T::ZERO; VIRTUAL_LANES];
        for (weight, j) in weights.iter().zip(first..) {
            lanes[j % VIRTUAL_LANES] = lanes[j % VIRTUAL_LANES] + *weight;
        }
        fold(lanes)
    }
}

/// The scratch memory of a thread in bytes: a row of the output, and one of a part.
pub(crate) fn decode_scratch_bytes<T: Real>(head: &Head<'_, T>) -> usize {
    2 * Scratch::bytes_of::<T>(head.v.columns)
}

/// Computes one row and writes it. The sink is part of the whole from the start, and of no part of the keys.
///
/// # Safety
/// The row of the outputs exists, and no other thread reads or writes it meanwhile.
#[inline(always)]
pub(crate) unsafe fn attend_row<T: Real>(
    head: &Head<'_, T>,
    id: RowId,
    mut scratch: Scratch<'_>,
    results: &Results<'_, T>,
) {
    let (row, partial) = (scratch.take::<T>(head.v.columns), scratch.take::<T>(head.v.columns));
    let log_sum_exp = without_overflow(head, row, |shift, row| {
        let mut whole = SoftmaxState::start(head, shift);
        for number in 0..parts(head.k.rows) {
            let keys = visible_part(head, id.row, number);
            let mut state = SoftmaxState::EMPTY;
            partial.fill(T::ZERO);
            attend_keys::<T, DecodeOrder>(head, id.row, keys, shift, &mut state, partial);
            merge(&head.exp2(shift), &mut whole, row, state, partial);
        }
        whole
    });
    // SAFETY: the row is the caller's.
    unsafe { results.write_row(id, row, log_sum_exp) };
}

/// The keys of a part inside the band of query i.
#[inline(always)]
pub(crate) fn visible_part<T: Real>(head: &Head<'_, T>, i: usize, number: usize) -> [Range<usize>; 2] {
    let part = part(number, head.k.rows);
    head.visibility.keys(&(i..i + 1)).map(|band| {
        // An empty range stays inside the part: the lane version takes the keys from the first row's start to the last row's end.
        let end = band.end.clamp(part.start, part.end);
        band.start.clamp(part.start, end)..end
    })
}

/// Merges a part, its state and its accumulator, into a row, each relative to its own max: `whole = max(m₁, m₂)`, both sums and
/// accumulators corrected to it.
#[inline(always)]
pub(crate) fn merge<T: Real>(
    exp2: &Exp2<T>,
    whole: &mut SoftmaxState<T>,
    row: &mut [T],
    part: SoftmaxState<T>,
    accumulator: &[T],
) {
    let merged = SoftmaxState { max: whole.max.max(part.max), sum: whole.sum };
    let reference = merged.reference();
    let (old, new) = (exp2.correction(whole.max - reference), exp2.correction(part.max - reference));
    for (x, &more) in row.iter_mut().zip(accumulator) {
        *x = x.mul_add(old, more * new);
    }
    *whole = SoftmaxState { sum: whole.sum.mul_add(old, part.sum * new), ..merged };
}
