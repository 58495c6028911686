//! Handing a file over, from where the last try ended.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
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

/// Length and digest of a file.
///
/// # Errors
/// It can't be read.
pub fn sum(path: &Path) -> Result<Sum, ClusterError> {
    let of_file = |error| ClusterError::of_file(path, error);
    let mut file = File::open(path).map_err(of_file)?;
    let (mut digest, mut bytes) = (Sha256::new(), 0);
    let mut piece = vec![0; 1 << 16];
    loop {
        let length = file.read(&mut piece).map_err(of_file)?;
        if length == 0 {
            break;
        }
        digest.update(&piece[..length]);
        bytes += length as u64;
    }
    let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Sum { bytes, sha256 })
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
