//! Which keys a query sees by its position.

use std::ops::Range;

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
