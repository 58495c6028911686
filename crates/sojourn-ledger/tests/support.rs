//! Words in which the rules are written: a book that is told facts and asked for its decisions.

use sojourn_ledger::{
    Candidate, Decision, EventClass, Fact, FinishClass, Finished, JourneyId, JourneySpec, Key,
    Ledger, LedgerSpec, Marker, Observation, Phase, Predecessor, StageKind, StageSpec, Stamped,
};

/// Deadline of every kind here, from t0.
pub(crate) const WITHIN: u64 = 1_000;
/// How long beyond it a journey is observed.
pub(crate) const LINGER: u64 = 500;
/// How long an early event waits.
pub(crate) const EARLY_WAIT: u64 = 200;
/// How long a finished journey is remembered.
pub(crate) const TTL: u64 = 5_000;

/// A stage that follows the one declared before it, or the step when it is the first.
pub(crate) fn stage(kind: StageKind, at: u8) -> StageSpec {
    let after = at.checked_sub(1).map_or(Predecessor::Step, Predecessor::Stage);
    StageSpec { kind, after, expect: 1, shared: false, resumes: false }
}

/// A kind with stages of these kinds, each after the one before.
pub(crate) fn kind(stages: &[StageKind]) -> JourneySpec {
    let stages = stages.iter().enumerate().map(|(at, &kind)| stage(kind, at as u8)).collect();
    JourneySpec { within_ns: WITHIN, linger_ns: LINGER, stages, has_follow_ups: false, trace: None }
}

/// A plan with ample bounds.
pub(crate) fn plan(journeys: Vec<JourneySpec>) -> LedgerSpec {
    LedgerSpec {
        journeys,
        journeys_max: 1_000,
        early_max: 1_000,
        tombstones_max: 1_000,
        tombstone_ttl_ns: TTL,
        early_wait_ns: EARLY_WAIT,
        members_max: 1_000,
    }
}

pub(crate) fn key(text: &str) -> Key {
    Key::new(text.as_bytes()).expect("tests name no empty key")
}

/// An event that fits one stage of kind 0.
pub(crate) fn event(text: &str, stage: u8) -> Observation {
    Observation {
        channel: 0,
        candidates: [fit(0, stage, text)].into_iter().collect(),
        message_id: None,
        marker: Marker::Absent,
        undecodable: false,
    }
}

pub(crate) fn fit(kind: u16, stage: u8, text: &str) -> Candidate {
    Candidate { kind, stage, key: key(text), member: None, check_failed: false, more: None }
}

/// A ledger and all it has decided.
pub(crate) struct Book {
    pub(crate) ledger: Ledger,
    pub(crate) decisions: Vec<Decision>,
}

impl Book {
    pub(crate) fn new(spec: LedgerSpec) -> Self {
        Self { ledger: Ledger::new(spec), decisions: Vec::new() }
    }

    /// One kind with these stages.
    pub(crate) fn of(stages: &[StageKind]) -> Self {
        Self::new(plan(vec![kind(stages)]))
    }

    pub(crate) fn tell(&mut self, stamp_ns: u64, fact: Fact) -> &mut Self {
        self.ledger.apply(Stamped { stamp_ns, fact }, &mut self.decisions);
        assert_eq!(self.ledger.balance().imbalance(), None);
        self
    }

    /// Journey of kind 0 with t0 = t1 and a key made by the client.
    pub(crate) fn start(&mut self, t0_ns: u64, id: u64, text: &str) -> &mut Self {
        self.start_kind(t0_ns, id, 0, Some(key(text)))
    }

    pub(crate) fn start_kind(
        &mut self,
        t0_ns: u64,
        id: u64,
        kind: u16,
        key: Option<Key>,
    ) -> &mut Self {
        let journey = JourneyId(id);
        self.tell(t0_ns, Fact::Started { journey, kind, phase: Phase::Steady, t0_ns, key })
    }

    pub(crate) fn keyed(&mut self, stamp_ns: u64, id: u64, text: &str) -> &mut Self {
        self.tell(stamp_ns, Fact::Keyed { journey: JourneyId(id), key: key(text) })
    }

