//! Asking the processor for memory before it is used.
//!
//! Between two looks at a request the kernel's network code fills the caches, so the first touch of
//! its place waits for memory: with 512 connections half of what a client spends outside the kernel
//! is such waits. Whoever has a batch before it knows what comes next, and can ask for it while it
//! works on the present one.
#![expect(unsafe_code, reason = "the instruction has no safe wrapper; proof at the call")]

/// Bytes that the processor fetches at a time.
const LINE_BYTES: usize = 64;

/// Most lines of a value that are asked for: what is farther in is not used first.
const LINES_MAX: usize = 8;

/// Asks for a value of the table; nothing where there is none. Without effect on what a program
/// computes, and on processors for which this is not written.
#[inline]
pub(crate) fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = table.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(value).cast::<i8>();
        for line in 0..size_of::<T>().div_ceil(LINE_BYTES).min(LINES_MAX) {
            // SAFETY: a prefetch reads nothing that the program sees and never faults, whatever
            // the address; this one is within `value` or just behind it.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line * LINE_BYTES)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _unused = (table, index, LINE_BYTES, LINES_MAX);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_asked_for_nothing_happens() {
        let table = [[7_u8; 1_000]; 3];
        for index in [0, 2, 3, usize::MAX] {
            prefetch(&table, index);
        }
        prefetch::<u64>(&[], 0);
        assert_eq!(table, [[7; 1_000]; 3]);
    }
}
