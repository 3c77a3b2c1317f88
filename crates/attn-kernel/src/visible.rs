//! What a tile of queries sees of a block of keys.
//!
//! Most blocks are seen wholly or not at all. Only the others, on a causal mask's diagonal say, are looked at key by key:
//! one bit a query, in the order of the lanes.

use std::ops::Range;

use super::layout::View;
use super::plain::BLOCK;
use super::problem::Sight;
use super::real::Real;

/// What a tile of queries sees of a block of keys. Large, but there is one at a time, on the stack.
#[allow(clippy::large_enum_variant)]
pub(super) enum Seen {
    /// No query sees any key: the block is skipped.
    Nothing,
    /// Every query sees every key.
    Everything,
    /// Every query sees the first `whole` keys; of the others, bit i of `seen_by[j]` says whether query i sees key j.
    Partly { whole: usize, seen_by: [u64; BLOCK] },
}

impl Seen {
    /// Whether the first query sees the block's key number `at`.
    #[inline(always)]
    pub fn is_seen(&self, at: usize) -> bool {
        match self {
            Seen::Nothing => false,
            Seen::Everything => true,
            Seen::Partly { whole, seen_by } => at < *whole || seen_by[at] & 1 == 1,
        }
    }
}

impl<T: Real> Sight<'_, T> {
    /// What the queries (at most 64) see of the keys (at most [`BLOCK`]).
    pub fn of_block(&self, queries: &Range<usize>, keys: &Range<usize>) -> Seen {
        let all = u64::MAX >> (64 - queries.len());
        if self.mask.is_none() && self.bias.is_none() && self.band_holds(queries, keys) {
            return Seen::Everything;
        }
        let mut seen_by = [all; BLOCK];
        let seen_by_keys = &mut seen_by[..keys.len()];
        self.hide_outside_band(queries, keys, seen_by_keys);
        if let Some(mask) = self.mask {
            hide(mask, queries, keys, seen_by_keys, |may_attend| !may_attend);
        }
        if let Some(bias) = self.bias {
            hide(bias, queries, keys, seen_by_keys, |bias| bias == T::NEG_INFINITY);
        }
        let whole = seen_by_keys.iter().take_while(|&&seen_by| seen_by == all).count();
        if whole == keys.len() {
            Seen::Everything
        } else if seen_by_keys.iter().all(|&seen_by| seen_by == 0) {
            Seen::Nothing
        } else {
            Seen::Partly { whole, seen_by }
        }
    }

    /// Whether every query sees every key by its position.
    fn band_holds(&self, queries: &Range<usize>, keys: &Range<usize>) -> bool {
        let holds = |i| {
            let seen = self.band.keys(i, self.keys);
            seen.start <= keys.start && keys.end <= seen.end
        };
        holds(queries.start) && holds(queries.end - 1)
    }

    fn hide_outside_band(&self, queries: &Range<usize>, keys: &Range<usize>, seen_by: &mut [u64]) {
        if self.band_holds(queries, keys) {
            return;
        }
        for (lane, i) in queries.clone().enumerate() {
            let seen = self.band.keys(i, self.keys);
            let hidden = !(1 << lane);
            let start = seen.start.clamp(keys.start, keys.end) - keys.start;
            let end = seen.end.clamp(keys.start + start, keys.end) - keys.start;
            seen_by[..start].iter_mut().for_each(|seen_by| *seen_by &= hidden);
            seen_by[end..].iter_mut().for_each(|seen_by| *seen_by &= hidden);
        }
    }
}

/// Clears the bit of every pair whose cell is hidden.
fn hide<C: Copy>(
    cells: View<'_, C>,
    queries: &Range<usize>,
    keys: &Range<usize>,
    seen_by: &mut [u64],
    is_hidden: impl Fn(C) -> bool,
) {
    for (lane, i) in queries.clone().enumerate() {
        let clear = |(seen_by, hidden): (&mut u64, bool)| *seen_by &= !(u64::from(hidden) << lane);
        if cells.has_neighbours() {
            let row = cells.row(i, keys.start);
            seen_by.iter_mut().zip(row.iter().map(|&cell| is_hidden(cell))).for_each(clear);
        } else {
            seen_by.iter_mut().zip(keys.clone().map(|j| is_hidden(cells.at(i, j)))).for_each(clear);
        }
    }
}
