//! What goes on just now. A run as other programs see it: figures so far in OpenMetrics text, and a
//! small server that hands them out. Channels as people see them, without a run: [`watch`]; and the
//! events of one journey: [`Discovery`]. A second of a run as plain data, for displays: [`Frame`];
//! and a way to ask a run that goes on for another rate: [`control`].
//!
//! It reads what the coordinator has merged and decides nothing. Labels are bounded: requests are
//! told apart by target, not by URL.

pub mod control;
mod discover;
pub mod frame;
mod openmetrics;
mod server;
mod watch;

pub use discover::{Discovery, Found, journey_file, stages};
pub use frame::{Frame, Frames};
pub use openmetrics::openmetrics;
pub use server::MetricsServer;
pub use watch::{Message, WatchOptions, Watched, watch};
