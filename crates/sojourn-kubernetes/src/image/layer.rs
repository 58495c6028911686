//! The files of an image as one tar, the same bytes for the same files.

use std::collections::BTreeMap;
use std::io;

use tar::{Builder, EntryType, Header};

/// Files and folders by their place, `/` first.
#[derive(Debug, Default)]
pub(super) struct Layer {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    kind: EntryType,
    mode: u32,
    content: Vec<u8>,
}

impl Layer {
    /// Adds a file, and the folders above it.
    pub(super) fn add(&mut self, place: &str, mode: u32, content: Vec<u8>) {
        for (at, _) in place.match_indices('/').skip(1) {
            self.add_folder(&place[..at], 0o755);
        }
        self.entries.insert(place.to_owned(), Entry { kind: EntryType::Regular, mode, content });
    }

    /// Adds a folder, unless it is there.
    pub(super) fn add_folder(&mut self, place: &str, mode: u32) {
        let folder = Entry { kind: EntryType::Directory, mode, content: Vec::new() };
        self.entries.entry(format!("{place}/")).or_insert(folder);
    }

    /// The tar: in order, of nobody's time.
    pub(super) fn to_tar(&self) -> io::Result<Vec<u8>> {
        let entries = self.entries.iter();
        tar_of(entries.map(|(place, entry)| {
            (place.trim_start_matches('/'), entry.kind, entry.mode, entry.content.as_slice())
        }))
    }
}

/// A tar of these entries, in this order, all of root's and of 1970.
pub(super) fn tar_of<'a>(
    entries: impl Iterator<Item = (&'a str, EntryType, u32, &'a [u8])>,
) -> io::Result<Vec<u8>> {
    let mut tar = Builder::new(Vec::new());
    for (place, kind, mode, content) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(content.len() as u64);
        tar.append_data(&mut header, place, content)?;
    }
    tar.into_inner()
}
