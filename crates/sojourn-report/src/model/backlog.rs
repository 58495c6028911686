//! What waited in the brokers for the system's own consumers.

use schemars::JsonSchema;
use serde::Serialize;

/// One figure of one consumer, queue or table over the whole run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct BacklogRow {
    /// Channel whose broker told it.
    pub channel: String,
    /// Consumer group, durable consumer, queue or table, as the broker calls it. Foreign input.
    pub of: String,
    /// `waiting`, `unacknowledged`, `redelivered`, `kept`, `waiting_bytes` or `oldest_age_ms`.
    pub figure: String,
    /// Highest of the readings.
    pub max: f64,
    /// The last reading.
    pub last: f64,
}
