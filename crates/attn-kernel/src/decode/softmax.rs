//! Step 2 for a few queries: scores become weights.

use std::ops::Range;

use super::group::Partial;
use super::lanes::virtual_lanes;
use crate::blocks::BLOCK;
use crate::exp2::{Exp2, RegisterExp2};
use crate::plain_decode::{VIRTUAL_LANES, fold};
use crate::real::Real;
use crate::simd::Simd;
use crate::softmax::SoftmaxState;

/// Replaces the scores of a row by weights and updates the state behind its accumulator, `row`. Returns the correction of older
/// sums. `used` are the places of keys.
#[inline(always)]
pub(super) fn weigh<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    exp2: &Exp2<T>,
    used: Range<usize>,
    scores: &mut [T; BLOCK],
    row: &mut [T],
) -> T {
    let old = Partial::of(row).state;
    let scores =
        &mut scores[used.start / VIRTUAL_LANES * VIRTUAL_LANES..used.end.next_multiple_of(VIRTUAL_LANES)];
    let mut max = [simd.splat(old.max); K];
    for (at, numbers) in scores.chunks_exact(S::LANES).enumerate() {
        // SAFETY: a chunk is as long as a register.
        max[at % K] = simd.max(max[at % K], unsafe { simd.load(numbers) });
    }
    let max = virtual_lanes(simd, max).into_iter().fold(T::NEG_INFINITY, T::max);
    let raised = SoftmaxState { max, sum: old.sum };
    let (reference, lanes) = (simd.splat(raised.reference()), RegisterExp2::new(simd, exp2));
    let mut sums = [simd.splat(T::ZERO); K];
    for (at, numbers) in scores.chunks_exact_mut(S::LANES).enumerate() {
        // SAFETY: a chunk is as long as a register.
        unsafe {
            let weights = lanes.of(simd.sub(simd.load(numbers), reference));
            sums[at % K] = simd.add(sums[at % K], weights);
            simd.store(weights, numbers);
        }
    }
    let correction = exp2.correction(old.max - raised.reference());
    let sum = raised.sum.mul_add(correction, fold(virtual_lanes(simd, sums)));
    Partial::set_state(row, SoftmaxState { max, sum });
    correction
}
