//! What coordinator and generator say to each other.
//!
//! The messages are plain data: a generator in another process gets the same ones over a socket.

use serde::{Deserialize, Serialize};
use sojourn_metrics::Snapshot;

/// Coordinator to generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ToGenerator {
    /// Start the load at this instant (CLOCK_MONOTONIC, nanoseconds).
    Start {
        /// The run's start.
        at_ns: u64,
    },
    /// A variable has a new value from now on.
    SetVariable {
        /// Index of the variable.
        variable: u16,
        /// Its value.
        value: String,
    },
    /// No further arrivals; what is under way goes on.
    StopArrivals,
    /// End now.
    Abort,
}

/// Generator to coordinator, with the generator's number.
#[derive(Debug)]
pub(crate) enum FromGenerator {
    /// One second's figures.
    Snapshot(Box<Snapshot>),
    /// Every arrival of this generator's share has been reached.
    ArrivalsDone {
        /// The last one's scheduled instant.
        last_t0_ns: u64,
        /// When the load ends: not before its last arrival.
        load_end_ns: u64,
        /// When this was said: every start has an earlier stamp.
        at_ns: u64,
    },
    /// The thread has ended; why, if not as asked.
    Ended(Result<(), String>),
}

/// Ledger to generator: what an actor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToActor {
    /// A stage was reached that a step follows.
    Reached {
        /// Whose.
        journey: u64,
        /// Which stage.
        stage: u8,
    },
    /// The journey's deadline passed: its user waits no longer, though it may still complete.
    Overdue {
        /// Whose.
        journey: u64,
    },
    /// The journey ended: no further step of it begins.
    Ended {
        /// Whose.
        journey: u64,
    },
}
