//! The lane version for few queries: lanes along the columns.
//!
//! Reading the keys and values is what takes the time here, so each is read once for all query heads that share it. See
//! [`plain_decode`](super::plain_decode) for what is computed, and in which order.

use super::decode_block::attend_block;
use super::layout::{Output, Results};
use super::plain::{BLOCK, Normalizer, blocks, write_row};
use super::plain_decode::{self, VIRTUAL_LANES, attend_row, merge, parts, visible_part};
use super::problem::Head;
use super::real::Real;
use super::scratch::Scratch;
use super::simd::Simd;

/// The queries that share a key/value head.
#[derive(Clone)]
pub(super) struct Group<'a, T> {
    /// At least one.
    pub rows: Vec<Row<'a, T>>,
}

/// One query.
#[derive(Clone)]
pub(super) struct Row<'a, T> {
    pub head: Head<'a, T>,
    /// The head's number.
    pub number: usize,
    /// The query's number.
    pub query: usize,
}

/// What is kept of each row for each part: the mixture of the values, then the largest score and the sum.
#[derive(Clone, Copy)]
pub(super) struct Partials<'a, T> {
    /// A head for each group, in it a row for each query of each part.
    pub numbers: Output<'a, T>,
    /// The group's number.
    pub group: usize,
}

/// So many queries at most share one pass over a block.
const TOGETHER: usize = 4;

/// What a part needs, in bytes.
pub(super) fn scratch_bytes<T: Real>(group: &Group<'_, T>) -> usize {
    let Some(Row { head, .. }) = group.rows.first() else { return 0 };
    let queries = group.rows.len() * head.q.columns.next_multiple_of(VIRTUAL_LANES);
    Scratch::bytes_of::<T>(queries)
        + Scratch::bytes_of::<[T; BLOCK]>(TOGETHER)
        + Scratch::bytes_of::<T>(head.copied())
}

/// Attends from the group's queries to the keys of part `number`, for registers of which K hold sixteen numbers.
///
/// # Safety
/// The rows of this part are in the partials, and nobody else reads or writes them meanwhile.
#[inline(always)]
pub(super) unsafe fn attend_part<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    group: &Group<'_, T>,
    number: usize,
    mut scratch: Scratch<'_>,
    partials: &Partials<'_, T>,
) {
    let Some(Row { head, .. }) = group.rows.first() else { return };
    let width = head.q.columns.next_multiple_of(VIRTUAL_LANES);
    let queries = scratch.take::<T>(group.rows.len() * width);
    let weights = scratch.take::<[T; BLOCK]>(TOGETHER);
    let copy = scratch.take::<T>(head.copied());
    copy_queries(group, width, queries);
    let row_of = |r: usize| {
        // SAFETY: the row is this part's, and each is taken once at a time.
        unsafe {
            partials.numbers.row_mut(
                (partials.group, number * group.rows.len() + r),
                0,
                partials.numbers.columns(),
            )
        }
    };
    for r in 0..group.rows.len() {
        Partial::start(row_of(r));
    }
    let visible = |row: &Row<'_, T>| visible_part(&row.head, row.query, number);
    let start = group.rows.iter().map(|row| visible(row).start).min().unwrap_or(0);
    let end = group.rows.iter().map(|row| visible(row).end).max().unwrap_or(0);
    for keys in blocks(start.min(end)..end) {
        for from in (0..group.rows.len()).step_by(TOGETHER) {
            let rows = &group.rows[from..(from + TOGETHER).min(group.rows.len())];
            let (queries, row_of) = (&queries[from * width..], |r| row_of(from + r));
            let space = (&mut *weights, &mut *copy);
            match rows.len() {
                4 => attend_block::<T, S, 4, K>(simd, rows, &keys, queries, space, row_of),
                3 => attend_block::<T, S, 3, K>(simd, rows, &keys, queries, space, row_of),
                2 => attend_block::<T, S, 2, K>(simd, rows, &keys, queries, space, row_of),
                _ => attend_block::<T, S, 1, K>(simd, rows, &keys, queries, space, row_of),
            }
        }
    }
}

/// The queries side by side, with zeros up to a multiple of sixteen columns.
#[inline(always)]
fn copy_queries<T: Real>(group: &Group<'_, T>, width: usize, queries: &mut [T]) {
    for (copy, Row { head, query, .. }) in queries.chunks_exact_mut(width.max(1)).zip(&group.rows) {
        copy.fill(T::ZERO);
        for (c, number) in copy[..head.q.columns].iter_mut().enumerate() {
            *number = head.q.at(*query, c);
        }
    }
}

/// A row of the partials.
pub(super) struct Partial<'p, T> {
    pub mixture: &'p mut [T],
    pub normalizer: Normalizer<T>,
}

impl<'p, T: Real> Partial<'p, T> {
    #[inline(always)]
    fn start(row: &mut [T]) {
        let columns = row.len() - 2;
        row.fill(T::ZERO);
        row[columns] = Normalizer::<T>::EMPTY.largest;
        row[columns + 1] = Normalizer::<T>::EMPTY.sum;
    }

    #[inline(always)]
    pub fn of(row: &'p mut [T]) -> Partial<'p, T> {
        let columns = row.len() - 2;
        let (mixture, rest) = row.split_at_mut(columns);
        Partial { mixture, normalizer: Normalizer { largest: rest[0], sum: rest[1] } }
    }
}

/// What [`finish_row`] needs, in bytes.
pub(super) fn scratch_bytes_to_finish<T: Real>(group: &Group<'_, T>) -> usize {
    let row = |row: &Row<'_, T>| {
        Scratch::bytes_of::<T>(row.head.v.columns) + plain_decode::scratch_bytes(&row.head)
    };
    group.rows.first().map_or(0, row)
}

/// Merges the parts of a row in their order, and writes it.
///
/// # Safety
/// The rows of the outputs exist, all parts are finished, and nobody else reads or writes any of them meanwhile.
#[inline(always)]
pub(super) unsafe fn finish_row<T: Real>(
    group: &Group<'_, T>,
    r: usize,
    mut scratch: Scratch<'_>,
    partials: &Partials<'_, T>,
    results: &Results<'_, T>,
) {
    let Row { head, number: h, query: i } = &group.rows[r];
    let columns = head.v.columns;
    let exp2 = head.exp2(0);
    let row = scratch.take::<T>(columns);
    row.fill(T::ZERO);
    let mut whole = Normalizer::EMPTY;
    for number in 0..parts(head.k.rows) {
        // SAFETY: the part is finished.
        let partial = Partial::of(unsafe {
            partials.numbers.row_mut((partials.group, number * group.rows.len() + r), 0, columns + 2)
        });
        merge(&exp2, (&mut whole, row), (&partial.normalizer, partial.mixture));
    }
    let inverse = whole.inverse();
    for x in row.iter_mut() {
        *x = x.mul_add(inverse, T::ZERO);
    }
    if row.iter().all(|x| x.to_f64().is_finite()) {
        // SAFETY: the row is the caller's.
        unsafe { write_row((*h, *i), row, whole.log_sum_exp(head, 0), results) };
    } else {
        // SAFETY: the row is the caller's.
        unsafe { attend_row(head, (*h, *i), scratch, results) };
    }
}
