//! One line of the ground-truth log.
//!
//! The log is NDJSON: one object per line, told apart by its field `record`. Every instant is
//! CLOCK_MONOTONIC in nanoseconds, the clock that load generator and taps on the same machine use
//! too, so that their figures can be compared without a correction.

use crate::stage::{Stage, as_event_type};
use serde::{Deserialize, Serialize};

/// What the demo knows to be true about one thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// The first line: ties the monotonic clock to wall time.
    Opened {
        /// Now, monotonic.
        at_ns: u64,
        /// Now, nanoseconds since the Unix epoch.
        unix_ns: u64,
        /// The demo's seed.
        seed: u64,
    },
    /// The API is about to answer 200.
    Accepted {
        /// When.
        at_ns: u64,
        /// The payment's key, `pay:<uuid>`.
        key: String,
    },
    /// The API is about to refuse a payment.
    Rejected {
        /// When.
        at_ns: u64,
        /// Status code of the answer.
        status: u16,
    },
    /// A domain event is in the store, and so in the outbox.
    Appended {
        /// When its transaction was committed.
        at_ns: u64,
        /// The payment's key.
        key: String,
        /// The event.
        #[serde(rename = "type", with = "as_event_type")]
        stage: Stage,
        /// Its place in the stream, from 1.
        version: u32,
    },
    /// An event is on the events topic.
    Published(Publication),
    /// The relay dropped an event on purpose.
    Dropped {
        /// When.
        at_ns: u64,
        /// The payment's key.
        key: String,
        /// The event.
        #[serde(rename = "type", with = "as_event_type")]
        stage: Stage,
    },
    /// A consumer is done with an event.
    Consumed {
        /// When the consumer took it up.
        start_ns: u64,
        /// When it was done.
        end_ns: u64,
        /// The payment's key.
        key: String,
        /// The event consumed.
        #[serde(rename = "type", with = "as_event_type")]
        stage: Stage,
        /// The message's id.
        message_id: String,
        /// How often it was tried.
        tries: u32,
        /// What came of it.
        outcome: Outcome,
    },
    /// An event reached a stage whose consumer has stopped.
    Unconsumed {
        /// When it would have been taken up.
        at_ns: u64,
        /// The payment's key.
        key: String,
        /// The event left unconsumed.
        #[serde(rename = "type", with = "as_event_type")]
        stage: Stage,
    },
    /// An event is on the dead-letter topic.
    DeadLettered {
        /// When it was handed to the broker.
        publish_ns: u64,
        /// When the broker's acknowledgement was received.
        delivered_ns: u64,
        /// The payment's key.
        key: String,
        /// The event.
        #[serde(rename = "type", with = "as_event_type")]
        stage: Stage,
        /// The message's id.
        message_id: String,
        /// Partition of the dead-letter topic.
        partition: i32,
        /// Offset in that partition.
        offset: i64,
    },
    /// Something that makes the demo's own behaviour doubtful.
    Problem {
        /// When it was noticed.
        at_ns: u64,
        /// In words.
        text: String,
    },
    /// The last line: the log is whole.
    Closed {
        /// When.
        at_ns: u64,
    },
}

/// One message on the events topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publication {
    /// When it was handed to the broker's client.
    pub publish_ns: u64,
    /// When the broker's acknowledgement was received. A tap may have seen it a little earlier.
    pub delivered_ns: u64,
    /// The payment's key.
    pub key: String,
    /// The event.
    #[serde(rename = "type", with = "as_event_type")]
    pub stage: Stage,
    /// The message's id.
    pub message_id: String,
    /// Why it was published.
    pub kind: Kind,
    /// Partition of the events topic; 0 of a broker other than the demo's own Kafka client's.
    pub partition: i32,
    /// Offset in that partition; of such a broker the order of publishing.
    pub offset: i64,
}

/// Why a message was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The first of its event, in order.
    First,
    /// Again, with the same message id.
    Redelivery,
    /// Again, with a new message id.
    Republication,
    /// The first of its event, held back until after its successor; or, when none came, until the
    /// relay waited no longer.
    Reordered,
}

/// What came of consuming an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The next event was appended.
    Appended,
    /// The payment had already moved on: nothing to do.
    AlreadyDone,
    /// The append lost against another one, and the naive consumer did not care.
    ConflictIgnored,
    /// The store knows no such payment: another system's event on the same topic, left alone.
    Foreign,
    /// Nothing follows this event.
    EndOfJourney,
    /// Given up and sent to the dead-letter topic.
    DeadLettered,
    /// Given up, and the dead-letter topic could not be reached either.
    GivenUp,
}
