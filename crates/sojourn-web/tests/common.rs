//! A dashboard with a run that goes on and a folder of runs, all made by hand.

use std::path::{Path, PathBuf};

use sojourn_live::frame::{
    Counts, Frame, FrameStretch, Health, JourneyFrame, Nearest, News, NewsKind, Spread, StageFrame,
    StepFrame, ThresholdFrame, ThresholdState,
};
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};
use sojourn_record::{
    Identity, JourneyRecord, JourneyShape, RunWriter, StageShape, Summary, Verdict,
};
use sojourn_web::{Dashboard, WebSettings};

/// Runs in a folder, and a dashboard of the last of them.
pub(crate) struct Site {
    pub(crate) folder: tempfile::TempDir,
    /// Where the run is that goes on.
    _elsewhere: tempfile::TempDir,
    pub(crate) dashboard: Dashboard,
}

impl Site {
    /// With `runs` runs, and one that goes on.
    pub(crate) fn with(runs: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        (0..runs).for_each(|run| drop(run_file(folder.path(), run)));
        let elsewhere = tempfile::tempdir().unwrap();
        let going = run_file(elsewhere.path(), runs);
        let dashboard = Dashboard::start(WebSettings {
            address: "127.0.0.1:0".into(),
            is_live: true,
            run_file: Some(going),
            folder: folder.path().to_owned(),
        });
        Self { folder, _elsewhere: elsewhere, dashboard: dashboard.unwrap() }
    }
}

/// A frame of the second: rates and latencies follow from it.
pub(crate) fn frame(second: u64, stages: usize) -> Frame {
    let journey = journey(second, stages);
    Frame {
        number: second,
        name: "payments".into(),
        stretch: FrameStretch::Steady,
        elapsed_ns: second * 1_000_000_000,
        planned_ns: 3_600_000_000_000,
        asked_per_s: 100.0,
        delivered_per_s: 100.0 - (second % 5) as f64,
        rate_factor: 1.0,
        counts: journey.counts,
        in_flight: 40,
        health: Health {
            lag_p99_ns: Some(120_000 + second),
            lag_max_ns: 10_000_000,
            nearest: Some(Nearest { share: 0.3, text: "busy thread".into() }),
            ..Health::default()
        },
        journeys: vec![journey],
        thresholds: vec![
            threshold("payment.p99 < 2s", ThresholdState::Holds, "150 ms"),
            threshold("lost == 0", ThresholdState::Fails, "3"),
        ],
        news: vec![News {
            number: 0,
            at_ns: 2_000_000_000,
            kind: NewsKind::Lost,
            journey: "payment <b>".into(),
            text: "not seen at stage-1".into(),
            count: 3,
        }],
        ..Frame::default()
    }
}

fn journey(second: u64, stages: usize) -> JourneyFrame {
    let stage = |stage: usize| StageFrame {
        name: format!("stage-{stage}"),
        after: (stage > 0).then(|| format!("stage-{}", stage - 1)),
        is_required: true,
        reached: 100 * second,
        reached_per_s: 100.0 - stage as f64,
        waiting: stage as u64 + second % 7,
        hop: spread(5 + stage as u64 + second % 11),
        hop_so_far: spread(7),
        ..StageFrame::default()
    };
    JourneyFrame {
        name: "payment <b>".into(),
        counts: Counts {
            scheduled: 100 * second,
            started: 100 * second,
            completed: 99 * second,
            lost: 3,
            ..Counts::default()
        },
        started_per_s: 100.0,
        completed_per_s: 99.0,
        in_flight: 40,
        duration: spread(50),
        stages: (0..stages).map(stage).collect(),
        steps: vec![StepFrame {
            name: "pay".into(),
            requests: 100 * second,
            requests_per_s: 100.0,
            response: spread(20),
            response_so_far: spread(21),
            ..StepFrame::default()
        }],
        ..JourneyFrame::default()
    }
}

fn spread(ms: u64) -> Spread {
    Spread {
        count: 100,
        p50_ns: Some(ms as f64 * 1e6),
        p99_ns: Some(ms as f64 * 3e6),
        ..Spread::default()
    }
}

fn threshold(text: &str, state: ThresholdState, measured_text: &str) -> ThresholdFrame {
    ThresholdFrame { text: text.into(), state, measured: None, measured_text: measured_text.into() }
}

fn run_file(folder: &Path, run: u64) -> PathBuf {
    let path = folder.join(format!("payments-{run}.sojourn"));
    let identity = Identity {
        name: "payments".into(),
        run_id: format!("run-{run}"),
        start_unix_ns: 1_790_000_000_000_000_000 + run * 60_000_000_000,
        version: "0.1.0".into(),
        phases_ns: [0, 12_000_000_000, 1_000_000_000],
        journeys: vec![JourneyShape {
            name: "payment".into(),
            steps: vec!["pay".into()],
            root_steps: 1,
            stages: vec![StageShape {
                name: "settled".into(),
                on: "events (kafka)".into(),
                kind: "required".into(),
                after: "pay".into(),
                poll_ns: None,
            }],
            within_ns: 1_000_000_000,
            poison: None,
        }],
        ..Identity::default()
    };
    let mut writer = RunWriter::create(&path, &identity).unwrap();
    let mut recorder = Recorder::new(1);
    let mut store = Store::new();
    for second in 0..12_u64 {
        let snapshot = filled(&mut recorder, second);
        store.apply(&snapshot).unwrap();
        writer.interval(&[snapshot]).unwrap();
    }
    let lost = JourneyRecord {
        journey: "payment".into(),
        id: 7,
        key: Some("pay-7".into()),
        class: "lost".into(),
        phase: "steady".into(),
        kept_as: "lost".into(),
        end_ns: 1_000_000_000,
        ..JourneyRecord::default()
    };
    writer.journey(&lost).unwrap();
    let summary = Summary {
        verdict: Verdict::Pass,
        causes: Vec::new(),
        thresholds: Vec::new(),
        interrupted: false,
        arrivals_end_ns: 11_900_000_000,
        load_end_ns: 12_000_000_000,
        end_ns: 12_500_000_000,
        drain_ns: Some(100_000_000),
        notes: Vec::new(),
        fleet: None,
    };
    writer.finish(&store, &summary).unwrap();
    path
}

fn filled(recorder: &mut Recorder, second: u64) -> sojourn_metrics::Snapshot {
    let key =
        |metric: &str, tags: &[(&str, &str)]| SeriesKey::new(metric, tags, SeriesPhase::Steady);
    let journey = [(names::JOURNEY, "payment")];
    for metric in [names::JOURNEYS_SCHEDULED, names::JOURNEYS_STARTED, names::JOURNEYS_COMPLETED] {
        let counter = recorder.series(Kind::Counter, key(metric, &journey));
        recorder.add(counter, 100);
    }
    let duration = recorder.series(Kind::Trend, key(names::JOURNEY_DURATION, &journey));
    for sample in 0..100 {
        recorder.record(duration, (20 + sample) * 1_000_000);
    }
    recorder.take((second + 1) * 1_000_000_000, None)
}
