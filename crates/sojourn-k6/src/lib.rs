//! k6's words, as pure code: what its options mean, what its executors plan, how its metrics add
//! up, when a threshold fails, what its summaries and outputs look like.
//!
//! Everything is described from k6's public documentation and behaviour. Nothing in here reads a
//! clock, opens a socket, starts a thread or runs a script: time and values are handed in.

pub mod duration;
pub mod executors;
pub mod exit_code;
pub mod flags;
pub mod metrics;
pub mod options;
pub mod output;
pub mod summary;
pub mod thresholds;
