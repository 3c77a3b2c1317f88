//! The plain version for a few queries over many keys, as when decoding with a cache.
//!
//! A few queries do not fill a tile. Here the lanes run along the columns, so that a key is read once, whole, for all queries
//! of its group. A dot product is then a sum over sixteen lanes, and a long cache is cut into parts that are attended to
//! separately and merged in order. Nothing else differs from [`plain`](super::plain).

use std::ops::Range;

use crate::exp2::Exp2;
use crate::output::{Results, RowId};
use crate::plain::{SumOrder, attend_keys, without_overflow};
use crate::problem::Head;
use crate::real::Real;
use crate::scratch::Scratch;
use crate::softmax::SoftmaxState;

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
pub(crate) fn scratch_bytes<T: Real>(head: &Head<'_, T>) -> usize {
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
            merge(&head.exp2(shift), &mut whole, row, &Part { state, accumulator: partial });
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

/// Merges a part into a row, each relative to its own max: `whole = max(m₁, m₂)`, both sums and accumulators corrected to it.
#[inline(always)]
pub(crate) fn merge<T: Real>(exp2: &Exp2<T>, whole: &mut SoftmaxState<T>, row: &mut [T], part: &Part<'_, T>) {
    let merged = SoftmaxState { max: whole.max.max(part.state.max), sum: whole.sum };
    let reference = merged.reference();
    let (old, new) = (exp2.correction(whole.max - reference), exp2.correction(part.state.max - reference));
    for (x, &more) in row.iter_mut().zip(part.accumulator) {
        *x = x.mul_add(old, more * new);
    }
    *whole = SoftmaxState { sum: whole.sum.mul_add(old, part.state.sum * new), ..merged };
}

/// The partial result of a row after one part of its keys.
pub(crate) struct Part<'a, T> {
    pub state: SoftmaxState<T>,
    pub accumulator: &'a [T],
}
