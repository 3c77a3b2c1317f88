//! The plain version: one query, one number at a time. Read this first.
//!
//! It is what every faster version computes, in the same order and so to the same bits, and it is what runs where the
//! processor has no SIMD that we know of. See [the room](super) for the idea.

use std::ops::Range;

use super::layout::Results;
use super::problem::Head;
use super::real::Real;
use super::scratch::Scratch;

/// So many keys make a block. It is part of the result's definition (sums are taken block by block), not of the machine.
pub const BLOCK: usize = 128;

/// What the online softmax knows of a row: the largest score, and the sum of the weights relative to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normalizer<T> {
    pub largest: T,
    pub sum: T,
}

impl<T: Real> Normalizer<T> {
    /// Of a row of which no key was seen yet.
    pub const EMPTY: Normalizer<T> = Normalizer { largest: T::NEG_INFINITY, sum: T::ZERO };

    /// What the weighted sum of the values is multiplied by at the end; 0 where every key is hidden.
    #[inline(always)]
    pub fn inverse(&self) -> T {
        if self.sum == T::ZERO { T::ZERO } else { T::ONE / self.sum }
    }

    /// What scores are taken relative to: the largest. Where all is hidden yet it is −∞, and −∞ − −∞ would be no number.
    #[inline(always)]
    pub fn reference(&self) -> T {
        if self.largest == T::NEG_INFINITY { T::ZERO } else { self.largest }
    }

    /// ln Σ exp(score), −∞ where every key is hidden. Taken in `f64`, once a row.
    pub fn log_sum_exp(&self, head: &Head<'_, T>, shift: u32) -> T {
        if self.sum == T::ZERO {
            return T::NEG_INFINITY;
        }
        let scale = if head.scale_first { 1.0 } else { head.scale.to_f64() };
        let unshifted = self.sum.to_f64() * libm::pow(2.0, f64::from(shift));
        T::from_f64(self.largest.to_f64() * scale + libm::log(unshifted))
    }
}

/// The keys of `keys`, block by block: blocks begin at multiples of [`BLOCK`], whatever the first key is.
#[inline(always)]
pub(super) fn blocks(keys: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let first = keys.start / BLOCK;
    let end = if keys.is_empty() { first } else { keys.end.div_ceil(BLOCK) };
    (first..end).map(move |block| (block * BLOCK).max(keys.start)..((block + 1) * BLOCK).min(keys.end))
}

/// The order in which a row's two kinds of inner sums are taken.
pub(super) trait Order {
    /// q_i · k_j.
    fn dot<T: Real>(head: &Head<'_, T>, i: usize, j: usize) -> T;
    /// The sum of the weights of keys `first` …, all of one block.
    fn sum<T: Real>(weights: &[T], first: usize) -> T;
}

/// The order for tiles of queries: a dot product from left to right, the weights in four chains.
pub(super) struct Tiled;

impl Order for Tiled {
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

/// What a thread needs, in bytes: a row of the output.
pub(super) fn scratch_bytes<T: Real>(head: &Head<'_, T>) -> usize {
    Scratch::bytes_of::<T>(head.v.columns)
}

/// Rows `queries` of head `h`, written to the outputs.
///
/// # Safety
/// The rows of the outputs exist, and nobody else reads or writes them meanwhile.
pub(super) unsafe fn attend_rows<T: Real>(
    head: &Head<'_, T>,
    h: usize,
    queries: Range<usize>,
    mut scratch: Scratch<'_>,
    results: &Results<'_, T>,
) {
    let row = scratch.take::<T>(head.v.columns);
    for i in queries {
        let log_sum_exp = without_overflow(head, row, |shift, row| {
            let mut normalizer = Normalizer::EMPTY;
            attend_keys::<T, Tiled>(head, i, head.sight.keys(&(i..i + 1)), shift, &mut normalizer, row);
            normalizer
        });
        // SAFETY: the row is the caller's.
        unsafe { write_row((h, i), row, log_sum_exp, results) };
    }
}

/// Attends from query i to `keys`: brings the normalizer and the mixture of the values, not yet divided, up to date.
#[inline(always)]
pub(super) fn attend_keys<T: Real, O: Order>(
    head: &Head<'_, T>,
    i: usize,
    keys: Range<usize>,
    shift: u32,
    normalizer: &mut Normalizer<T>,
    mixture: &mut [T],
) {
    let exp2 = head.exp2(shift);
    let mut weights = [T::ZERO; BLOCK];
    for keys in blocks(keys) {
        let weights = &mut weights[..keys.len()];
        let before = normalizer.largest;
        // 1. The scores, and the largest so far. A hidden key's is −∞.
        for (score, j) in weights.iter_mut().zip(keys.clone()) {
            *score = if head.sight.sees(i, j) { score_of::<T, O>(head, i, j) } else { T::NEG_INFINITY };
            normalizer.largest = normalizer.largest.larger(*score);
        }
        // 2. The weights relative to the largest, and their sum. What was summed before shrinks by as much as it has risen.
        let reference = normalizer.reference();
        for weight in weights.iter_mut() {
            *weight = exp2.of(*weight - reference);
        }
        let correction = exp2.correction(before - reference);
        normalizer.sum = normalizer.sum.mul_add(correction, O::sum(weights, keys.start));
        // 3. The values, mixed by the weights. A hidden key's are not touched: 0 · NaN would be NaN.
        for (c, mixture) in mixture.iter_mut().enumerate() {
            let mut sum = T::ZERO;
            for (&weight, j) in weights.iter().zip(keys.clone()) {
                if head.sight.sees(i, j) {
                    sum = head.v.at(j, c).mul_add(weight, sum);
                }
            }
            *mixture = mixture.mul_add(correction, sum);
        }
    }
}

/// The score, with the scale and the bias if the head wants them first.
#[inline(always)]
fn score_of<T: Real, O: Order>(head: &Head<'_, T>, i: usize, j: usize) -> T {
    let dot = O::dot(head, i, j);
    if head.scale_first { dot.mul_add(head.scale, head.bias(i, j)) } else { dot }
}

/// Has a row mixed by `attend`, divides it by its sum, and gives its log-sum-exp. Sums of huge values may overflow where
/// their mean does not: then once more, with weights 2^shift times smaller.
#[inline(always)]
pub(super) fn without_overflow<T: Real>(
    head: &Head<'_, T>,
    row: &mut [T],
    mut attend: impl FnMut(u32, &mut [T]) -> Normalizer<T>,
) -> T {
    let mut shift = 0;
    loop {
        row.fill(T::ZERO);
        let normalizer = attend(shift, row);
        let inverse = normalizer.inverse();
        for x in row.iter_mut() {
            // + 0 makes +0 of −0, which a skipped block and a hidden one would leave different.
            *x = x.mul_add(inverse, T::ZERO);
        }
        if shift != 0 || row.iter().all(|x| x.to_f64().is_finite()) {
            return normalizer.log_sum_exp(head, shift);
        }
        shift = head.shift_against_overflow();
    }
}

/// # Safety
/// The row of the outputs exists, and nobody else reads or writes it meanwhile.
#[inline(always)]
pub(super) unsafe fn write_row<T: Real>(
    (h, i): (usize, usize),
    row: &[T],
    log_sum_exp: T,
    results: &Results<'_, T>,
) {
    for (c, &x) in row.iter().enumerate() {
        // SAFETY: the row is the caller's.
        unsafe { results.output.set((h, i), c, x) };
    }
    if let Some(lse) = results.lse {
        // SAFETY: the row is the caller's.
        unsafe { lse.set((h, i), 0, log_sum_exp) };
    }
}
