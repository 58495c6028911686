//! Against a real server that speaks SQS: the promises of every connector, and those of this one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod conformance;
mod own;
mod rig;
mod topic;
