//! The connector against a real RabbitMQ, which all tests use in turn.
#![allow(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod backlog;
mod breaks;
mod conformance;
mod consume;
mod errors;
mod publish;
mod rig;
mod system;
mod tap;
