//! Reading a run file.

use std::path::Path;

use sojourn_metrics::{SeriesKey, Store};

use crate::{Identity, JourneyRecord, Summary};

/// A run file's content.
#[derive(Clone, Debug)]
pub struct RunFile {
    /// Which run.
    pub identity: Identity,
    /// All series, merged to the last whole interval.
    pub store: Store,
    /// Per second, in order.
    pub intervals: Vec<Interval>,
    /// Kept journeys.
    pub journeys: Vec<JourneyRecord>,
    /// How it ended; `None` when the file was cut off.
    pub summary: Option<Summary>,
    /// What was unreadable at the end, in words; `None` when the file is whole.
    pub cut_off: Option<String>,
}

/// One second of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Start, nanoseconds since the run's start.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Rows of the series active in it.
    pub rows: Vec<(SeriesKey, IntervalRow)>,
}

/// A series' figures within one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntervalRow {
    /// Added in the interval.
    Counter(u64),
    /// Last, least, greatest.
    Gauge([f64; 3]),
    /// Yes and no.
    Rate(u64, u64),
    /// Of the interval's merged histogram.
    Trend {
        /// Samples.
        count: u64,
        /// Least, nanoseconds.
        min: u64,
        /// Median.
        p50: u64,
        /// 95th percentile.
        p95: u64,
        /// 99th percentile.
        p99: u64,
        /// Greatest.
        max: u64,
        /// Sum.
        sum: u128,
    },
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
        Err(ReadError::Format {
            path: path.display().to_string(),
            reason: "not written yet".into(),
        })
    }

    /// Merges runs: series add up, intervals align by wall time. The identity is the first's.
    /// Errs in words when they don't overlap in time.
    pub fn merge(_runs: Vec<Self>) -> Result<Self, String> {
        Err("not written yet".into())
    }
}
