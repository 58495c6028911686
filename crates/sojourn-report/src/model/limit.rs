//! Limits that the system is said to keep.

use schemars::JsonSchema;
use serde::Serialize;

/// A limit and what came of it, over the whole run.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct LimitRow {
    /// Name.
    pub name: String,
    /// The limit in words.
    pub declared: String,
    /// Journeys that it was held against.
    pub counted: u64,
    /// Most at once, or in any one period.
    pub most: f64,
    /// Journeys that were one too many, or too early.
    pub violations: u64,
    /// When the first of these was, relative to the run's start.
    pub first_ns: Option<u64>,
    /// For a rate: how much earlier than it allows a journey came at most, the tolerance left out
    /// of account.
    pub early_ns: Option<u64>,
    /// Journeys that ended between the two stages; they counted until then.
    pub unfinished: u64,
}
