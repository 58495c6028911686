//! Lost journeys, which no queue holds any more: they stay in flight until they are given up, so
//! that a loss of one in a hundred would look like a backlog that grows.
//!
//! A journey that was never seen complete and is older than 99 of 100 that were is taken for lost
//! already. In a queue that grows that age grows with it, so that nobody who waits is left out.

use sojourn_metrics::names;
use sojourn_record::{JourneyRecord, JourneyShape, StageShape};

use super::lookup::Lookup;

/// The lost journeys of one kind.
pub(super) struct GivenUp<'a> {
    records: Vec<&'a JourneyRecord>,
    /// From this age on they are lost, nanoseconds.
    age_ns: u64,
    /// How many each record stands for, where the file has not all of them.
    each: f64,
}

impl<'a> GivenUp<'a> {
    pub(super) fn of(lookup: &Lookup<'a>, shape: &JourneyShape) -> Self {
        let tags = [(names::JOURNEY, shape.name.as_str())];
        let durations = lookup.trend(names::JOURNEY_DURATION, &tags);
        let p99_ns = durations.and_then(|durations| durations.quantile(0.99));
        let is_lost =
            |record: &&JourneyRecord| record.journey == shape.name && record.class == names::LOST;
        let records: Vec<_> = lookup.run.journeys.iter().filter(is_lost).collect();
        let lost = lookup.whole(names::JOURNEYS_LOST, &tags);
        Self {
            each: (lost as f64 / records.len().max(1) as f64).max(1.0),
            // Where none completed, none is known to be late.
            age_ns: p99_ns.unwrap_or(u64::MAX),
            records,
        }
    }

    /// When they are in flight and lost already.
    pub(super) fn in_flight(&self) -> Spans {
        self.spans(|_| true)
    }

    /// When they wait for a stage, whose predecessor they have reached.
    pub(super) fn waiting(&self, stage: &StageShape) -> Spans {
        let seen_ns = |record: &JourneyRecord, name: &str| {
            record.stages.iter().find(|seen| seen.name == name).and_then(|seen| seen.seen_ns)
        };
        self.spans(|record| {
            let is_stage = record.stages.iter().any(|before| before.name == stage.after);
            let came = !is_stage || seen_ns(record, &stage.after).is_some();
            came && seen_ns(record, &stage.name).is_none()
        })
    }

    fn spans(&self, waits: impl Fn(&JourneyRecord) -> bool) -> Spans {
        let span = |record: &&JourneyRecord| {
            let from_ns = record.t0_ns.saturating_add(self.age_ns);
            (from_ns < record.end_ns && waits(record)).then_some((from_ns, record.end_ns))
        };
        let (mut from_ns, mut to_ns): (Vec<u64>, Vec<u64>) =
            self.records.iter().filter_map(span).unzip();
        from_ns.sort_unstable();
        to_ns.sort_unstable();
        Spans { from_ns, to_ns, each: self.each }
    }
}

/// Spans of time, by their sorted ends.
pub(super) struct Spans {
    from_ns: Vec<u64>,
    to_ns: Vec<u64>,
    each: f64,
}

impl Spans {
    /// How many journeys are within theirs at an instant.
    pub(super) fn at(&self, at_ns: u64) -> f64 {
        let begun = self.from_ns.partition_point(|from_ns| *from_ns <= at_ns);
        let ended = self.to_ns.partition_point(|to_ns| *to_ns <= at_ns);
        (begun - ended) as f64 * self.each
    }
}
