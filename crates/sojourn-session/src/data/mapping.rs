//! Bytes of a memory file that nobody can change any more, mapped for reading.
//!
//! A file of the disk that is mapped changes when somebody writes to it, and ends the process by
//! SIGBUS when somebody cuts it. A memory file (`memfd_create(2)`) that is sealed against writing,
//! growing and shrinking can do neither, whoever has it open: the kernel refuses all of it, and
//! refuses to take a seal back. It has no name in any file system, and is gone with its last user.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Without these no mapping would be sound.
const SEALS: SealFlags = SealFlags::WRITE.union(SealFlags::GROW).union(SealFlags::SHRINK);

/// A sealed memory file and where its bytes are.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    length: usize,
    file: File,
}

/// An empty memory file that can be sealed; it is closed in programs that are started.
pub(super) fn memory_file() -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(File::from(memfd_create("sojourn-data", flags)?))
}

impl Mapping {
    /// Seals a memory file and maps it. Errs where it is empty, or no memory file.
    pub(super) fn seal(file: File) -> io::Result<Self> {
        fcntl_add_seals(&file, SEALS | SealFlags::SEAL)?;
        Self::of(file)
    }

    /// Maps a memory file that has been sealed, perhaps by another process. Errs where it was not.
    pub(super) fn of(file: File) -> io::Result<Self> {
        if !fcntl_get_seals(&file)?.contains(SEALS) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the file is not sealed"));
        }
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let (protection, flags) = (ProtFlags::READ, MapFlags::PRIVATE);
        // SAFETY: the kernel chooses the place, so no mapping of ours is replaced. `PRIVATE`, since
        // kernels before 6.7 map nothing sealed as `SHARED`; nothing is ever written to, so that
        // the pages are the file's own, one copy for all processes.
        let start = unsafe { mmap(std::ptr::null_mut(), length, protection, flags, &file, 0)? };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length, file })
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `length` bytes are mapped for reading from `start` on, until `drop`, which the
        // borrow outlives not. They are within the file, whose length is sealed, so that no access
        // is a SIGBUS, and nobody writes to them: the mapping is read-only and the file sealed.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// The file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Its number among this process's descriptors, for `/proc`.
    pub(super) fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }
}

// SAFETY: the bytes never change and belong to no thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what `of` mapped, once, and no borrow of it is left.
        // Nothing can be done about a mapping that cannot be given back.
        let _ignored = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
