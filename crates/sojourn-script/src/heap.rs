//! The memory of engines: mimalloc's.
//!
//! Making ten thousand users is mostly making their objects, 110 KB each. The arenas that glibc has
//! for threads grow by a system call for each page, all of them under one lock of the process; that
//! was a quarter of the time. mimalloc maps large pieces and hands out their pages itself.
#![allow(unsafe_code, reason = "an allocator is one by its nature")]

use libmimalloc_sys::{mi_free, mi_malloc, mi_realloc, mi_usable_size, mi_zalloc};
use rquickjs::allocator::Allocator;
use rustix::thread::disable_transparent_huge_pages;

/// Lets the kernel hand out no huge pages to this process from now on; mimalloc asks for them.
///
/// Ten thousand users are a gigabyte of small objects, made at once. On a virtual machine that
/// gives its free memory back to the host, clearing it in pieces of 2 MB took 2.6 s of processor
/// time, page by page 1.0 s; and iterations of two thousand users take no longer without.
pub fn take_small_pages() {
    // A kernel without huge pages refuses, and has none to hand out.
    disable_transparent_huge_pages(true).ok();
}

/// One for all engines; memory may be freed by another thread than the one that asked for it.
pub(crate) struct Heap;

// SAFETY: mimalloc's functions keep what the trait asks for: null or memory of at least the size,
// aligned to 8 bytes or more (of sizes below 8, to what fits them), which its own functions resize,
// free and measure. Memory of other allocators never comes here, since an engine has one allocator
// for all its life.
unsafe impl Allocator for Heap {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        // SAFETY: any size may be asked for.
        unsafe { mi_malloc(size).cast() }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(bytes) = count.checked_mul(size) else { return std::ptr::null_mut() };
        // SAFETY: any size may be asked for.
        unsafe { mi_zalloc(bytes).cast() }
    }

    unsafe fn dealloc(&mut self, memory: *mut u8) {
        // SAFETY: the caller's promise: it is from here, and is used no more.
        unsafe { mi_free(memory.cast()) }
    }

    unsafe fn realloc(&mut self, memory: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: it is from here, or null, which is as good as `alloc`.
        unsafe { mi_realloc(memory.cast(), size).cast() }
    }

    unsafe fn usable_size(memory: *mut u8) -> usize {
        // SAFETY: the caller's promise: it is from here.
        unsafe { mi_usable_size(memory.cast()) }
    }
}
