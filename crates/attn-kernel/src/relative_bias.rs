//! A bias that depends on the distance between query and key alone.

use std::ops::Range;

use crate::blocks::BLOCK;
use crate::heads::View;
use crate::real::Real;

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
