//! The series that the observer writes to, interned before the run.

use sojourn_ledger::{Decision, DuplicateKind, EventClass, FinishClass, Finished, Ledger, Phase};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_plan::{Journey, Plan, Stage, StageKind};

use super::{failures::FailureSeries, poison::PoisonSeries};

/// Series of the ledger's decisions.
pub(crate) struct ObserverSeries {
    journeys: Vec<[JourneySeries; 2]>,
    stages: Vec<Vec<[StageSeries; 2]>>,
    channels: Vec<ChannelSeries>,
    levels: Vec<LevelSeries>,
    failures: FailureSeries,
    poison: PoisonSeries,
    /// Of each journey, groups of alternatives.
    groups: Vec<Vec<Vec<usize>>>,
}

struct JourneySeries {
    classes: [SeriesId; 6],
    duration: SeriesId,
    key_reused: SeriesId,
    without_predecessor: SeriesId,
}

struct StageSeries {
    reached: SeriesId,
    hop: SeriesId,
    hop_negative: SeriesId,
    since_start: SeriesId,
    /// Of fan-out stages.
    first_member: Option<SeriesId>,
    /// Of alternatives: those that took it, and those that reached it besides.
    branch: Option<(SeriesId, SeriesId)>,
    /// By context, of journeys with a trace.
    trace: Option<[SeriesId; 3]>,
    matched: SeriesId,
    duplicates: [SeriesId; 3],
}

/// What is in flight of a journey, and at its stages.
struct LevelSeries {
    in_flight: SeriesId,
    oldest_age_ms: SeriesId,
    stages: Vec<SeriesId>,
}

struct ChannelSeries {
    seen: SeriesId,
    matched: SeriesId,
    duplicates: [SeriesId; 3],
    after_failure: SeriesId,
    orphan: SeriesId,
    foreign: SeriesId,
    unattributed: SeriesId,
    undecodable: SeriesId,
}

/// In the order of `TraceContext`.
const CONTEXTS: [&str; 3] = ["own", "other", "none"];
const DUPLICATE_KINDS: [&str; 3] = ["redelivery", "republication", "unknown"];
/// In the order of `Phase`.
pub(super) const PHASES: [SeriesPhase; 2] = [SeriesPhase::WarmUp, SeriesPhase::Steady];

impl ObserverSeries {
    pub(crate) fn new(plan: &Plan, recorder: &mut Recorder) -> Self {
        let channels = plan
            .channels
            .iter()
            .map(|channel| ChannelSeries::new(&channel.name, recorder))
            .collect();
        let mut series = Self {
            journeys: Vec::new(),
            stages: Vec::new(),
            channels,
            levels: Vec::new(),
            failures: FailureSeries::default(),
            poison: PoisonSeries::new(plan, recorder),
            groups: Vec::new(),
        };
        plan.journeys.iter().for_each(|journey| series.add(journey, PHASES, recorder));
        series
    }

    /// Takes a further journey in. `phases`: those that its warm-up and its steady phase go to.
    pub(crate) fn add(
        &mut self,
        journey: &Journey,
        phases: [SeriesPhase; 2],
        recorder: &mut Recorder,
    ) {
        let of_phase = |phase| JourneySeries::new(&journey.name, phase, recorder);
        self.journeys.push(phases.map(of_phase));
        let mut of_stage = |stage: &Stage| {
            let tags = [("journey", &*journey.name), ("stage", &*stage.name)];
            phases.map(|phase| StageSeries::new((journey, stage), &tags, phase, recorder))
        };
        self.stages.push(journey.stages.iter().map(&mut of_stage).collect());
        self.levels.push(LevelSeries::new(journey, recorder));
        self.failures.add(journey);
        self.groups.push(groups_of(journey));
    }

