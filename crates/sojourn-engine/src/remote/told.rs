//! What a process of generators has told of its journeys, in two ways: by facts and by figures.
//!
//! Figures come once a second, facts as they happen. When a process is lost the two are of
//! different instants, and the book would not add up by the difference. What is known of it makes
//! up for that: a journey that a fact names was started, whatever the figures say; one that only
//! figures name, or whose end nobody has told, was in flight at the cutoff.

use std::collections::{BTreeMap, HashMap};

use sojourn_ledger::{Batch, Fact, Phase};
use sojourn_metrics::{
    Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, Snapshot, Value,
    names::{
        JOURNEYS_COMPLETED, JOURNEYS_FAILED, JOURNEYS_IN_FLIGHT_AT_CUTOFF, JOURNEYS_LATE,
        JOURNEYS_LOST, JOURNEYS_ROOT_FAILED, JOURNEYS_SCHEDULED, JOURNEYS_STARTED,
    },
};
use sojourn_plan::Plan;

use crate::work::Work;

/// Counters of journeys that have ended, as generators that keep the book themselves have them.
const ENDS: [&str; 6] = [
    JOURNEYS_COMPLETED,
    JOURNEYS_LATE,
    JOURNEYS_LOST,
    JOURNEYS_FAILED,
    JOURNEYS_ROOT_FAILED,
    JOURNEYS_IN_FLIGHT_AT_CUTOFF,
];

/// What a process has told so far.
pub(crate) struct Told {
    /// Of each kind of journey, its name.
    journeys: Vec<String>,
    /// So many kinds come first whose ends the generators count themselves.
    own_kinds: usize,
    /// Counters of figures that matter here, by recorder and its own number.
    series: HashMap<(u32, SeriesId), (String, What)>,
    lines: BTreeMap<String, Line>,
    /// Up to when its figures are.
    until_ns: u64,
}

/// What a counter counts.
#[derive(Clone, Copy)]
enum What {
    Started(SeriesPhase),
    Ended,
}

/// Journeys of one name.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// By figures, in the warm-up and in the steady phase.
    started: [u64; 2],
    ended: u64,
    /// By facts.
    known: [u64; 2],
}

impl Told {
    pub(crate) fn new(plan: &Plan, work: &Work) -> Self {
        let journeys: Vec<_> = plan.journeys.iter().map(|it| it.name.clone()).collect();
        let own_kinds = match (work.keeps_the_book(), work.events()) {
            (false, _) => 0,
            (true, Some(events)) => events.sessions,
            (true, None) => journeys.len(),
        };
        let (series, lines) = (HashMap::new(), BTreeMap::new());
        Self { journeys, own_kinds, series, lines, until_ns: 0 }
    }

    /// Takes a batch that is handed on.
    pub(crate) fn facts(&mut self, batch: &Batch) {
        for stamped in &batch.facts {
            let (kind, phase) = match &stamped.fact {
                Fact::Started { kind, phase, .. } => (*kind, *phase),
                Fact::Followed(followed) => (followed.kind, followed.phase),
                _ => continue,
            };
            if let Some(journey) = self.journeys.get(usize::from(kind)) {
                // Names are few: nothing is allocated for one that is known.
                let line = match self.lines.get_mut(journey) {
                    Some(line) => line,
                    None => self.lines.entry(journey.clone()).or_default(),
                };
                line.known[usize::from(phase == Phase::Steady)] += 1;
            }
        }
    }

    /// Takes a second's figures that are handed on.
    pub(crate) fn figures(&mut self, snapshot: &Snapshot) {
        self.until_ns = self.until_ns.max(snapshot.end_ns);
        for (id, _, key) in &snapshot.new_series {
            let what = match key.metric.as_str() {
                JOURNEYS_STARTED => What::Started(key.phase),
                metric if ENDS.contains(&metric) => What::Ended,
                _ => continue,
            };
            if let Some(journey) = key.tag("journey") {
                self.series.insert((snapshot.source, *id), (journey.to_owned(), what));
            }
        }
        for (id, value) in &snapshot.values {
            let Value::Counter(count) = value else { continue };
            let Some((journey, what)) = self.series.get(&(snapshot.source, *id)) else { continue };
            let line = self.lines.entry(journey.clone()).or_default();
            match what {
                What::Started(SeriesPhase::Steady) => line.started[1] += count,
                What::Started(_) => line.started[0] += count,
                What::Ended => line.ended += count,
            }
        }
    }

    /// Journeys that it has told of.
    pub(crate) fn started(&self) -> u64 {
        let most = |line: &Line| {
            let phases = line.started.iter().zip(&line.known);
            phases.map(|(figures, facts)| *figures.max(facts)).sum::<u64>()
        };
        self.lines.values().map(most).sum()
    }

    /// Up to when its figures are; 0 where it gave none.
    pub(crate) fn until_ns(&self) -> u64 {
        self.until_ns
    }

    /// The figures without which the book would not add up, as of a recorder of this number.
    pub(crate) fn missing(&self, recorder_number: u32, now_ns: u64) -> Snapshot {
        let mut recorder = Recorder::new(recorder_number);
        // It is found out now; the seconds before are told already.
        recorder.start_at(now_ns);
        let mut add = |metric: &str, journey: &str, phase: SeriesPhase, count: u64| {
            let key = SeriesKey::new(metric, &[("journey", journey)], phase);
            let series = recorder.series(Kind::Counter, key);
            recorder.add(series, count);
        };
        for (journey, line) in &self.lines {
            let kind = self.journeys.iter().position(|name| name == journey);
            if kind.is_some_and(|kind| kind < self.own_kinds) {
                let started = line.started.iter().sum::<u64>();
                let left = started.saturating_sub(line.ended);
                add(JOURNEYS_IN_FLIGHT_AT_CUTOFF, journey, SeriesPhase::Steady, left);
                continue;
            }
            for (at, phase) in [SeriesPhase::WarmUp, SeriesPhase::Steady].into_iter().enumerate() {
                let (figures, facts) = (line.started[at], line.known[at]);
                add(JOURNEYS_STARTED, journey, phase, facts.saturating_sub(figures));
                add(JOURNEYS_SCHEDULED, journey, phase, facts.saturating_sub(figures));
                let unknown = figures.saturating_sub(facts);
                add(JOURNEYS_IN_FLIGHT_AT_CUTOFF, journey, phase, unknown);
            }
        }
        recorder.take(now_ns, None)
    }
}
