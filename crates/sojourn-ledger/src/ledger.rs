//! The book itself: what it holds, and which rule each fact goes to.

use std::collections::VecDeque;

use crate::early::Early;
use crate::event::Event;
use crate::hash::KeyHash;
use crate::index::Index;
use crate::journey::Journey;
use crate::kind::Kind;
use crate::limits::Limits;
use crate::slab::{List, Slab};
use crate::{
    Balance, Decision, Fact, JourneyId, JourneySpec, Key, LedgerSpec, LimitFigures, LimitSpec,
    Observation, Stamped,
};

/// The book of journeys and events; see the crate's page.
#[derive(Debug)]
pub struct Ledger {
    pub(crate) kinds: Vec<Kind>,
    /// How many stages there are that all kinds choose theirs from; `None` where each has its own.
    pub(crate) common_stages: Option<u8>,
    /// In flight and remembered.
    pub(crate) journeys: Slab<Journey>,
    pub(crate) index: Index,
    /// First keys of journeys in flight, to name the lost ones.
    pub(crate) keys: Slab<Key>,
    /// Finished journeys, oldest first.
    pub(crate) tombstones: List,
    pub(crate) early: Early,
    /// Keys that events have just yielded; empty between facts.
    pub(crate) yielded: VecDeque<(JourneyId, Key)>,
    /// Labels of journeys about to start, one for each generator at most.
    pub(crate) labelled: Vec<(JourneyId, Key)>,
    /// Members remembered, of all journeys.
    pub(crate) members_held: usize,
    /// Per generator, the highest number started plus one: tells a journey forgotten from one that
    /// never was.
    pub(crate) started_below: Vec<u64>,
    /// How far time has come.
    pub(crate) now_ns: u64,
    /// Nothing expires from this instant on.
    pub(crate) cutoff_ns: u64,
    /// Nothing expires before this; a lower bound, so that most facts cost one comparison.
    pub(crate) next_due_ns: u64,
    pub(crate) limits: Limits,
    pub(crate) book: Balance,
    pub(crate) bounds: Bounds,
}

/// The bounds of a [`LedgerSpec`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) journeys_max: usize,
    pub(crate) tombstones_max: usize,
    pub(crate) tombstone_ttl_ns: u64,
    pub(crate) early_wait_ns: u64,
    pub(crate) members_max: usize,
}

impl Ledger {
    /// An empty book.
    pub fn new(spec: LedgerSpec) -> Self {
        let remembered_max = spec.journeys_max.saturating_add(spec.tombstones_max);
        Self {
            kinds: spec.journeys.into_iter().map(Kind::new).collect(),
            common_stages: None,
            journeys: Slab::new(),
            index: Index::new(remembered_max),
            keys: Slab::new(),
            tombstones: List::EMPTY,
            early: Early::new(spec.early_max),
            yielded: VecDeque::new(),
            labelled: Vec::new(),
            members_held: 0,
            started_below: Vec::new(),
            now_ns: 0,
            cutoff_ns: u64::MAX,
            next_due_ns: u64::MAX,
            limits: Limits::default(),
            book: Balance::default(),
            bounds: Bounds {
                journeys_max: spec.journeys_max,
                tombstones_max: spec.tombstones_max,
                tombstone_ttl_ns: spec.tombstone_ttl_ns,
                early_wait_ns: spec.early_wait_ns,
                members_max: spec.members_max,
            },
        }
    }

    /// The same with limits to verify.
    #[must_use]
    pub fn with_limits(self, limits: Vec<LimitSpec>) -> Self {
        Self { limits: Limits::new(limits), ..self }
    }

    /// The same with so many stages that kinds to come choose theirs from: there must be none yet.
    #[must_use]
    pub fn with_common_stages(self, stages: u8) -> Self {
        Self { common_stages: Some(stages), ..self }
    }

