//! Reading a run file.

mod deltas;
mod merge;
mod scan;

pub use deltas::Deltas;

use std::path::Path;

use sojourn_metrics::Store;

use crate::{AmendmentRecord, Identity, Interval, JourneyRecord, KeptRecord, Summary};

/// A run file's content.
#[derive(Clone, Debug, Default)]
pub struct RunFile {
    /// Which run; its journeys include those that came into being while it went on.
    pub identity: Identity,
    /// All series, merged to the last whole interval.
    pub store: Store,
    /// Per second, in order.
    pub intervals: Vec<Interval>,
    /// Changes of the rate, in the order they were decided on.
    pub amendments: Vec<AmendmentRecord>,
    /// Kept journeys, each once.
    pub journeys: Vec<JourneyRecord>,
    /// How many were kept and were not; `None` in a file that was cut off before, or of before that
    /// was noted.
    pub kept: Option<KeptRecord>,
    /// How it ended; `None` when the file was cut off.
    pub summary: Option<Summary>,
    /// What was unreadable at the end, in words; `None` when the file is whole.
    pub cut_off: Option<String>,
    /// Where the samples of each interval are: they stay on disk until [`Self::delta`] asks for
    /// them.
    pub deltas: Deltas,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be opened or read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// Which file.
        path: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// It is not a run file, or of a newer version.
    #[error("{path} is not a run file that this version reads: {reason}")]
    Format {
        /// Which file.
        path: String,
        /// What was found.
        reason: String,
    },
}

impl RunFile {
    /// Reads a file up to its last whole record.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        scan::open(path)
    }

    /// The samples of one interval: what [`Self::intervals`] at `index` holds the figures of, for
    /// percentiles over any stretch of intervals ([`Store::append`]). Reads the file again.
    pub fn delta(&self, index: usize) -> Result<Store, ReadError> {
        self.deltas.load(index)
    }

    /// Merges runs: series add up, intervals align by wall time. The identity is the first's.
    /// Errs in words when they don't overlap in time.
    ///
    /// Instants are relative to the start of the earliest run, and so is the identity's. Intervals
    /// are whole seconds from there; what a run measured in one of its own intervals belongs to the
    /// second that holds its middle. Thresholds are held against the merged figures, and the graver
    /// verdict of them and of the runs counts.
    pub fn merge(runs: Vec<Self>) -> Result<Self, String> {
        merge::merge(runs)
    }
}

impl ReadError {
    fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.display().to_string(), source }
    }

    fn format(path: &Path, reason: impl Into<String>) -> Self {
        Self::Format { path: path.display().to_string(), reason: reason.into() }
    }
}

#[cfg(test)]
mod kept_tests;
#[cfg(test)]
mod tests;
