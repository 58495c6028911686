//! Large data for other processes of this machine: one copy for all of them.
//!
//! What is offered are descriptors of sealed memory files. Who takes them opens them below
//! `/proc/PROCESS/fd`, looks at the seals itself, and maps the same pages. The files live as long
//! as somebody has them, so the offering process need only be there until all have taken them.
//!
//! A descriptor's number may come to mean another file, when its process has ended or has closed
//! it. So each offer says which file it is, and what the script asked for; who finds another one,
//! or asks for another one because the script was changed meanwhile, reads the disk's file. That
//! its program is another one then shows where the processes' programs are compared.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Content,
    bytes::{Bytes, Place},
    mapping::Mapping,
    table::Table,
};

/// Where another process finds the data of a definition's sources; see the module's page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Who offers.
    process: u32,
    /// `None`: it is to be read from its file.
    sources: Vec<Option<(u64, Offered)>>,
}

/// One source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Offered {
    Rows { columns: Vec<String>, width: usize, text: Part, ends: Part },
    Bytes(Part),
}

/// Bytes of a memory file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    /// The offering process's descriptor, and which file it is of; `None`: there are no bytes.
    file: Option<(i32, Which)>,
    digest: u64,
}

/// Which file it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Which {
    device: u64,
    inode: u64,
    length: u64,
}

impl Offer {
    /// All of these that memory files have; with each, what the script asked for.
    pub(super) fn of<'a>(sources: impl Iterator<Item = (&'a Content, u64)>) -> Self {
        let sources = sources.map(|(content, asked)| Some((asked, Offered::of(content)?)));
        Self { process: std::process::id(), sources: sources.collect() }
    }

    /// The source of this number. `None` where it is not offered, where its process has gone, and
    /// where the system shows nobody's descriptors, and where something else was asked for: then
    /// its file has to be read.
    pub(super) fn take(&self, number: usize, asked: u64) -> Option<Content> {
        let (offered_for, offered) = self.sources.get(number)?.as_ref()?;
        if *offered_for != asked {
            return None;
        }
        match offered {
            Offered::Bytes(part) => part.take(self.process).ok().map(Content::Bytes),
            Offered::Rows { columns, width, text, ends } => {
                let parts = text.take(self.process).ok().zip(ends.take(self.process).ok());
                let (text, ends) = parts.filter(|_| *width > 0)?;
                let columns = columns.clone();
                Some(Content::Rows(Arc::new(Table { columns, width: *width, text, ends })))
            }
        }
    }
}

impl Offered {
    fn of(content: &Content) -> Option<Self> {
        Some(match content {
            Content::Bytes(bytes) => Self::Bytes(Part::of(bytes)?),
            Content::Rows(table) => {
                let (text, ends) = (Part::of(&table.text)?, Part::of(&table.ends)?);
                let columns = table.columns.clone();
                Self::Rows { columns, width: table.width, text, ends }
            }
        })
    }
}

impl Which {
    fn of(file: &File) -> io::Result<Self> {
        let data = file.metadata()?;
        Ok(Self { device: data.dev(), inode: data.ino(), length: data.len() })
    }
}

impl Part {
    fn of(bytes: &Bytes) -> Option<Self> {
        let file = match bytes.place() {
            Place::Mapped(mapping) => Some((mapping.descriptor(), Which::of(mapping.file()).ok()?)),
            Place::Heap(bytes) => bytes.is_empty().then_some(None)?,
        };
        Some(Self { file, digest: bytes.digest() })
    }

    fn take(&self, process: u32) -> io::Result<Bytes> {
        let place = match &self.file {
            None => Place::Heap(Box::default()),
            Some((descriptor, which)) => {
                let path = format!("/proc/{process}/fd/{descriptor}");
                let file = File::open(Path::new(&path))?;
                if Which::of(&file)? != *which {
                    return Err(io::Error::other("the descriptor is of another file by now"));
                }
                Place::Mapped(Mapping::of(file)?)
            }
        };
        Ok(Bytes::of(place, self.digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn much(byte: u8) -> Content {
        let bytes = vec![byte; super::super::bytes::MAPPED_MIN];
        Content::Bytes(Bytes::read(&mut bytes.as_slice()).unwrap())
    }

    fn first_bytes(content: Option<Content>) -> Option<u8> {
        match content? {
            Content::Bytes(bytes) => bytes.first().copied(),
            Content::Rows(_) => None,
        }
    }

    #[test]
    fn a_source_is_taken_only_by_who_asks_for_the_same() {
        let (a, b) = (much(b'a'), much(b'b'));
        let offer = Offer::of([(&a, 1), (&b, 2)].into_iter());
        assert_eq!(first_bytes(offer.take(0, 1)), Some(b'a'));
        assert_eq!(first_bytes(offer.take(1, 2)), Some(b'b'));
        // The script names another file in its place.
        assert_eq!(first_bytes(offer.take(0, 2)), None);
        assert_eq!(first_bytes(offer.take(2, 1)), None);
    }

    #[test]
    fn a_descriptor_that_means_another_file_by_now_is_not_taken() {
        let (a, b) = (much(b'a'), much(b'b'));
        let mut offer = Offer::of([(&a, 1), (&b, 2)].into_iter());
        let (first, second) = (offer.sources[0].clone(), offer.sources[1].clone());
        let (Some((_, Offered::Bytes(first))), Some((_, Offered::Bytes(mut second)))) =
            (first, second)
        else {
            panic!("not offered")
        };
        // As if the number of the second's descriptor had become that of the first.
        if let (Some((number, _)), Some((of_first, _))) = (&mut second.file, &first.file) {
            *number = *of_first;
        }
        offer.sources[1] = Some((2, Offered::Bytes(second)));
        assert_eq!(first_bytes(offer.take(1, 2)), None);
        assert_eq!(first_bytes(offer.take(0, 1)), Some(b'a'));
    }
}
