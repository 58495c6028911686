//! Whole runs, checked against what is known to be true.

mod bad_input;
mod closed;
mod common;
mod crash;
mod experiment;
mod follow_up;
mod omission;
mod polled;
mod theory;
mod truth;
mod webhook;
