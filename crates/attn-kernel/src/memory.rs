//! The memory that a thread computes in, one allocation, kept from call to call; and memory that is fetched before it is needed.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytemuck::{Pod, Zeroable, cast_slice_mut};

use crate::error::{Error, Result};

/// A cache line. Scratch memory is taken in whole lines, so that no load of a register crosses one.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

// SAFETY: 64 bytes without padding.
unsafe impl Zeroable for CacheLine {}
// SAFETY: as above.
unsafe impl Pod for CacheLine {}

/// The maximum that is kept between calls, in bytes; more is freed.
const KEPT_BYTES: usize = 1 << 20;

thread_local! {
    static LINES: RefCell<Vec<CacheLine>> = const { RefCell::new(Vec::new()) };
}

/// Scratch memory of this thread, taken piece by piece.
pub(crate) struct Scratch<'a> {
    lines: &'a mut [CacheLine],
}

impl<'a> Scratch<'a> {
    /// The bytes of `count` elements, in whole lines.
    pub const fn bytes_of<P: Pod>(count: usize) -> usize {
        (count * size_of::<P>()).next_multiple_of(size_of::<CacheLine>())
    }

    /// The next `count` elements, with whatever the memory held before.
    ///
    /// # Panics
    /// If less is left: the caller has asked for too few bytes.
    #[inline(always)]
    pub fn take<P: Pod>(&mut self, count: usize) -> &'a mut [P] {
        let lines = Self::bytes_of::<P>(count) / size_of::<CacheLine>();
        let (taken, left) = std::mem::take(&mut self.lines).split_at_mut(lines);
        self.lines = left;
        let bytes: &mut [u8] = cast_slice_mut(taken);
        cast_slice_mut(&mut bytes[..count * size_of::<P>()])
    }
}

/// # Errors
/// If a thread cannot have this many bytes.
pub(crate) fn is_available(bytes: usize) -> Result<()> {
    if bytes > KEPT_BYTES { reserved::<CacheLine>(bytes / size_of::<CacheLine>()).map(drop) } else { Ok(()) }
}

/// `count` zeros.
///
/// # Errors
/// If there is no memory for them.
pub(crate) fn zeros<P: Pod>(count: usize) -> Result<Vec<P>> {
    let mut numbers = reserved(count)?;
    numbers.resize(count, P::zeroed());
    Ok(numbers)
}

fn reserved<E>(count: usize) -> Result<Vec<E>> {
    let mut elements = Vec::new();
    let no_memory = |_| Error::Memory { count, bytes: size_of::<E>() };
    elements.try_reserve_exact(count).map_err(no_memory)?;
    Ok(elements)
}

/// Calls `work` with `bytes` of this thread's scratch memory.
pub(crate) fn with_scratch(bytes: usize, work: impl FnOnce(Scratch<'_>)) {
    LINES.with_borrow_mut(|lines| {
        let needed = bytes.div_ceil(size_of::<CacheLine>());
        if lines.len() < needed {
            *lines = vec![CacheLine([0; 64]); needed];
        }
        work(Scratch { lines: &mut lines[..needed] });
        if lines.len() * size_of::<CacheLine>() > KEPT_BYTES {
            *lines = Vec::new();
        }
    });
}

// Cache lines fetched before they are needed. On processors other than x86-64 this does nothing.

/// The bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Fetches the cache line at this address, which need not exist, into the nearest cache.
#[inline(always)]
pub(crate) fn prefetch_near<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching reads nothing, wherever it points.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast())
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// As [`near`], but not into the nearest cache.
#[inline(always)]
pub(crate) fn prefetch_far<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching reads nothing, wherever it points.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(place.cast())
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

// Memory that will be read soon, fetched into the caches by threads of the pool that have nothing else to do.
//
// Between two products some threads have no work, and nothing is read from memory. The caller of a product knows which weights come
// next: it announces them here.

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
            prefetch_far(std::ptr::without_provenance::<u8>(place));
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
