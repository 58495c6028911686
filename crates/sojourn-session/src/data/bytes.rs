//! Bytes that are gathered once and never change: of little data in the process's own memory, of
//! much in a sealed memory file, which processes of generators can share.

use std::fmt;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Write};
use std::ops::Deref;
use std::sync::Arc;

use super::mapping::{Mapping, memory_file};

/// From so many bytes on a memory file is worth its descriptor and its whole pages.
pub(super) const MAPPED_MIN: usize = 1 << 20;
/// How much is written to a memory file at once.
const CHUNK: usize = 256 << 10;

/// See the module's page. A clone is the same bytes.
#[derive(Clone)]
pub(crate) struct Bytes(Arc<Kept>);

struct Kept {
    place: Place,
    /// A number that differs when bytes do, for comparing what two processes of one program have.
    digest: u64,
}

/// Where bytes are.
pub(super) enum Place {
    Heap(Box<[u8]>),
    Mapped(Mapping),
}

/// Bytes while they are gathered.
#[derive(Default)]
pub(super) struct Gather {
    /// Those that are in no file yet.
    held: Vec<u8>,
    file: Option<File>,
    /// The system gives no memory files.
    is_plain: bool,
    in_file: u64,
    /// Of what is in the file.
    digest: DefaultHasher,
}

impl Bytes {
    /// Reads all there is.
    pub(super) fn read(from: &mut dyn Read) -> io::Result<Self> {
        let mut gather = Gather::default();
        io::copy(from, &mut gather)?;
        let is_much = gather.is_much();
        gather.finish(is_much)
    }

    /// Bytes that another process gathered, whose digest is known from there.
    pub(super) fn of(place: Place, digest: u64) -> Self {
        Self(Arc::new(Kept { place, digest }))
    }

    pub(super) fn place(&self) -> &Place {
        &self.0.place
    }

    pub(super) fn digest(&self) -> u64 {
        self.0.digest
    }

    /// Whether a sealed memory file has them.
    #[cfg(test)]
    pub(super) fn is_mapped(&self) -> bool {
        matches!(self.0.place, Place::Mapped(_))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0.place {
            Place::Heap(bytes) => bytes,
            Place::Mapped(mapping) => mapping.bytes(),
        }
    }
}

/// Length and digest: programs are compared by what they show of themselves.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({}, {:016x})", self.len(), self.0.digest)
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl Gather {
    /// How many bytes there are so far.
    pub(super) fn length(&self) -> u64 {
        self.in_file + self.held.len() as u64
    }

    /// Whether there is so much that it goes to a file.
    pub(super) fn is_much(&self) -> bool {
        self.file.is_some() || self.held.len() >= MAPPED_MIN
    }

    /// The bytes, which nothing changes from here on; in a file if there `is_much`.
    pub(super) fn finish(mut self, is_much: bool) -> io::Result<Bytes> {
        if is_much && !self.held.is_empty() {
            self.spill()?;
        }
        let place = match self.file.take() {
            Some(file) => Place::Mapped(Mapping::seal(file)?),
            None => {
                self.digest.write(&self.held);
                Place::Heap(self.held.into())
            }
        };
        Ok(Bytes::of(place, self.digest.finish()))
    }

    /// Moves what is held to a file.
    fn spill(&mut self) -> io::Result<()> {
        if self.file.is_none() && !self.is_plain {
            // Without memory files (old kernels, sandboxes) memory of our own does.
            self.file = memory_file().ok();
            self.is_plain = self.file.is_none();
        }
        if let Some(file) = &mut self.file {
            file.write_all(&self.held)?;
            self.digest.write(&self.held);
            self.in_file += self.held.len() as u64;
            self.held.clear();
            self.held.shrink_to(CHUNK);
        }
        Ok(())
    }
}

impl Write for Gather {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= CHUNK && !self.is_plain && self.is_much() {
            self.spill()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes of so many, none like its neighbour.
    fn pattern(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at % 251) as u8).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn what_goes_in_comes_out(
            length in prop_oneof![0..5_000usize, (MAPPED_MIN - 2)..(2 * MAPPED_MIN)],
            piece in 1..300_000usize,
        ) {
            let all = pattern(length);
            let mut gather = Gather::default();
            for piece in all.chunks(piece) {
                gather.write_all(piece).unwrap();
            }
            prop_assert_eq!(gather.length(), length as u64);
            let is_much = gather.is_much();
            let bytes = gather.finish(is_much).unwrap();
            prop_assert_eq!(&*bytes, &all[..]);
            prop_assert_eq!(bytes.is_mapped(), length >= MAPPED_MIN);
        }
    }

    #[test]
    fn nobody_changes_or_cuts_what_is_mapped() {
        let all = pattern(MAPPED_MIN + 1);
        let bytes = Bytes::read(&mut all.as_slice()).unwrap();
        let Place::Mapped(mapping) = bytes.place() else { panic!("not mapped") };
        let path = format!("/proc/self/fd/{}", mapping.descriptor());
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        assert!(file.set_len(0).is_err(), "it is cut");
        assert!(file.set_len(all.len() as u64 + 1).is_err(), "it grows");
        assert!((&file).write_all(b"other").is_err(), "it is written to");
        assert!(std::fs::write(&path, b"other").is_err());
        assert_eq!(&*bytes, &all[..]);
    }

    #[test]
    fn a_file_that_is_not_sealed_is_not_mapped() {
        let mut file = memory_file().unwrap();
        file.write_all(b"abc").unwrap();
        assert!(Mapping::of(file).is_err());
        let disk = tempfile::tempfile().unwrap();
        assert!(Mapping::of(disk).is_err());
    }

    #[test]
    fn other_bytes_show_another_digest() {
        let shown = |bytes: &[u8]| format!("{:?}", Bytes::read(&mut &*bytes).unwrap());
        assert_eq!(shown(b"abc"), shown(b"abc"));
        assert_ne!(shown(b"abc"), shown(b"abd"));
        assert!(shown(b"abc").starts_with("Bytes(3, "));
    }
}
