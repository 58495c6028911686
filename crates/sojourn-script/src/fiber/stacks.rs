//! Stacks for fibers, cut from few large mappings.
//!
//! A mapping of its own for each stack, with its guard page, costs the kernel two areas, and a
//! process may have some 65,000: about 32,000 fibers. So stacks are slots of large regions. The
//! lowest page of each is a guard where the kernel has guards that split no area (Linux 6.13); on
//! older ones the fiber's user must bound its own depth, which the JavaScript engine does far above
//! the end of the stack.

use std::cell::RefCell;
use std::io;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::rc::Rc;

use corosensei::stack::{Stack, StackPointer};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Slots of a region.
const SLOTS: usize = 64;
const PAGE: usize = 4096;
/// `MADV_GUARD_INSTALL` of Linux 6.13.
const GUARD_INSTALL: i32 = 102;

/// A thread's supply of stacks, all of one size. A stack given back is used again.
#[derive(Clone, Debug)]
pub struct Stacks {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Bytes of a stack, whole pages.
    size: usize,
    free: RefCell<Vec<NonNull<u8>>>,
    regions: RefCell<Vec<Region>>,
}

/// One large mapping, unmapped when the last stack and the supply are gone.
#[derive(Debug)]
struct Region {
    start: NonNull<u8>,
    bytes: usize,
}

impl Stacks {
    /// Stacks of so many bytes each, rounded up to whole pages, 16 KiB at least.
    pub fn new(bytes: usize) -> Self {
        let size = bytes.max(16 * 1024).next_multiple_of(PAGE);
        let shared = Shared { size, free: RefCell::default(), regions: RefCell::default() };
        Self { shared: Rc::new(shared) }
    }

    /// A stack. Fails when the kernel gives no more memory.
    pub fn take(&self) -> io::Result<StackSlot> {
        if self.shared.free.borrow().is_empty() {
            self.add_region()?;
        }
        let slot = self.shared.free.borrow_mut().pop();
        let start = slot.ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(StackSlot { start, owner: Rc::clone(&self.shared) })
    }

    #[allow(unsafe_code)]
    fn add_region(&self) -> io::Result<()> {
        let (size, bytes) = (self.shared.size, self.shared.size * SLOTS);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no memory
        // of ours.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags)
        }?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut free = self.shared.free.borrow_mut();
        for slot in (0..SLOTS).rev() {
            // SAFETY: slot × size lies within the mapping of SLOTS × size bytes.
            let low = unsafe { start.add(slot * size) };
            // SAFETY: the page belongs to the mapping made above and nothing uses it yet. Kernels
            // that do not know the advice refuse it, and then the page stays as it is.
            unsafe { libc::madvise(low.as_ptr().cast(), PAGE, GUARD_INSTALL) };
            free.push(low);
        }
        self.shared.regions.borrow_mut().push(Region { start, bytes });
        Ok(())
    }
}

impl Drop for Region {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the region is dropped with `Shared`, which every stack keeps alive: none is left.
        // A failure would only leave the memory mapped.
        unsafe { munmap(self.start.as_ptr().cast(), self.bytes) }.ok();
    }
}

/// One stack; given back to its supply when dropped.
#[derive(Debug)]
pub struct StackSlot {
    start: NonNull<u8>,
    owner: Rc<Shared>,
}

impl Drop for StackSlot {
    fn drop(&mut self) {
        self.owner.free.borrow_mut().push(self.start);
    }
}

// SAFETY: base and limit are the ends of memory that is mapped as long as the slot lives, aligned
// to pages and larger than the least stack. The lowest page is a guard where the kernel has them;
// where not, see the module's page: the engine refuses to go that deep.
#[allow(unsafe_code)]
unsafe impl Stack for StackSlot {
    fn base(&self) -> StackPointer {
        address(self.start, self.owner.size)
    }

    fn limit(&self) -> StackPointer {
        address(self.start, 0)
    }
}

/// The address `offset` bytes above `start`; saturating arithmetic keeps it from zero.
fn address(start: NonNull<u8>, offset: usize) -> StackPointer {
    start.addr().checked_add(offset).unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_do_not_overlap_and_are_used_again() {
        let stacks = Stacks::new(20_000);
        let taken: Vec<_> = (0..3 * SLOTS).map(|_| stacks.take().expect("memory")).collect();
        let mut bases: Vec<_> = taken.iter().map(|slot| slot.base().get()).collect();
        bases.sort_unstable();
        assert!(bases.windows(2).all(|pair| pair[1] - pair[0] >= 20_480));
        assert!(taken.iter().all(|slot| slot.base().get() - slot.limit().get() == 20_480));
        assert_eq!(stacks.shared.regions.borrow().len(), 3);
        drop(taken);
        let again: Vec<_> = (0..3 * SLOTS).map(|_| stacks.take().expect("memory")).collect();
        assert_eq!(stacks.shared.regions.borrow().len(), 3);
        drop(stacks);
        drop(again);
    }
}
