//! What the ledger decided: its only output.

use smallvec::SmallVec;

use crate::{JourneyId, Key, Phase, Reading, Refusal, TraceContext};

/// Something the ledger decided.
#[derive(Clone, Debug)]
pub enum Decision {
    /// A stage was reached for the first time.
    Reached {
        /// Whose.
        journey: JourneyId,
        /// Index of its spec.
        kind: u16,
        /// Which stage.
        stage: u8,
        /// The journey's phase.
        phase: Phase,
        /// When, CLOCK_MONOTONIC nanoseconds.
        stamp_ns: u64,
        /// stamp − t0, nanoseconds; zero for a stamp before t0, which
        /// [`crate::Balance::reached_before_t0`] counts.
        since_start_ns: u64,
        /// A step follows this stage and the journey is in flight: wake its actor.
        resume: bool,
    },
    /// A hop's duration became known, nanoseconds. Negative when the stage was observed before its
    /// predecessor: an order violation.
    Hop {
        /// Index of the journey's spec.
        kind: u16,
        /// The stage the hop ends at.
        stage: u8,
        /// The journey's phase.
        phase: Phase,
        /// Duration, nanoseconds.
        hop_ns: i64,
    },
    /// A fan-out stage was reached ([`Decision::Reached`] came before): since when there had been a
    /// first member.
    FirstMember {
        /// Index of the journey's spec.
        kind: u16,
        /// Which stage.
        stage: u8,
        /// The journey's phase.
        phase: Phase,
        /// First member − t0, nanoseconds; zero where it came before t0.
        since_start_ns: u64,
    },
    /// An alternative was reached after another one of its group.
    SecondBranch {
        /// Index of the journey's spec.
        kind: u16,
        /// The alternative reached later.
        stage: u8,
        /// The journey's phase.
        phase: Phase,
    },
    /// A matched event of a journey with a trace: whose trace it carries.
    Traced {
        /// Index of the journey's spec.
        kind: u16,
        /// The stage it was matched to.
        stage: u8,
        /// The journey's phase.
        phase: Phase,
        /// Whose.
        context: TraceContext,
    },
    /// An event got its class.
    Event {
        /// Index of the channel.
        channel: u16,
        /// Its class.
        class: EventClass,
        /// The journey and stage it belongs to, where known (matched, duplicate, after failure).
        belongs: Option<(u16, u8, Phase)>,
        /// When it was observed.
        stamp_ns: u64,
    },
    /// A duplicate: which journey's, and how it came ([`Decision::Event`] came before).
    Again(Box<Again>),
    /// The journey's deadline has passed and it is not complete: a waiting user goes on.
    Overdue {
        /// Whose.
        journey: JourneyId,
        /// Index of its spec.
        kind: u16,
    },
    /// A key still in flight came again: the second root is failed ([`Decision::Finished`]
    /// follows).
    KeyReused {
        /// The second journey.
        journey: JourneyId,
        /// Index of its spec.
        kind: u16,
        /// The second journey's phase.
        phase: Phase,
    },
    /// A journey ended. It comes once for every started journey, at once for one refused at the
    /// bound (as a root failure: the run is void and nobody waits).
    Finished(Box<Finished>),
}

/// The class of an event. Disjoint; every event gets exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventClass {
    /// Reached a stage, or was one of a stage's members.
    Matched,
    /// The same (journey, stage, member) again.
    Duplicate(DuplicateKind),
    /// For a journey that had failed or been given up.
    AfterFailure,
    /// No journey, but our run marker.
    Orphan,
    /// Another run's marker.
    Foreign,
    /// No journey and no marker.
    Unattributed,
    /// Could not be read, or had no key.
    Undecodable,
}

/// How a duplicate came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DuplicateKind {
    /// The same message id: delivered again.
    Redelivery,
    /// Another message id: published again.
    Republication,
    /// At least one of the two declared no message id.
    Unknown,
}

/// An event of a journey that had come before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// Whose.
    pub journey: JourneyId,
    /// Index of the journey's spec.
    pub kind: u16,
    /// The stage it had been matched to.
    pub stage: u8,
    /// How it came to be.
    pub how: DuplicateKind,
    /// Index of the channel.
    pub channel: u16,
    /// When it was observed, CLOCK_MONOTONIC nanoseconds.
    pub stamp_ns: u64,
    /// The first duplicate of its journey.
    pub is_first: bool,
    /// The journey had completed: [`crate::Ledger::remembered`] has what is known of it.
    pub has_ended: bool,
    /// The key it came under; `None` for one that had waited for its key.
    pub key: Option<Key>,
}

