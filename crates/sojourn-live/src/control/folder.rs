//! The folder of runs' sockets: `$XDG_RUNTIME_DIR/sojourn`, or `sojourn-UID` in the folder for
//! temporary files. Nobody else may enter it.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::PathBuf,
};

/// The folder, made if there is none. Errs when it is somebody else's or open to others: then who
/// listens there is not known.
pub(super) fn folder() -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let path = match std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder).join("sojourn"),
        None => std::env::temp_dir().join(format!("sojourn-{user}")),
    };
    match fs::DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Of the folder itself, not of what a link points to.
    let found = fs::symlink_metadata(&path)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
        return Ok(path);
    }
    let why = format!("{} is not a folder that only its user may enter", path.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}
