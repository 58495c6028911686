//! The demo as a whole, over HTTP and Kafka, against an independent consumer and a model of what
//! each payment's faults lead to.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

/// The API's answers.
mod api;
/// What each fault does, on the topic and in the log.
mod faults;
/// One journey, and many, without faults.
mod journey;
/// Starting and stopping, and what can go wrong there.
mod lifecycle;
/// A client, a tap, a model.
mod support;
