//! Results in and out: against what Vegeta wrote, round trips, and bytes that are damaged.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod results;
