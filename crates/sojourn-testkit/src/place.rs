//! Where a test may put things: a free port, a folder of its own.

use std::io;

pub use sojourn_services::{closed_port, free_port};
pub use tempfile::TempDir;

/// An empty folder that is deleted when dropped.
///
/// # Errors
/// The system's folder for temporary files cannot be written.
pub fn temp_dir() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("sojourn-test-").tempdir()
}
