//! What the ledger must know of a plan.

use crate::TraceSeed;

/// The plan as the ledger sees it, and the ledger's bounds.
#[derive(Clone, Debug)]
pub struct LedgerSpec {
    /// Journeys, in plan order.
    pub journeys: Vec<JourneySpec>,
    /// Most journeys in flight; a start beyond it is refused and counted, and the run is void.
    pub journeys_max: usize,
    /// Most early events waiting for their journey; beyond it refused and counted.
    pub early_max: usize,
    /// Most tombstones of finished journeys; beyond it the oldest goes first, counted.
    pub tombstones_max: usize,
    /// How long a finished journey is remembered, nanoseconds.
    pub tombstone_ttl_ns: u64,
    /// How long an event without a journey waits for one, nanoseconds.
    pub early_wait_ns: u64,
    /// Most members of fan-out stages remembered, of all journeys; beyond it refused and counted.
    pub members_max: usize,
}

/// One kind of journey.
#[derive(Clone, Debug)]
pub struct JourneySpec {
    /// Deadline, from t0, nanoseconds.
    pub within_ns: u64,
    /// How long after the deadline it is still observed, nanoseconds: completing then is late,
    /// not completing is lost.
    pub linger_ns: u64,
    /// Its stages, in declared order; at most 32.
    pub stages: Vec<StageSpec>,
    /// Whether steps follow a stage, so that [`crate::Fact::FollowUpsCompleted`] is awaited.
    pub has_follow_ups: bool,
    /// What its traces are drawn from; `None`: it has none, and its events are not looked at.
    pub trace: Option<TraceSeed>,
}

/// One stage.
#[derive(Clone, Debug)]
pub struct StageSpec {
    /// What reaching it means.
    pub kind: StageKind,
    /// What its hop counts from.
    pub after: Predecessor,
    /// How many distinct members reach it; 1 for an ordinary stage, [`TOLD`] where each journey is
    /// told its own number.
    pub expect: u32,
    /// An event that fits several stages counts for this one besides.
    pub shared: bool,
    /// Steps follow it: reaching it resumes the generator's actor.
    pub resumes: bool,
}

/// What reaching a stage means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageKind {
    /// The journey is not complete without it.
    Required,
    /// May be reached; does not count for completion.
    Optional,
    /// Must not be reached: the journey fails. A journey with such a stage completes at its
    /// deadline.
    Never,
    /// Terminal failure (a dead letter): the journey fails.
    Failure,
    /// One of the alternatives of this group, by its number from 0: the journey is not complete
    /// without one of them. Reaching a second one is a violation, counted.
    Branch(u8),
}

/// For [`StageSpec::expect`]: as many members as [`crate::Fact::Told`] or [`crate::More::tells`]
/// says of the journey.
pub const TOLD: u32 = 0;

/// What a hop counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predecessor {
    /// t1 of the latest step begun before the stage was observed.
    Step,
    /// The first observation of that stage.
    Stage(u8),
}
