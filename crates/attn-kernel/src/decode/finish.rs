//! The parts of a row become its result.

use super::group::{Group, Partial, Partials, Query};
use crate::output::Results;
use crate::plain_decode::{self, Part, attend_row, merge, parts};
use crate::real::Real;
use crate::scratch::Scratch;
use crate::softmax::SoftmaxState;

/// The scratch memory of [`finish_row`], in bytes.
pub(crate) fn scratch_bytes_to_finish<T: Real>(group: &Group<'_, T>) -> usize {
    let row = |query: &Query<'_, T>| {
        Scratch::bytes_of::<T>(query.head.v.columns) + plain_decode::scratch_bytes(&query.head)
    };
    group.queries.first().map_or(0, row)
}

/// Merges the parts of query r in their order, and writes its row.
///
/// # Safety
/// The rows of the outputs exist, all parts are finished, and no other thread reads or writes any of them meanwhile.
#[inline(always)]
pub(crate) unsafe fn finish_row<T: Real>(
    group: &Group<'_, T>,
    r: usize,
    mut scratch: Scratch<'_>,
    partials: &Partials<'_, T>,
    results: &Results<'_, T>,
) {
    let Query { head, id } = &group.queries[r];
    let exp2 = head.exp2(0);
    let row = scratch.take::<T>(head.v.columns);
    row.fill(T::ZERO);
    let mut whole = SoftmaxState::start(head, 0);
    for number in 0..parts(head.k.rows) {
        // SAFETY: the part is finished.
        let partial = Partial::of(unsafe { partials.row_mut(number * group.queries.len() + r) });
        let part = Part { state: partial.state, accumulator: partial.accumulator };
        merge(&exp2, &mut whole, row, &part);
    }
    let inverse = whole.inverse();
    for x in row.iter_mut() {
        *x = x.mul_add(inverse, T::ZERO);
    }
    if row.iter().all(|x| x.to_f64().is_finite()) {
        // SAFETY: the row is the caller's.
        unsafe { results.write_row(*id, row, whole.log_sum_exp(head, 0)) };
    } else {
        // SAFETY: the row is the caller's.
        unsafe { attend_row(head, *id, scratch, results) };
    }
}
