//! An HTTP step's figures: those that NBomber prints, and service time and blocked beside them.

use schemars::JsonSchema;
use serde::Serialize;

use super::Distribution;

/// One step's requests in the steady phase.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct StepRow {
    /// Name.
    pub name: String,
    /// Requests that ended.
    pub requests: u64,
    /// With the expected answer.
    pub ok: u64,
    /// Refused, unexpected or unanswered.
    pub failed: u64,
    /// Requests per second of the steady phase.
    pub requests_per_s: Option<f64>,
    /// `ok` per second.
    pub ok_per_s: Option<f64>,
    /// `failed` per second.
    pub failed_per_s: Option<f64>,
    /// Completed − scheduled.
    pub response_ns: ByOutcome,
    /// Completed − sent.
    pub service_ns: Option<Distribution>,
    /// First byte sent − action begun: waiting for a connection, DNS, connect, TLS.
    pub blocked_ns: Option<Distribution>,
    /// Its parts, those that were measured.
    pub phases: Vec<PhaseRow>,
    /// Bytes received per request.
    pub received_bytes: Option<Distribution>,
    /// Bytes sent per request.
    pub sent_bytes: Option<Distribution>,
    /// Answers by status code or name of the failure, in order.
    pub statuses: Vec<StatusRow>,
    /// Failures by reason, the most frequent first.
    pub errors: Vec<ErrorRow>,
    /// Times of its attempts by number, for a step that may be tried again.
    pub attempts: Vec<AttemptRow>,
    /// Further attempts by what they were made after, the most frequent first.
    pub retries: Vec<ErrorRow>,
}

/// The attempts of one number, over all journeys.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct AttemptRow {
    /// From 1.
    pub attempt: u32,
    /// Ended − begun of each.
    pub time_ns: Distribution,
}

/// A distribution over all requests, and apart for those that were ok and those that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ByOutcome {
    /// All.
    pub all: Option<Distribution>,
    /// Ok.
    pub ok: Option<Distribution>,
    /// Failed: their time until the failure was known.
    pub failed: Option<Distribution>,
}

/// A phase of a request: `dns`, `connect`, `tls`, `send`, `wait`, `receive`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PhaseRow {
    /// Its name.
    pub phase: String,
    /// Its time, over the requests that went through it.
    pub time_ns: Distribution,
}

/// A status and its count.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct StatusRow {
    /// Status code, or the failure's name where there was no answer.
    pub status: String,
    /// Requests.
    pub count: u64,
    /// Of the step's requests.
    pub fraction: f64,
}

/// A reason, for a failure or for a further attempt, and its count.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ErrorRow {
    /// In words.
    pub reason: String,
    /// Requests.
    pub count: u64,
}
