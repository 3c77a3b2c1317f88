//! A few queries against one block of keys: the three steps of the plain version's `attend_keys`.

use std::ops::Range;

use super::group::{Partial, Query};
use super::scores::{scale_and_hide, scores};
use super::softmax::weigh;
use super::values::{add_values, add_visible_values};
use crate::blocks::BLOCK;
use crate::problem::Head;
use crate::real::Real;
use crate::simd::Simd;
use crate::visibility::BlockVisibility;

/// The memory of a block.
pub(super) struct BlockMemory<'s, T> {
    /// The queries side by side, padded with zeros to a multiple of sixteen columns.
    pub queries: &'s [T],
    /// A row of scores, then weights, for each query.
    pub weights: &'s mut [[T; BLOCK]],
    /// The block's keys, then its values, where their rows are not contiguous.
    pub copy: &'s mut [T],
}

/// Attends from G queries to the block `keys` and updates their partial results, which `partial` gives by index. K registers
/// hold sixteen numbers.
#[inline(always)]
pub(super) fn attend_block<'p, T: Real, S: Simd<T>, const G: usize, const K: usize>(
    simd: S,
    group: &[Query<'_, T>],
    keys: &Range<usize>,
    space: BlockMemory<'_, T>,
    partial: impl Fn(usize) -> &'p mut [T],
) {
    let BlockMemory { queries, weights, copy } = space;
    let visibility: [BlockVisibility; G] = std::array::from_fn(|r| {
        let Query { head, id } = &group[r];
        head.visibility.of_block(&(id.row..id.row + 1), keys)
    });
    if visibility.iter().all(|visibility| matches!(visibility, BlockVisibility::None)) {
        return;
    }
    // Key j is at j mod BLOCK, so that its lane is j mod 16; places without a key of this block have weight 0.
    for weights in &mut weights[..G] {
        weights.fill(T::NEG_INFINITY);
    }
    let Head { k, v, .. } = group[0].head;
    let k = k.rows(keys).contiguous(copy);
    // Takes as many keys at a time as give sixteen dot products, or as many as there are registers for.
    match (G, K) {
        (1, 1) => scores::<T, S, G, K, 16>(simd, k, keys, queries, weights),
        (2, 1) | (1, 2) => scores::<T, S, G, K, 8>(simd, k, keys, queries, weights),
        (_, 1) | (2, 2) | (1, 4) => scores::<T, S, G, K, 4>(simd, k, keys, queries, weights),
        (_, 2) | (2, 4) => scores::<T, S, G, K, 2>(simd, k, keys, queries, weights),
        _ => scores::<T, S, G, K, 1>(simd, k, keys, queries, weights),
    }
    let mut correction = [T::ZERO; G];
    for r in 0..G {
        let Query { head, id } = &group[r];
        let used = keys.start % BLOCK..keys.start % BLOCK + keys.len();
        scale_and_hide(simd, head, id.row, keys, &visibility[r], &mut weights[r][used.clone()]);
        let row = partial(r);
        correction[r] = weigh::<T, S, K>(simd, &head.exp2(0), used, &mut weights[r], row);
    }
    let v = v.rows(keys).contiguous(copy);
    if visibility.iter().all(|visibility| matches!(visibility, BlockVisibility::All)) {
        let accumulators = std::array::from_fn(|r| Partial::of(partial(r)).accumulator);
        add_values::<T, S, G>(simd, v, keys, weights, &correction, accumulators);
    } else {
        for r in 0..G {
            let accumulator = Partial::of(partial(r)).accumulator;
            add_visible_values(v, keys, &weights[r], &visibility[r], correction[r], accumulator);
        }
    }
}
