//! The system's allocator, which counts what each thread asks of it, and which thread that is.
#![allow(unsafe_code, reason = "an allocator that counts is an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};

/// Most threads that are told apart; further ones share the last place.
const THREADS_MAX: usize = 256;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Threads that have asked for memory so far.
static THREADS: AtomicUsize = AtomicUsize::new(0);
/// The kernel's number of each.
static IDS: [AtomicI32; THREADS_MAX] = [const { AtomicI32::new(0) }; THREADS_MAX];
/// How often each has asked for memory.
static COUNTS: [AtomicU64; THREADS_MAX] = [const { AtomicU64::new(0) }; THREADS_MAX];

thread_local! {
    /// This thread's place, and one more; 0: it has none yet.
    static PLACE: Cell<usize> = const { Cell::new(0) };
}

/// How often the calling thread has asked for memory, or for more of it.
pub(crate) fn of_this_thread() -> u64 {
    COUNTS[place()].load(Ordering::Relaxed)
}

/// The same of the thread of this name, which lives.
pub(crate) fn of_thread(name: &str) -> u64 {
    let known = THREADS.load(Ordering::Relaxed).min(THREADS_MAX);
    let is_it = |at: &usize| {
        let id = IDS[*at].load(Ordering::Relaxed);
        let path = format!("/proc/self/task/{id}/comm");
        std::fs::read_to_string(path).is_ok_and(|its| its.trim_end() == name)
    };
    let at = (0..known).find(is_it).unwrap_or_else(|| panic!("no thread is called `{name}`"));
    COUNTS[at].load(Ordering::Relaxed)
}

/// Allocates nothing.
fn place() -> usize {
    let known = PLACE.get();
    if known > 0 {
        return known - 1;
    }
    let place = THREADS.fetch_add(1, Ordering::Relaxed).min(THREADS_MAX - 1);
    IDS[place].store(rustix::thread::gettid().as_raw_nonzero().get(), Ordering::Relaxed);
    PLACE.set(place + 1);
    place
}

fn note() {
    COUNTS[place()].fetch_add(1, Ordering::Relaxed);
}

// SAFETY: every call is handed on to the system's allocator as it is; noting it allocates nothing,
// since the thread-local is a constant without a destructor and the rest are atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
