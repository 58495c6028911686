//! The truth told in pieces: five sources, batches cut and delivered in any way that keeps the
//! watermarks true; what came of it is read from the decisions alone.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use sojourn_ledger::{
    Batch, Candidate, Decision, Fact, JourneyId, Key, Ledger, Observation, Sequencer, SourceId,
    StageKind, Stamped,
};

use super::model::{Expected, Outcome};
use super::world::{EventTruth, JourneyTruth, Truth, UNIT, spec};

const GENERATORS: u16 = 2;
const SOURCES: u16 = 5;

/// Random numbers that say how a run is told.
#[derive(Clone, Debug)]
pub(crate) struct Telling {
    /// Who speaks next.
    turns: Vec<u16>,
    /// Facts of a batch, and how much of the gap behind it the watermark covers, in tenths.
    cuts: Vec<(usize, u64)>,
}

pub(crate) fn any_telling() -> impl Strategy<Value = Telling> {
    (vec(0..SOURCES, 1..60), vec((1..6_usize, 0..=10_u64), 1..40))
        .prop_map(|(turns, cuts)| Telling { turns, cuts })
}

/// What the book said.
pub(crate) struct Told {
    pub(crate) book: Expected,
    /// In words, to compare two tellings.
    pub(crate) decisions: Vec<String>,
}

/// Tells everything, closes the book, and checks it on the way.
pub(crate) fn tell(truth: &Truth, telling: &Telling) -> Result<Told, TestCaseError> {
    let mut sources = batches(truth, telling);
    let ids: Vec<SourceId> = (0..SOURCES).map(SourceId).collect();
    let mut sequencer = Sequencer::new(&ids, 1_000_000);
    let mut clerk = Clerk::new();
    let mut turns = telling.turns.iter().cycle();
    while sources.iter().any(|batches| !batches.is_empty()) {
        let turn = *turns.next().unwrap_or(&0);
        let mut order = (0..SOURCES).map(|more| usize::from((turn + more) % SOURCES));
        let Some(next) = order.find(|&source| !sources[source].is_empty()) else {
            break;
        };
        sequencer.push(sources[next].remove(0)).map_err(TestCaseError::fail)?;
        clerk.work(&mut sequencer)?;
    }
    for id in ids {
        sequencer.end(id);
    }
    clerk.work(&mut sequencer)?;
    clerk.ledger.close(truth.end_ns, &mut clerk.decisions);
    clerk.check(None)?;
    clerk.account(truth)
}

/// A tap stops sending in the middle: it is named, and a later gap in its numbers is an error.
pub(crate) fn crash(truth: &Truth, telling: &Telling, tap: u16) -> Result<(), TestCaseError> {
    let mut sources = batches(truth, telling);
    let ids: Vec<SourceId> = (0..SOURCES).map(SourceId).collect();
    let mut sequencer = Sequencer::new(&ids, 1_000_000);
    let left = sources[usize::from(tap)].split_off(1);
    let stopped_ns = sources[usize::from(tap)][0].watermark_ns;
    let mut clerk = Clerk::new();
    for batch in sources.into_iter().flatten() {
        sequencer.push(batch).map_err(TestCaseError::fail)?;
        clerk.work(&mut sequencer)?;
    }
    prop_assert!(sequencer.watermark_ns() <= stopped_ns);
    let now_ns = truth.end_ns.max(stopped_ns + UNIT + 1);
    if stopped_ns < truth.end_ns {
        let silent = sequencer.silent(now_ns, UNIT.min(now_ns - stopped_ns - 1), 0);
        prop_assert!(silent.contains(&SourceId(tap)));
    }
    // It comes back and has lost a batch on the way.
    if let Some(later) = left.into_iter().nth(1) {
        prop_assert!(sequencer.push(later).is_err());
    }
    // Closed all the same, for the report of a void run.
    clerk.ledger.close(now_ns, &mut clerk.decisions);
    clerk.check(None)
}

/// Every source's facts, cut into batches with true watermarks.
fn batches(truth: &Truth, telling: &Telling) -> Vec<Vec<Batch>> {
    let mut facts: Vec<Vec<Stamped>> = (0..SOURCES).map(|_| Vec::new()).collect();
    for journey in &truth.journeys {
        let generator = (journey.id.0 >> 48) as u16 % GENERATORS;
        facts[usize::from(generator)].extend(journey_facts(journey));
    }
    for &stamp_ns in &truth.missed {
        let fact = Fact::Missed { kind: 0, phase: sojourn_ledger::Phase::Steady };
        facts[0].push(Stamped { stamp_ns, fact });
    }
    for event in &truth.events {
        facts[usize::from(GENERATORS + event.tap)].push(event_fact(event));
    }
    let mut cuts = telling.cuts.iter().cycle();
    facts
        .into_iter()
        .enumerate()
        .map(|(source, facts)| cut(SourceId(source as u16), facts, truth.end_ns, &mut cuts))
        .collect()
}

