//! A lock that is held for as long as a process lives.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};

use super::{LOCK_FILE, REPORT_FILE};
use crate::ClusterError;

/// Becomes another command of this program that holds the folder's lock until it ends, and whose
/// standard output is the folder's report. Comes back only with the reason why it could not.
pub fn locked(folder: &Path, words: &[String]) -> ClusterError {
    let command = prepared(folder).map(|stdout| {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("sojourn").args(words).stdout(stdout);
        command
    });
    match command {
        Ok(mut command) => ClusterError::of_file(Path::new("/proc/self/exe"), command.exec()),
        Err(error) => error,
    }
}

/// Takes the lock, which no one closes on the way to the other command; where its output goes.
fn prepared(folder: &Path) -> Result<File, ClusterError> {
    let report = folder.join(REPORT_FILE);
    let stdout = File::create(&report).map_err(|error| ClusterError::of_file(&report, error))?;
    take(folder)?;
    Ok(stdout)
}

/// Takes the lock for this process and what it becomes. The file is seen under its name only once
/// it is locked: who finds it free knows that its holder has ended.
pub(super) fn take(folder: &Path) -> Result<(), ClusterError> {
    let (path, hidden) = (folder.join(LOCK_FILE), folder.join(".lock"));
    let failed = |error: std::io::Error| ClusterError::of_file(&path, error);
    let file = File::create(&hidden).map_err(failed)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|it| failed(it.into()))?;
    fcntl_setfd(&file, FdFlags::empty()).map_err(|it| failed(it.into()))?;
    std::fs::rename(&hidden, &path).map_err(failed)?;
    // Open, and so locked, until the process ends.
    std::mem::forget(file);
    Ok(())
}

/// Whether the lock's holder has begun, and ended.
pub(super) fn is_over(folder: &Path) -> bool {
    let Ok(file) = File::open(folder.join(LOCK_FILE)) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared).is_ok()
}
