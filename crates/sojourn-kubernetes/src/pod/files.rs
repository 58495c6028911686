//! Files that a test writes where its coordinator is, as one file that can be fetched.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tar::{Archive, Builder};

use crate::ClusterError;

/// Makes one file of all that are below a folder: beside it, of its name and `.tar`. Whoever looks
/// finds the one of before, or the whole new one.
///
/// # Errors
/// Something can't be read or written.
pub fn pack(folder: &Path) -> Result<(), ClusterError> {
    let (whole, part) = (folder.with_extension("tar"), folder.with_extension("part"));
    let failed = |error| ClusterError::of_file(&whole, error);
    let mut tar = Builder::new(BufWriter::new(File::create(&part).map_err(failed)?));
    tar.append_dir_all(".", folder).map_err(failed)?;
    tar.into_inner().and_then(|mut file| file.flush()).map_err(failed)?;
    std::fs::rename(&part, &whole).map_err(failed)
}

/// Writes them below a folder here, in place of those of the same names; their names. Nothing is
/// written anywhere else, whatever their names are.
///
/// # Errors
/// It is nothing that [`pack`] has made, or something can't be written.
pub fn unpack(packed: impl Read, folder: &Path) -> Result<Vec<PathBuf>, ClusterError> {
    let failed = |error| ClusterError::of_file(folder, error);
    let mut names = Vec::new();
    for entry in Archive::new(packed).entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let name = entry.path().map_err(failed)?.into_owned();
        let name = name.strip_prefix(".").map(Path::to_owned).unwrap_or(name);
        if !entry.header().entry_type().is_file() {
            continue;
        }
        entry.set_preserve_permissions(false);
        entry.set_preserve_mtime(false);
        let is_written = entry.unpack_in(folder).map_err(|it| ClusterError::of_file(&name, it))?;
        if is_written {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_there_is_here() {
        let (there, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = there.path().join("files");
        std::fs::create_dir_all(files.join("out/deep")).unwrap();
        std::fs::write(files.join("summary.json"), "{}").unwrap();
        std::fs::write(files.join("out/deep/a b.bin"), [0, 255]).unwrap();
        std::fs::write(here.path().join("summary.json"), "older and longer").unwrap();
        pack(&files).unwrap();
        let packed = std::fs::read(there.path().join("files.tar")).unwrap();
        let mut names = unpack(&packed[..], here.path()).unwrap();
        names.sort();
        assert_eq!(names, [Path::new("out/deep/a b.bin"), Path::new("summary.json")]);
        assert_eq!(std::fs::read_to_string(here.path().join("summary.json")).unwrap(), "{}");
        assert_eq!(std::fs::read(here.path().join("out/deep/a b.bin")).unwrap(), [0, 255]);
    }

    #[test]
    fn nothing_is_written_elsewhere() {
        let here = tempfile::tempdir().unwrap();
        let inner = here.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..10].copy_from_slice(b"../outside");
        header.set_size(1);
        header.set_mode(0o644);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_cksum();
        let mut tar = Builder::new(Vec::new());
        tar.append(&header, &b"x"[..]).unwrap();
        let packed = tar.into_inner().unwrap();
        assert_eq!(unpack(&packed[..], &inner).unwrap(), Vec::<PathBuf>::new());
        assert!(!here.path().join("outside").exists());
        assert!(unpack(&b"no tar"[..], &inner).is_err() || inner.exists());
    }
}
