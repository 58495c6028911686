//! A run while it goes on, as other programs see it: figures so far in OpenMetrics text, and a
//! small server that hands them out.
//!
//! It reads what the coordinator has merged and decides nothing. Labels are bounded: requests are
//! told apart by target, not by URL.

mod openmetrics;
mod server;

pub use openmetrics::openmetrics;
pub use server::MetricsServer;