    /// Counts a decision.
    pub(crate) fn count(&mut self, decision: &Decision, recorder: &mut Recorder) {
        match decision {
            Decision::Reached { kind, stage, phase, since_start_ns, .. } => {
                let series = self.stage(*kind, *stage, *phase);
                recorder.add(series.reached, 1);
                recorder.record(series.since_start, *since_start_ns);
            }
            Decision::Hop { kind, stage, phase, hop_ns } => {
                let series = self.stage(*kind, *stage, *phase);
                let trend = if *hop_ns < 0 { series.hop_negative } else { series.hop };
                recorder.record(trend, hop_ns.unsigned_abs());
            }
            Decision::Event { channel, class, belongs, .. } => {
                self.event(*channel, *class, *belongs, recorder);
            }
            Decision::KeyReused { kind, phase, .. } => {
                let series = &self.journeys[usize::from(*kind)][*phase as usize];
                recorder.add(series.key_reused, 1);
            }
            Decision::Finished(finished) => self.finished(finished, recorder),
            Decision::FirstMember { kind, stage, phase, since_start_ns } => {
                if let Some(first_member) = self.stage(*kind, *stage, *phase).first_member {
                    recorder.record(first_member, *since_start_ns);
                }
            }
            Decision::SecondBranch { kind, stage, phase } => {
                if let Some((_, second)) = self.stage(*kind, *stage, *phase).branch {
                    recorder.add(second, 1);
                }
            }
            Decision::Traced { kind, stage, phase, context } => {
                if let Some(trace) = self.stage(*kind, *stage, *phase).trace {
                    recorder.add(trace[*context as usize], 1);
                }
            }
            Decision::Overdue { .. } | Decision::Again(_) => {}
        }
    }

    /// Sets the levels of the ledger as they stand, with each stage's maximum since the last call.
    pub(crate) fn levels(
        &self,
        ledger: &mut Ledger,
        in_flight: &[u64],
        now_ns: u64,
        recorder: &mut Recorder,
    ) {
        for (kind, levels) in (0u16..).zip(&self.levels) {
            recorder.set(levels.in_flight, in_flight[usize::from(kind)] as f64);
            let oldest_ns = ledger.oldest_in_flight_t0_ns(kind).unwrap_or(now_ns);
            let age_ns = now_ns.saturating_sub(oldest_ns);
            recorder.set(levels.oldest_age_ms, age_ns as f64 / 1e6);
            for (stage, series) in (0u8..).zip(&levels.stages) {
                // Two writes: the gauge keeps the greatest and the last.
                recorder.set(*series, ledger.take_in_flight_max(kind, stage) as f64);
                recorder.set(*series, ledger.in_flight_at(kind, stage) as f64);
            }
        }
    }

    /// Whether a journey is a poisoned one that ended at a failure stage, as it should.
    pub(super) fn is_contained(&self, finished: &Finished) -> bool {
        self.poison.is_contained(finished)
    }

    fn finished(&mut self, finished: &Finished, recorder: &mut Recorder) {
        self.failures.count(finished, recorder);
        self.poison.finished(finished, recorder);
        let series = &self.journeys[usize::from(finished.kind)][finished.phase as usize];
        recorder.add(series.classes[class_index(finished.class)], 1);
        recorder.add(series.without_predecessor, u64::from(finished.hops_without_predecessor));
        if matches!(finished.class, FinishClass::Completed | FinishClass::Late) {
            let duration_ns = finished.end_ns.saturating_sub(finished.t0_ns);
            recorder.record(series.duration, duration_ns);
            self.branches(finished, duration_ns, recorder);
        }
    }

    /// Of each group the alternative that came first is the one that the journey took.
    fn branches(&self, finished: &Finished, duration_ns: u64, recorder: &mut Recorder) {
        for group in &self.groups[usize::from(finished.kind)] {
            let seen_ns = |stage: usize| finished.stage_ns.get(stage).copied().unwrap_or(0);
            let reached = group.iter().copied().filter(|&stage| seen_ns(stage) > 0);
            let Some(taken) = reached.min_by_key(|&stage| seen_ns(stage)) else { continue };
            let series = &self.stages[usize::from(finished.kind)][taken][finished.phase as usize];
            if let Some((duration, _)) = series.branch {
                recorder.record(duration, duration_ns);
            }
        }
    }

    fn event(
        &self,
        channel: u16,
        class: EventClass,
        belongs: Option<(u16, u8, Phase)>,
        recorder: &mut Recorder,
    ) {
        let series = &self.channels[usize::from(channel)];
        recorder.add(series.seen, 1);
        let counter = match class {
            EventClass::Matched => series.matched,
            EventClass::Duplicate(kind) => series.duplicates[duplicate_index(kind)],
            EventClass::AfterFailure => series.after_failure,
            EventClass::Orphan => series.orphan,
            EventClass::Foreign => series.foreign,
            EventClass::Unattributed => series.unattributed,
            EventClass::Undecodable => series.undecodable,
        };
        recorder.add(counter, 1);
        let Some((kind, stage, phase)) = belongs else { return };
        self.poison.event(class, (kind, phase), recorder);
        let series = self.stage(kind, stage, phase);
        match class {
            EventClass::Matched => recorder.add(series.matched, 1),
            EventClass::Duplicate(kind) => {
                recorder.add(series.duplicates[duplicate_index(kind)], 1);
            }
            _ => {}
        }
    }

