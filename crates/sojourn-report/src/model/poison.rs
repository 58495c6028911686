//! What became of the roots that were poisoned on purpose.

use schemars::JsonSchema;
use serde::Serialize;

use super::{BatchReport, Distribution, FailureRow, JourneyCounts, KeptJourney, StageRow};

/// One journey's poisoned ones: figures of the steady phase. `sent = contained + completed +
/// refused + failed + lost + in_flight_at_cutoff`.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct PoisonReport {
    /// The journey that they are of; its own figures are without them.
    pub journey: String,
    /// The name that they are counted under.
    pub name: String,
    /// Which share of the journey's arrivals they are, as declared: of its journeys, or of its
    /// requests where each is a batch of them.
    pub share: f64,
    /// Deadline from t0.
    pub within_ns: u64,
    /// Begun.
    pub sent: u64,
    /// Of the journeys begun, the poisoned ones among them; `None` without any.
    pub sent_fraction: Option<f64>,
    /// Ended at a failure stage while observed.
    pub contained: u64,
    /// Those of them that ended there after the deadline.
    pub contained_late: u64,
    /// From t0 to the failure stage, of the contained.
    pub containment_ns: Option<Distribution>,
    /// Completed in spite of the poison, in time or late.
    pub completed: u64,
    /// Root refused or unanswered.
    pub refused: u64,
    /// Failed otherwise than at a failure stage: a check, a stage never to be reached, a later
    /// step, a key in flight already.
    pub failed: u64,
    /// Neither completed nor failed when observation ended.
    pub lost: u64,
    /// Not yet overdue when observation ended.
    pub in_flight_at_cutoff: u64,
    /// Matched events and duplicates per matched one, of all their stages; `None` without any.
    pub deliveries_per_event: Option<f64>,
    /// Events of theirs that came after they had ended as failed or lost.
    pub events_after: u64,
    /// What failed them, the commonest first.
    pub failures: Vec<FailureRow>,
    /// What became of their batches; `None` for a journey that shares its request with no other.
    pub batch: Option<BatchReport>,
    /// The same of further steps, which send the events of a batch once more.
    pub batches_again: Vec<BatchReport>,
    /// Their stages: how far they came.
    pub stages: Vec<StageRow>,
    /// Kept ones.
    pub kept: Vec<KeptJourney>,
}

impl PoisonReport {
    /// The figures that are read off the ledger's line.
    pub(crate) fn of_line(counts: &JourneyCounts, contained: u64) -> Self {
        Self {
            sent: counts.started,
            contained,
            completed: counts.completed + counts.late,
            refused: counts.root_failed,
            failed: counts.failed.saturating_sub(contained),
            lost: counts.lost,
            in_flight_at_cutoff: counts.in_flight_at_cutoff,
            ..Self::default()
        }
    }
}
