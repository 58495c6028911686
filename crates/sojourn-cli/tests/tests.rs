//! Whole runs, checked against what is known to be true.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod closed;
mod common;
mod crash;
mod experiment;
mod follow_up;
mod mock;
mod omission;
mod polled;
mod theory;
mod truth;
mod webhook;
