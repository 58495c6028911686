//! The book itself.

use crate::{Balance, Decision, LedgerSpec, Stamped};

/// The book of journeys and events; see the crate's page.
#[derive(Debug)]
pub struct Ledger {
    _spec: LedgerSpec,
}

impl Ledger {
    /// An empty book.
    pub fn new(spec: LedgerSpec) -> Self {
        Self { _spec: spec }
    }

    /// Applies one fact; stamps must not descend (the [`crate::Sequencer`] sees to it). What follows
    /// from it is pushed to `decisions`.
    pub fn apply(&mut self, _fact: Stamped, _decisions: &mut Vec<Decision>) {}

    /// Time has reached `now_ns` and no older fact follows: deadlines, waits and tombstones expire.
    pub fn advance(&mut self, _now_ns: u64, _decisions: &mut Vec<Decision>) {}

    /// The run ends: early events get their class, overdue journeys are lost, the rest were in
    /// flight at the cutoff.
    pub fn close(&mut self, _now_ns: u64, _decisions: &mut Vec<Decision>) {}

    /// Journeys started and not finished.
    pub fn in_flight(&self) -> usize {
        0
    }

    /// Journeys that wait for this stage: its predecessor has been reached (or the journey has
    /// started), it has not.
    pub fn in_flight_at(&self, _kind: u16, _stage: u8) -> u64 {
        0
    }

    /// The most that waited for this stage at once since the last call of this function.
    pub fn take_in_flight_max(&mut self, _kind: u16, _stage: u8) -> u64 {
        0
    }

    /// The lines as they stand.
    pub fn balance(&self) -> Balance {
        Balance::default()
    }
}
