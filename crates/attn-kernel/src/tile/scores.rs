//! Step 1 of a tile: the scores of a block of keys.

use std::marker::PhantomData;
use std::ops::Range;

use super::lanes::Lanes;
use super::product::accumulate;
use super::transpose::rows_to_lanes;
use crate::heads::View;
use crate::problem::Head;
use crate::real::Real;
use crate::relative_bias::ReversedBias;
use crate::simd::{Simd, Work};
use crate::soft_cap::{RegisterSoftCap, SoftCap};
use crate::visibility::BlockVisibility;

/// Sᵀ = K Qᵀ: `scores[j][r] = Σ_c k[j,c] · queries[c][r]`, M keys at a time, then 4, 2, and one.
#[inline(always)]
pub(super) fn products<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    k: View<'_, T>,
    queries: &[Lanes<T, S, R>],
    scores: &mut [Lanes<T, S, R>],
) {
    assert!(k.rows == scores.len() && k.columns == queries.len() && k.has_contiguous_rows());
    // SAFETY: there is a key for every row of scores, and a column for every column of the queries.
    unsafe {
        let from = products_by::<T, S, R, M>(simd, &k, queries, scores, 0);
        let from = products_by::<T, S, R, 4>(simd, &k, queries, scores, from);
        let from = products_by::<T, S, R, 2>(simd, &k, queries, scores, from);
        products_by::<T, S, R, 1>(simd, &k, queries, scores, from);
    }
}

/// M keys at a time from key `from` on; returns the first key that is left.
///
/// # Safety
/// There are as many keys as scores, with as many columns as queries, in contiguous rows.
#[inline(always)]
unsafe fn products_by<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    k: &View<'_, T>,
    queries: &[Lanes<T, S, R>],
    scores: &mut [Lanes<T, S, R>],
    from: usize,
) -> usize {
    let mut j = from;
    while j + M <= scores.len() {
        let zeros = [[simd.splat(T::ZERO); R]; M];
        // One address for each key, so that a column needs no other address arithmetic.
        let keys: [*const T; M] = std::array::from_fn(|i| k.row_start(j + i));
        // SAFETY: the caller has these keys and columns.
        let sums = accumulate(simd, zeros, |i, c| unsafe { *keys[i].add(c) }, queries);
        scores[j..j + M].copy_from_slice(&sums);
        j += M;
    }
    j
}

/// What is done to the scores of a block before their max is taken, where the head scales first. A function of its own, since
/// its code in the tile's made tiles without it slower (n = 16 by 7 %).
pub(super) struct ChangeScores<T, const R: usize>(PhantomData<T>);

/// The arguments of [`ChangeScores`].
pub(super) struct ScoresTask<'a, T, L> {
    pub head: &'a Head<'a, T>,
    pub queries: &'a Range<usize>,
    pub keys: &'a Range<usize>,
    /// Room for the biases.
    pub biases: &'a mut [L],
    pub scores: &'a mut [L],
}

impl<T: Real, S: Simd<T>, const R: usize> Work<S> for ChangeScores<T, R> {
    type Input<'a> = ScoresTask<'a, T, Lanes<T, S, R>>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, task: ScoresTask<'_, T, Lanes<T, S, R>>) {
        let ScoresTask { head, queries, keys, biases, scores } = task;
        scale_and_bias(simd, head, queries, keys, biases, scores);
        if let Some(soft_cap) = &head.soft_cap {
            cap(simd, soft_cap, scores);
        }
    }
}

/// `scores = scores · scale + (bias + relative bias)`.
#[inline(always)]
fn scale_and_bias<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    head: &Head<'_, T>,
    queries: &Range<usize>,
    keys: &Range<usize>,
    biases: &mut [Lanes<T, S, R>],
    scores: &mut [Lanes<T, S, R>],
) {
    let scale = simd.splat(head.scale);
    let zeros = [simd.splat(T::ZERO); R];
    if let Some(bias) = head.visibility.bias {
        rows_to_lanes(simd, bias.block(queries, keys), biases);
    }
    if let Some(relative) = head.visibility.relative_bias {
        let reversed = relative.reversed(queries, keys);
        add_relative(simd, &reversed, head.visibility.bias.is_some(), &mut biases[..keys.len()]);
    }
    for (j, scores) in scores.iter_mut().enumerate() {
        let bias = biases.get(j).unwrap_or(&zeros);
        for r in 0..R {
            scores[r] = simd.mul_add(scores[r], scale, bias[r]);
        }
    }
}

/// Adds the relative bias to `biases`, a row for each key of the block; overwrites them if nothing `is_there`.
#[inline(always)]
fn add_relative<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    reversed: &ReversedBias<T>,
    is_there: bool,
    biases: &mut [Lanes<T, S, R>],
) {
    let keys = biases.len();
    for (j, biases) in biases.iter_mut().enumerate() {
        for r in 0..R {
            // SAFETY: the array has room for a register behind the last key's index and all queries of a tile.
            let relative = unsafe { simd.load(&reversed[keys - 1 - j + r * S::LANES..]) };
            biases[r] = if is_there { simd.add(biases[r], relative) } else { relative };
        }
    }
}

/// Applies the soft cap to all scores.
#[inline(always)]
fn cap<T: Real, S: Simd<T>, const R: usize>(simd: S, soft_cap: &SoftCap<T>, scores: &mut [Lanes<T, S, R>]) {
    let soft_cap = RegisterSoftCap::new(simd, soft_cap);
    for scores in scores {
        for r in 0..R {
            scores[r] = soft_cap.of(scores[r]);
        }
    }
}

/// Sets the scores of hidden keys to −∞.
#[inline(always)]
pub(super) fn hide<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    visibility: &BlockVisibility,
    scores: &mut [Lanes<T, S, R>],
) {
    let BlockVisibility::Mixed { whole, visible_to } = visibility else { return };
    let hidden = simd.splat(T::NEG_INFINITY);
    for (scores, visible_to) in scores.iter_mut().zip(visible_to).skip(*whole) {
        for r in 0..R {
            scores[r] = simd.select(visible_to >> (r * S::LANES), scores[r], hidden);
        }
    }
}
