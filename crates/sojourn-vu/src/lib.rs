//! Virtual users that run k6 scripts.
//!
//! ```text
//!  script ──> first run of its top level ──> options ──> scenarios
//!                                                          │ start, stop, deltas (2 s)
//!                                                          ▼
//!   thread 0 … N−1:  schedules ──> users (fibers) ──> modules ──> HTTP client ──> target
//!                                      │ samples
//!                                      ▼
//!                              account of the thread ──> totals ──> thresholds, summary, outputs
//! ```
//!
//! - A **thread** owns a client with its event loop, timers, its share of the users, and its
//!   account of samples. Nothing is shared between threads but counters of iterations.
//! - A **user** is a fiber with a JavaScript engine of its own. It runs one iteration at a time; a
//!   call that waits (`sleep`, `http.get`) suspends the fiber until the thread has what it waits
//!   for.
//! - An **operation** is what a user has asked its thread for and waits for, at once or later: a
//!   timer, a request. It has one result.
//! - A **process** may have the threads and their users in place of the one that conducts the test:
//!   several of them share the test by execution segments, and are merged like threads.
//! - A **scenario** runs on every thread for the users and arrivals that are that thread's; who
//!   runs what is a function of numbers ([`sojourn_k6::executors`]), so threads need not talk.

mod console;
#[doc(hidden)]
pub mod foreign;
mod globals;
mod health;
mod host;
mod journeys;
mod loki;
mod modules;
mod open_files;
mod private_key;
mod rest;
mod run;
mod secrets;
mod settings;
mod shared_array;
mod sockets;
mod thread;
mod types;
mod user;

pub use console::{Console, Level, LogFormat, LogSink};
pub use journeys::Journeys;
pub use loki::Loki;
pub use modules::jslib::sources;
pub use rest::Rest;
pub use run::{
    Answer, Ask, Change, Collected, Collecting, Ended, Figures, Format, Output, Plan, RunError,
    Seen, Share, ShareLink, Stage, Status, SummaryData, View, Wish, check_thresholds, collect,
    conduct, take_part,
};
pub use secrets::{ReadFile, Secrets, SecretsError};
pub use sojourn_script::{
    Fetch, Limits, ScriptError, Sources, Use as ScriptUse, uses as script_uses,
};
pub use types::TYPES;
