//! One part of the keys, block by block.

use std::ops::Range;

use super::block::{BlockMemory, attend_block};
use super::group::{Group, Partial, Partials, Query};
use crate::blocks::{BLOCK, blocks};
use crate::plain_decode::{VIRTUAL_LANES, visible_part};
use crate::real::Real;
use crate::scratch::Scratch;
use crate::simd::Simd;

/// The maximum number of queries that share one pass over a block.
const TOGETHER: usize = 4;

/// The scratch memory of a part, in bytes.
pub(crate) fn scratch_bytes<T: Real>(group: &Group<'_, T>) -> usize {
    let Some(Query { head, .. }) = group.queries.first() else { return 0 };
    let queries = group.queries.len() * head.q.columns.next_multiple_of(VIRTUAL_LANES);
    Scratch::bytes_of::<T>(queries)
        + Scratch::bytes_of::<[T; BLOCK]>(TOGETHER)
        + Scratch::bytes_of::<T>(head.copy_len())
}

/// Attends from the group's queries to the keys of part `number`. K registers hold sixteen numbers.
///
/// # Safety
/// The rows of this part are in the partials, and no other thread reads or writes them meanwhile.
#[inline(always)]
pub(crate) unsafe fn attend_part<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    group: &Group<'_, T>,
    number: usize,
    mut scratch: Scratch<'_>,
    partials: &Partials<'_, T>,
) {
    let Some(Query { head, .. }) = group.queries.first() else { return };
    let count = group.queries.len();
    let width = head.q.columns.next_multiple_of(VIRTUAL_LANES);
    let queries = scratch.take::<T>(count * width);
    let weights = scratch.take::<[T; BLOCK]>(TOGETHER);
    let copy = scratch.take::<T>(head.copy_len());
    copy_queries(group, width, queries);
    // SAFETY: the row is this part's, and each is taken once at a time.
    let row_of = |r: usize| unsafe { partials.row_mut(number * count + r) };
    for r in 0..count {
        Partial::start(row_of(r));
    }
    for keys in blocks(seen_by_any(group, number)) {
        for from in (0..count).step_by(TOGETHER) {
            let rows = &group.queries[from..(from + TOGETHER).min(count)];
            let row_of = |r| row_of(from + r);
            let space =
                BlockMemory { queries: &queries[from * width..], weights: &mut *weights, copy: &mut *copy };
            match rows.len() {
                4 => attend_block::<T, S, 4, K>(simd, rows, &keys, space, row_of),
                3 => attend_block::<T, S, 3, K>(simd, rows, &keys, space, row_of),
                2 => attend_block::<T, S, 2, K>(simd, rows, &keys, space, row_of),
                _ => attend_block::<T, S, 1, K>(simd, rows, &keys, space, row_of),
            }
        }
    }
}

/// The keys of a part inside the band of any query: from the first start to the last end of both ranges.
#[inline(always)]
fn seen_by_any<T: Real>(group: &Group<'_, T>, number: usize) -> [Range<usize>; 2] {
    let seen = |query: &Query<'_, T>| visible_part(&query.head, query.id.row, number);
    let cover = |[a, b]: [Range<usize>; 2], [c, d]: [Range<usize>; 2]| {
        [a.start.min(c.start)..a.end.max(c.end), b.start.min(d.start)..b.end.max(d.end)]
    };
    group.queries.iter().map(seen).reduce(cover).unwrap_or_default()
}

/// Copies the queries side by side, with zeros up to a multiple of sixteen columns.
#[inline(always)]
fn copy_queries<T: Real>(group: &Group<'_, T>, width: usize, copies: &mut [T]) {
    for (copy, Query { head, id }) in copies.chunks_exact_mut(width.max(1)).zip(&group.queries) {
        copy.fill(T::ZERO);
        for (c, number) in copy[..head.q.columns].iter_mut().enumerate() {
            *number = head.q.at(id.row, c);
        }
    }
}
