//! Run files that laws are taken from: where they are, and which were read.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::source::{Stamp, stamp};

/// A folder that run files' names are relative to. It remembers which were asked for, so that
/// somebody can see whether they change.
#[derive(Debug, Default)]
pub struct RunFiles {
    folder: PathBuf,
    /// As they were before they were read.
    asked: RefCell<Vec<(PathBuf, Stamp)>>,
}

impl RunFiles {
    /// Names are relative to this folder; the empty one is where the process runs.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), asked: RefCell::default() }
    }

    /// Where a run file is, whether or not it can be read.
    pub(crate) fn find(&self, name: &Path) -> PathBuf {
        let path = self.folder.join(name);
        self.asked.borrow_mut().push((path.clone(), stamp(&path)));
        path
    }

    /// Those asked for.
    pub(crate) fn into_asked(self) -> Vec<(PathBuf, Stamp)> {
        self.asked.into_inner()
    }
}
