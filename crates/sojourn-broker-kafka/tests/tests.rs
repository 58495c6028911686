//! Against a real Kafka: the promises of every connector, and those of this one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backlog;
mod conformance;
mod log;
mod publish;
mod rig;
mod security;
mod tap;
