//! The memory that a thread computes in: one allocation, kept from call to call.

use std::cell::RefCell;

use super::real::Real;
use crate::error::Result;
use crate::memory;

/// As long and as aligned as the widest register, so that no load crosses a line of the cache.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line([u8; 64]);

/// What is kept at most between calls; more is given back.
const KEPT_BYTES: usize = 1 << 20;

thread_local! {
    static LINES: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// Numbers side by side, of which every pattern of bits is a value: registers, and arrays of them.
///
/// # Safety
/// That is so, they are not longer than they say, and none is aligned to more than 64 bytes.
pub unsafe trait Plain: Copy + 'static {}

// SAFETY: any bits are a number.
unsafe impl Plain for f32 {}
// SAFETY: any bits are a number.
unsafe impl Plain for f64 {}
// SAFETY: as its members.
unsafe impl<P: Plain, const N: usize> Plain for [P; N] {}

/// Memory of this thread, to be taken piece by piece.
pub(super) struct Scratch<'a> {
    lines: &'a mut [Line],
}

impl<'a> Scratch<'a> {
    /// How many bytes `count` of `P` take, in whole lines.
    pub const fn bytes_of<P: Plain>(count: usize) -> usize {
        (count * size_of::<P>()).next_multiple_of(size_of::<Line>())
    }

    /// The next `count` of `P`; they hold whatever they held before.
    ///
    /// # Panics
    /// If less is left, which is a mistake in this room.
    #[inline(always)]
    pub fn take<P: Plain>(&mut self, count: usize) -> &'a mut [P] {
        let lines = Self::bytes_of::<P>(count) / size_of::<Line>();
        let (taken, left) = std::mem::take(&mut self.lines).split_at_mut(lines);
        self.lines = left;
        // SAFETY: the lines are initialized, long and aligned enough, and nobody else's; a `Plain` is whatever its bits say.
        unsafe { std::slice::from_raw_parts_mut(taken.as_mut_ptr().cast::<P>(), count) }
    }
}

/// # Errors
/// If a thread cannot have so many bytes.
pub(super) fn is_available(bytes: usize) -> Result<()> {
    if bytes > KEPT_BYTES { reserved::<Line>(bytes / size_of::<Line>()).map(drop) } else { Ok(()) }
}

/// So many zeros.
///
/// # Errors
/// If there is no memory for them.
pub(super) fn zeros<T: Real>(count: usize) -> Result<Vec<T>> {
    let mut numbers = reserved(count)?;
    numbers.resize(count, T::ZERO);
    Ok(numbers)
}

fn reserved<E>(count: usize) -> Result<Vec<E>> {
    memory::room_for(count)
}

/// Calls `work` with `bytes` of this thread's memory.
pub(super) fn with_scratch(bytes: usize, work: impl FnOnce(Scratch<'_>)) {
    LINES.with_borrow_mut(|lines| {
        let needed = bytes.div_ceil(size_of::<Line>());
        if lines.len() < needed {
            *lines = vec![Line([0; 64]); needed];
        }
        work(Scratch { lines: &mut lines[..needed] });
        if lines.len() * size_of::<Line>() > KEPT_BYTES {
            *lines = Vec::new();
        }
    });
}
