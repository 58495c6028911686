//! Foreign clocks: how they stand to ours, and what can be said of the times that they show.
//!
//! A clock that shows u (whole milliseconds) in an answer did so between the sending of the request
//! and the end of the answer, at instants of ours s and r: its offset (its time − ours, at one
//! instant) lies in [u − r, u + 1 ms − s]. An event that was seen at r says only that it is no less
//! than u − r. The offset lies in all of these intervals, if there is one clock that keeps time.
//!
//! A time that the clock shows is then an instant of ours between two bounds, and a duration from
//! or to it has a least and a most. Both are counted; since every duration lies between its own, so
//! does every quantile of them between the quantiles of the two.

use sojourn_clock::{Anchor, MILLISECOND_NS};
use sojourn_ledger::{Finished, Reading, Unread, Where};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_plan::{Journey, Plan};

use super::series::PHASES;

/// Clocks and the series of what they show; empty for a plan without any.
pub(super) struct ClockSeries {
    clocks: Vec<Clock>,
    /// By journey; empty without clocks.
    journeys: Vec<Durations>,
    anchor: Anchor,
    start_ns: u64,
}

struct Clock {
    offset: Interval,
    least: Signed,
    most: Signed,
    /// In the order of [`REASONS`].
    unread: [SeriesId; 2],
    contradicted: SeriesId,
    is_contradicted: bool,
}

/// In the order of [`Unread`].
const REASONS: [&str; 2] = ["missing", "not a ULID"];

/// What is known of an offset, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Interval {
    least_ns: Option<i128>,
    most_ns: Option<i128>,
}

/// A trend whose negative samples stand apart, by their magnitudes.
#[derive(Clone, Copy)]
struct Signed {
    positive: SeriesId,
    negative: SeriesId,
}

/// Of one journey.
struct Durations {
    /// By step; `None`: its answer shows no clock.
    steps: Vec<Option<[Bounds; 2]>>,
    stages: Vec<Option<[OfStage; 2]>>,
}

/// A duration's least and most.
#[derive(Clone, Copy)]
struct Bounds {
    least: SeriesId,
    most: SeriesId,
}

#[derive(Clone, Copy)]
struct OfStage {
    between: Signed,
    seen: Bounds,
}

impl ClockSeries {
    pub(super) fn new(plan: &Plan, anchor: Anchor, start_ns: u64, recorder: &mut Recorder) -> Self {
        let clocks = plan.clocks.iter().map(|name| Clock::new(name, recorder)).collect();
        let mut of = |journey: &Journey| Durations::new(plan, journey, recorder);
        let journeys = match plan.clocks.is_empty() {
            true => Vec::new(),
            false => plan.journeys.iter().map(&mut of).collect(),
        };
        Self { clocks, journeys, anchor, start_ns }
    }

    /// Counts what an ended journey has read.
    pub(super) fn finished(&mut self, finished: &Finished, recorder: &mut Recorder) {
        for reading in &finished.readings {
            self.bound(reading, recorder);
        }
        for reading in &finished.readings {
            self.durations(reading, finished, recorder);
        }
    }

    /// What a reading says of its clock's offset.
    fn bound(&mut self, reading: &Reading, recorder: &mut Recorder) {
        let Some(clock) = self.clocks.get_mut(usize::from(reading.clock)) else { return };
        let shown_ns = match reading.unix_ms {
            Ok(unix_ms) => ns(unix_ms),
            Err(unread) => {
                let reason = match unread {
                    Unread::Missing => 0,
                    Unread::Invalid => 1,
                };
                return recorder.add(clock.unread[reason], 1);
            }
        };
        let ours = |instant_ns: u64| i128::from(self.anchor.unix_ns_at(instant_ns));
        let least_ns = shown_ns - ours(reading.read_ns);
        clock.least.record(recorder, least_ns);
        let most_ns = match reading.at {
            Where::Answer { sent_ns, .. } => {
                let most_ns = shown_ns + i128::from(MILLISECOND_NS) - ours(sent_ns);
                clock.most.record(recorder, most_ns);
                Some(most_ns)
            }
            Where::Event { .. } => None,
        };
        clock.offset.narrow(least_ns, most_ns);
        if clock.offset.is_empty() && !clock.is_contradicted {
            clock.is_contradicted = true;
            recorder.record(clock.contradicted, reading.read_ns.saturating_sub(self.start_ns));
        }
    }

    /// Durations from and to the time that a clock has shown; none once it contradicts itself.
    fn durations(&self, reading: &Reading, finished: &Finished, recorder: &mut Recorder) {
        let clock = self.clocks.get(usize::from(reading.clock));
        let Some(clock) = clock.filter(|clock| !clock.is_contradicted) else { return };
        let (Ok(unix_ms), Some(own)) =
            (reading.unix_ms, self.journeys.get(usize::from(finished.kind)))
        else {
            return;
        };
        let shown_ns = ns(unix_ms);
        let ours = |instant_ns: u64| i128::from(self.anchor.unix_ns_at(instant_ns));
        // Between these instants of our clock it showed this time.
        let (Some(least_ns), Some(most_ns)) = (clock.offset.least_ns, clock.offset.most_ns) else {
            return;
        };
        let from_ns = shown_ns - most_ns;
        let to_ns = shown_ns + i128::from(MILLISECOND_NS) - least_ns;
        match reading.at {
            Where::Answer { step, due_ns, sent_ns } => {
                let Some(Some(series)) = own.steps.get(usize::from(step)) else { return };
                let bounds = [from_ns.max(ours(sent_ns)), to_ns.min(ours(reading.read_ns))];
                let bounds = bounds.map(|bound_ns| bound_ns - ours(due_ns));
                series[finished.phase as usize].record(recorder, bounds);
            }
            Where::Event { stage } => {
                let Some(Some(series)) = own.stages.get(usize::from(stage)) else { return };
                let series = series[finished.phase as usize];
                let read_ns = ours(reading.read_ns);
                let bounds = [read_ns - to_ns.min(read_ns), read_ns - from_ns];
                series.seen.record(recorder, bounds);
                if let Some(answered_ms) = first_answer(finished, reading.clock) {
                    series.between.record(recorder, shown_ns - ns(answered_ms));
                }
            }
        }
    }
}

