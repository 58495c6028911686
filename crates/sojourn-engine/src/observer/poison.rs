//! What became of poisoned journeys, beyond what is counted of every journey. A plan without poison
//! has none of these series.

use sojourn_ledger::{EventClass, FinishClass, Finished, Phase, Reason};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, names};
use sojourn_plan::{Journey, Plan, StageKind};

use super::series::PHASES;

/// Series of poisoned journeys, by journey; empty in a plan without any.
pub(super) struct PoisonSeries {
    journeys: Vec<Option<Poisoned>>,
}

struct Poisoned {
    within_ns: u64,
    /// By stage: whether reaching it is a terminal failure.
    is_failure: Vec<bool>,
    phases: [OfPhase; 2],
}

#[derive(Clone, Copy)]
struct OfPhase {
    contained: SeriesId,
    contained_late: SeriesId,
    containment: SeriesId,
    events_after: SeriesId,
}

impl PoisonSeries {
    pub(super) fn new(plan: &Plan, recorder: &mut Recorder) -> Self {
        if plan.journeys.iter().all(|journey| journey.poison.is_none()) {
            return Self { journeys: Vec::new() };
        }
        let mut of = |journey: &Journey| journey.poison.map(|_| Poisoned::new(journey, recorder));
        Self { journeys: plan.journeys.iter().map(&mut of).collect() }
    }

    /// Whether a journey is a poisoned one that ended where poison belongs: at a failure stage.
    pub(super) fn is_contained(&self, finished: &Finished) -> bool {
        self.of(finished.kind).is_some_and(|poisoned| poisoned.contains(finished))
    }

    pub(super) fn finished(&self, finished: &Finished, recorder: &mut Recorder) {
        let Some(poisoned) = self.of(finished.kind).filter(|it| it.contains(finished)) else {
            return;
        };
        let series = poisoned.phases[finished.phase as usize];
        let took_ns = finished.end_ns.saturating_sub(finished.t0_ns);
        recorder.add(series.contained, 1);
        recorder.add(series.contained_late, u64::from(took_ns > poisoned.within_ns));
        recorder.record(series.containment, took_ns);
    }

    pub(super) fn event(
        &self,
        class: EventClass,
        (kind, phase): (u16, Phase),
        recorder: &mut Recorder,
    ) {
        if let (EventClass::AfterFailure, Some(poisoned)) = (class, self.of(kind)) {
            recorder.add(poisoned.phases[phase as usize].events_after, 1);
        }
    }

    fn of(&self, kind: u16) -> Option<&Poisoned> {
        self.journeys.get(usize::from(kind))?.as_ref()
    }
}

impl Poisoned {
    fn new(journey: &Journey, recorder: &mut Recorder) -> Self {
        let tags = [(names::JOURNEY, &*journey.name)];
        let phases = PHASES.map(|phase| {
            let mut series = |kind: Kind, metric: &str| {
                recorder.series(kind, SeriesKey::new(metric, &tags, phase))
            };
            OfPhase {
                contained: series(Kind::Counter, names::POISON_CONTAINED),
                contained_late: series(Kind::Counter, names::POISON_CONTAINED_LATE),
                containment: series(Kind::Trend, names::POISON_CONTAINMENT),
                events_after: series(Kind::Counter, names::POISON_EVENTS_AFTER),
            }
        });
        let is_failure = journey.stages.iter().map(|stage| stage.kind == StageKind::Failure);
        Self { within_ns: journey.within_ns, is_failure: is_failure.collect(), phases }
    }

    fn contains(&self, finished: &Finished) -> bool {
        match (finished.class, finished.reason) {
            (FinishClass::Failed, Some(Reason::Stage(stage))) => {
                self.is_failure.get(usize::from(stage)).copied().unwrap_or(false)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use sojourn_ledger::JourneyId;
    use sojourn_metrics::{SeriesPhase, Store};

    use super::*;
    use crate::testing::plan;

    const POISONED: &str = r#"
channels:
  events: { webhook: {} }
journeys:
  payment:
    root:
      http: { url: /, json: { amount: 1 } }
      key: "{{ uuid() }}"
      poison: { share: 10%, set: { amount: none } }
    stages:
      - { name: created, on: events, match: { type: Created }, key: $.id }
      - { name: dead, on: events, match: { type: Dead }, key: $.id, failure: true }
      - { name: never, on: events, match: { type: Never }, key: $.id, never: true }
    within: 2s
load: { rate: 20/s, steady: 1s, drain: 1s }
"#;

    /// Only a poisoned journey that ended at a failure stage is contained.
    #[test]
    fn what_is_contained_and_what_is_not() {
        let mut recorder = Recorder::new(0);
        let series = PoisonSeries::new(&plan(POISONED, "http://127.0.0.1:1"), &mut recorder);
        let ended = |kind, reason, took_ns| Finished {
            kind,
            class: FinishClass::Failed,
            reason: Some(reason),
            end_ns: 1_000 + took_ns,
            ..crate::testing::finished(JourneyId(1), Phase::Steady)
        };
        let second = sojourn_clock::SECOND_NS;
        for (finished, is_contained) in [
            (ended(1, Reason::Stage(1), second), true),
            (ended(1, Reason::Stage(1), 2 * second + 1), true),
            (ended(1, Reason::Stage(2), second), false),
            (ended(1, Reason::Check(1), second), false),
            (ended(0, Reason::Stage(1), second), false),
        ] {
            assert_eq!(series.is_contained(&finished), is_contained, "{finished:?}");
            series.finished(&finished, &mut recorder);
        }
        series.event(EventClass::AfterFailure, (1, Phase::Steady), &mut recorder);
        series.event(EventClass::AfterFailure, (0, Phase::Steady), &mut recorder);
        series.event(EventClass::Matched, (1, Phase::Steady), &mut recorder);
        let mut store = Store::new();
        store.apply(&recorder.take(1, None)).unwrap();
        let tags = [(names::JOURNEY, "payment (poisoned)")];
        let key = |metric| SeriesKey::new(metric, &tags, SeriesPhase::Steady);
        let counts =
            [names::POISON_CONTAINED, names::POISON_CONTAINED_LATE, names::POISON_EVENTS_AFTER]
                .map(|metric| store.counter(&key(metric)));
        assert_eq!(counts, [2, 1, 1]);
        assert_eq!(store.trend(&key(names::POISON_CONTAINMENT)).unwrap().count(), 2);
    }
}
