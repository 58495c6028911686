//! Requests that carry the events of several journeys.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Distribution, ErrorRow};

/// The batches of one step of a journey in the steady phase. A rate of the load counts requests; a
/// journey's counts are of events.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct BatchReport {
    /// The step that sends them.
    pub step: String,
    /// Requests that ended: the next three together.
    pub batches: u64,
    /// Of which every event was accepted.
    pub whole: u64,
    /// Of which some events were.
    pub part: u64,
    /// Of which none was.
    pub refused: u64,
    /// Events of these requests: accepted and not accepted together.
    pub events: u64,
    /// Events accepted.
    pub events_accepted: u64,
    /// Events not accepted: failed roots.
    pub events_refused: u64,
    /// Completed − due, a sample for each event accepted.
    pub event_accept_ns: Option<Distribution>,
    /// Events not accepted by reason, the most frequent first.
    pub reasons: Vec<ErrorRow>,
}
