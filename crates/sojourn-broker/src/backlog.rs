//! How much waits in the broker for the system's own consumers.

use std::time::Duration;

use crate::BrokerError;

/// Reads the backlog that a channel's plan names, while the run goes on. Asking changes nothing in
/// the broker.
pub trait Backlog: Send {
    /// Asks the broker, waiting at most `timeout` for all its answers, and appends what it says.
    /// An error is told once and the run goes on: figures that are missing void nothing.
    fn read(&mut self, timeout: Duration, readings: &mut Vec<Reading>) -> Result<(), BrokerError>;
}

/// One figure of one queue or consumer at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Consumer group, durable consumer, queue or table, as the broker names it; where it reads
    /// several topics, `group topic`.
    pub of: String,
    /// Which figure.
    pub figure: Figure,
    /// Its value: messages, bytes, or milliseconds of age.
    pub value: f64,
}

/// What is read of a backlog. One word for each broker's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Figure {
    /// Messages that no consumer has been given yet: Kafka's lag, JetStream's `num_pending`,
    /// RabbitMQ's ready, SQS's visible, Redis's lag of a group, rows of an outbox.
    Waiting,
    /// Messages given to a consumer that has not acknowledged them: RabbitMQ's unacknowledged,
    /// JetStream's `num_ack_pending`, SQS's in flight, Redis's pending entries.
    Unacknowledged,
    /// Messages given out more than once and not acknowledged yet: JetStream's `num_redelivered`.
    Redelivered,
    /// All that the log holds: Redis's XLEN, a stream's messages.
    Kept,
    /// Age of the oldest that waits, milliseconds.
    OldestAgeMs,
    /// Bytes of log that a reader has not confirmed: a Postgres replication slot's.
    WaitingBytes,
}

impl Figure {
    /// Its name in series, reports and thresholds.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Unacknowledged => "unacknowledged",
            Self::Redelivered => "redelivered",
            Self::Kept => "kept",
            Self::OldestAgeMs => "oldest_age_ms",
            Self::WaitingBytes => "waiting_bytes",
        }
    }
}
