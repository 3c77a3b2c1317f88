//! The plain version for few queries over many keys, as when decoding with a cache.
//!
//! With a few queries to a head there is no tile to fill: now the lanes run along the columns, so
//! that a key is read once, whole, for all queries of its group. A dot product then is a sum over sixteen lanes, and long
//! caches are cut into parts that are attended to separately and merged in order. Nothing else differs from [`plain`](super::plain).

use std::ops::Range;

use super::exp2::Exp2;
use super::layout::Results;
use super::plain::{Normalizer, Order, attend_keys, without_overflow, write_row};
use super::problem::Head;
use super::real::Real;
use super::scratch::Scratch;

/// So many lanes has a dot product, whatever the processor's registers hold.
pub(super) const VIRTUAL_LANES: usize = 16;

/// Keys in a part, at least; a multiple of the block.
const PART: usize = 1024;

/// So many parts has a head at most: longer caches have longer parts, so that what is kept of each stays small.
const MOST_PARTS: usize = 64;

/// Where part `part` of `keys` keys lies; the parts depend on nothing but their number.
pub(super) fn part(part: usize, keys: usize) -> Range<usize> {
    let length = PART * keys.div_ceil(PART * MOST_PARTS).max(1);
    (part * length).min(keys)..((part + 1) * length).min(keys)
}

/// How many parts there are.
pub(super) fn parts(keys: usize) -> usize {
    keys.div_ceil(PART * keys.div_ceil(PART * MOST_PARTS).max(1))
}

/// The sum of sixteen lanes, halved again and again: 16 → 8 → 4 → 2 → 1.
#[inline(always)]
pub(super) fn fold<T: Real>(mut lanes: [T; VIRTUAL_LANES]) -> T {
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            lanes[lane] = lanes[lane] + lanes[lane + half];
        }
    }
    lanes[0]
}

/// The order for few queries: sixteen lanes, lane l for the columns (or keys) l, l + 16, …
pub(super) struct Few;

impl Order for Few {
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

/// What a thread needs, in bytes: a row of the output, and one of a part.
pub(super) fn scratch_bytes<T: Real>(head: &Head<'_, T>) -> usize {
    2 * Scratch::bytes_of::<T>(head.v.columns)
}

/// Query i of head `h`, written to the outputs.
///
/// # Safety
/// The row of the outputs exists, and nobody else reads or writes it meanwhile.
#[inline(always)]
pub(super) unsafe fn attend_row<T: Real>(
    head: &Head<'_, T>,
    (h, i): (usize, usize),
    mut scratch: Scratch<'_>,
    results: &Results<'_, T>,
) {
    let (row, partial) = (scratch.take::<T>(head.v.columns), scratch.take::<T>(head.v.columns));
    let log_sum_exp = without_overflow(head, row, |shift, row| {
        let mut whole = Normalizer::EMPTY;
        for number in 0..parts(head.k.rows) {
            let keys = visible_part(head, i, number);
            let mut normalizer = Normalizer::EMPTY;
            partial.fill(T::ZERO);
            attend_keys::<T, Few>(head, i, keys, shift, &mut normalizer, partial);
            merge(&head.exp2(shift), (&mut whole, row), (&normalizer, partial));
        }
        whole
    });
    // SAFETY: the row is the caller's.
    unsafe { write_row((h, i), row, log_sum_exp, results) };
}

/// The keys of a part that query i may see by its position.
#[inline(always)]
pub(super) fn visible_part<T: Real>(head: &Head<'_, T>, i: usize, number: usize) -> Range<usize> {
    let (seen, part) = (head.sight.keys(&(i..i + 1)), part(number, head.k.rows));
    // What is empty is empty inside the part: the lane version takes the keys from the first row's first to the last row's last.
    let end = seen.end.clamp(part.start, part.end);
    seen.start.clamp(part.start, end)..end
}

/// Two mixtures of values, each relative to its own largest score, become one.
#[inline(always)]
pub(super) fn merge<T: Real>(
    exp2: &Exp2<T>,
    (whole, row): (&mut Normalizer<T>, &mut [T]),
    (part, partial): (&Normalizer<T>, &[T]),
) {
    let merged = Normalizer { largest: whole.largest.larger(part.largest), sum: whole.sum };
    let reference = merged.reference();
    let (old, new) = (exp2.correction(whole.largest - reference), exp2.correction(part.largest - reference));
    for (x, &more) in row.iter_mut().zip(partial) {
        *x = x.mul_add(old, more * new);
    }
    *whole = Normalizer { sum: whole.sum.mul_add(old, part.sum * new), ..merged };
}
