//! Step 1 for a few queries: the scores of a block of keys.

use std::ops::Range;

use super::lanes::{PREFETCH_ROWS, fold_all};
use crate::blocks::BLOCK;
use crate::heads::View;
use crate::plain_decode::VIRTUAL_LANES;
use crate::prefetch;
use crate::problem::Head;
use crate::real::Real;
use crate::simd::Simd;
use crate::soft_cap::RegisterSoftCap;
use crate::visibility::BlockVisibility;

/// The scores of G queries, J keys at a time: every register of a key is multiplied by all queries.
#[inline(always)]
pub(super) fn scores<T: Real, S: Simd<T>, const G: usize, const K: usize, const J: usize>(
    simd: S,
    k: View<'_, T>,
    keys: &Range<usize>,
    queries: &[T],
    scores: &mut [[T; BLOCK]],
) {
    let mut j = keys.start;
    while j + J <= keys.end {
        let dots = dots::<T, S, G, K, J>(simd, k, j - keys.start, queries);
        for r in 0..G {
            for ahead in 0..J {
                scores[r][(j + ahead) % BLOCK] = dots[r * J + ahead];
            }
        }
        j += J;
    }
    for j in j..keys.end {
        let dots = dots::<T, S, G, K, 1>(simd, k, j - keys.start, queries);
        for r in 0..G {
            scores[r][j % BLOCK] = dots[r];
        }
    }
}

/// `dots[r·J + a] = q_r · k_j` for j = first + a, J keys and G queries, at most sixteen pairs.
#[inline(always)]
fn dots<T: Real, S: Simd<T>, const G: usize, const K: usize, const J: usize>(
    simd: S,
    k: View<'_, T>,
    first: usize,
    queries: &[T],
) -> [T; VIRTUAL_LANES] {
    let whole = k.columns - k.columns % VIRTUAL_LANES;
    let width = k.columns.next_multiple_of(VIRTUAL_LANES);
    assert!(queries.len() >= G * width);
    let keys: [&[T]; J] = std::array::from_fn(|ahead| k.row(first + ahead, 0));
    let prefetch = PREFETCH_ROWS * k.row_stride();
    let mut sums = [[simd.splat(T::ZERO); K]; VIRTUAL_LANES];
    for column in (0..whole).step_by(VIRTUAL_LANES) {
        let sixteen = SixteenColumns { keys, queries, width, column, prefetch };
        // SAFETY: sixteen columns are left in every key, and in every query, whose row is as long as the width.
        unsafe { sixteen.multiply_add::<S, G, K>(simd, &mut sums) };
    }
    if whole < k.columns {
        let mut padded = [[T::ZERO; VIRTUAL_LANES]; J];
        for (padded, key) in padded.iter_mut().zip(keys) {
            padded[..k.columns - whole].copy_from_slice(&key[whole..]);
        }
        let keys: [&[T]; J] = std::array::from_fn(|ahead| &padded[ahead][..]);
        let sixteen = SixteenColumns { keys, queries: &queries[whole..], width, column: 0, prefetch: 0 };
        // SAFETY: as above; the padded keys have sixteen columns.
        unsafe { sixteen.multiply_add::<S, G, K>(simd, &mut sums) };
    }
    fold_all(simd, sums, G * J)
}

/// Sixteen columns of J keys and of the queries.
struct SixteenColumns<'n, T, const J: usize> {
    keys: [&'n [T]; J],
    /// The queries side by side, each `width` long.
    queries: &'n [T],
    width: usize,
    /// The first of the sixteen columns.
    column: usize,
    /// Prefetch distance, in numbers.
    prefetch: usize,
}

impl<T: Real, const J: usize> SixteenColumns<'_, T, J> {
    /// Adds the products of these columns, for J keys and G queries, to the sums.
    ///
    /// # Safety
    /// Every key and query has these sixteen columns.
    #[inline(always)]
    unsafe fn multiply_add<S: Simd<T>, const G: usize, const K: usize>(
        &self,
        simd: S,
        sums: &mut [[S::Register; K]; VIRTUAL_LANES],
    ) {
        for part in 0..K {
            let at = self.column + part * S::LANES;
            for ahead in 0..J {
                prefetch::near(self.keys[ahead].as_ptr().wrapping_add(at + self.prefetch));
                // SAFETY: the caller has sixteen columns there.
                let key = unsafe { simd.load(self.keys[ahead].get_unchecked(at..)) };
                for r in 0..G {
                    // SAFETY: as above.
                    let query = unsafe { simd.load(self.queries.get_unchecked(r * self.width + at..)) };
                    let sum = &mut sums[r * J + ahead][part];
                    *sum = simd.mul_add(key, query, *sum);
                }
            }
        }
    }
}

/// Applies the scale, the biases and the soft cap where they come first, and sets the scores of hidden keys to −∞.
#[inline(always)]
pub(super) fn scale_and_hide<T: Real, S: Simd<T>>(
    simd: S,
    head: &Head<'_, T>,
    i: usize,
    keys: &Range<usize>,
    visibility: &BlockVisibility,
    scores: &mut [T],
) {
    if head.scale_first {
        for (score, j) in scores.iter_mut().zip(keys.clone()) {
            *score = score.mul_add(head.scale, head.bias(i, j));
        }
        if let Some(soft_cap) = &head.soft_cap {
            RegisterSoftCap::new(simd, soft_cap).replace_all(scores, soft_cap);
        }
    }
    for (at, score) in scores.iter_mut().enumerate() {
        if !visibility.is_visible(at) {
            *score = T::NEG_INFINITY;
        }
    }
}
