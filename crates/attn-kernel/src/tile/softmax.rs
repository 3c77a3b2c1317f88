//! Step 2 of a tile: scores become weights.

use std::ops::Range;

use super::lanes::{Lanes, SoftmaxLanes};
use crate::exp2::RegisterExp2;
use crate::real::Real;
use crate::simd::Simd;

/// Updates the running max, replaces the scores by the weights relative to it, and updates the running sum. Returns the
/// correction of older sums.
#[inline(always)]
pub(super) fn weigh<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    exp2: &RegisterExp2<T, S>,
    keys: &Range<usize>,
    scores: &mut [Lanes<T, S, R>],
    states: &mut SoftmaxLanes<T, S, R>,
) -> Lanes<T, S, R> {
    let zero = simd.splat(T::ZERO);
    let mut correction = [zero; R];
    let max = max_of(simd, &states.max, scores);
    // The plain version sums key j in the chain j mod 4: blocks begin at multiples of 4, but the keys may begin later.
    let before_four = (4 - keys.start % 4) % 4;
    for r in 0..R {
        let reference = simd.zero_below(max[r], max[r], simd.splat(T::MIN));
        let mut sums = [zero; 4];
        let (first, rest) = scores.split_at_mut(before_four.min(scores.len()));
        let (fours, last) = rest.as_chunks_mut::<4>();
        for (scores, sum) in first.iter_mut().zip(&mut sums[4 - before_four..]) {
            weigh_one(simd, exp2, reference, &mut scores[r], sum);
        }
        for four in fours {
            for (scores, sum) in four.iter_mut().zip(&mut sums) {
                weigh_one(simd, exp2, reference, &mut scores[r], sum);
            }
        }
        for (scores, sum) in last.iter_mut().zip(&mut sums) {
            weigh_one(simd, exp2, reference, &mut scores[r], sum);
        }
        let sum = simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3]));
        correction[r] = exp2.correction(simd.sub(states.max[r], reference));
        states.sum[r] = simd.mul_add(states.sum[r], correction[r], sum);
        states.max[r] = max[r];
    }
    correction
}

/// Replaces a score by its weight and adds that to the sum.
#[inline(always)]
fn weigh_one<T: Real, S: Simd<T>>(
    simd: S,
    exp2: &RegisterExp2<T, S>,
    reference: S::Register,
    score: &mut S::Register,
    sum: &mut S::Register,
) {
    *score = exp2.of(simd.sub(*score, reference));
    *sum = simd.add(*sum, *score);
}

/// The max of `old` and the scores, in every lane. Four chains, since in one each operation would wait for the last.
#[inline(always)]
fn max_of<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    old: &Lanes<T, S, R>,
    scores: &[Lanes<T, S, R>],
) -> Lanes<T, S, R> {
    let mut chains = [*old; 4];
    let (fours, last) = scores.as_chunks::<4>();
    for four in fours {
        for (chain, scores) in chains.iter_mut().zip(four) {
            for r in 0..R {
                chain[r] = simd.max(chain[r], scores[r]);
            }
        }
    }
    for (chain, scores) in chains.iter_mut().zip(last) {
        for r in 0..R {
            chain[r] = simd.max(chain[r], scores[r]);
        }
    }
    let mut max = chains[0];
    for chain in &chains[1..] {
        for r in 0..R {
            max[r] = simd.max(max[r], chain[r]);
        }
    }
    max
}
