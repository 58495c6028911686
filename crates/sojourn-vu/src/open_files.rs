//! Files that scripts read in pieces: opened once for all users, each of whom reads at a place of
//! its own.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sojourn_script::Bundle;

/// Where a file's bytes are.
#[derive(Debug)]
enum Content {
    Disk(File),
    /// It was in an archive.
    Memory(Arc<[u8]>),
}

/// A file.
#[derive(Debug)]
pub(crate) struct OpenFile {
    content: Content,
    pub(crate) path: PathBuf,
    /// When it was opened, bytes.
    pub(crate) size: u64,
}

impl OpenFile {
    /// Reads from a place on; fewer bytes only at the end.
    pub(crate) fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        let file = match &self.content {
            Content::Disk(file) => file,
            Content::Memory(bytes) => {
                let rest =
                    usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                let length = rest.len().min(out.len());
                out[..length].copy_from_slice(&rest[..length]);
                return Ok(length);
            }
        };
        let mut filled = 0;
        while filled < out.len() {
            match file.read_at(&mut out[filled..], at + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// All files of a test.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles(Mutex<HashMap<PathBuf, Arc<OpenFile>>>);

impl OpenFiles {
    /// The paths of all.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// The file, opened now if nobody has yet: of the bundle's archive, if that is one. A folder is
    /// an error.
    pub(crate) fn open(&self, path: &Path, bundle: Option<&Bundle>) -> io::Result<Arc<OpenFile>> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files.get(path) {
            return Ok(Arc::clone(known));
        }
        let (content, size) = match bundle.filter(|bundle| bundle.is_archived()) {
            Some(bundle) => {
                let bytes = bundle.open(path).map_err(|_| io::ErrorKind::NotFound)?;
                let size = bytes.len() as u64;
                (Content::Memory(bytes), size)
            }
            None => {
                let file = File::open(path)?;
                let metadata = file.metadata()?;
                if metadata.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                (Content::Disk(file), metadata.len())
            }
        };
        let file = Arc::new(OpenFile { content, path: path.to_owned(), size });
        files.insert(path.to_owned(), Arc::clone(&file));
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_for_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "0123456789").expect("written");
        let files = OpenFiles::default();
        let file = files.open(&path, None).expect("open");
        assert!(Arc::ptr_eq(&file, &files.open(&path, None).expect("open")));
        let mut out = [0; 4];
        assert_eq!(file.read_at(&mut out, 8).expect("read"), 2);
        assert_eq!((&out[..2], file.size), (&b"89"[..], 10));
        let kind = |path: &Path| files.open(path, None).expect_err("no file").kind();
        assert_eq!(kind(folder.path()), io::ErrorKind::IsADirectory);
        assert_eq!(kind(&folder.path().join("b")), io::ErrorKind::NotFound);
    }
}
