//! What is compared of a run: its steady phase, cut into blocks.

use sojourn_analysis::compare::{BLOCKS_MIN, Block, grouping};
use sojourn_metrics::{Histogram, SeriesKey, SeriesPhase, Store, names};
use sojourn_record::{JourneyShape, RunFile};

use super::CompareError;

/// What a run measured.
pub(super) struct Measured {
    pub(super) subjects: Vec<Subject>,
    pub(super) blocks: usize,
    pub(super) arrivals_per_s: f64,
}

/// A journey, hop or step.
pub(super) struct Subject {
    pub(super) journey: String,
    kind: Kind,
    of: String,
    pub(super) latencies: Vec<Block>,
    /// Of journeys.
    pub(super) outcomes: Option<Outcomes>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Journey,
    Hop,
    Step,
}

/// How journeys ended, by block.
pub(super) struct Outcomes {
    /// Completed, and the block's seconds.
    pub(super) done: Vec<(u64, f64)>,
    /// Failed or lost, and all that ended.
    pub(super) failed: Vec<(u64, u64)>,
}

impl Subject {
    fn new(journey: &str, kind: Kind, of: &str) -> Self {
        let outcomes =
            (kind == Kind::Journey).then(|| Outcomes { done: Vec::new(), failed: Vec::new() });
        Self {
            journey: journey.to_owned(),
            kind,
            of: of.to_owned(),
            latencies: Vec::new(),
            outcomes,
        }
    }

    /// In words: `hop settled`.
    pub(super) fn name(&self) -> String {
        match self.kind {
            Kind::Journey => format!("journey {}", self.journey),
            Kind::Hop => format!("hop {}", self.of),
            Kind::Step => format!("step {}", self.of),
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.journey == other.journey && self.of == other.of
    }

    /// How many figures are compared of it.
    pub(super) fn figures(&self) -> usize {
        super::QUANTILES.len() + if self.outcomes.is_some() { 2 } else { 0 }
    }

    fn read(&mut self, store: &Store, seconds: f64) {
        let journey = (names::JOURNEY, self.journey.as_str());
        let counter =
            |metric| store.counter(&SeriesKey::new(metric, &[journey], SeriesPhase::Steady));
        let trend = |metric, tag: Option<(&str, &str)>| {
            let tags: Vec<_> = [journey].into_iter().chain(tag).collect();
            bins(store.trend(&SeriesKey::new(metric, &tags, SeriesPhase::Steady)))
        };
        let bins = match self.kind {
            Kind::Journey => trend(names::JOURNEY_DURATION, None),
            Kind::Hop => trend(names::STAGE_HOP, Some((names::STAGE, &self.of))),
            Kind::Step => trend(names::STEP_RESPONSE, Some((names::STEP, &self.of))),
        };
        let mut block = Block { bins, beyond: 0 };
        if let Some(outcomes) = &mut self.outcomes {
            block.beyond = counter(names::JOURNEYS_LOST);
            let done = counter(names::JOURNEYS_COMPLETED) + counter(names::JOURNEYS_LATE);
            let failed = counter(names::JOURNEYS_FAILED)
                + counter(names::JOURNEYS_ROOT_FAILED)
                + block.beyond;
            outcomes.done.push((done, seconds));
            outcomes.failed.push((failed, failed + done));
        }
        self.latencies.push(block);
    }

    fn has_samples(&self) -> bool {
        self.latencies.iter().any(|block| block.count() > 0)
            || self.outcomes.as_ref().is_some_and(|it| it.failed.iter().any(|(_, all)| *all > 0))
    }
}

/// Reads the blocks of a run's steady phase.
pub(super) fn measure(run: &RunFile) -> Result<Measured, CompareError> {
    let steady_ns = run.identity.phases_ns[0];
    let load_end_ns = run.summary.as_ref().map_or(u64::MAX, |summary| summary.load_end_ns);
    let is_loaded = |start_ns: u64| (steady_ns..load_end_ns).contains(&start_ns);
    // Loaded seconds make blocks; what ends after the load belongs to the last of them.
    let first = run.intervals.iter().position(|interval| is_loaded(interval.start_ns));
    let loaded = run.intervals.iter().filter(|interval| is_loaded(interval.start_ns)).count();
    let (first, blocks_of) = match (first, grouping(loaded)) {
        (Some(first), Some(blocks_of)) => (first, blocks_of),
        _ => {
            let run = run.identity.run_id.clone();
            return Err(CompareError::TooShort { run, seconds: loaded });
        }
    };
    let blocks = blocks_of.last().map_or(BLOCKS_MIN, |last| last + 1);
    let mut subjects: Vec<Subject> = run.identity.journeys.iter().flat_map(of_journey).collect();
    let mut store = Store::new();
    let mut seconds = 0.0;
    for (index, interval) in run.intervals.iter().enumerate() {
        store.append(&run.delta(index)?);
        let place = index.checked_sub(first);
        let own = place.and_then(|place| blocks_of.get(place));
        if own.is_some() {
            let end_ns = interval.end_ns.min(load_end_ns);
            seconds += end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
        }
        let next = place.and_then(|place| blocks_of.get(place + 1));
        let is_last = index + 1 == run.intervals.len();
        let is_whole = own.is_some() && next.is_some() && own != next;
        if is_whole || is_last {
            subjects.iter_mut().for_each(|subject| subject.read(&store, seconds));
            store = Store::new();
            seconds = 0.0;
        }
    }
    subjects.retain(Subject::has_samples);
    let started = run.store.sum(names::JOURNEYS_STARTED, &[], SeriesPhase::Steady);
    let steady_s = loaded_s(run, steady_ns);
    Ok(Measured { subjects, blocks, arrivals_per_s: started as f64 / steady_s.max(1e-9) })
}

fn loaded_s(run: &RunFile, steady_ns: u64) -> f64 {
    let known_ns = run.intervals.last().map_or(0, |last| last.end_ns);
    let end_ns = run.summary.as_ref().map_or(known_ns, |summary| summary.load_end_ns);
    end_ns.saturating_sub(steady_ns) as f64 / 1e9
}

fn of_journey(shape: &JourneyShape) -> Vec<Subject> {
    let hops = shape.stages.iter().map(|stage| Subject::new(&shape.name, Kind::Hop, &stage.name));
    let steps = shape.steps.iter().map(|step| Subject::new(&shape.name, Kind::Step, step));
    std::iter::once(Subject::new(&shape.name, Kind::Journey, "")).chain(steps).chain(hops).collect()
}

/// A histogram's buckets by their greatest value, which is what its quantiles are.
fn bins(histogram: Option<&Histogram>) -> Vec<(u64, u64)> {
    let buckets = histogram.into_iter().flat_map(|histogram| histogram.buckets());
    buckets.map(|(_, high, count)| (high, count)).collect()
}
