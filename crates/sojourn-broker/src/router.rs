//! From a message to the stages it fits.

use sojourn_ledger::Observation;
use sojourn_plan::Plan;

use crate::RawMessage;

/// A channel's stages, matches and keys, compiled from the plan.
#[derive(Debug)]
pub struct Router {}

impl Router {
    /// The router of one channel.
    pub fn new(_plan: &Plan, _channel: usize, _run_id: &str) -> Self {
        Self {}
    }

    /// Reads a message and says what it could be. `None` when it is a re-read of our own, dropped by
    /// position and counted in [`Self::rereads`].
    pub fn observe(&mut self, _message: &RawMessage<'_>) -> Option<Observation> {
        None
    }

    /// Messages dropped because their position had been read before.
    pub fn rereads(&self) -> u64 {
        0
    }

    /// Samples of undecodable messages, with the reason; at most 10, cut to 200 bytes each.
    pub fn undecodable_samples(&self) -> &[String] {
        &[]
    }
}