    pub(crate) fn root(&mut self, stamp_ns: u64, id: u64) -> &mut Self {
        self.tell(stamp_ns, Fact::RootCompleted { journey: JourneyId(id) })
    }

    pub(crate) fn root_failed(&mut self, stamp_ns: u64, id: u64) -> &mut Self {
        self.tell(stamp_ns, Fact::RootFailed { journey: JourneyId(id), why: None })
    }

    pub(crate) fn step(&mut self, stamp_ns: u64, id: u64) -> &mut Self {
        self.tell(stamp_ns, Fact::StepBegan { journey: JourneyId(id), step: 1 })
    }

    pub(crate) fn step_ended(&mut self, stamp_ns: u64, id: u64) -> &mut Self {
        self.tell(stamp_ns, Fact::StepEnded { journey: JourneyId(id) })
    }

    /// An event for a stage of kind 0.
    pub(crate) fn see(&mut self, stamp_ns: u64, text: &str, stage: u8) -> &mut Self {
        self.observe(stamp_ns, event(text, stage))
    }

    pub(crate) fn see_id(
        &mut self,
        stamp_ns: u64,
        text: &str,
        stage: u8,
        message_id: u64,
    ) -> &mut Self {
        let message_id = Some(message_id);
        self.observe(stamp_ns, Observation { message_id, ..event(text, stage) })
    }

    pub(crate) fn see_member(
        &mut self,
        stamp_ns: u64,
        text: &str,
        stage: u8,
        member: u64,
    ) -> &mut Self {
        let mut observation = event(text, stage);
        observation.candidates[0].member = Some(member);
        self.observe(stamp_ns, observation)
    }

    pub(crate) fn see_marked(&mut self, stamp_ns: u64, text: &str, marker: Marker) -> &mut Self {
        self.observe(stamp_ns, Observation { marker, ..event(text, 0) })
    }

    pub(crate) fn observe(&mut self, stamp_ns: u64, observation: Observation) -> &mut Self {
        self.tell(stamp_ns, Fact::Observed(Box::new(observation)))
    }

    pub(crate) fn advance(&mut self, now_ns: u64) -> &mut Self {
        self.ledger.advance(now_ns, &mut self.decisions);
        assert_eq!(self.ledger.balance().imbalance(), None);
        self
    }

    pub(crate) fn close(&mut self, now_ns: u64) -> &mut Self {
        self.ledger.close(now_ns, &mut self.decisions);
        assert_eq!(self.ledger.balance().imbalance(), None);
        assert_eq!((self.ledger.in_flight(), self.ledger.balance().events.waiting), (0, 0));
        self
    }

    /// Every finished journey, in the order decided.
    pub(crate) fn finished(&self) -> Vec<&Finished> {
        let finished = self.decisions.iter().filter_map(|decision| match decision {
            Decision::Finished(finished) => Some(&**finished),
            _ => None,
        });
        finished.collect()
    }

    /// How this journey finished; `None` while it is in flight.
    pub(crate) fn outcome(&self, id: u64) -> Option<(FinishClass, u64)> {
        let mut own = self.finished().into_iter().filter(|finished| finished.journey.0 == id);
        let outcome = own.next().map(|finished| (finished.class, finished.end_ns));
        assert!(own.next().is_none(), "journey {id} finished twice");
        outcome
    }

    /// Classes of the events, in the order decided.
    pub(crate) fn classes(&self) -> Vec<EventClass> {
        let classes = self.decisions.iter().filter_map(|decision| match decision {
            Decision::Event { class, .. } => Some(*class),
            _ => None,
        });
        classes.collect()
    }

    /// Stages and durations of the hops, in the order decided.
    pub(crate) fn hops(&self) -> Vec<(u8, i64)> {
        let hops = self.decisions.iter().filter_map(|decision| match decision {
            Decision::Hop { stage, hop_ns, .. } => Some((*stage, *hop_ns)),
            _ => None,
        });
        hops.collect()
    }

    /// Journeys told to be overdue, in order.
    pub(crate) fn overdue(&self) -> Vec<u64> {
        let overdue = self.decisions.iter().filter_map(|decision| match decision {
            Decision::Overdue { journey, .. } => Some(journey.0),
            _ => None,
        });
        overdue.collect()
    }
}