    fn stage(&self, kind: u16, stage: u8, phase: Phase) -> &StageSeries {
        &self.stages[usize::from(kind)][usize::from(stage)][phase as usize]
    }
}

impl LevelSeries {
    fn new(journey: &Journey, recorder: &mut Recorder) -> Self {
        let mut gauge = |metric: &str, tags: &[(&str, &str)]| {
            recorder.series(Kind::Gauge, SeriesKey::new(metric, tags, SeriesPhase::Any))
        };
        let of = ("journey", &*journey.name);
        let in_flight = gauge(names::JOURNEYS_IN_FLIGHT, &[of]);
        let oldest_age_ms = gauge(names::JOURNEYS_OLDEST_AGE_MS, &[of]);
        let stages = journey
            .stages
            .iter()
            .map(|stage| gauge(names::STAGE_IN_FLIGHT, &[of, ("stage", &*stage.name)]))
            .collect();
        Self { in_flight, oldest_age_ms, stages }
    }
}

impl JourneySeries {
    fn new(journey: &str, phase: SeriesPhase, recorder: &mut Recorder) -> Self {
        let mut series = |kind: Kind, metric: &str| {
            recorder.series(kind, SeriesKey::new(metric, &[("journey", journey)], phase))
        };
        Self {
            classes: [
                names::JOURNEYS_COMPLETED,
                names::JOURNEYS_LATE,
                names::JOURNEYS_LOST,
                names::JOURNEYS_FAILED,
                names::JOURNEYS_ROOT_FAILED,
                names::JOURNEYS_IN_FLIGHT_AT_CUTOFF,
            ]
            .map(|metric| series(Kind::Counter, metric)),
            duration: series(Kind::Trend, names::JOURNEY_DURATION),
            key_reused: series(Kind::Counter, names::KEY_REUSED),
            without_predecessor: series(Kind::Counter, names::JOURNEYS_HOPS_WITHOUT_PREDECESSOR),
        }
    }
}

impl StageSeries {
    fn new(
        (journey, stage): (&Journey, &Stage),
        tags: &[(&str, &str)],
        phase: SeriesPhase,
        recorder: &mut Recorder,
    ) -> Self {
        let mut series =
            |kind: Kind, metric: &str| recorder.series(kind, SeriesKey::new(metric, tags, phase));
        let [reached, matched, hop, hop_negative, since_start] = [
            (Kind::Counter, names::STAGE_REACHED),
            (Kind::Counter, names::STAGE_MATCHED),
            (Kind::Trend, names::STAGE_HOP),
            (Kind::Trend, names::STAGE_HOP_NEGATIVE),
            (Kind::Trend, names::STAGE_SINCE_START),
        ]
        .map(|(kind, metric)| series(kind, metric));
        let first_member =
            stage.expect.is_several().then(|| series(Kind::Trend, names::STAGE_FIRST_MEMBER));
        let branch = matches!(stage.kind, StageKind::Branch(_)).then(|| {
            let taken = series(Kind::Trend, names::BRANCH_DURATION);
            (taken, series(Kind::Counter, names::STAGE_SECOND_BRANCH))
        });
        let trace = journey.trace.then(|| {
            CONTEXTS.map(|context| {
                let tags: Vec<_> =
                    tags.iter().copied().chain([(names::CONTEXT, context)]).collect();
                recorder.series(Kind::Counter, SeriesKey::new(names::STAGE_TRACE, &tags, phase))
            })
        });
        let duplicates = DUPLICATE_KINDS.map(|duplicate| {
            let tags: Vec<_> = tags.iter().copied().chain([("kind", duplicate)]).collect();
            let key = SeriesKey::new(names::STAGE_DUPLICATES, &tags, phase);
            recorder.series(Kind::Counter, key)
        });
        Self {
            reached,
            hop,
            hop_negative,
            since_start,
            matched,
            first_member,
            branch,
            trace,
            duplicates,
        }
    }
}

