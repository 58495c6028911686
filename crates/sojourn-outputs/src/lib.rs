//! A run's figures and kept journeys, second by second, to the systems that teams look at:
//! Prometheus, OpenTelemetry, InfluxDB, StatsD, files.
//!
//! Words: a *frame* is what one second brought; a *point* is a series that was written to in it; a
//! *target* says where an output's frames go ([`Target`], as `--out` has it).
//!
//! The caller's thread makes one frame a second ([`Outputs::second`]) and puts it into the bounded
//! queue of each output, whose own thread does all the rest. What finds no room is dropped: an
//! output that is slow, refuses or is dead never makes anybody wait. At the end each output has
//! [`FLUSH_NS`] to send what it holds; what it was given and did not send is counted and said.
//!
//! Invariants: for each output, sent + dropped = given, in frames, points and journeys; memory is
//! bounded by [`FRAMES_MAX`] frames; no secret is in any text; certificates are verified.

mod account;
mod bounds;
mod builder;
mod credentials;
mod failure;
mod frame;
mod http;
mod influxdb;
mod names;
mod ndjson;
mod otlp;
mod outlet;
mod outputs;
#[cfg(feature = "parquet")]
mod parquet;
mod prometheus;
mod statsd;
mod target;
pub mod wire;

pub use account::{Account, Counts};
pub use bounds::{BYTES, COUNTS, SECONDS_NS};
pub use names::{Exported, Unit, exported};
pub use outlet::{FLUSH_NS, FRAMES_MAX, RETRY_NS};
pub use outputs::{Outputs, Second};
pub use target::{OutputError, Run, Target};
