//! Files that a test writes: its samples, its summary, whatever `handleSummary` makes. Where the
//! coordinator is in a pod they are written below one folder, from which they are fetched.

use std::path::{Component, Path, PathBuf};

use sojourn_k6::flags::Settings;
use sojourn_k6::options::Environment;
use sojourn_kubernetes::pod;

use super::outputs;
use super::script::Failed;
use crate::errors::UsageError;

/// Those that flags and variables name.
pub(super) fn files(settings: &Settings, process: &Environment) -> Result<Vec<PathBuf>, Failed> {
    let mut files = outputs::files(&settings.out, process)?;
    files.extend(settings.summary_export.clone());
    files.extend(settings.dashboard.as_ref().and_then(|asked| asked.export.clone()));
    Ok(files.into_iter().map(PathBuf::from).collect())
}

/// Whether a file is below the working folder.
pub(super) fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Makes the folder of a file that is to be written.
pub(super) fn make_folder_of(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) => std::fs::create_dir_all(folder),
        None => Ok(()),
    }
}

/// The folder that a test writes into.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes it. Whoever fetches what is in it finds nothing until it has ended.
    pub(super) fn make(path: &Path) -> Result<Self, UsageError> {
        let failed = |error: std::io::Error| {
            let hint = "it is where a coordinator in a pod has its results";
            UsageError::new(format!("cannot write into {}: {error}", path.display()), hint)
        };
        std::fs::create_dir_all(path).map_err(failed)?;
        let folder = Self(path.canonicalize().map_err(failed)?);
        folder.pack()?;
        Ok(folder)
    }

    /// From here on it is the working folder; there is room for these files.
    pub(super) fn enter(&self, files: &[PathBuf]) -> Result<(), Failed> {
        let failed =
            |error: std::io::Error| Failed::config(format!("{}: {error}", self.0.display()));
        std::env::set_current_dir(&self.0).map_err(failed)?;
        files.iter().try_for_each(|file| make_folder_of(file)).map_err(failed)
    }

    /// Makes one file of all that is in it.
    pub(super) fn pack(&self) -> Result<(), UsageError> {
        Ok(pod::pack(&self.0)?)
    }
}
