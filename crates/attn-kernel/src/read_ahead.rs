//! Memory that will be read soon, fetched into the caches by threads of the pool that have nothing else to do.
//!
//! Between two products some threads have no work, and nothing is read from memory. The caller of a product knows which weights come
//! next: it announces them here.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::prefetch::{self, LINE};

/// The bytes of a range that are fetched at most: what is not read after all then cost little.
const MOST: usize = 4 << 20;

/// The bytes that are fetched at a time, between two looks for a job.
const PIECE: usize = 16 * LINE;

/// What is left to fetch.
static RANGES: [Range; 2] = [const { Range::empty() }; 2];

/// Addresses that are fetched piece by piece.
///
/// If another range is announced in between, a piece may be left out or an old one be fetched: neither does harm.
struct Range {
    next: AtomicUsize,
    end: AtomicUsize,
}

impl Range {
    const fn empty() -> Range {
        Range { next: AtomicUsize::new(0), end: AtomicUsize::new(0) }
    }

    fn announce(&self, start: usize, bytes: usize) {
        self.end.store(0, Ordering::Relaxed);
        self.next.store(start, Ordering::Relaxed);
        self.end.store(start.saturating_add(bytes.min(MOST)), Ordering::Release);
    }

    /// Fetches the next piece. Returns false if none is left.
    fn fetch_some(&self) -> bool {
        let end = self.end.load(Ordering::Acquire);
        if self.next.load(Ordering::Relaxed) >= end {
            return false;
        }
        let start = self.next.fetch_add(PIECE, Ordering::Relaxed);
        for place in (start..end.min(start.saturating_add(PIECE))).step_by(LINE) {
            prefetch::far(std::ptr::without_provenance::<u8>(place));
        }
        true
    }
}

/// Says that these bytes will be read soon, each range from its start on, the first range first. It changes no result, only how
/// long it takes.
pub fn read_ahead(ranges: [&[u8]; 2]) {
    for (range, bytes) in RANGES.iter().zip(ranges) {
        range.announce(bytes.as_ptr().addr(), bytes.len());
    }
}

/// Fetches some of what was announced. Returns false if nothing is left.
pub(crate) fn fetch_some() -> bool {
    RANGES.iter().any(Range::fetch_some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_fetched_in_pieces_until_nothing_is_left() {
        let range = Range::empty();
        assert!(!range.fetch_some());
        range.announce(64, 2 * PIECE + 1);
        assert_eq!([(); 4].map(|()| range.fetch_some()), [true, true, true, false]);
    }

    #[test]
    fn a_new_range_takes_the_place_of_the_one_before_and_no_more_than_the_most_is_fetched() {
        let range = Range::empty();
        range.announce(usize::MAX - 10, 100);
        assert!(range.fetch_some());
        range.announce(0, 10 * MOST);
        assert_eq!(std::iter::from_fn(|| range.fetch_some().then_some(())).count(), MOST / PIECE);
    }
}
