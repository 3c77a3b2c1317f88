//! Step 3 for a few queries: the weighted values.

use std::ops::Range;

use super::lanes::PREFETCH_ROWS;
use crate::blocks::BLOCK;
use crate::heads::View;
use crate::prefetch;
use crate::real::Real;
use crate::simd::Simd;
use crate::visibility::BlockVisibility;

/// Adds the values to the accumulators of G queries, each times its weight; the last columns one by one.
#[inline(always)]
pub(super) fn add_values<T: Real, S: Simd<T>, const G: usize>(
    simd: S,
    v: View<'_, T>,
    keys: &Range<usize>,
    weights: &[[T; BLOCK]],
    correction: &[T; G],
    mut accumulators: [&mut [T]; G],
) {
    // Takes as many registers of columns at a time as leave room for their sums of all queries: each value is loaded once.
    let from = if G <= 2 {
        add_registers::<T, S, G, 8>(simd, v, keys, weights, correction, &mut accumulators, 0)
    } else {
        0
    };
    let from = add_registers::<T, S, G, 4>(simd, v, keys, weights, correction, &mut accumulators, from);
    let from = add_registers::<T, S, G, 1>(simd, v, keys, weights, correction, &mut accumulators, from);
    for c in from..v.columns {
        for r in 0..G {
            let mut sum = T::ZERO;
            for j in keys.clone() {
                sum = v.at(j - keys.start, c).mul_add(weights[r][j % BLOCK], sum);
            }
            accumulators[r][c] = accumulators[r][c].mul_add(correction[r], sum);
        }
    }
}

/// C registers of columns at a time, from column `from` on; returns the first column that is left.
#[inline(always)]
fn add_registers<T: Real, S: Simd<T>, const G: usize, const C: usize>(
    simd: S,
    v: View<'_, T>,
    keys: &Range<usize>,
    weights: &[[T; BLOCK]],
    correction: &[T; G],
    accumulators: &mut [&mut [T]; G],
    from: usize,
) -> usize {
    let mut column = from;
    while column + C * S::LANES <= v.columns {
        let mut sums = [[simd.splat(T::ZERO); C]; G];
        for j in keys.clone() {
            let values = v.row(j - keys.start, column);
            for part in 0..C {
                prefetch::near(
                    values.as_ptr().wrapping_add(part * S::LANES + PREFETCH_ROWS * v.row_stride()),
                );
                // SAFETY: that many columns are left.
                let value = unsafe { simd.load(values.get_unchecked(part * S::LANES..)) };
                for r in 0..G {
                    let weight = simd.splat(weights[r][j % BLOCK]);
                    sums[r][part] = simd.mul_add(value, weight, sums[r][part]);
                }
            }
        }
        for r in 0..G {
            for part in 0..C {
                let register = &mut accumulators[r][column + part * S::LANES..][..S::LANES];
                // SAFETY: this piece of the accumulator is as long as a register.
                unsafe {
                    let sum = simd.mul_add(simd.load(register), simd.splat(correction[r]), sums[r][part]);
                    simd.store(sum, register);
                }
            }
        }
        column += C * S::LANES;
    }
    column
}

/// Adds the values of the visible keys, for one query and a block with hidden keys; hidden values are not read.
#[inline(always)]
pub(super) fn add_visible_values<T: Real>(
    v: View<'_, T>,
    keys: &Range<usize>,
    weights: &[T; BLOCK],
    visibility: &BlockVisibility,
    correction: T,
    accumulator: &mut [T],
) {
    const STRIP: usize = 64;
    for (strip, accumulator) in accumulator.chunks_mut(STRIP).enumerate() {
        let mut sums = [T::ZERO; STRIP];
        for (at, j) in keys.clone().enumerate().filter(|(at, _)| visibility.is_visible(*at)) {
            for (c, sum) in sums[..accumulator.len()].iter_mut().enumerate() {
                *sum = v.at(at, strip * STRIP + c).mul_add(weights[j % BLOCK], *sum);
            }
        }
        for (x, sum) in accumulator.iter_mut().zip(sums) {
            *x = x.mul_add(correction, sum);
        }
    }
}
