//! Journeys that were kept whole.

use serde::Serialize;

/// A journey's timeline. Instants are relative to its t0.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KeptJourney {
    /// Why it is shown: `median`, `slowest`, `lost`, `failed`, `in flight`.
    pub role: String,
    /// Its number.
    pub id: u64,
    /// Its key, where known. Foreign input.
    pub key: Option<String>,
    /// Its class in the ledger.
    pub class: String,
    /// Its phase.
    pub phase: String,
    /// Scheduled instant, relative to the run's start.
    pub t0_ns: u64,
    /// From t0 to its end.
    pub duration_ns: u64,
    /// Steps and stages in order.
    pub spans: Vec<Span>,
    /// The stage seen last, where one was.
    pub last_seen: Option<String>,
    /// The failure in words, where there was one.
    pub reason: Option<String>,
    /// Its trace id, where it has one.
    pub trace_id: Option<String>,
}

/// A step, or the hop to a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Span {
    /// Step's or stage's name.
    pub name: String,
    /// Which of them.
    pub kind: SpanKind,
    /// Begun; for a stage, the instant of the point it follows. `None` when that was not seen.
    pub from_ns: Option<i64>,
    /// Ended; for a stage, first observed. `None` when it had not by the journey's end.
    pub to_ns: Option<i64>,
    /// HTTP status, where there was one.
    pub status: Option<u16>,
}

/// What a span is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpanKind {
    /// A stage, observed.
    Stage,
    /// A step of the root, or after it.
    Step,
}