impl ChannelSeries {
    fn new(channel: &str, recorder: &mut Recorder) -> Self {
        let mut counter = |metric: &str, tags: &[(&str, &str)]| {
            recorder.series(Kind::Counter, SeriesKey::new(metric, tags, SeriesPhase::Any))
        };
        let plain = [("channel", channel)];
        Self {
            seen: counter(names::EVENTS_SEEN, &plain),
            matched: counter(names::EVENTS_MATCHED, &plain),
            duplicates: DUPLICATE_KINDS.map(|duplicate| {
                counter(names::EVENTS_DUPLICATE, &[("channel", channel), ("kind", duplicate)])
            }),
            after_failure: counter(names::EVENTS_AFTER_FAILURE, &plain),
            orphan: counter(names::EVENTS_ORPHAN, &plain),
            foreign: counter(names::EVENTS_FOREIGN, &plain),
            unattributed: counter(names::EVENTS_UNATTRIBUTED, &plain),
            undecodable: counter(names::EVENTS_UNDECODABLE, &plain),
        }
    }
}

/// Of a journey, the stages of each group of alternatives.
pub(super) fn groups_of(journey: &Journey) -> Vec<Vec<usize>> {
    let of_group = |group: u8| {
        let is_of = |&at: &usize| journey.stages[at].kind == StageKind::Branch(group);
        (0..journey.stages.len()).filter(is_of).collect::<Vec<_>>()
    };
    (0..=u8::MAX).map(of_group).filter(|group| !group.is_empty()).collect()
}

fn class_index(class: FinishClass) -> usize {
    match class {
        FinishClass::Completed => 0,
        FinishClass::Late => 1,
        FinishClass::Lost => 2,
        FinishClass::Failed => 3,
        FinishClass::RootFailed => 4,
        FinishClass::InFlightAtCutoff => 5,
    }
}

fn duplicate_index(kind: DuplicateKind) -> usize {
    match kind {
        DuplicateKind::Redelivery => 0,
        DuplicateKind::Republication => 1,
        DuplicateKind::Unknown => 2,
    }
}

#[cfg(test)]
mod tests {
    use sojourn_ledger::{Fact, JourneyId, Stamped};
    use sojourn_metrics::Store;

    use super::*;
    use crate::testing::{PAYMENT, plan};

    #[test]
    fn a_key_reused_in_warm_up_is_not_counted_as_steady() {
        let mut recorder = Recorder::new(0);
        let mut series = ObserverSeries::new(&plan(PAYMENT, "http://127.0.0.1:1"), &mut recorder);
        for (phase, times) in [(Phase::WarmUp, 2), (Phase::Steady, 3)] {
            for number in 0..times {
                let journey = JourneyId(number);
                series.count(&Decision::KeyReused { journey, kind: 0, phase }, &mut recorder);
            }
        }
        let mut store = Store::new();
        store.apply(&recorder.take(1, None)).unwrap();
        let counted = PHASES.map(|phase| {
            store.counter(&SeriesKey::new(names::KEY_REUSED, &[("journey", "payment")], phase))
        });
        assert_eq!(counted, [2, 3]);
    }

    #[test]
    fn the_oldest_in_flight_has_its_age_since_its_scheduled_instant() {
        let plan = plan(PAYMENT, "http://127.0.0.1:1");
        let mut recorder = Recorder::new(0);
        let series = ObserverSeries::new(&plan, &mut recorder);
        let mut ledger = Ledger::new(crate::shape::ledger_spec(&plan, "test"));
        let key = SeriesKey::new(
            names::JOURNEYS_OLDEST_AGE_MS,
            &[("journey", "payment")],
            SeriesPhase::Any,
        );
        let mut store = Store::new();
        let mut age_ms_at = |ledger: &mut Ledger, now_ns: u64| {
            series.levels(ledger, &[0], now_ns, &mut recorder);
            store.apply(&recorder.take(now_ns, None)).unwrap();
            store.gauge(&key).map(|(last, _, _)| last)
        };
        assert_eq!(age_ms_at(&mut ledger, 1_000_000_000), Some(0.0));
        for (number, t0_ns) in [(0, 1_000_000_000), (1, 1_500_000_000)] {
            let fact = Fact::Started {
                journey: JourneyId(number),
                kind: 0,
                phase: Phase::Steady,
                t0_ns,
                key: None,
            };
            // Begun half a second after it was due: that is part of its age.
            let stamp_ns = t0_ns + 500_000_000;
            ledger.apply(Stamped { stamp_ns, fact }, &mut Vec::new());
        }
        assert_eq!(age_ms_at(&mut ledger, 2_250_000_000), Some(1_250.0));
    }
}
