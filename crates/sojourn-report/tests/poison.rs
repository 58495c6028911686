//! A report of poisoned journeys: apart from the others, alone and merged with another run's.

use std::path::Path;

use sojourn_analysis::conclusion::Weight;
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};
use sojourn_record::{
    Identity, JourneyShape, PoisonShape, RunFile, RunWriter, StageShape, Summary, Verdict,
};
use sojourn_report::{ReportModel, render};

const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn shape(name: &str, poison: Option<PoisonShape>) -> JourneyShape {
    let stage = |name: &str, kind: &str| StageShape {
        name: name.into(),
        on: "events (kafka)".into(),
        kind: kind.into(),
        after: "root".into(),
        poll_ns: None,
    };
    JourneyShape {
        name: name.into(),
        steps: vec!["root".into()],
        root_steps: 1,
        stages: vec![stage("paid", "required"), stage("dead", "failure")],
        within_ns: 2 * SECOND,
        poison,
    }
}

/// A counter's name, tags and figure.
type Count<'a> = (&'a str, &'a [(&'a str, &'a str)], u64);

/// Of 90 healthy journeys all complete; of 10 poisoned ones 6 are contained (one late, each after
/// three deliveries), one completes, one is refused, one fails a check, one is lost.
fn write(path: &Path, run_id: &str) {
    let poison = PoisonShape { of: "payment".into(), share: 0.1 };
    let poisoned = names::poisoned("payment");
    let identity = Identity {
        name: "poison".into(),
        run_id: run_id.into(),
        start_unix_ns: 1_795_230_911 * SECOND,
        phases_ns: [0, 10 * SECOND, SECOND],
        journeys: vec![shape("payment", None), shape(&poisoned, Some(poison))],
        ..Identity::default()
    };
    let mut run = RunWriter::create(path, &identity).expect("the file can be created");
    let mut recorder = Recorder::new(0);
    let key =
        |metric: &str, tags: &[(&str, &str)]| SeriesKey::new(metric, tags, SeriesPhase::Steady);
    let own = [(names::JOURNEY, "payment")];
    let apart = [(names::JOURNEY, poisoned.as_str())];
    let dead = [apart[0], (names::STAGE, "dead")];
    let again = [apart[0], (names::STAGE, "dead"), (names::KIND, "unknown")];
    let counts: [Count<'_>; 16] = [
        (names::JOURNEYS_SCHEDULED, &own, 90),
        (names::JOURNEYS_STARTED, &own, 90),
        (names::JOURNEYS_COMPLETED, &own, 90),
        (names::JOURNEYS_SCHEDULED, &apart, 10),
        (names::JOURNEYS_STARTED, &apart, 10),
        (names::JOURNEYS_COMPLETED, &apart, 1),
        (names::JOURNEYS_ROOT_FAILED, &apart, 1),
        (names::JOURNEYS_FAILED, &apart, 7),
        (names::JOURNEYS_LOST, &apart, 1),
        (names::POISON_CONTAINED, &apart, 6),
        (names::POISON_CONTAINED_LATE, &apart, 1),
        (names::POISON_EVENTS_AFTER, &apart, 2),
        (names::STAGE_REACHED, &dead, 6),
        (names::STAGE_MATCHED, &dead, 6),
        (names::STAGE_DUPLICATES, &again, 12),
        (names::JOURNEYS_IN_FLIGHT_AT_CUTOFF, &apart, 0),
    ];
    for (metric, tags, n) in counts {
        let series = recorder.series(Kind::Counter, key(metric, tags));
        recorder.add(series, n);
    }
    let times = recorder.series(Kind::Trend, key(names::POISON_CONTAINMENT, &apart));
    [100, 200, 300, 400, 500, 2_500].iter().for_each(|ms| recorder.record(times, ms * MS));
    let durations = recorder.series(Kind::Trend, key(names::JOURNEY_DURATION, &own));
    (0..90).for_each(|_| recorder.record(durations, 50 * MS));
    let mut store = Store::new();
    let snapshot = recorder.take(SECOND, None);
    store.apply(&snapshot).expect("in sequence");
    run.interval(std::slice::from_ref(&snapshot)).expect("written");
    let summary = Summary {
        verdict: Verdict::Pass,
        causes: Vec::new(),
        thresholds: Vec::new(),
        interrupted: false,
        arrivals_end_ns: 10 * SECOND,
        load_end_ns: 10 * SECOND,
        end_ns: 12 * SECOND,
        drain_ns: None,
        notes: Vec::new(),
        fleet: None,
    };
    run.finish(&store, &summary).expect("written");
}

