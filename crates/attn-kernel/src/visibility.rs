//! Which keys a query sees, by its position, a mask and biases of −∞; and the visible keys of a block for a tile of queries.

use std::ops::Range;

use crate::layout::View;
use crate::real::Real;

/// Query i sees the keys i + from ≤ j < i + until: a causal mask with any offset, a sliding window, or both. The first
/// `keep_first` keys stay visible although they lie before i + from; `until` hides them as it hides all others.
///
/// A window of W keys up to the query's own that keeps the first four: `from` 1 − W, `until` 1, `keep_first` 4.
///
/// # Source
/// Windows: Beltagy et al. 2020, “Longformer”; the first keys: Xiao et al. 2023, “Efficient Streaming Language Models with
/// Attention Sinks”.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// The first key, relative to the query's index; `None`: the first of all.
    pub from: Option<isize>,
    /// The key after the last, relative to the query's index; `None`: to the last of all.
    pub until: Option<isize>,
    /// The number of first keys that `from` does not hide.
    pub keep_first: usize,
}

impl Band {
    /// The causal mask where the T queries are the last of the N tokens: i sees j ≤ N − T + i.
    pub fn causal(queries: usize, keys: usize) -> Band {
        let offset = keys as isize - queries as isize;
        Band { until: Some(offset.saturating_add(1)), ..Band::default() }
    }

    /// The keys that query i sees, out of `keys`: the first ones that are kept, then those from i + from on. Either range may
    /// be empty; the first ends before the second starts, or where it starts.
    #[inline(always)]
    pub fn keys(&self, i: usize, keys: usize) -> [Range<usize>; 2] {
        let at = |offset: Option<isize>, otherwise: usize| match offset {
            Some(offset) => (i as isize).saturating_add(offset).clamp(0, keys as isize) as usize,
            None => otherwise,
        };
        let end = at(self.until, keys);
        let start = at(self.from, 0).min(end);
        [0..self.keep_first.min(start), start..end]
    }

    /// Returns true if query i sees key j, out of `keys`.
    #[inline(always)]
    pub fn sees(&self, i: usize, j: usize, keys: usize) -> bool {
        let [first, rest] = self.keys(i, keys);
        first.contains(&j) || rest.contains(&j)
    }
}

/// Keys in a block. It is part of the result's definition (sums are taken block by block), not of the machine.
pub const BLOCK: usize = 128;

/// Two ranges of keys cut into blocks. Blocks begin at multiples of [`BLOCK`], whatever the first key is. Where the second
/// range begins in a block that the first reaches, or before, that is one block, with the keys between them in it.
#[inline(always)]
pub(crate) fn blocks([first, second]: [Range<usize>; 2]) -> impl Iterator<Item = Range<usize>> {
    let is_shared =
        !first.is_empty() && !second.is_empty() && (first.end - 1) / BLOCK >= second.start / BLOCK;
    let (first, second) = if is_shared {
        (0..0, first.start.min(second.start)..first.end.max(second.end))
    } else {
        (first, second)
    };
    blocks_of(first).chain(blocks_of(second))
}

/// One range cut into blocks.
#[inline(always)]
fn blocks_of(keys: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let first = keys.start / BLOCK;
    let end = if keys.is_empty() { first } else { keys.end.div_ceil(BLOCK) };
    (first..end).map(move |block| (block * BLOCK).max(keys.start)..((block + 1) * BLOCK).min(keys.end))
}

/// The maximum number of queries in a tile: a query is a bit of a `u64`.
const MAX_QUERIES: usize = 64;

/// The relative bias of one head: one row of N + T − 1 numbers, that of query i and key j at index j − i + T − 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativeBias<'a, T> {
    numbers: View<'a, T>,
    /// T.
    queries: usize,
}

/// The numbers for a tile of queries and a block of keys, from the longest distance down: that of the i-th query and the j-th
/// key is at i + (keys − 1 − j), so that those of a key for consecutive queries are contiguous.
pub(crate) type ReversedBias<T> = [T; MAX_QUERIES + BLOCK];

impl<'a, T: Real> RelativeBias<'a, T> {
    /// The first row of `numbers`, for T queries.
    pub fn new(numbers: View<'a, T>, queries: usize) -> RelativeBias<'a, T> {
        RelativeBias { numbers, queries }
    }

    /// The bias of query i and key j.
    #[inline(always)]
    pub fn at(&self, i: usize, j: usize) -> T {
        self.numbers.at(0, j + self.queries - 1 - i)
    }

    /// Returns true if −∞ hides any of these keys from any of these queries.
    pub fn hides_any(&self, queries: &Range<usize>, keys: &Range<usize>) -> bool {
        self.indices(queries, keys).any(|index| self.numbers.at(0, index) == T::NEG_INFINITY)
    }

    /// The numbers for these queries (at most 64) and keys (at most [`BLOCK`]), then zeros.
    #[inline(always)]
    pub fn reversed(&self, queries: &Range<usize>, keys: &Range<usize>) -> ReversedBias<T> {
        let mut reversed = [T::ZERO; MAX_QUERIES + BLOCK];
        for (number, index) in reversed.iter_mut().zip(self.indices(queries, keys).rev()) {
            *number = self.numbers.at(0, index);
        }
        reversed
    }

    /// The indices of all pairs of these queries and keys.
    #[inline(always)]
    fn indices(&self, queries: &Range<usize>, keys: &Range<usize>) -> Range<usize> {
        keys.start + self.queries - queries.end..keys.end + self.queries - 1 - queries.start
    }
}

// The visible keys of a block for a tile of queries.
//
// Most blocks are visible to all queries or to none. Only the others, such as those on a causal mask's diagonal, need a bit for
// each pair, in the order of the lanes.

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
