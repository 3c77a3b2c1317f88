//! Step 3 of a tile: the weighted values, and at the end the division by the sum of the weights.

use super::lanes::{Lanes, SoftmaxLanes};
use super::product::{accumulate, accumulate_visible};
use crate::heads::View;
use crate::real::Real;
use crate::simd::Simd;
use crate::visibility::BlockVisibility;

/// The weights of a block: a row of lanes for each key, and which of them count.
pub(super) struct Weights<'w, L> {
    pub of_keys: &'w [L],
    pub visibility: &'w BlockVisibility,
}

/// Oᵀ = Oᵀ · correction + Vᵀ Aᵀ: `accumulator[c][r]` gets `Σ_j v[j,c] · weights[j][r]`, M columns at a time, then 4, 2, and one.
#[inline(always)]
pub(super) fn add_values<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    v: View<'_, T>,
    weights: &Weights<'_, Lanes<T, S, R>>,
    correction: &Lanes<T, S, R>,
    accumulator: &mut [Lanes<T, S, R>],
) {
    assert!(v.rows == weights.of_keys.len() && v.columns == accumulator.len() && v.has_contiguous_rows());
    // SAFETY: there is a value for every row of weights, and a column for every one of the accumulator.
    let v = |c, j| unsafe { v.at_unchecked(j, c) };
    let from = add_values_by::<T, S, R, M>(simd, v, weights, correction, accumulator, 0);
    let from = add_values_by::<T, S, R, 4>(simd, v, weights, correction, accumulator, from);
    let from = add_values_by::<T, S, R, 2>(simd, v, weights, correction, accumulator, from);
    add_values_by::<T, S, R, 1>(simd, v, weights, correction, accumulator, from);
}

/// M columns at a time from column `from` on; returns the first column that is left.
#[inline(always)]
fn add_values_by<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    v: impl Fn(usize, usize) -> T,
    weights: &Weights<'_, Lanes<T, S, R>>,
    correction: &Lanes<T, S, R>,
    accumulator: &mut [Lanes<T, S, R>],
    from: usize,
) -> usize {
    let (whole, visible_to) = match weights.visibility {
        BlockVisibility::Mixed { whole, visible_to } => (*whole, &visible_to[*whole..]),
        _ => (weights.of_keys.len(), &[][..]),
    };
    let mut c = from;
    while c + M <= accumulator.len() {
        let zeros = [[simd.splat(T::ZERO); R]; M];
        let (before, after) = weights.of_keys.split_at(whole);
        let mut sums = accumulate(simd, zeros, |i, j| v(c + i, j), before);
        if !after.is_empty() {
            sums = accumulate_visible(simd, sums, |i, j| v(c + i, whole + j), after, visible_to);
        }
        for (column, sums) in accumulator[c..c + M].iter_mut().zip(&sums) {
            for r in 0..R {
                column[r] = simd.mul_add(column[r], correction[r], sums[r]);
            }
        }
        c += M;
    }
    c
}

/// Oᵀ / sum, 0 for fully masked rows; returns the lanes whose results are all finite.
#[inline(always)]
pub(super) fn divide<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    states: &SoftmaxLanes<T, S, R>,
    accumulator: &mut [Lanes<T, S, R>],
) -> u64 {
    let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::ONE));
    let mut inverse = [zero; R];
    for r in 0..R {
        let (sum, min) = (states.sum[r], simd.splat(T::MIN_POSITIVE));
        inverse[r] = simd.zero_below(simd.div(one, sum), sum, min);
    }
    // Four chains, since in one each operation would wait for the last.
    let mut zeros = [[zero; R]; 4];
    let (fours, last) = accumulator.as_chunks_mut::<4>();
    for four in fours {
        for (column, zeros) in four.iter_mut().zip(&mut zeros) {
            divide_one::<T, S, R>(simd, &inverse, column, zeros);
        }
    }
    for (column, zeros) in last.iter_mut().zip(&mut zeros) {
        divide_one::<T, S, R>(simd, &inverse, column, zeros);
    }
    let mut finite = 0;
    for r in 0..R {
        let all = simd.add(simd.add(zeros[0][r], zeros[1][r]), simd.add(zeros[2][r], zeros[3][r]));
        for (lane, number) in simd.numbers(all)[..S::LANES].iter().enumerate() {
            finite |= u64::from(*number == T::ZERO) << (r * S::LANES + lane);
        }
    }
    finite
}

/// Divides one column; `zeros` stay 0 where it is finite, since 0 · ∞ and 0 · NaN are NaN.
#[inline(always)]
fn divide_one<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    inverse: &Lanes<T, S, R>,
    column: &mut Lanes<T, S, R>,
    zeros: &mut Lanes<T, S, R>,
) {
    let zero = simd.splat(T::ZERO);
    for r in 0..R {
        column[r] = simd.mul_add(column[r], inverse[r], zero);
        zeros[r] = simd.mul_add(column[r], zero, zeros[r]);
    }
}
