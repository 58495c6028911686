//! Files and variables that a declared channel names.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Paths begin at the script's folder; variables are those of `__ENV`.
pub(crate) struct ScriptFiles<'a> {
    pub(crate) folder: &'a PathBuf,
    pub(crate) env: &'a BTreeMap<String, String>,
}

impl sojourn_plan::Files for ScriptFiles<'_> {
    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(self.folder.join(path))
    }

    fn read_bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(self.folder.join(path))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }
}
