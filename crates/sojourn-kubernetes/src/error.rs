//! What can go wrong between here and a cluster.

/// What went wrong, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Something that was asked for can't be put into objects.
    #[error("{0}")]
    Wanted(String),
    /// A file that can't be read or written.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: String,
        /// The system's word.
        error: std::io::Error,
    },
    /// `kubectl`, or the cluster behind it, refused or could not be asked.
    #[error("{0}")]
    Kubectl(String),
    /// This program can't be put into an image.
    #[error("{0}")]
    Image(String),
}

impl ClusterError {
    /// Of a file.
    pub(crate) fn of_file(path: &std::path::Path, error: std::io::Error) -> Self {
        Self::File { path: path.display().to_string(), error }
    }
}