/// How a journey ended. Disjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FinishClass {
    /// Everything required happened by t0 + within.
    Completed,
    /// Everything required happened, after t0 + within.
    Late,
    /// Overdue when its observation ended.
    Lost,
    /// Reached a terminal failure stage, a `never` stage, a failed content check, a follow-up step
    /// failed, or a further key of it was another journey's.
    Failed,
    /// The root was refused or unanswered.
    RootFailed,
    /// The run was cut off before its deadline.
    InFlightAtCutoff,
}

impl FinishClass {
    /// As run files and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Late => "late",
            Self::Lost => "lost",
            Self::Failed => "failed",
            Self::RootFailed => "root_failed",
            Self::InFlightAtCutoff => "in_flight_at_cutoff",
        }
    }
}

/// One step of a journey, beyond its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSpan {
    /// The generator's number for it.
    pub step: u8,
    /// Begun, CLOCK_MONOTONIC nanoseconds.
    pub began_ns: u64,
    /// Ended; `None` when it had not.
    pub ended_ns: Option<u64>,
}

/// A journey that has ended, with all that is known of it.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its number.
    pub journey: JourneyId,
    /// Index of its spec.
    pub kind: u16,
    /// Phase of its t0.
    pub phase: Phase,
    /// How it ended.
    pub class: FinishClass,
    /// Its first key, where one was known.
    pub key: Option<Key>,
    /// Scheduled instant.
    pub t0_ns: u64,
    /// Action begun.
    pub t1_ns: u64,
    /// Root completed, where it was.
    pub t2_ns: Option<u64>,
    /// When its first step ended; `None` when it had not.
    pub first_step_ended_ns: Option<u64>,
    /// Its further steps, in the order they began.
    pub later_steps: SmallVec<[StepSpan; 1]>,
    /// First observation of each stage in declared order; zero where not reached.
    pub stage_ns: SmallVec<[u64; 8]>,
    /// When it ended: the last required instant for completed and late ones, else when it was
    /// decided.
    pub end_ns: u64,
    /// Stages reached whose predecessor never was: no hop sample, counted.
    pub hops_without_predecessor: u32,
    /// Order violations.
    pub negative_hops: u32,
    /// Duplicates of its events came while it was in flight.
    pub is_duplicated: bool,
    /// What the generator says of the step that failed it; `None` where no step did, or nothing was
    /// said.
    pub refusal: Option<Box<Refusal>>,
    /// Why it failed; `None` where it did not, or was lost or cut off.
    pub reason: Option<Reason>,
    /// The system's own words for it, where the stage that failed it takes them from its event.
    pub said: Option<Box<str>>,
    /// Of each fan-out stage that was not reached: how far it came.
    pub members: Vec<MembersSeen>,
    /// What its answers and events showed of foreign clocks, in the order in which it came.
    pub readings: Vec<Reading>,
    /// Its label, where it has one.
    pub label: Option<Key>,
}

/// How far a fan-out stage came that was not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MembersSeen {
    /// The stage.
    pub stage: u8,
    /// Distinct members seen.
    pub seen: u32,
    /// Of so many; `None`: the journey was never told.
    pub expected: Option<u32>,
}

/// Why a journey fails.
#[derive(Debug)]
pub(crate) struct Why {
    pub(crate) reason: Reason,
    pub(crate) said: Option<Box<str>>,
    pub(crate) refusal: Option<Box<Refusal>>,
}

impl From<Reason> for Why {
    fn from(reason: Reason) -> Self {
        Self { reason, said: None, refusal: None }
    }
}

/// Why a journey failed, as far as the ledger knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It reached this stage, which is a failure or must never be reached.
    Stage(u8),
    /// A content check of this stage did not hold.
    Check(u8),
    /// A step that follows a stage failed.
    FollowUp,
    /// The root was refused or unanswered.
    Root,
    /// Its key, or a further one from an event, was in flight already.
    KeyReused,
    /// The ledger had no room for it.
    NoRoom,
}
