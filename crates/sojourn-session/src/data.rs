//! Files that sessions use: rows, and bodies. Read once, shared by all clients; large ones also by
//! all processes of a run.

mod bytes;
mod mapping;
mod offer;
mod table;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use sojourn_plan::{Files, PlanErrors};

pub use self::offer::Offer;
pub(crate) use self::{bytes::Bytes, table::Table};
use crate::definition::{Definition, Source, SourceKind};

/// The content of a definition's files, in the order of [`Definition::sources`]. A clone is the
/// same content.
#[derive(Clone, Debug, Default)]
pub struct Data {
    pub(crate) sources: Vec<Content>,
    /// What the script asked for, of each: see [`asked`].
    asked: Vec<u64>,
}

/// One file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Rows(Arc<Table>),
    Bytes(Bytes),
}

impl Data {
    /// Reads all files of a definition. Errs with all that can't be read, each where the script
    /// names it.
    pub fn load(definition: &Definition, files: &dyn Files) -> Result<Self, PlanErrors> {
        Self::load_or_take(definition, files, &Offer::default())
    }

    /// The same, but takes what another process offers of the same definition's files.
    pub fn load_or_take(
        definition: &Definition,
        files: &dyn Files,
        offer: &Offer,
    ) -> Result<Self, PlanErrors> {
        let (mut sources, mut errors) = (Vec::new(), Vec::new());
        let asked: Vec<u64> = definition.sources.iter().map(asked).collect();
        for (number, source) in definition.sources.iter().enumerate() {
            let path = &source.path;
            match offer
                .take(number, asked[number])
                .map_or_else(|| read(Path::new(path), &source.kind, files), Ok)
            {
                Ok(content) => sources.push(content),
                Err(problem) => {
                    errors.push(source.place.error(format!("the file `{path}`: {problem}"), None));
                }
            }
        }
        if errors.is_empty() { Ok(Self { sources, asked }) } else { Err(PlanErrors(errors)) }
    }

    /// What other processes of this machine need to have the large files without reading them, as
    /// long as this one keeps its data.
    pub(crate) fn offer(&self) -> Offer {
        Offer::of(self.sources.iter().zip(self.asked.iter().copied()))
    }
}

/// A number that differs when a script names another file, or has it read otherwise. Processes of
/// one program compare it.
fn asked(source: &Source) -> u64 {
    let mut hash = DefaultHasher::new();
    (&source.path, &source.kind).hash(&mut hash);
    hash.finish()
}

fn read(path: &Path, kind: &SourceKind, files: &dyn Files) -> Result<Content, String> {
    let mut file = files.open(path).map_err(|error| error.to_string())?;
    match kind {
        SourceKind::Raw => {
            Bytes::read(&mut *file).map(Content::Bytes).map_err(|error| error.to_string())
        }
        SourceKind::Structured { delimiter, has_header, fields } => {
            let table = Table::read(file, *delimiter, *has_header, fields);
            table.map(|table| Content::Rows(Arc::new(table))).map_err(|error| error.to_string())
        }
    }
}
