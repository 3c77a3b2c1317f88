//! An allocator that counts, for a test program of its own: `tests/memory.rs`. It is in this crate because it is `unsafe`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, and the bytes that are taken from it.
pub struct CountingAllocator {
    taken: AtomicUsize,
    most: AtomicUsize,
}

impl CountingAllocator {
    pub const fn new() -> CountingAllocator {
        CountingAllocator { taken: AtomicUsize::new(0), most: AtomicUsize::new(0) }
    }

    /// The bytes that are taken now.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }

    /// The most bytes that were taken at a time while `work` was done, by all threads.
    pub fn most_during<R>(&self, work: impl FnOnce() -> R) -> (R, usize) {
        self.most.store(self.taken(), Ordering::SeqCst);
        let result = work();
        (result, self.most.load(Ordering::SeqCst))
    }

    fn more(&self, bytes: usize) {
        let taken = self.taken.fetch_add(bytes, Ordering::SeqCst) + bytes;
        self.most.fetch_max(taken, Ordering::SeqCst);
    }

    fn fewer(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::SeqCst);
    }
}

// SAFETY: it is the system's, and counting takes no memory.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.more(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.more(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) };
        self.fewer(layout.size());
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are there while one is copied to the other.
        self.more(size);
        // SAFETY: the caller's promise.
        let moved = unsafe { System.realloc(memory, layout, size) };
        self.fewer(layout.size());
        moved
    }
}
