//! What a message costs a tap: the events, sinks, rounds and figures that the benchmarks of all
//! connectors share, so that their figures can be compared.
//!
//! A [`Cost`] takes the same messages in several **ways**, in turn, for several rounds:
//!
//! - `tap`: the connector's tap with a sink that does nothing;
//! - `router`: with the router behind it, which decodes JSON and finds stage and key;
//! - `ledger`: with sequencer and ledger behind that, on the same thread, each event completing a
//!   journey that was started before;
//! - the benchmark's own, if it has any: the bytes read and thrown away, the usual client, the
//!   broker's own tool.
//!
//! Publishing is done by a child process, which is the benchmark's own program asked to do so
//! ([`publish_if_asked`]): what this process spends, on whatever thread, is the reader's.
//!
//! It prints `name value unit` lines, names being `connector.way.figure`: `cpu` (median, processor
//! time of the whole process, user and system), `cpu_min` and `cpu_max`, `per_core` (messages that
//! a core could take in a second of processor time), `rate` (taken in a second of real time, server
//! and publisher beside it) and `added` (median over the rounds of what a message cost more than in
//! the baseline's way in the same round). Where what is behind the tap is told apart
//! ([`Cost::told_apart`]), `added` is of that alone, and `cpu_added` of all.
#![allow(clippy::print_stdout, reason = "benchmarks speak to the terminal")]
#![allow(clippy::unwrap_used, reason = "what fails here is a benchmark without figures")]

mod behind;
mod cost;
mod event;
mod plan;
mod publisher;
mod sink;
mod tool;
mod used;

pub use cost::{Cost, Round};
pub use event::{EVENT_TYPE, RUN_ID, event, key};
pub use plan::{body, plan, plan_at};
pub use publisher::{Order, Publisher, Publishing, When, publish_by, publish_if_asked};
pub use tool::{missing, on_path, tool};
pub use used::{Used, measured};
