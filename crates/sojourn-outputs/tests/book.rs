//! A run that is played second by second, with its own book of what there was.

use std::path::Path;

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};
use sojourn_outputs::{Account, Counts, Outputs, Run, Second, Target};
use sojourn_record::{
    DuplicateInstant, JourneyRecord, JourneyShape, StageInstant, StageShape, StepInstant,
};

/// Seconds of a played run.
pub(crate) const SECONDS: u64 = 12;
/// Points of each second: two counters, a gauge, two trends.
pub(crate) const POINTS: u64 = 5;

/// A played run.
pub(crate) struct Played {
    store: Store,
    recorder: Recorder,
    /// What it is given to.
    outputs: Outputs,
    pub(crate) start_ns: u64,
    second: u64,
}

pub(crate) fn run() -> Run {
    let stage = |name: &str, after: &str| StageShape {
        name: name.to_owned(),
        after: after.to_owned(),
        ..StageShape::default()
    };
    let order = JourneyShape {
        name: "order".to_owned(),
        // One that waits for what is never seen has no hop.
        stages: vec![
            stage("accepted", "place"),
            stage("packed", "accepted"),
            stage("shipped", "accepted"),
            stage("billed", "packed"),
        ],
        ..JourneyShape::default()
    };
    let plan = "a \"plan\", x=1".to_owned();
    Run { id: "run-1".to_owned(), plan, ca_file: None, shapes: vec![order] }
}

pub(crate) fn steady(metric: &str, tags: &[(&str, &str)]) -> SeriesKey {
    SeriesKey::new(metric, tags, SeriesPhase::Steady)
}

pub(crate) fn hop() -> SeriesKey {
    steady(names::STAGE_HOP, &[("journey", "order"), ("stage", "shipped")])
}

impl Played {
    pub(crate) fn to(targets: &[String]) -> Self {
        Self::trusting(targets, None)
    }

    pub(crate) fn trusting(targets: &[String], ca_file: Option<&Path>) -> Self {
        let targets: Vec<_> = targets.iter().map(|it| Target::parse(it).unwrap()).collect();
        let run = Run { ca_file: ca_file.map(Path::to_owned), ..run() };
        Self {
            store: Store::new(),
            recorder: Recorder::new(1),
            outputs: Outputs::open(&targets, &run).unwrap(),
            // In the past, so that no receiver sees samples of the future.
            start_ns: now_ns() - (SECONDS + 60) * SECOND_NS,
            second: 0,
        }
    }

    /// Plays a second, the last one as such.
    pub(crate) fn second(&mut self, is_last: bool) {
        let second = self.second;
        self.second += 1;
        let recorder = &mut self.recorder;
        let journey = [("journey", "order")];
        let started = recorder.series(Kind::Counter, steady(names::JOURNEYS_STARTED, &journey));
        recorder.add(started, 100 + second);
        let requests = [("journey", "order"), ("status", "201"), ("step", "a,b c")];
        let requests = recorder.series(Kind::Counter, steady(names::STEP_REQUESTS, &requests));
        recorder.add(requests, 1);
        let key = SeriesKey::new(names::HEALTH_STALL_MS, &[("thread", "g0")], SeriesPhase::Any);
        let stall = recorder.series(Kind::Gauge, key);
        recorder.set(stall, 1_500.0 + second as f64);
        let trend = recorder.series(Kind::Trend, hop());
        for sample in 0..200 {
            recorder.record(trend, (sample + 1) * 1_000_000 + second * 77_777);
        }
        let bytes = recorder.series(Kind::Trend, steady(names::STEP_RECEIVED_BYTES, &journey));
        recorder.record(bytes, 1_000 + second);
        let at_ns = self.start_ns + (second + 1) * SECOND_NS;
        let snapshot = recorder.take(at_ns, None);
        self.store.apply(&snapshot).unwrap();
        self.outputs.second(&Second {
            at_ns,
            start_ns: self.start_ns,
            is_last,
            interval: &[snapshot],
            store: &self.store,
            journeys: &[journey_of(second)],
            journeys_beyond: 0,
        });
    }

    /// Plays the whole run and ends it.
    pub(crate) fn whole(mut self) -> (Vec<Account>, Store) {
        for second in 0..SECONDS {
            self.second(second + 1 == SECONDS);
        }
        self.end()
    }

    pub(crate) fn end(self) -> (Vec<Account>, Store) {
        (self.outputs.end(), self.store)
    }

    pub(crate) fn end_within(self, flush_ns: u64) -> Vec<Account> {
        self.outputs.end_within(flush_ns)
    }
}

/// What a whole played run is to an output.
pub(crate) fn all(carries_journeys: bool) -> Counts {
    let journeys = if carries_journeys { SECONDS } else { 0 };
    Counts { frames: SECONDS, points: SECONDS * POINTS, journeys }
}

/// Nothing was dropped, and all was given.
pub(crate) fn assert_whole(account: &Account, carries_journeys: bool) {
    assert_eq!(account.given, all(carries_journeys), "{account:?}");
    assert_eq!(account.sent, account.given, "{account:?}");
    assert_eq!(account.dropped, Counts::default());
}

/// A journey that was lost, with a trace of its own in odd seconds.
pub(crate) fn journey_of(second: u64) -> JourneyRecord {
    let at = |ms: u64| second * SECOND_NS + ms * 1_000_000;
    JourneyRecord {
        journey: "order".to_owned(),
        id: second,
        key: Some(format!("order:{second}")),
        class: if second.is_multiple_of(2) { "completed" } else { "lost" }.to_owned(),
        phase: "steady".to_owned(),
        kept_as: "sample".to_owned(),
        t0_ns: at(10),
        t1_ns: at(11),
        t2_ns: Some(at(30)),
        end_ns: at(900),
        steps: vec![StepInstant {
            name: "place".to_owned(),
            began_ns: at(11),
            ended_ns: Some(at(30)),
            status: Some(201),
        }],
        stages: vec![
            StageInstant { name: "accepted".to_owned(), seen_ns: Some(at(100)) },
            StageInstant { name: "packed".to_owned(), seen_ns: None },
            StageInstant { name: "billed".to_owned(), seen_ns: Some(at(850)) },
            StageInstant { name: "shipped".to_owned(), seen_ns: Some(at(900)) },
        ],
        trace_id: (second % 2 == 1).then(|| format!("{:032x}", second + 1)),
        duplicates: vec![DuplicateInstant {
            stage: "accepted".to_owned(),
            kind: "redelivery".to_owned(),
            seen_ns: at(200),
        }],
        ..JourneyRecord::default()
    }
}
