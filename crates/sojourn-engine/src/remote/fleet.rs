//! Generators that have dialled in: what a run needs to know of them.

use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sojourn_clock::SECOND_NS;
use sojourn_fleet::{MemberEnd, MemberState};

/// Until a silence is a cut, which reconnecting begins with, and until words are heard that were
/// held up meanwhile.
const NOTICED_NS: u64 = 10 * SECOND_NS;

/// What becomes of a run that loses a generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// It goes on to its end and is void.
    #[default]
    Void,
    /// It goes on with what is left of the load, and may pass; the report says what is missing.
    Continue,
    /// It ends at once and is void.
    Abort,
}

/// How generators that have dialled in are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetTerms {
    /// What becomes of the run without one.
    pub on_loss: OnLoss,
    /// How long one may be without a connection before it is lost, nanoseconds.
    pub reconnect_within_ns: u64,
    /// How long each may take to make its plan, nanoseconds.
    pub ready_within_ns: u64,
}

/// Generators that have dialled in, for one run.
#[derive(Clone, Debug)]
pub struct Fleet {
    terms: FleetTerms,
    /// Their streams, until the run is launched.
    streams: Arc<Mutex<Vec<UnixStream>>>,
    ends: Vec<MemberEnd>,
}

impl Fleet {
    /// Of generators in the order of their numbers, each with its stream and where its end shows.
    pub fn new(members: Vec<(UnixStream, MemberEnd)>, terms: FleetTerms) -> Self {
        let (streams, ends) = members.into_iter().unzip();
        Self { terms, streams: Arc::new(Mutex::new(streams)), ends }
    }

    /// How they are treated.
    pub fn terms(&self) -> FleetTerms {
        self.terms
    }

    /// Each one's stream and end, once.
    pub(crate) fn take(&self) -> Vec<(UnixStream, MemberEnd)> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *streams).into_iter().zip(self.ends.iter().cloned()).collect()
    }

    /// Lets all go that are still there, and waits for each at most so long: those of a run that
    /// never began would wait for it.
    pub fn dismiss(&self, most: Duration) {
        drop(self.take());
        for end in &self.ends {
            let _state = end.wait_for(most);
        }
    }

    /// How each stands.
    pub(crate) fn states(&self) -> Vec<MemberState> {
        self.ends.iter().map(MemberEnd::now).collect()
    }

    /// How long nothing may be heard of one that is not lost, nanoseconds.
    pub(crate) fn patience_ns(&self) -> u64 {
        self.terms.reconnect_within_ns.saturating_add(NOTICED_NS)
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_nanos(self.patience_ns())
    }
}