fn cut<'a>(
    source: SourceId,
    mut facts: Vec<Stamped>,
    end_ns: u64,
    cuts: &mut impl Iterator<Item = &'a (usize, u64)>,
) -> Vec<Batch> {
    facts.sort_by_key(|fact| fact.stamp_ns);
    let mut batches = Vec::new();
    let mut watermark_ns = 0;
    let mut facts = facts.into_iter().peekable();
    while facts.peek().is_some() {
        let &(size, tenths) = cuts.next().unwrap_or(&(1, 0));
        let batch: Vec<Stamped> = facts.by_ref().take(size).collect();
        let last_ns = batch.last().map_or(watermark_ns, |fact| fact.stamp_ns);
        let next_ns = facts.peek().map_or(end_ns, |fact| fact.stamp_ns);
        watermark_ns = last_ns + (next_ns - last_ns) / 10 * tenths;
        let sequence = batches.len() as u64;
        batches.push(Batch { source, sequence, facts: batch, watermark_ns });
        // A quiet source says so.
        if tenths == 5 {
            let sequence = batches.len() as u64;
            batches.push(Batch { source, sequence, facts: Vec::new(), watermark_ns });
        }
    }
    let sequence = batches.len() as u64;
    batches.push(Batch { source, sequence, facts: Vec::new(), watermark_ns: end_ns });
    batches
}

fn journey_facts(truth: &JourneyTruth) -> Vec<Stamped> {
    let (journey, kind) = (truth.id, truth.kind);
    let key = Key::new(truth.key.as_bytes());
    let made = if truth.keyed_ns == Some(truth.t1_ns) { key.clone() } else { None };
    let received = truth.keyed_ns.filter(|&keyed_ns| keyed_ns != truth.t1_ns).zip(key);
    let mut facts = vec![Stamped {
        stamp_ns: truth.t1_ns,
        fact: Fact::Started { journey, kind, phase: truth.phase, t0_ns: truth.t0_ns, key: made },
    }];
    facts.extend(
        received.map(|(stamp_ns, key)| Stamped { stamp_ns, fact: Fact::Keyed { journey, key } }),
    );
    facts.extend(truth.root.map(|(stamp_ns, succeeded)| {
        let completed = Fact::RootCompleted { journey };
        Stamped {
            stamp_ns,
            fact: if succeeded { completed } else { Fact::RootFailed { journey, why: None } },
        }
    }));
    facts.extend(
        truth
            .step_ns
            .map(|stamp_ns| Stamped { stamp_ns, fact: Fact::StepBegan { journey, step: 1 } }),
    );
    facts.extend(truth.follow_up.map(|(stamp_ns, succeeded)| {
        let completed = Fact::FollowUpsCompleted { journey };
        let failed = Fact::FollowUpFailed { journey, why: None };
        Stamped { stamp_ns, fact: if succeeded { completed } else { failed } }
    }));
    facts
}

fn event_fact(truth: &EventTruth) -> Stamped {
    let candidate = Key::new(truth.key.as_bytes()).map(|key| Candidate {
        kind: truth.kind,
        stage: truth.stage,
        key,
        member: Some(truth.member),
        check_failed: truth.check_failed,
        more: None,
    });
    let observation = Observation {
        channel: truth.tap,
        candidates: candidate.into_iter().collect(),
        message_id: truth.message_id,
        marker: truth.marker,
        undecodable: truth.undecodable,
    };
    Stamped { stamp_ns: truth.stamp_ns, fact: Fact::Observed(Box::new(observation)) }
}

/// Keeps the book, and beside it who waits where, counted afresh from the decisions.
struct Clerk {
    ledger: Ledger,
    decisions: Vec<Decision>,
    read: usize,
    /// Kind, t0 and stages reached of every journey in flight.
    open: BTreeMap<JourneyId, (u16, u64, Vec<u8>)>,
    maxima: BTreeMap<(u16, u8), u64>,
}

impl Clerk {
    fn new() -> Self {
        Self {
            ledger: Ledger::new(spec()),
            decisions: Vec::new(),
            read: 0,
            open: BTreeMap::new(),
            maxima: BTreeMap::new(),
        }
    }

    fn work(&mut self, sequencer: &mut Sequencer) -> Result<(), TestCaseError> {
        let mut last_ns = 0;
        while let Some(fact) = sequencer.pop_for(&self.ledger) {
            prop_assert!(fact.stamp_ns >= last_ns);
            last_ns = fact.stamp_ns;
            // What is due before the start is not to be mixed with what follows from it.
            self.ledger.advance(fact.stamp_ns, &mut self.decisions);
            self.check(None)?;
            let started = match &fact.fact {
                Fact::Started { journey, kind, t0_ns, .. } => Some((*journey, *kind, *t0_ns)),
                _ => None,
            };
            self.ledger.apply(fact, &mut self.decisions);
            self.check(started)?;
        }
        if sequencer.watermark_ns() < u64::MAX {
            self.ledger.advance(sequencer.watermark_ns(), &mut self.decisions);
        }
        self.check(None)
    }

