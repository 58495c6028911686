//! An allocator that counts the bytes in use: what a journey costs, measured rather than computed.
#![allow(unsafe_code, reason = "an allocator can't be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, counted.
pub(crate) struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// Bytes asked for and not given back.
pub(crate) fn bytes_in_use() -> usize {
    IN_USE.load(Ordering::Relaxed)
}

// SAFETY: every call is handed to `System` unchanged, which keeps the contract; beside it only a
// counter moves, which neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps `GlobalAlloc::alloc`'s contract, which is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `alloc` above, so from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}
