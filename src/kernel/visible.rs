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
    /// Every query sees the first `whole` keys; of the others, bit i of `lanes[j]` says whether query i sees key j.
    Partly { whole: usize, lanes: [u64; BLOCK] },
}

impl Seen {
    /// Whether the first query sees the block's key number `at`.
    #[inline(always)]
    pub fn is_seen(&self, at: usize) -> bool {
        match self {
            Seen::Nothing => false,
            Seen::Everything => true,
            Seen::Partly { whole, lanes } => at < *whole || lanes[at] & 1 == 1,
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
        let mut lanes = [all; BLOCK];
        let lanes_of_keys = &mut lanes[..keys.len()];
        self.hide_outside_band(queries, keys, lanes_of_keys);
        if let Some(mask) = self.mask {
            hide(mask, queries, keys, lanes_of_keys, |may_attend| !may_attend);
        }
        if let Some(bias) = self.bias {
            hide(bias, queries, keys, lanes_of_keys, |bias| bias == T::NEG_INFINITY);
        }
        let whole = lanes_of_keys.iter().take_while(|&&lanes| lanes == all).count();
        if whole == keys.len() {
            Seen::Everything
        } else if lanes_of_keys.iter().all(|&lanes| lanes == 0) {
            Seen::Nothing
        } else {
            Seen::Partly { whole, lanes }
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

    fn hide_outside_band(&self, queries: &Range<usize>, keys: &Range<usize>, lanes: &mut [u64]) {
        if self.band_holds(queries, keys) {
            return;
        }
        for (lane, i) in queries.clone().enumerate() {
            let seen = self.band.keys(i, self.keys);
            let hidden = !(1 << lane);
            let start = seen.start.clamp(keys.start, keys.end) - keys.start;
            let end = seen.end.clamp(keys.start + start, keys.end) - keys.start;
            lanes[..start].iter_mut().for_each(|lanes| *lanes &= hidden);
            lanes[end..].iter_mut().for_each(|lanes| *lanes &= hidden);
        }
    }
}

/// Clears the bit of every pair whose cell is hidden.
fn hide<C: Copy>(
    cells: View<'_, C>,
    queries: &Range<usize>,
    keys: &Range<usize>,
    lanes: &mut [u64],
    is_hidden: impl Fn(C) -> bool,
) {
    for (lane, i) in queries.clone().enumerate() {
        let clear = |(lanes, hidden): (&mut u64, bool)| *lanes &= !(u64::from(hidden) << lane);
        match cells.neighbours(i, keys.start) {
            Some(row) => lanes.iter_mut().zip(row.iter().map(|&cell| is_hidden(cell))).for_each(clear),
            None => lanes.iter_mut().zip(keys.clone().map(|j| is_hidden(cells.at(i, j)))).for_each(clear),
        }
    }
}
