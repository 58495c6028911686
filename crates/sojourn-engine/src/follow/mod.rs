//! Following journeys that others begin: virtual users of scripts.
//!
//! ```text
//!  users' threads ── FollowSource: what must come of it ──> observer <── taps
//!                                                           (ledger)
//! ```
//!
//! The threads of users take the place of generators: each is a source of facts with a watermark,
//! counts what it begins, and is asked to end. Taps, observer, run file and verdict are those of
//! any run. What events are meant is known beforehand, as stages of one pattern; which of them a
//! journey must reach, and by when, is said when a journey is first expected: a kind comes into
//! being.

mod kinds;
mod source;

use std::sync::Arc;

use crossbeam_channel::Sender;
use smallvec::SmallVec;
use sojourn_broker::RawMessage;
use sojourn_clock::SECOND_NS;
use sojourn_ledger::{Candidate, FinishClass, Finished, Ledger, LedgerSpec};

pub(crate) use kinds::Kind;
pub use kinds::{Expected, KINDS_MAX, Kinds};
pub(crate) use source::SourceEnds;
pub use source::{Begun, FollowSource};

/// How long an event waits for somebody to expect its journey.
pub const EARLY_WAIT_NS: u64 = 60 * SECOND_NS;
/// How long a finished journey is remembered: its duplicates are told for that long.
const TOMBSTONE_TTL_NS: u64 = 120 * SECOND_NS;

/// Hears of every event that fits a stage, on the thread of its tap: must be quick.
pub trait Listener: Send + Sync {
    /// An event, and the stages that it fits.
    fn event(&self, stamp_ns: u64, fits: &[Fit<'_>], message: &RawMessage<'_>);

    /// All events of a channel of the plan from before this instant (CLOCK_MONOTONIC, nanoseconds)
    /// have been told; said every few milliseconds.
    fn seen(&self, _channel: usize, _seen_ns: u64) {}
}

/// A stage that an event fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit<'a> {
    /// The journey's place in the plan; that of the pattern where kinds come into being.
    pub kind: u16,
    /// Its stage.
    pub stage: u8,
    /// The event's key for it.
    pub key: &'a [u8],
    /// Hash of what tells it from others of the key, for a stage that expects several.
    pub member: Option<u64>,
}

/// A journey that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedJourney {
    /// The number of its kind, see [`Kinds::name`].
    pub kind: u16,
    /// Everything expected has come, in time or late.
    pub is_complete: bool,
    /// It has not come until the journey was given up.
    pub is_lost: bool,
    /// From its scheduled instant to its end, nanoseconds.
    pub took_ns: u64,
    /// When it ended, CLOCK_MONOTONIC nanoseconds.
    pub end_ns: u64,
}

/// The observer's side: which kinds there are, and who hears of ends.
pub(crate) struct FollowedKinds {
    pub(crate) kinds: Arc<Kinds>,
    pub(crate) ends: Sender<EndedJourney>,
}

impl FollowedKinds {
    /// A ledger whose kinds choose their stages from the pattern's.
    pub(crate) fn ledger(&self, spec: LedgerSpec) -> Ledger {
        let early_wait_ns = EARLY_WAIT_NS;
        let tombstone_ttl_ns = TOMBSTONE_TTL_NS;
        let spec = LedgerSpec { early_wait_ns, tombstone_ttl_ns, ..spec };
        Ledger::new(spec).with_common_stages(self.kinds.stages())
    }

    /// Tells of an end, unless it is the run's own; errs when nobody has taken the ends before it.
    pub(crate) fn tell(&self, finished: &Finished) -> Result<(), ()> {
        if finished.class == FinishClass::InFlightAtCutoff {
            return Ok(());
        }
        let ended = EndedJourney {
            kind: finished.kind,
            is_complete: matches!(finished.class, FinishClass::Completed | FinishClass::Late),
            is_lost: finished.class == FinishClass::Lost,
            took_ns: finished.end_ns.saturating_sub(finished.t0_ns),
            end_ns: finished.end_ns,
        };
        self.ends.try_send(ended).map_err(|_| ())
    }
}

/// Tells a listener of an event.
pub(crate) fn tell(
    listener: &dyn Listener,
    stamp_ns: u64,
    candidates: &[Candidate],
    message: &RawMessage<'_>,
) {
    let fits = candidates.iter().map(|candidate| Fit {
        kind: candidate.kind,
        stage: candidate.stage,
        key: candidate.key.as_bytes(),
        member: candidate.member,
    });
    let fits: SmallVec<[Fit<'_>; 4]> = fits.collect();
    listener.event(stamp_ns, &fits, message);
}
