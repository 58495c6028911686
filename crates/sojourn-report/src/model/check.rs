//! Checks and assertions of sessions.

use schemars::JsonSchema;
use serde::Serialize;

/// A check and how often it held, over the whole run.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct CheckRow {
    /// Name.
    pub name: String,
    /// How often it held.
    pub held: u64,
    /// How often it did not.
    pub failed: u64,
}
