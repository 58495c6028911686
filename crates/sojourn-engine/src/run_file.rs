//! Whether a run file can be made, before anything else happens.

use std::{fs, io, path::Path};

use crate::RunError;

/// Errs when it can't. An existing file stays as it is, and nothing is left behind: a run that
/// can't begin has no file.
pub(crate) fn check_writable(path: Option<&Path>) -> Result<(), RunError> {
    path.map_or(Ok(()), try_writing).map_err(|error| {
        let path = path.unwrap_or_else(|| Path::new("")).display();
        RunError::new(
            format!("cannot write the run file {path}: {error}"),
            "choose another place with --output",
        )
    })
}

fn try_writing(path: &Path) -> io::Result<()> {
    let existed = path.exists();
    fs::OpenOptions::new().create(true).append(true).open(path)?;
    if existed {
        return Ok(());
    }
    // Not the path itself: it may be a link to the file that was made.
    fs::remove_file(fs::canonicalize(path)?)
}