    /// The lines add up, and who waits where is what the decisions say.
    fn check(&mut self, started: Option<(JourneyId, u16, u64)>) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.ledger.balance().imbalance(), None);
        if let Some((journey, kind, t0_ns)) = started {
            self.open.insert(journey, (kind, t0_ns, Vec::new()));
            self.recount();
        }
        while let Some(decision) = self.decisions.get(self.read) {
            self.read += 1;
            match decision {
                Decision::Reached { journey, stage, .. } => {
                    if let Some((_, _, reached)) = self.open.get_mut(journey) {
                        reached.push(*stage);
                    }
                }
                Decision::Finished(finished) => {
                    prop_assert!(self.open.remove(&finished.journey).is_some(), "finished twice");
                }
                _ => {}
            }
            self.recount();
        }
        prop_assert_eq!(self.ledger.in_flight(), self.open.len());
        for (kind, spec) in spec().journeys.iter().enumerate() {
            let kind = kind as u16;
            let own = self.open.values().filter(|(of, _, _)| *of == kind);
            let oldest_ns = own.map(|&(_, t0_ns, _)| t0_ns).min();
            prop_assert_eq!(self.ledger.oldest_in_flight_t0_ns(kind), oldest_ns);
            for stage in 0..spec.stages.len() as u8 {
                let now = self.waiting(kind, stage);
                prop_assert_eq!(self.ledger.in_flight_at(kind, stage), now);
                let max = self.maxima.insert((kind, stage), now).unwrap_or(0);
                prop_assert_eq!(self.ledger.take_in_flight_max(kind, stage), max.max(now));
            }
        }
        Ok(())
    }

    fn recount(&mut self) {
        for (kind, spec) in spec().journeys.iter().enumerate() {
            for stage in 0..spec.stages.len() as u8 {
                let now = self.waiting(kind as u16, stage);
                let max = self.maxima.entry((kind as u16, stage)).or_insert(0);
                *max = now.max(*max);
            }
        }
    }

    fn waiting(&self, kind: u16, stage: u8) -> u64 {
        use sojourn_ledger::Predecessor::{Stage, Step};
        let after = spec().journeys[usize::from(kind)].stages[usize::from(stage)].after;
        let waits = |reached: &[u8]| {
            let begun = match after {
                Step => true,
                Stage(of) => reached.contains(&of),
            };
            let stages = &spec().journeys[usize::from(kind)].stages;
            let of = |stage: u8| stages[usize::from(stage)].kind;
            let is_branch = matches!(of(stage), StageKind::Branch(_));
            let decided = is_branch && reached.iter().any(|&other| of(other) == of(stage));
            begun && !decided && !reached.contains(&stage)
        };
        let own = self.open.values().filter(|(of, _, reached)| *of == kind && waits(reached));
        own.count() as u64
    }

    /// What the decisions say in sum; it must agree with the lines.
    fn account(self, truth: &Truth) -> Result<Told, TestCaseError> {
        let balance = self.ledger.balance();
        let mut book = Expected {
            key_reused: balance.key_reused,
            failure_after_completion: balance.failure_after_completion,
            late_hops: balance.late_hops_without_predecessor,
            second_branches: balance.second_branches,
            ..Expected::default()
        };
        for decision in &self.decisions {
            match decision {
                Decision::Event { class, stamp_ns, .. } => {
                    let again = book.events.insert(*stamp_ns, *class);
                    prop_assert_eq!(again, None, "one event, two classes");
                }
                Decision::Hop { kind, stage, hop_ns, .. } => {
                    book.hops.push((*kind, *stage, *hop_ns))
                }
                Decision::Finished(end) => {
                    let outcome = Outcome {
                        class: end.class,
                        end_ns: end.end_ns,
                        stage_ns: end.stage_ns.to_vec(),
                        hops_without_predecessor: end.hops_without_predecessor,
                        negative_hops: end.negative_hops,
                    };
                    book.journeys.insert(end.journey, outcome);
                }
                _ => {}
            }
        }
        book.hops.sort_unstable();
        let (journeys, events) = (truth.journeys.len() as u64, truth.events.len() as u64);
        let missed = truth.missed.len() as u64;
        let lines = balance.journeys;
        prop_assert_eq!(balance.refused, 0);
        prop_assert_eq!((lines.started, lines.missed), (journeys, missed));
        prop_assert_eq!(lines.scheduled, journeys + missed);
        prop_assert_eq!(balance.events.seen, events);
        let decisions = self.decisions.iter().map(|decision| format!("{decision:?}")).collect();
        Ok(Told { book, decisions })
    }
}
