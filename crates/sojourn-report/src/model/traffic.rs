//! What went over the wire, of all journeys together.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Bin, Distribution, StatusRow, Timeline};

/// Clients, connections and requests of a run. Counts of requests and their times are those of the
/// steady phase; levels and connections are those of the whole run.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct TrafficReport {
    /// Most clients of sessions at once; `None` where there are no sessions.
    pub clients_max: Option<f64>,
    /// Most connections that were open at once.
    pub connections_max: Option<f64>,
    /// Connections begun; `None` in files of before they were counted.
    pub connections_opened: Option<u64>,
    /// Most of them in one second, per second.
    pub connections_opened_per_s_max: Option<f64>,
    /// Requests that ended.
    pub requests: u64,
    /// The same per second of the steady phase.
    pub requests_per_s: Option<f64>,
    /// Refused, unexpected or unanswered.
    pub failed: u64,
    /// Apdex of all requests that were sent, by [`Self::apdex_satisfied_ns`].
    pub apdex: Option<f64>,
    /// The satisfying time of every Apdex in the report.
    pub apdex_satisfied_ns: u64,
    /// By status, as steps have them.
    pub statuses: Vec<StatusRow>,
    /// Response times.
    pub response_ns: Option<Distribution>,
    /// Distribution of the response times, non-empty bins in ascending order.
    pub response_bins: Vec<Bin>,
    /// The same between the round figures 1, 2, 5, 10 and so on, empty ones within it too.
    pub response_steps: Vec<Bin>,
    /// By tag or name, those with most requests first.
    pub tags: Vec<TagRow>,
    /// Second by second, over the whole run.
    pub timeline: Timeline,
}

/// Requests of one tag or name, of all journeys together.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct TagRow {
    /// The tag; of requests without one the step's name.
    pub tag: String,
    /// Requests that ended.
    pub requests: u64,
    /// The same per second of the steady phase.
    pub requests_per_s: Option<f64>,
    /// Refused, unexpected or unanswered.
    pub failed: u64,
    /// Apdex of those that were sent.
    pub apdex: Option<f64>,
    /// Response times.
    pub response_ns: Option<Distribution>,
}
