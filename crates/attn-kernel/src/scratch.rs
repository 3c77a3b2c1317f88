//! The memory that a thread computes in: one allocation, kept from call to call.

use std::cell::RefCell;

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
