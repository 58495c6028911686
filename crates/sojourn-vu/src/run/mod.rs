//! A test from its script to what it came to.
//!
//! `collect` runs the script's top level once to learn what it exports; `conduct` runs the test;
//! `threads` starts threads and speaks with them; `outputs` writes samples.

mod client;
mod collect;
mod conduct;
mod outputs;
mod threads;

pub(crate) use collect::Exports;
pub use collect::{Collected, Collecting, collect};
pub use conduct::{Ended, Plan, RunError, SummaryData, View, conduct};
pub use outputs::{Format, Output};

/// Most samples that a thread holds for outputs.
pub(crate) const SAMPLES_MAX: usize = 20_000;
