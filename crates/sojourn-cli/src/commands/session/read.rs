//! A session script and its files, read and compiled.

use std::path::{Path, PathBuf};

use sojourn_plan::Files;
use sojourn_script::Sources;
use sojourn_session::{Budget, Channels, Data, Definition, Program, evaluate};

use crate::errors::UsageError;

/// A script as it is run.
pub(super) struct Script {
    pub(super) definition: Definition,
    pub(super) program: Program,
    pub(super) channels: Channels,
    pub(super) text: String,
}

/// Files relative to the script's own folder.
struct ScriptFolder(PathBuf);

impl Files for ScriptFolder {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        std::fs::read_to_string(self.0.join(path))
    }

    fn read_bytes(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(self.0.join(path))
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// Reads a script and its files; with `strict`, what is probably a slip is an error.
pub(super) fn read(path: &Path, strict: bool) -> Result<Script, UsageError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        UsageError::new(
            format!("cannot read {}: {error}", path.display()),
            "docs/session-dsl.md shows a first session script",
        )
    })?;
    let definition = evaluate(path, Sources::default(), Budget::default())?;
    for warning in &definition.warnings {
        eprintln!("{}{warning}", if strict { "" } else { "warning: " });
    }
    if strict && !definition.warnings.is_empty() {
        let count = definition.warnings.len();
        return Err(UsageError::new(
            format!("{} warnings, which --strict makes errors", count),
            "mend them, or leave --strict out",
        ));
    }
    let folder = ScriptFolder(path.parent().map_or_else(PathBuf::new, Path::to_path_buf));
    let data = Data::load(&definition, &folder)?;
    let channels = Channels::load(&definition, &folder)?;
    let program = Program::compile(&definition, &data)?;
    Ok(Script { definition, program, channels, text })
}
