//! Large data for other processes of this machine: one copy for all of them.
//!
//! What is offered are descriptors of sealed memory files. Who takes them opens them below
//! `/proc/PROCESS/fd`, looks at the seals itself, and maps the same pages. The files live as long
//! as somebody has them, so the offering process need only be there until all have taken them.

use std::fs::File;
use std::io;
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
    sources: Vec<Option<Offered>>,
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
    /// The offering process's descriptor; `None`: there are no bytes.
    descriptor: Option<i32>,
    digest: u64,
}

impl Offer {
    /// All of these that memory files have.
    pub(super) fn of(sources: &[Content]) -> Self {
        let sources = sources.iter().map(|content| match content {
            Content::Bytes(bytes) => Part::of(bytes).map(Offered::Bytes),
            Content::Rows(table) => {
                let (text, ends) = (Part::of(&table.text)?, Part::of(&table.ends)?);
                let columns = table.columns.clone();
                Some(Offered::Rows { columns, width: table.width, text, ends })
            }
        });
        Self { process: std::process::id(), sources: sources.collect() }
    }

    /// The source of this number. `None` where it is not offered, where its process has gone, and
    /// where the system shows nobody's descriptors: then its file has to be read.
    pub(super) fn take(&self, number: usize) -> Option<Content> {
        match self.sources.get(number)?.as_ref()? {
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

impl Part {
    fn of(bytes: &Bytes) -> Option<Self> {
        let descriptor = match bytes.place() {
            Place::Mapped(mapping) => Some(mapping.descriptor()),
            Place::Heap(bytes) => bytes.is_empty().then_some(None)?,
        };
        Some(Self { descriptor, digest: bytes.digest() })
    }

    fn take(&self, process: u32) -> io::Result<Bytes> {
        let place = match self.descriptor {
            None => Place::Heap(Box::default()),
            Some(descriptor) => {
                let path = format!("/proc/{process}/fd/{descriptor}");
                Place::Mapped(Mapping::of(File::open(Path::new(&path))?)?)
            }
        };
        Ok(Bytes::of(place, self.digest))
    }
}
