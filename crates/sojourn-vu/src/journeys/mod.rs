//! Journeys of scripts: what is listened to, what is expected, what came by, what is published; and
//! what is consumed.
//!
//! ```text
//!  top level: tap, stage ──> Declared ──> pattern of the engine's ledger
//!  user: expect ──> FollowSource of the thread ──> ledger (in the engine)
//!  user: events.wait <── Messages <── taps' threads (in the engine)
//!  user: publish ──> Publishing (a thread of its own) ──> broker
//!
//!  top level: consumer ──> Consumers
//!  user: take, commit ──> Member (a thread of its own) ──> its group
//! ```
//!
//! Everything that decides which events are meant is declared at the top level, so that it is known
//! before the first event. What a journey must reach is said when it is expected.

mod answers;
mod consumers;
mod declared;
mod files;
mod membership;
mod messages;
mod publishing;
mod state;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sojourn_broker::Registry;
use sojourn_engine::{Onlooker, RunOptions};

pub(crate) use answers::{Answer, Answers, Reply};
pub(crate) use consumers::Consumers;
pub(crate) use declared::Declared;
pub(crate) use files::ScriptFiles;
pub(crate) use membership::{Asked, Came, Members, Memberships, Taken};
pub(crate) use messages::{Message, Messages, Waiting};
pub(crate) use publishing::{Order, Publishing};
pub(crate) use state::JourneyState;

/// What journeys are followed with.
pub struct Journeys {
    /// Where the run file goes, and what it keeps.
    pub options: RunOptions,
    /// Who looks on, if anybody does.
    pub onlooker: Option<Onlooker>,
}

/// A test's taps, stages, messages and consumers, shared by all users.
pub(crate) struct Shared {
    declared: Mutex<Declared>,
    consumers: Mutex<Consumers>,
    /// Members of the consumers' groups.
    pub(crate) members: Members,
    pub(crate) connectors: Arc<Registry>,
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
    /// Nothing is declared yet.
    pub(crate) fn new(connectors: Arc<Registry>) -> Self {
        Self {
            declared: Mutex::default(),
            consumers: Mutex::default(),
            members: Members::default(),
            connectors,
            messages: Arc::default(),
            live: OnceLock::new(),
            late_told: AtomicBool::new(false),
        }
    }

    pub(crate) fn consumers(&self) -> MutexGuard<'_, Consumers> {
        self.consumers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn declared(&self) -> MutexGuard<'_, Declared> {
        self.declared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is the first time that it is asked.
    pub(crate) fn tells_late(&self) -> bool {
        !self.late_told.swap(true, Ordering::Relaxed)
    }
}
