//! The visible keys of a block for a tile of queries.
//!
//! Most blocks are visible to all queries or to none. Only the others, such as those on a causal mask's diagonal, need a bit for
//! each pair, in the order of the lanes.

use std::ops::Range;

use crate::blocks::BLOCK;
use crate::heads::View;
use crate::problem::Visibility;
use crate::real::Real;

/// The visibility of a block of keys for a tile of queries. Large, but there is one at a time, on the stack.
#[allow(clippy::large_enum_variant)]
pub(crate) enum BlockVisibility {
    /// No query sees any key: the block is skipped.
    None,
    /// Every query sees every key.
    All,
    /// Every query sees the first `whole` keys; for the others, bit i of `visible_to[j]` is set if query i sees key j.
    Mixed { whole: usize, visible_to: [u64; BLOCK] },
}

impl BlockVisibility {
    /// Returns true if the first query sees key `at` of the block.
    #[inline(always)]
    pub fn is_visible(&self, at: usize) -> bool {
        match self {
            BlockVisibility::None => false,
            BlockVisibility::All => true,
            BlockVisibility::Mixed { whole, visible_to } => at < *whole || visible_to[at] & 1 == 1,
        }
    }
}

impl<T: Real> Visibility<'_, T> {
    /// The visibility of these keys (at most [`BLOCK`]) for these queries (at most 64).
    pub fn of_block(&self, queries: &Range<usize>, keys: &Range<usize>) -> BlockVisibility {
        let all = u64::MAX >> (64 - queries.len());
        if self.mask.is_none() && self.bias.is_none() && self.band_covers(queries, keys) {
            return BlockVisibility::All;
        }
        let mut visible_to = [all; BLOCK];
        let of_keys = &mut visible_to[..keys.len()];
        self.hide_outside_band(queries, keys, of_keys);
        if let Some(mask) = self.mask {
            hide(mask, queries, keys, of_keys, |may_attend| !may_attend);
        }
        if let Some(bias) = self.bias {
            hide(bias, queries, keys, of_keys, |bias| bias == T::NEG_INFINITY);
        }
        let whole = of_keys.iter().take_while(|&&visible_to| visible_to == all).count();
        if whole == keys.len() {
            BlockVisibility::All
        } else if of_keys.iter().all(|&visible_to| visible_to == 0) {
            BlockVisibility::None
        } else {
            BlockVisibility::Mixed { whole, visible_to }
        }
    }

    /// Returns true if all keys are inside the band of every query.
    fn band_covers(&self, queries: &Range<usize>, keys: &Range<usize>) -> bool {
        let covers = |i| {
            let band = self.band.keys(i, self.keys);
            band.start <= keys.start && keys.end <= band.end
        };
        covers(queries.start) && covers(queries.end - 1)
    }

    fn hide_outside_band(&self, queries: &Range<usize>, keys: &Range<usize>, visible_to: &mut [u64]) {
        if self.band_covers(queries, keys) {
            return;
        }
        for (lane, i) in queries.clone().enumerate() {
            let band = self.band.keys(i, self.keys);
            let hidden = !(1 << lane);
            let start = band.start.clamp(keys.start, keys.end) - keys.start;
            let end = band.end.clamp(keys.start + start, keys.end) - keys.start;
            visible_to[..start].iter_mut().for_each(|visible_to| *visible_to &= hidden);
            visible_to[end..].iter_mut().for_each(|visible_to| *visible_to &= hidden);
        }
    }
}

/// Clears the bit of every pair whose cell is hidden.
fn hide<C: Copy>(
    cells: View<'_, C>,
    queries: &Range<usize>,
    keys: &Range<usize>,
    visible_to: &mut [u64],
    is_hidden: impl Fn(C) -> bool,
) {
    for (lane, i) in queries.clone().enumerate() {
        let clear = |(visible_to, hidden): (&mut u64, bool)| *visible_to &= !(u64::from(hidden) << lane);
        if cells.has_contiguous_rows() {
            let row = cells.row(i, keys.start);
            visible_to.iter_mut().zip(row.iter().map(|&cell| is_hidden(cell))).for_each(clear);
        } else {
            visible_to.iter_mut().zip(keys.clone().map(|j| is_hidden(cells.at(i, j)))).for_each(clear);
        }
    }
}
