//! Why results could not be read.

/// Names the input and, where there is one, the record.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The input ends in the middle of a record.
    #[error("{name} ends in the middle of record {record}")]
    CutOff {
        /// Which input.
        name: String,
        /// The record that is not whole, from 1.
        record: u64,
    },
    /// A record is not what it should be.
    #[error("{name}, record {record}: {reason}")]
    Record {
        /// Which input.
        name: String,
        /// Which record, from 1.
        record: u64,
        /// What was found.
        reason: String,
    },
    /// The input could not be read.
    #[error("cannot read {name}: {source}")]
    Io {
        /// Which input.
        name: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// It is a run file.
    #[error(
        "{name} is a run file, which has no single results: only `sojourn report FILE` reads it"
    )]
    RunFile {
        /// Which input.
        name: String,
    },
    /// The first record is none in any encoding.
    #[error("encode: can't detect encoding of {name:?}")]
    Undetected {
        /// Which input.
        name: String,
    },
}

impl ResultsError {
    /// Whether the input had nothing in time and the same call may be made again: its
    /// [`std::io::Read`] gave [`std::io::ErrorKind::TimedOut`].
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == std::io::ErrorKind::TimedOut)
    }
}