/// A run file's deltas are read when they are asked for: the folder must stay as long.
fn run(folder: &tempfile::TempDir, run_id: &str) -> RunFile {
    let path = folder.path().join(run_id);
    write(&path, run_id);
    RunFile::open(&path).expect("the file is readable")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Every figure, times the number of runs.
fn check(model: &ReportModel, times: u64) {
    assert!(model.ledger.balanced, "{:?}", model.ledger);
    let total = &model.ledger.journeys_total.steady;
    assert_eq!((total.started, total.failed, total.lost), (90 * times, 0, 0));
    assert_eq!((model.ledger.journeys.len(), model.journeys.len()), (1, 1));
    let line = &model.ledger.poisoned[0];
    assert_eq!((line.name.as_str(), line.steady.started), ("payment (poisoned)", 10 * times));
    let [poison] = model.poison.as_slice() else { panic!("{:?}", model.poison) };
    let counts = [
        (poison.sent, 10),
        (poison.contained, 6),
        (poison.contained_late, 1),
        (poison.completed, 1),
        (poison.refused, 1),
        (poison.failed, 1),
        (poison.lost, 1),
        (poison.in_flight_at_cutoff, 0),
        (poison.events_after, 2),
    ];
    for (at, (reported, expected)) in counts.into_iter().enumerate() {
        assert_eq!(reported, expected * times, "figure {at}");
    }
    assert_eq!(poison.journey, "payment");
    assert_eq!(poison.sent_fraction, Some(0.1));
    assert_eq!(poison.deliveries_per_event, Some(3.0));
    let containment = poison.containment_ns.expect("six were contained");
    assert_eq!((containment.count, containment.max), (6 * times, 2_500 * MS as i64));
    // The lost poisoned one is in no percentile of the healthy ones.
    assert!(model.journeys[0].quantiles.iter().all(|quantile| !quantile.beyond));
}

#[test]
fn poisoned_journeys_are_told_apart() {
    let model = ReportModel::from_run(&run(&folder(), "r1"));
    check(&model, 1);
    let headline = &model.verdict.headline;
    assert!(headline.contains("of 90 journeys 90 completed"), "{headline}");
    let poisoned = "of 10 poisoned ones 6 contained, 1 completed, 1 refused, 1 failed otherwise and \
                    1 lost";
    assert!(headline.contains(poisoned), "{headline}");
    let lost = &model.conclusions[0];
    assert_eq!((lost.weight, lost.definition), (Weight::Grave, "poisoned"));
    assert!(lost.text.starts_with("1 of 10 poisoned journeys was lost"), "{}", lost.text);

    let text = render::text(&model, false);
    for part in [
        "POISON payment",
        "sent      10, 10 % of the journeys started (declared 10 % of the journeys)",
        "contained 6 at a failure stage: p50 300 ms",
        "1 of them late, after 2.00 s",
        "completed 1 in spite of the poison",
        "delivered 3 per event; 2 events after the journey's end",
        "payment (poisoned), steady",
    ] {
        let shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let part: String = part.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&part), "{part}\n{text}");
    }
    let html = render::html(&model).expect("the template is sound");
    for part in
        ["id=\"poison-0\"", "in spite of the poison", "payment (poisoned)", "#def-contained"]
    {
        assert!(html.contains(part), "{part}");
    }
    // Every definition that the page links to is in it.
    for link in html.split("href=\"#").skip(1) {
        let anchor = link.split('"').next().unwrap_or_default();
        assert!(html.contains(&format!("id=\"{anchor}\"")), "{anchor}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&render::json(&model).expect("it can be written")).unwrap();
    assert_eq!(json["poison"][0]["contained"], 6);
    assert_eq!(json["ledger"]["poisoned"][0]["steady"]["lost"], 1);
}

#[test]
fn merged_runs_add_up() {
    let folder = folder();
    let merged =
        RunFile::merge(vec![run(&folder, "r1"), run(&folder, "r2")]).expect("they overlap");
    check(&ReportModel::from_run(&merged), 2);
}
