//! What happened: the ledger's only input. It is plain data: sources may be other processes.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::{Key, Reading, Shown, TraceId};

/// A journey's number, unique in the run (a generator's index in the top 16 bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JourneyId(pub u64);

/// A source of facts: one generator or one tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceId(pub u16);

/// The phase a journey belongs to: that of its scheduled instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Phase {
    /// Real load, counted apart.
    WarmUp,
    /// What is reported.
    Steady,
}

/// Facts of one source, in its own order, and how far it has seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Batch {
    /// Who saw them.
    pub source: SourceId,
    /// Batch number of this source, from 0, without gaps.
    pub sequence: u64,
    /// The facts, stamps not descending.
    pub facts: Vec<Stamped>,
    /// Nothing with an earlier stamp follows from this source.
    pub watermark_ns: u64,
}

/// A fact and the instant it happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stamped {
    /// CLOCK_MONOTONIC, nanoseconds.
    pub stamp_ns: u64,
    /// What happened then.
    pub fact: Fact,
}

/// Something that happened to a journey, or on a channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Fact {
    /// An arrival that was never started (stamp: its scheduled instant).
    Missed {
        /// Index into [`crate::LedgerSpec::journeys`].
        kind: u16,
        /// Phase of its scheduled instant.
        phase: Phase,
    },
    /// Whose journey it is (stamp: t1). Comes right before its [`Fact::Started`].
    Labelled {
        /// Whose.
        journey: JourneyId,
        /// The label.
        label: Key,
    },
    /// The generator began the journey's first action (stamp: t1).
    Started {
        /// Its number.
        journey: JourneyId,
        /// Index into [`crate::LedgerSpec::journeys`].
        kind: u16,
        /// Phase of `t0_ns`.
        phase: Phase,
        /// Scheduled instant.
        t0_ns: u64,
        /// The key, when the client makes it: registered before the request is sent.
        key: Option<Key>,
    },
    /// A journey that had begun before anybody asked for it (stamp: when it was asked for).
    Followed(Box<Followed>),
    /// An HTTP step of the journey began (stamp: its t1): what the next stage's hop counts from
    /// when that stage follows a step. Not sent for the first step, whose t1 is [`Fact::Started`]'s
    /// stamp.
    StepBegan {
        /// Whose.
        journey: JourneyId,
        /// The generator's number for the step, which comes back in [`crate::StepSpan`].
        step: u8,
    },
    /// The step under way ended, as expected or not (stamp: its end). For the timeline of a journey
    /// of several steps; one with a single step needs none, since its end is the root's.
    StepEnded {
        /// Whose.
        journey: JourneyId,
    },
    /// A key or a further alias became known, from a response (stamp: when it was read).
    Keyed {
        /// Whose.
        journey: JourneyId,
        /// The key.
        key: Key,
    },
    /// The root completed as expected (stamp: t2). All steps without `after` are the root.
    RootCompleted {
        /// Whose.
        journey: JourneyId,
    },
    /// The root was refused or unanswered: final (stamp: when given up).
    RootFailed {
        /// Whose.
        journey: JourneyId,
        /// Why, where the generator says; comes back in [`crate::Finished`].
        why: Option<Box<Refusal>>,
    },
    /// The last step that follows a stage is done (stamp: its end). Only for journeys that have
    /// such steps: they are not complete before it.
    FollowUpsCompleted {
        /// Whose.
        journey: JourneyId,
    },
    /// A step that follows a stage failed: the journey failed.
    FollowUpFailed {
        /// Whose.
        journey: JourneyId,
        /// Why, where the generator says; comes back in [`crate::Finished`].
        why: Option<Box<Refusal>>,
    },
    /// How many members a fan-out stage has, from a response (stamp: when it was read).
    Told {
        /// Whose.
        journey: JourneyId,
        /// Which stage; one that is told its number.
        stage: u8,
        /// How many distinct members reach it; with none it is reached at once.
        members: u32,
    },
    /// An answer showed a foreign clock (stamp: its end).
    Read {
        /// Whose.
        journey: JourneyId,
        /// What it showed, and when.
        reading: Reading,
    },
    /// A polled stage's predicate held (stamp: when the answer was read).
    Polled {
        /// Whose.
        journey: JourneyId,
        /// Which stage.
        stage: u8,
    },
    /// A tap saw an event (stamp: taken in the receive callback).
    Observed(Box<Observation>),
}

/// A journey of which the ledger hears in hindsight: whoever began it said only later what must
/// come of it. There is no root to wait for, so its root counts as completed when it began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Followed {
    /// Its number.
    pub journey: JourneyId,
    /// Index into [`crate::LedgerSpec::journeys`], or the number of a kind added since.
    pub kind: u16,
    /// Phase of `t0_ns`.
    pub phase: Phase,
    /// Scheduled instant.
    pub t0_ns: u64,
    /// When it began, not after the fact's stamp: what its first hop counts from.
    pub t1_ns: u64,
    /// What its deadline counts from: `t0_ns`, or a later instant. Of one kind they do not descend
    /// by much from fact to fact, as scheduled instants do not.
    pub deadline_from_ns: u64,
    /// The key; events under it that came before are matched back.
    pub key: Key,
    /// Whose it is, where that is said.
    pub label: Option<Key>,
}

/// Why a step was refused or not answered, as its generator has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The answer's status; `None` where there was no answer.
    pub status: Option<u16>,
    /// In words.
    pub words: Box<str>,
}

/// One event as a tap saw it, matched against the plan's stages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observation {
    /// Index of the channel.
    pub channel: u16,
    /// The stages it fits, in declared order; empty when none does.
    pub candidates: SmallVec<[Candidate; 1]>,
    /// Hash of the declared message id, to tell a redelivery from a republication.
    pub message_id: Option<u64>,
    /// The run marker it carried.
    pub marker: Marker,
    /// Not decodable, or its key is missing, empty or null.
    pub undecodable: bool,
}

/// A stage that an event fits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Candidate {
    /// Index of the journey's spec.
    pub kind: u16,
    /// Index of the stage in it.
    pub stage: u8,
    /// The key found in the event.
    pub key: Key,
    /// Hash of the member value, for a stage that expects several.
    pub member: Option<u64>,
    /// A content check of the stage did not hold: the journey fails.
    pub check_failed: bool,
    /// What only some stages take from their events; `None` for nothing, which costs nothing.
    pub more: Option<Box<More>>,
}

/// What some stages take from their events beside the key.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct More {
    /// Why the journey failed, in the system's own words, where the stage is a failure.
    pub reason: Option<Box<str>>,
    /// Stages of the same journey, each with the number of members that reach it. Of a stage that
    /// is told its number ([`crate::TOLD`]) the first number counts.
    pub tells: SmallVec<[(u8, u32); 1]>,
    /// A further key under which later events of the journey come.
    pub rekey: Option<Key>,
    /// The traces that the event says it belongs to.
    pub traces: SmallVec<[TraceId; 1]>,
    /// The foreign clock that it shows, where its stage asks for one.
    pub shown: Option<Shown>,
}

/// What an event says of the run that caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Marker {
    /// This run's marker.
    Ours,
    /// Another run's.
    Foreign,
    /// None.
    Absent,
}