    /// Adds a kind, before the first fact of it, and returns its number: one more than the last
    /// one's. Its stage `i` is the common stage `chosen[i]`. `None` when there are as many kinds as
    /// numbers, or the stages are not as many as were chosen.
    pub fn add_kind(&mut self, spec: JourneySpec, chosen: &[u8]) -> Option<u16> {
        let number = u16::try_from(self.kinds.len()).ok()?;
        (spec.stages.len() == chosen.len()).then(|| {
            self.kinds.push(Kind::new(spec).choosing(chosen));
            number
        })
    }

    /// What came of the limits so far, in their order.
    pub fn limits(&self) -> impl Iterator<Item = LimitFigures> {
        self.limits.figures()
    }

    /// Applies one fact; stamps must not descend (the [`crate::Sequencer`] sees to it). What
    /// follows from it is pushed to `decisions`.
    ///
    /// Whatever was due before the fact's stamp expires first; what is due at that very instant
    /// does not, so a stage reached exactly at the deadline is in time.
    pub fn apply(&mut self, fact: Stamped, decisions: &mut Vec<Decision>) {
        let stamp_ns = fact.stamp_ns;
        self.advance(stamp_ns, decisions);
        match fact.fact {
            Fact::Missed { kind, .. } => self.miss(kind),
            Fact::Labelled { journey, label } => self.label(journey, label),
            Fact::Started { journey, kind, phase, t0_ns, key } => {
                let t1_ns = stamp_ns;
                let start = Start { journey, kind, phase, t0_ns, t1_ns, deadline_from_ns: None };
                self.start(start, key, decisions);
            }
            Fact::Followed(followed) => self.follow_up_on(*followed, stamp_ns, decisions),
            Fact::StepBegan { journey, step } => self.begin_step(journey, step, stamp_ns),
            Fact::StepEnded { journey } => self.end_step(journey, stamp_ns),
            Fact::Keyed { journey, key } => {
                if let Some(slot) = self.slot_that_matters(journey) {
                    self.register(slot, key, crate::FinishClass::RootFailed, decisions);
                }
            }
            Fact::RootCompleted { journey } => self.complete_root(journey, stamp_ns, decisions),
            Fact::RootFailed { journey, why } => {
                self.fail(journey, crate::FinishClass::RootFailed, why, decisions);
            }
            Fact::FollowUpsCompleted { journey } => {
                self.complete_follow_ups(journey, stamp_ns, decisions);
            }
            Fact::FollowUpFailed { journey, why } => {
                self.fail(journey, crate::FinishClass::Failed, why, decisions);
            }
            Fact::Told { journey, stage, members } => {
                self.hear_of_members(journey, (stage, members), stamp_ns, decisions);
            }
            Fact::Read { journey, reading } => {
                if let Some(slot) = self.slot_of(journey) {
                    self.journeys[slot].read(reading);
                }
            }
            Fact::Polled { journey, stage } => self.poll(journey, stage, stamp_ns, decisions),
            Fact::Observed(mut observation) => {
                let mut strangers = 0;
                let event =
                    Event::new(stamp_ns, &mut observation, self.common_stages, |kind, stage| {
                        let known = self.has_stage(kind, stage);
                        strangers += u64::from(!known);
                        known
                    });
                self.book.refusals.contradictions += strangers;
                let before = decisions.len();
                self.see(event, observation.undecodable, decisions);
                self.name_again(&mut decisions[before..], &observation);
            }
        }
        if !self.yielded.is_empty() {
            self.register_yielded(decisions);
        }
    }

    /// Journeys started and not finished.
    pub fn in_flight(&self) -> usize {
        self.kinds.iter().map(|kind| kind.open().len).sum()
    }

    /// Journeys in flight that wait for this stage: its predecessor has been reached (or, where it
    /// follows a step, the journey has started), it has not.
    pub fn in_flight_at(&self, kind: u16, stage: u8) -> u64 {
        self.kinds.get(usize::from(kind)).map_or(0, |kind| kind.waiting(stage))
    }

    /// The most that waited for this stage at once since the last call of this function.
    pub fn take_in_flight_max(&mut self, kind: u16, stage: u8) -> u64 {
        self.kinds.get_mut(usize::from(kind)).map_or(0, |kind| kind.take_waiting_max(stage))
    }

