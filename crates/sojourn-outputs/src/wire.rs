//! What outputs of other figures than a run's seconds are made of: receivers that are sent to, and
//! the messages that they read.
//!
//! Nothing in here has a queue or tries again: whoever sends does that on a thread of its own, and
//! counts what it drops. No secret is in any text.

pub use crate::{
    failure::Failure,
    http::{Poster, Security},
    influxdb::{LineWriter, escaped},
    names::label,
    otlp::{Channel, Figure, METRICS, Reading, Sender, message, rejected},
    prometheus::{Labelled, LabelledValue, NativeHistogram, WRITE_HEADERS, write_request},
    statsd::Datagrams,
    target::Endpoint,
};
