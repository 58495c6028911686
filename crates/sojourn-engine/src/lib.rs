//! The engine: a coordinator, generators, and an observer.
//!
//! ```text
//!   coordinator ──start, stop──> generators ──requests──> system under test
//!        ▲                           │ facts                      │ events
//!        │ snapshots (1 s)           ▼                            ▼
//!        └────────────────────── observer <──facts── tap threads, poller
//!                                (sequencer, ledger)
//! ```
//!
//! - **generator**: a thread with its own HTTP client, pacing and actors. Nothing on it blocks,
//!   takes a shared lock, formats text, or allocates per request in steady state.
//! - **observer**: the thread that owns the ledger. Facts reach it in batches through a bounded
//!   channel, each with its source's watermark, and are applied in the order of their stamps.
//! - **coordinator**: the calling thread. It owns the truth of the run: phases, merging, the run
//!   file, thresholds, the verdict.
//!
//! Rendering and flags are elsewhere: [`run`] takes a plan and leaves a run file.

mod attack;
mod backlog;
mod client_error;
mod coordinator;
pub mod doctor;
mod error;
mod every_second;
mod fire;
mod follow;
mod generator;
mod health;
mod identity;
mod last_word;
mod link;
mod machine;
mod observer;
mod once;
mod options;
mod peak;
mod poller;
mod preflight;
mod process_health;
mod progress;
mod rate;
mod refresh;
mod refusals;
pub mod remote;
mod resources;
mod run_file;
mod sessions;
mod shape;
pub mod simulated;
mod steps;
mod stop;
#[cfg(test)]
mod testing;
mod verdict;
mod work;

pub use attack::{
    Attack, Framing, Look, ResultSink, ResultWriter, Script, Scripted, ScriptedThread, Targets,
    Wants, Written,
};
pub use coordinator::{
    Ended, Following, Merging, Onlooker, attack, attack_room, follow, run, run_sessions,
};
pub use error::RunError;
pub use fire::{Fired, fire};
pub use follow::{
    Begun, EARLY_WAIT_NS, EndedJourney, Expected, Fit, FollowSource, KINDS_MAX, Kinds, Listener,
};
pub use identity::journey_shapes;
pub use options::{KeepBounds, RunOptions};
pub use preflight::raise_descriptors;
pub use progress::{Progress, Stretch};
pub use rate::RateControl;
pub use remote::{Fleet, FleetTerms, Joined, OnLoss, Parcel, Processes};
pub use sessions::Sessions;
pub use stop::Stop;
pub use verdict::{EXIT_FAILED, EXIT_INTERRUPTED, EXIT_VOID, exit_code};
