//! The files and the environment that a plan may name.

use std::path::{Path, PathBuf};

use sojourn_plan::{Channel, Files, Overrides, Plan, PlanErrors};

use crate::{errors::UsageError, shelf::Shelf};

/// Files relative to the plan's own folder.
pub(crate) struct PlanFolder<'a> {
    pub(crate) folder: PathBuf,
    pub(crate) shelf: &'a Shelf,
}

impl Files for PlanFolder<'_> {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        self.shelf.read_text(&self.folder.join(path))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.shelf.variable(name)
    }
}

/// Why a journey file could not be read.
pub(crate) enum Unread {
    /// The file itself, or flags that are laid over it.
    Given(UsageError),
    /// What is in it, or in a file that it names.
    Plan(PlanErrors),
}

impl From<Unread> for UsageError {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Given(error) => error,
            Unread::Plan(errors) => errors.into(),
        }
    }
}

/// Reads a journey file.
pub(crate) fn read_plan(path: &Path, overrides: &Overrides, shelf: &Shelf) -> Result<Plan, Unread> {
    let text = shelf.read_text(path).map_err(|error| {
        let hint = "`sojourn init > journey.yaml` writes a first journey file";
        Unread::Given(UsageError::unreadable(path, &error, hint))
    })?;
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    let name = path.display().to_string();
    let folder = PlanFolder { folder, shelf };
    sojourn_plan::read(&name, &text, &folder, overrides).map_err(Unread::Plan)
}

/// Reads only the channels of a journey file.
pub(crate) fn read_channels(
    path: &Path,
    overrides: &Overrides,
) -> Result<Vec<Channel>, UsageError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        UsageError::new(format!("cannot read {name}: {error}"), "give a file with `channels:`")
    })?;
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    let folder = PlanFolder { folder, shelf: &Shelf::Here };
    Ok(sojourn_plan::read_channels(&name, &text, &folder, overrides)?)
}

/// Reads a journey file's text; files it names are looked for in `folder`.
pub(crate) fn read_text(
    name: &str,
    text: &str,
    folder: PathBuf,
    overrides: &Overrides,
) -> Result<Plan, UsageError> {
    let folder = PlanFolder { folder, shelf: &Shelf::Here };
    Ok(sojourn_plan::read(name, text, &folder, overrides)?)
}
