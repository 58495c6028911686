//! Stretches without a connection.

/// A stretch in which a tap had no connection and which is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last sign of life where the protocol has any, else when the connection was seen to be
    /// gone; CLOCK_MONOTONIC nanoseconds.
    pub from_ns: u64,
    /// When the tap listened again.
    pub to_ns: u64,
    /// What became of the messages of the stretch.
    pub recovery: Recovery,
}

/// What became of the messages that were published while a tap was away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The broker kept them, and reading went on where it had stopped: none is missing. So many of
    /// them are stamped later than they came, by up to the length of the gap.
    Resumed {
        /// How many.
        messages: u64,
    },
    /// The broker keeps nothing for a subscriber that is away: some may be missing, and the run is
    /// void.
    Missed,
}
