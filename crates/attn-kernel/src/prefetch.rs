//! Cache lines fetched before they are needed. On processors other than x86-64 this does nothing.

/// The bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Fetches the cache line at this address, which need not exist, into the nearest cache.
#[inline(always)]
pub(crate) fn near<T>(place: *const T) {
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
pub(crate) fn far<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching reads nothing, wherever it points.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(place.cast())
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