/// What the first answer of a journey that shows this clock shows.
fn first_answer(finished: &Finished, clock: u8) -> Option<u64> {
    let is_answer =
        |reading: &&Reading| reading.clock == clock && matches!(reading.at, Where::Answer { .. });
    finished.readings.iter().filter(is_answer).find_map(|reading| reading.unix_ms.ok())
}

fn ns(unix_ms: u64) -> i128 {
    i128::from(unix_ms) * i128::from(MILLISECOND_NS)
}

impl Clock {
    fn new(name: &str, recorder: &mut Recorder) -> Self {
        let tags = [(names::CLOCK, name)];
        let mut trend = |metric: &str| {
            recorder.series(Kind::Trend, SeriesKey::new(metric, &tags, SeriesPhase::Any))
        };
        let mut signed =
            |positive, negative| Signed { positive: trend(positive), negative: trend(negative) };
        let least = signed(names::CLOCK_OFFSET_LEAST, names::CLOCK_OFFSET_LEAST_NEGATIVE);
        let most = signed(names::CLOCK_OFFSET_MOST, names::CLOCK_OFFSET_MOST_NEGATIVE);
        let contradicted = trend(names::CLOCK_CONTRADICTED);
        let unread = REASONS.map(|reason| {
            let tags = [tags[0], (names::REASON, reason)];
            let key = SeriesKey::new(names::CLOCK_UNREAD, &tags, SeriesPhase::Any);
            recorder.series(Kind::Counter, key)
        });
        let offset = Interval::default();
        Self { offset, least, most, unread, contradicted, is_contradicted: false }
    }
}

impl Interval {
    fn narrow(&mut self, least_ns: i128, most_ns: Option<i128>) {
        self.least_ns = Some(self.least_ns.map_or(least_ns, |known| known.max(least_ns)));
        if let Some(most_ns) = most_ns {
            self.most_ns = Some(self.most_ns.map_or(most_ns, |known| known.min(most_ns)));
        }
    }

    fn is_empty(self) -> bool {
        self.least_ns.zip(self.most_ns).is_some_and(|(least_ns, most_ns)| least_ns > most_ns)
    }
}

impl Signed {
    fn record(self, recorder: &mut Recorder, value_ns: i128) {
        let series = if value_ns < 0 { self.negative } else { self.positive };
        recorder.record(series, u64::try_from(value_ns.unsigned_abs()).unwrap_or(u64::MAX));
    }
}

impl Bounds {
    fn new(
        [least, most]: [&str; 2],
        tags: &[(&str, &str)],
        phase: SeriesPhase,
        recorder: &mut Recorder,
    ) -> Self {
        let mut trend =
            |metric: &str| recorder.series(Kind::Trend, SeriesKey::new(metric, tags, phase));
        Self { least: trend(least), most: trend(most) }
    }

    /// Bounds of one duration. Neither is negative while the offset's interval is not empty.
    fn record(self, recorder: &mut Recorder, bounds_ns: [i128; 2]) {
        let [least, most] = bounds_ns.map(|ns| u64::try_from(ns.max(0)).unwrap_or(u64::MAX));
        recorder.record(self.least, least);
        recorder.record(self.most, most);
    }
}

impl Durations {
    fn new(plan: &Plan, journey: &Journey, recorder: &mut Recorder) -> Self {
        let of = (names::JOURNEY, journey.name.as_str());
        let name = |clock: usize| (names::CLOCK, plan.clocks[clock].as_str());
        let mut steps = Vec::new();
        for step in &journey.steps {
            let series = step.clock.as_ref().map(|rule| {
                let tags = [of, name(rule.clock), (names::STEP, step.name.as_str())];
                let metrics = [names::CLOCK_ACCEPT_LEAST, names::CLOCK_ACCEPT_MOST];
                PHASES.map(|phase| Bounds::new(metrics, &tags, phase, recorder))
            });
            steps.push(series);
        }
        let mut stages = Vec::new();
        for stage in &journey.stages {
            let series = stage.clock.as_ref().map(|rule| {
                let tags = [of, name(rule.clock), (names::STAGE, stage.name.as_str())];
                PHASES.map(|phase| OfStage::new(&tags, phase, recorder))
            });
            stages.push(series);
        }
        Self { steps, stages }
    }
}

impl OfStage {
    fn new(tags: &[(&str, &str)], phase: SeriesPhase, recorder: &mut Recorder) -> Self {
        let seen = [names::CLOCK_SEEN_LEAST, names::CLOCK_SEEN_MOST];
        let seen = Bounds::new(seen, tags, phase, recorder);
        let mut trend =
            |metric: &str| recorder.series(Kind::Trend, SeriesKey::new(metric, tags, phase));
        let [positive, negative] =
            [names::CLOCK_BETWEEN, names::CLOCK_BETWEEN_NEGATIVE].map(&mut trend);
        Self { between: Signed { positive, negative }, seen }
    }
}

#[cfg(test)]
mod tests;
