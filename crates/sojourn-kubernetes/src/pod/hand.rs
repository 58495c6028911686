//! Handing a file over, from where the last try ended.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ClusterError;

/// What tells whether a file has come whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// A writer that knows length and digest of what went through it.
pub(crate) struct Summing<W> {
    out: W,
    digest: Sha256,
    bytes: u64,
}

impl<W: Write> Summing<W> {
    /// Nothing has gone through yet.
    pub(crate) fn new(out: W) -> Self {
        Self { out, digest: Sha256::new(), bytes: 0 }
    }

    /// How much went through.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What went through.
    pub(crate) fn sum(self) -> Sum {
        let sha256 = self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Sum { bytes: self.bytes, sha256 }
    }
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let length = self.out.write(bytes)?;
        self.digest.update(&bytes[..length]);
        self.bytes += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Length and digest of a file.
///
/// # Errors
/// It can't be read.
pub fn sum(path: &Path) -> Result<Sum, ClusterError> {
    let of_file = |error| ClusterError::of_file(path, error);
    let mut file = File::open(path).map_err(of_file)?;
    let mut summing = Summing::new(std::io::sink());
    std::io::copy(&mut file, &mut summing).map_err(of_file)?;
    Ok(summing.sum())
}

/// Writes a file from a place on.
///
/// # Errors
/// It can't be read, or `out` takes no more.
pub fn hand(path: &Path, from: u64, out: &mut dyn Write) -> Result<(), ClusterError> {
    let of_file = |error| ClusterError::of_file(path, error);
    let mut file = File::open(path).map_err(of_file)?;
    file.seek(SeekFrom::Start(from)).map_err(of_file)?;
    std::io::copy(&mut file, out).and_then(|_| out.flush()).map_err(of_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_in_two_parts_is_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "abc").unwrap();
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        hand(&path, 0, &mut first).unwrap();
        hand(&path, 2, &mut rest).unwrap();
        assert_eq!((first.as_slice(), rest.as_slice()), (&b"abc"[..], &b"c"[..]));
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sum(&path).unwrap(), Sum { bytes: 3, sha256: known.to_owned() });
        assert!(sum(&folder.path().join("y")).unwrap_err().to_string().contains("/y: "));
    }
}
