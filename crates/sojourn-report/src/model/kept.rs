//! Journeys that were kept whole.

use schemars::JsonSchema;
use serde::Serialize;

/// A journey's timeline. Instants are relative to its t0, but for those that say otherwise. A line
/// of the NDJSON audit is one of these, with `"record":"journey"` in front.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct KeptJourney {
    /// Why it is shown: `median`, `slowest`, `lost`, `failed`, `late`, `duplicated`,
    /// `out of order`, `in flight`; `sample`: drawn by lot. The first of these that fits.
    pub role: String,
    /// The journey's name in the plan.
    pub journey: String,
    /// Of whose arrivals it was poisoned, where it was.
    pub poison_of: Option<String>,
    /// Its number.
    pub id: u64,
    /// Its key, where known. Foreign input.
    pub key: Option<String>,
    /// Its class in the ledger.
    pub class: String,
    /// Everything that it was kept for.
    pub kept_as: Vec<String>,
    /// Its phase.
    pub phase: String,
    /// Scheduled instant, RFC 3339 in UTC with nanoseconds.
    pub t0: String,
    /// Scheduled instant, relative to the run's start.
    pub t0_ns: u64,
    /// Begun.
    pub t1_ns: i64,
    /// Root completed, where it was.
    pub t2_ns: Option<i64>,
    /// From t0 to its end.
    pub duration_ns: u64,
    /// Steps and stages in order.
    pub spans: Vec<Span>,
    /// Events of it that came again, in order.
    pub duplicates: Vec<Duplicate>,
    /// Further duplicates, which are counted and not listed.
    pub duplicates_beyond: u64,
    /// Stages reached before the point that they follow.
    pub order_violations: Vec<OrderViolation>,
    /// The stage seen last, where one was.
    pub last_seen: Option<String>,
    /// The failure in words, where there was one.
    pub reason: Option<String>,
    /// Whose it is, where the plan says.
    pub label: Option<String>,
    /// Its trace id, where it has one.
    pub trace_id: Option<String>,
    /// What was kept of its messages. Foreign input.
    pub messages: Vec<KeptMessage>,
}

impl KeptJourney {
    /// Its key, or its number where it has none.
    pub fn name(&self) -> String {
        self.key.clone().unwrap_or_else(|| format!("#{}", self.id))
    }
}

/// A step, or the hop to a stage.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Span {
    /// Step's or stage's name.
    pub name: String,
    /// Which of them.
    pub kind: SpanKind,
    /// Begun; for a stage, the instant of the point it follows. `None` when that was not seen.
    pub from_ns: Option<i64>,
    /// Ended; for a stage, first observed. `None` when it had not by the journey's end.
    pub to_ns: Option<i64>,
    /// HTTP status, where it is known.
    pub status: Option<u16>,
}

/// What a span is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpanKind {
    /// A stage, observed.
    Stage,
    /// A step of the root, or after it.
    Step,
}

/// An event that had come before.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Duplicate {
    /// The stage it had been matched to.
    pub stage: String,
    /// `redelivery`, `republication` or `unknown`.
    pub kind: String,
    /// When it came again.
    pub at_ns: i64,
}

/// A stage reached before the point that it follows.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct OrderViolation {
    /// The stage.
    pub stage: String,
    /// Its hop, which is negative.
    pub hop_ns: i64,
}

/// What was kept of a message.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct KeptMessage {
    /// The stage that it was matched to.
    pub stage: String,
    /// When it was observed: the stage's instant, or a duplicate's.
    pub at_ns: i64,
    /// Whether its beginning was still held when the journey was kept; if not, the rest is empty.
    pub is_held: bool,
    /// Topic, subject, exchange, path.
    pub topic: String,
    /// The broker's message key.
    pub key: Option<String>,
    /// Headers, secrets replaced.
    pub headers: Vec<(String, String)>,
    /// The payload's beginning: text, or hexadecimal digits.
    pub body: String,
    /// Whether it is text.
    pub is_text: bool,
    /// Length of the whole payload.
    pub bytes: u64,
}

/// How many journeys of each class were kept.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct KeptCounts {
    /// Of each class.
    pub classes: Vec<KeptClass>,
    /// Most journeys kept of each class; `None` where the file does not say.
    pub each_max: Option<u64>,
    /// Duplicates of kept journeys that came after their end and are not listed.
    pub duplicates_beyond: u64,
}

/// Journeys of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct KeptClass {
    /// `lost`, `failed`, `root_failed`, `late`, `in_flight_at_cutoff`, `duplicated`,
    /// `out_of_order`, `slowest` or `sample`. A journey can be of several.
    pub class: String,
    /// In the file.
    pub kept: u64,
    /// Counted, and not in the file; `None` where that is not known.
    pub not_kept: Option<u64>,
}
