//! Stretches of a channel's past.

/// A stretch of a channel, to be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// These parts of these partitions; other partitions are left alone.
    Positions(Vec<PositionRange>),
    /// What the broker dates from the first instant up to, but not including, the second: by its
    /// clock or the sender's, whichever its topics keep; milliseconds since the Unix epoch.
    Time {
        /// First instant.
        from_unix_ms: u64,
        /// The instant after the last.
        to_unix_ms: u64,
    },
}

/// A part of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionRange {
    /// The partition, as in [`crate::Position::partition`].
    pub partition: u64,
    /// First offset.
    pub from: u64,
    /// The offset after the last.
    pub to: u64,
}
