//! The visible keys of a block for a tile of queries.
//!
//! Most blocks are visible to all queries or to none. Only the others, such as those on a causal mask's diagonal, need a bit for
//! each pair, in the order of the lanes.

use std::ops::Range;

use crate::band::Band;
use crate::blocks::BLOCK;
use crate::heads::View;
use crate::real::Real;
use crate::relative_bias::RelativeBias;

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

/// The visibility of the keys of a head: a query sees those of its band that neither the mask nor a bias of −∞
/// hides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visibility<'a, T> {
    pub band: Band,
    pub keys: usize,
    pub mask: Option<View<'a, bool>>,
    pub bias: Option<View<'a, T>>,
    pub relative_bias: Option<RelativeBias<'a, T>>,
}

impl<T: Real> Visibility<'_, T> {
    /// Returns true if query i sees key j.
    #[inline(always)]
    pub fn is_visible(&self, i: usize, j: usize) -> bool {
        self.band.sees(i, j, self.keys)
            && self.mask.is_none_or(|mask| mask.at(i, j))
            && self.bias.is_none_or(|bias| bias.at(i, j) != T::NEG_INFINITY)
            && self.relative_bias.is_none_or(|relative| relative.at(i, j) != T::NEG_INFINITY)
    }

    /// Two ranges of keys that cover the bands of all `queries`: of the first keys that are kept, and of the others. They may
    /// overlap where some queries see everything up to what others see by their position.
    pub fn keys(&self, queries: &Range<usize>) -> [Range<usize>; 2] {
        // From query to query the end of the first range and both ends of the second move up, or stay.
        let [_, first] = self.band.keys(queries.start, self.keys);
        let [kept, last] = self.band.keys(queries.end - 1, self.keys);
        [kept, first.start.min(last.start)..first.end.max(last.end)]
    }

    /// The visibility of these keys (at most [`BLOCK`]) for these queries (at most 64).
    pub fn of_block(&self, queries: &Range<usize>, keys: &Range<usize>) -> BlockVisibility {
        let all = u64::MAX >> (64 - queries.len());
        let relative_bias = self.relative_bias.filter(|relative| relative.hides_any(queries, keys));
        let is_band = self.mask.is_none() && self.bias.is_none() && relative_bias.is_none();
        if is_band && self.band_covers(queries, keys) {
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
        if let Some(relative) = relative_bias {
            for (lane, i) in queries.clone().enumerate() {
                for (visible_to, j) in of_keys.iter_mut().zip(keys.clone()) {
                    *visible_to &= !(u64::from(relative.at(i, j) == T::NEG_INFINITY) << lane);
                }
            }
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

    /// Returns true if all keys are inside the band of every query. If the first query and the last see them, all do.
    fn band_covers(&self, queries: &Range<usize>, keys: &Range<usize>) -> bool {
        let covers = |i| {
            let [kept, rest] = self.band.keys(i, self.keys);
            // The kept keys may end where the others start.
            let starts = rest.start <= keys.start || kept.end == rest.start;
            keys.end <= kept.end || (starts && keys.end <= rest.end)
        };
        covers(queries.start) && covers(queries.end - 1)
    }

    fn hide_outside_band(&self, queries: &Range<usize>, keys: &Range<usize>, visible_to: &mut [u64]) {
        if self.band_covers(queries, keys) {
            return;
        }
        let place = |key: usize| key.clamp(keys.start, keys.end) - keys.start;
        let first = place(self.band.keep_first);
        for (lane, i) in queries.clone().enumerate() {
            let [_, rest] = self.band.keys(i, self.keys);
            let (start, end) = (place(rest.start), place(rest.end));
            let hide = |visible_to: &mut u64| *visible_to &= !(1 << lane);
            visible_to[first.min(start)..start].iter_mut().for_each(hide);
            visible_to[end..].iter_mut().for_each(hide);
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
