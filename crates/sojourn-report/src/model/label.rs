//! A journey's figures by label.

use schemars::JsonSchema;
use serde::Serialize;
use sojourn_analysis::fairness::Fairness;

use super::Distribution;

/// What became of each label's journeys, and how alike they were treated. Steady phase.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct LabelReport {
    /// Labels, the slowest at p50 first.
    pub rows: Vec<LabelRow>,
    /// The comparison; `None` for a single label.
    pub fairness: Option<Fairness>,
}

/// One label.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct LabelRow {
    /// Its name; `(others)` for all those beyond the number that is told apart.
    pub label: String,
    /// Journeys begun, all of which ended in one of the ways below.
    pub started: u64,
    /// Completed in time.
    pub completed: u64,
    /// Completed after the deadline.
    pub late: u64,
    /// Not seen complete.
    pub lost: u64,
    /// Failed at a stage or a step after one.
    pub failed: u64,
    /// Refused or unanswered.
    pub root_failed: u64,
    /// Not yet overdue when observation ended.
    pub in_flight_at_cutoff: u64,
    /// Times of those that completed, late ones too, from t0.
    pub duration_ns: Option<Distribution>,
}
