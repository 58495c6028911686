//! Receive buffers that the kernel picks from: only what is in hand takes one, and idle
//! connections have none.

#![expect(unsafe_code, reason = "memory shared with the kernel; each use has its proof")]

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// The only group.
pub(super) const GROUP: u16 = 0;

/// No buffer.
pub(super) const NONE: u16 = u16::MAX;

/// How many buffers of what size; a power of two, below [`NONE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) count: u16,
    pub(super) bytes: usize,
}

/// Enough for what a batch brings. Pages that no answer has reached cost nothing: short answers
/// touch one page of each buffer.
pub(super) const USUAL: Shape = Shape { count: 256, bytes: 16 * 1024 };

/// From one buffer to the next there is a cache line more than its size, so that the beginnings of
/// all of them don't compete for the same few places of the cache.
const APART_BYTES: usize = 64;

/// The buffers and the ring through which they are given (back) to the kernel.
pub(super) struct Buffers {
    shape: Shape,
    entries: NonNull<BufRingEntry>,
    memory: NonNull<u8>,
    /// Of each buffer: what was received into it, and the next one of the same connection.
    received: Box<[(u32, u16)]>,
    /// As the kernel sees it.
    tail: u16,
    /// How many the kernel has handed out and not got back.
    in_hand: u16,
    /// The kernel may still write to the memory.
    pub(super) is_shared: bool,
}

// SAFETY: the memory belongs to this value alone (and to the kernel); nothing in it is bound to a
// thread.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Makes the buffers and hands them all to the kernel.
    pub(super) fn register(ring: &IoUring, shape: Shape) -> io::Result<Self> {
        assert!(shape.count.is_power_of_two() && shape.count < NONE, "see `Shape`");
        let start = map(mapped_bytes(shape))?;
        let mut buffers = Self {
            shape,
            entries: start.cast(),
            // SAFETY: the mapping has room for both, the entries first.
            memory: unsafe { start.add(entries_bytes(shape)) },
            received: vec![(0, NONE); usize::from(shape.count)].into_boxed_slice(),
            tail: 0,
            in_hand: shape.count,
            is_shared: false,
        };
        let address = buffers.entries.as_ptr() as u64;
        // SAFETY: the ring has `count` entries, is aligned to a page, and lives until it is
        // unregistered (`unregister`) or for ever (`drop`).
        unsafe {
            ring.submitter().register_buf_ring_with_flags(address, shape.count, GROUP, 0)?;
        }
        buffers.is_shared = true;
        for buffer in 0..shape.count {
            buffers.give_back(buffer);
        }
        Ok(buffers)
    }

    /// Ends the sharing; no receive may be under way.
    pub(super) fn unregister(&mut self, ring: &IoUring) {
        self.is_shared = ring.submitter().unregister_buf_ring(GROUP).is_err();
    }

    /// Notes what the kernel has received into a buffer, and that it is the last of its list.
    pub(super) fn set(&mut self, buffer: u16, length: u32) {
        let length = length.min(self.shape.bytes as u32);
        if let Some(received) = self.received.get_mut(usize::from(buffer)) {
            *received = (length, NONE);
        }
    }

    /// The kernel has handed a buffer out.
    pub(super) fn taken(&mut self) {
        self.in_hand = (self.in_hand + 1).min(self.shape.count);
    }

    /// How many the kernel has left.
    pub(super) fn left(&self) -> usize {
        usize::from(self.shape.count - self.in_hand)
    }

    /// Lets `next` follow `buffer` in its list.
    pub(super) fn link(&mut self, buffer: u16, next: u16) {
        self.received[usize::from(buffer)].1 = next;
    }

    /// The one that follows in its list.
    pub(super) fn next(&self, buffer: u16) -> u16 {
        self.received[usize::from(buffer)].1
    }

    /// What was received into a buffer that the kernel has handed out.
    pub(super) fn bytes(&self, buffer: u16) -> &[u8] {
        let (length, _) = self.received[usize::from(buffer)];
        // SAFETY: the index above proves the buffer is one of ours, and `set` that the length is
        // at most its size. The kernel does not write to it until it is given back, for which the
        // caller needs the value mutably, so this borrow must have ended.
        unsafe {
            let start = self.memory.add(usize::from(buffer) * stride(self.shape));
            std::slice::from_raw_parts(start.as_ptr(), length as usize)
        }
    }

    /// Gives a buffer back to the kernel.
    pub(super) fn give_back(&mut self, buffer: u16) {
        if buffer >= self.shape.count {
            return;
        }
        self.in_hand = self.in_hand.saturating_sub(1);
        let mask = self.shape.count - 1;
        // SAFETY: masked, the place is one of the `count` entries; the kernel reads it only below
        // the tail, which is moved after it is written (release). The first entry's last two bytes
        // are the tail itself, which is why the entry is written field by field. Buffer and memory
        // are ours for as long as the ring is.
        unsafe {
            let entry = &mut *self.entries.add(usize::from(self.tail & mask)).as_ptr();
            let start = self.memory.add(usize::from(buffer) * stride(self.shape));
            entry.set_addr(start.as_ptr() as u64);
            entry.set_len(self.shape.bytes as u32);
            entry.set_bid(buffer);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.is_shared {
            // The kernel could still write to it: lost for good rather than freed.
            return;
        }
        let start = self.entries.as_ptr().cast();
        // SAFETY: the mapping that `register` made, of this length; the kernel writes to it no
        // more. A failure would only leave it mapped.
        unsafe { munmap(start, mapped_bytes(self.shape)) }.ok();
    }
}

fn stride(shape: Shape) -> usize {
    shape.bytes + APART_BYTES
}

fn entries_bytes(shape: Shape) -> usize {
    usize::from(shape.count) * size_of::<BufRingEntry>()
}

/// The entries, which begin a page, and the buffers behind them.
fn mapped_bytes(shape: Shape) -> usize {
    entries_bytes(shape) + usize::from(shape.count) * stride(shape)
}

/// Pages of their own, cleared, each taken when it is first touched. Not the allocator's: glibc's
/// takes the end of a large piece for a sign that others of that size will come and go, and puts
/// them where they leave holes; a client made and dropped before a load cost the load's own tables
/// 7 MB.
fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    let (rights, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours. Shapes
    // have at least one buffer, so the size is not zero.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, rights, flags) }?;
    NonNull::new(start.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}
