//! A test from its script to what it came to.
//!
//! `collect` runs the script's top level once to learn what it exports; `conduct` runs the test;
//! `calls` calls the functions that are called once; `test` is what goes into one and comes out;
//! `crew` is everybody who runs users: `threads` of this process, or other `processes`; `ask` is
//! what may be asked of it from outside meanwhile, `answers` how it does that; `verdict` is what it
//! ends with; `settle` makes settings of options; `outputs` writes and sends samples; `journeys`
//! follows what the script expects.

mod answers;
mod ask;
mod calls;
mod client;
mod collect;
mod conduct;
mod crew;
mod journeys;
mod outputs;
mod processes;
mod settle;
mod test;
mod threads;
mod verdict;

pub use ask::{Answer, Ask, Change, Figures, Stage, Status, Wish};
pub(crate) use collect::Exports;
pub use collect::{Collected, Collecting, collect};
pub use conduct::conduct;
pub use outputs::{Format, Output};
pub use processes::{Share, ShareLink, take_part};
pub use settle::check_thresholds;
pub use test::{Ended, Plan, RunError, Seen, SummaryData, View};

/// Most samples that a thread holds for outputs.
pub(crate) const SAMPLES_MAX: usize = 20_000;
