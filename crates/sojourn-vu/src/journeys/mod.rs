//! Journeys of scripts: what is listened to, what is expected, what came by, what is published.
//!
//! ```text
//!  top level: tap, stage ──> Declared ──> pattern of the engine's ledger
//!  user: expect ──> FollowSource of the thread ──> ledger (in the engine)
//!  user: events.wait <── Messages <── taps' threads (in the engine)
//!  user: publish ──> Publishing (a thread of its own) ──> broker
//! ```
//!
//! Everything that decides which events are meant is declared at the top level, so that it is known
//! before the first event. What a journey must reach is said when it is expected.

mod answers;
mod declared;
mod files;
mod messages;
mod publishing;
mod state;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sojourn_broker::Registry;
use sojourn_engine::{Onlooker, RunOptions};

pub(crate) use answers::{Answer, Answers, Reply};
pub(crate) use declared::Declared;
pub(crate) use files::ScriptFiles;
pub(crate) use messages::{Message, Messages, Waiting};
pub(crate) use publishing::{Order, Publishing};
pub(crate) use state::JourneyState;

/// What journeys are followed with.
pub struct Journeys {
    /// Connectors for taps and publishers.
    pub registry: Arc<Registry>,
    /// Where the run file goes, and what it keeps.
    pub options: RunOptions,
    /// Who looks on, if anybody does.
    pub onlooker: Option<Onlooker>,
}

/// A test's taps, stages and messages, shared by all users.
#[derive(Default)]
pub(crate) struct Shared {
    declared: Mutex<Declared>,
    pub(crate) messages: Arc<Messages>,
    /// There once the test runs.
    pub(crate) live: OnceLock<Live>,
    /// That journeys are expected too late has been told.
    late_told: AtomicBool,
}

/// What there is while a test runs.
pub(crate) struct Live {
    pub(crate) publishing: Publishing,
    pub(crate) run_id: String,
}

impl Shared {
    pub(crate) fn declared(&self) -> MutexGuard<'_, Declared> {
        self.declared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is the first time that it is asked.
    pub(crate) fn tells_late(&self) -> bool {
        !self.late_told.swap(true, Ordering::Relaxed)
    }
}
