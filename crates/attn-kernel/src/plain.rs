//! The plain version: one query, one number at a time. Read this first.
//!
//! Every faster version computes the same in the same order, and so to the same bits. It also runs where the processor has no
//! instruction set that is known here. See [the crate](crate) for the idea.

use std::ops::Range;

use crate::blocks::{BLOCK, blocks};
use crate::output::{Results, RowId};
use crate::problem::Head;
use crate::real::Real;
use crate::scratch::Scratch;
use crate::softmax::SoftmaxState;

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