    /// The earliest t0 of the journeys of this kind in flight; `None` without any.
    pub fn oldest_in_flight_t0_ns(&self, kind: u16) -> Option<u64> {
        let open = self.kinds.get(usize::from(kind))?.open();
        (open.len > 0).then(|| self.journeys[open.head].t0_ns)
    }

    /// Finished journeys still remembered.
    pub fn tombstones(&self) -> usize {
        self.tombstones.len
    }

    /// The lines as they stand.
    pub fn balance(&self) -> Balance {
        let mut book = self.book.clone();
        // Counted in the structures, not kept as figures: so the lines check them as well.
        book.journeys.in_flight += self.in_flight() as u64;
        book.events.waiting = self.early.len() as u64;
        book.refused = book.refusals.total();
        book
    }

    /// The journey with this number. A number that was never started is a defect and counted; one
    /// that has been forgotten is not, since a root may well be answered after its journey's end.
    pub(crate) fn slot_of(&mut self, id: JourneyId) -> Option<u32> {
        let slot = self.index.by_id(&self.journeys, id);
        if slot.is_none() {
            let (generator, number) = split(id);
            let below = self.started_below.get(generator).copied().unwrap_or(0);
            match number < below {
                true => self.book.facts_after_forgetting += 1,
                false => self.book.refusals.unknown_journeys += 1,
            }
        }
        slot
    }

    /// The same for a fact that changes figures even after the journey's end: that it has been
    /// forgotten is a refusal.
    pub(crate) fn slot_that_matters(&mut self, id: JourneyId) -> Option<u32> {
        let forgotten = self.book.facts_after_forgetting;
        let slot = self.slot_of(id);
        self.book.refusals.forgotten += self.book.facts_after_forgetting - forgotten;
        self.book.facts_after_forgetting = forgotten;
        slot
    }

    /// The journey that a key names.
    pub(crate) fn named(&self, hash: KeyHash) -> Option<u32> {
        self.index.by_key(&self.journeys, hash)
    }

    pub(crate) fn has_stage(&self, kind: u16, stage: u8) -> bool {
        let kind = self.kinds.get(usize::from(kind));
        kind.is_some_and(|kind| usize::from(stage) < kind.spec.stages.len())
    }

    pub(crate) fn kind_of(&mut self, slot: u32) -> (&mut Kind, &mut Journey) {
        let journey = &mut self.journeys[slot];
        (&mut self.kinds[usize::from(journey.kind)], journey)
    }

    /// Gives a duplicate the key that its event came under: an event is known by its keys' hashes.
    #[inline]
    fn name_again(&self, decisions: &mut [Decision], observation: &Observation) {
        for decision in decisions {
            let Decision::Again(again) = decision else { continue };
            let kind = self.kinds.get(usize::from(again.kind));
            let is_its = |it: &&crate::Candidate| match self.common_stages {
                None => it.kind == again.kind && it.stage == again.stage,
                Some(_) => kind.and_then(|kind| kind.chosen(it.stage)) == Some(again.stage),
            };
            let own = observation.candidates.iter().find(is_its);
            again.key = own.map(|candidate| candidate.key.clone());
        }
    }

    /// Something will expire then.
    pub(crate) fn due(&mut self, at_ns: u64) {
        self.next_due_ns = self.next_due_ns.min(at_ns);
    }
}

/// A journey's number apart: generator, and number within it.
pub(crate) fn split(id: JourneyId) -> (usize, u64) {
    ((id.0 >> 48) as usize, id.0 & ((1 << 48) - 1))
}

/// A journey about to be entered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) journey: JourneyId,
    pub(crate) kind: u16,
    pub(crate) phase: crate::Phase,
    pub(crate) t0_ns: u64,
    pub(crate) t1_ns: u64,
    /// What its deadline counts from, unless that is `t0_ns`.
    pub(crate) deadline_from_ns: Option<u64>,
}
