//! Reports of several runs together: a search for the capacity, and a sweep.

use sojourn_analysis::capacity::{Observation, Search, Settings, StageLevels, Step};
use sojourn_metrics::{SeriesKey, SeriesPhase, Threshold, ThresholdOutcome, names};
use sojourn_record::{
    Cause, Identity, Interval, IntervalRow, JourneyShape, RunFile, StageShape, Summary, Verdict,
};
use sojourn_report::{
    ReportModel, RunLine,
    capacity::{CapacityReport, observe},
    model::Outcome,
    render,
    sweep::{SweepReport, SweepRow},
};

const SECOND: u64 = 1_000_000_000;
const EVIL: &str = "</style><script>alert(1)</script>\u{1b}[31m";

fn line(rate: f64, p99_ms: u64) -> RunLine {
    RunLine {
        started: (rate * 10.0) as u64,
        steady_ns: 10 * SECOND,
        arrivals_per_s: rate,
        completed_per_s: rate.min(200.0),
        mean_ns: Some(p99_ms as f64 * 5e5),
        p50_ns: Some(p99_ms * 500_000),
        p95_ns: Some(p99_ms * 900_000),
        p99_ns: Some(p99_ms * 1_000_000),
        in_flight_max: Some(rate / 10.0),
        run_file: Some("runs/search-01.sojourn".to_owned()),
        ..RunLine::unmade(Outcome::Pass, "fine".to_owned())
    }
}

/// A system of exactly 200/s, whose journeys wait at `settled`.
fn seen(step: &Step) -> Observation {
    let seconds = step.steady_ns / SECOND;
    let rise = (step.rate_per_s - 200.0).max(0.0);
    let levels: Vec<f64> = (0..=seconds).map(|second| 4.0 + rise * second as f64).collect();
    Observation {
        steady_ns: step.steady_ns,
        started: (step.rate_per_s * seconds as f64) as u64,
        stages: vec![StageLevels { name: "settled".into(), levels: levels.clone() }],
        levels,
        p99_ns: Some(30_000_000),
        ..Observation::default()
    }
}

pub(crate) fn capacity(name: &str) -> CapacityReport {
    let settings = Settings::new(40.0);
    let mut search = Search::new(settings.clone());
    let mut lines = Vec::new();
    while let Some(step) = search.step().copied() {
        search.observe(&seen(&step));
        let over = (step.rate_per_s - 200.0).max(0.0) as u64;
        lines.push(line(step.rate_per_s, 30 + 20 * over));
    }
    let left_out = vec![(name.to_owned(), "it depends on the rate".to_owned())];
    let units = [("core".to_owned(), 0.5)];
    CapacityReport::new((name, &settings), &search, lines, &units, left_out)
}

pub(crate) fn sweep(name: &str) -> SweepReport {
    let mut report = SweepReport::new(name, vec!["REPLICAS".to_owned()], 3);
    for (value, p99_ms) in [("1", 900), ("2", 40)] {
        report.rows.push(SweepRow { values: vec![value.to_owned()], run: line(100.0, p99_ms) });
    }
    let failed = RunLine::unmade(Outcome::Fail, "lost == 0 (measured 3)".to_owned());
    report.rows.push(SweepRow { values: vec![name.to_owned()], run: failed });
    report
}

/// Nothing is loaded from anywhere, nothing foreign is markup.
fn is_harmless(html: &str) {
    for loading in [" src=", "url(", "@import", "<iframe", "<img", "<script", "://"] {
        assert!(!html.contains(loading), "{loading}");
    }
    assert_eq!(html.matches("</style>").count(), 1);
}

fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert!(!line.contains('\u{1b}'), "{line}");
    }
}

#[test]
fn a_search_is_told_with_its_curve_its_knee_and_its_limit() {
    let report = capacity("payments");
    let found = report.capacity_per_s.unwrap();
    assert!((found - 200.0).abs() < 2.0, "{found}");
    assert!((report.per_unit[0].per_s - 2.0 * found).abs() < 1e-9);
    assert!(report.curve.is_sorted_by(|a, b| a.rate_per_s < b.rate_per_s));
    // Until the limit all rates take 30 ms: the power is greatest at the last of them.
    let knee = report.curve.iter().find(|point| point.knee).unwrap();
    assert!(knee.held && knee.rate_per_s > 190.0, "{knee:?}");
    let text = render::capacity_text(&report, false);
    fits(&text);
    for words in [
        "payments  ✓ CAPACITY",
        "/s per core (of 0.500)",
        "held, knee",
        "the backlog before settled grew by",
        "confirm",
        "threshold payments did not decide: it depends on the rate",
        "runs/search-01.sojourn",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&render::capacity_json(&report).unwrap()).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["end"]["end"], "found");
    assert_eq!(json["end"]["limit"]["stage"], "settled");
    assert_eq!(json["steps"][0]["step"]["rate_per_s"], 40.0);
    assert_eq!(json["steps"][0]["judgement"]["says"], "held");
    assert_eq!(json["steps"][0]["run"]["p99_ns"], 30_000_000);
    let html = render::capacity_html(&report).unwrap();
    is_harmless(&html);
    let capacity = format!("capacity {}", sojourn_analysis::words::number(found));
    for words in ["Duration of the journeys by rate", "<svg", "knee", "of 0.5", &capacity] {
        assert!(html.contains(words), "{words}");
    }
}

#[test]
fn a_search_without_an_answer_renders_too() {
    let settings = Settings::new(40.0);
    let mut search = Search::new(settings.clone());
    search.stop();
    let report = CapacityReport::new(("none", &settings), &search, Vec::new(), &[], Vec::new());
    assert!(render::capacity_text(&report, false).contains("NOTHING KNOWN"));
    is_harmless(&render::capacity_html(&report).unwrap());
    assert_eq!(report.capacity_per_s, None);
}

#[test]
fn a_sweep_has_one_table_and_one_chart() {
    let report = sweep("4");
    let text = render::sweep_text(&report, false);
    fits(&text);
    for words in
        ["REPLICAS: 3 runs: 2 passed (1; 2) and 1 failed (4)", "900 ms", "████", "lost == 0"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&render::sweep_json(&report).unwrap()).unwrap();
    assert_eq!(json["variables"][0], "REPLICAS");
    assert_eq!(json["rows"][2]["run"]["outcome"], "fail");
    let html = render::sweep_html(&report).unwrap();
    is_harmless(&html);
    assert!(html.contains("Throughput by REPLICAS") && html.contains("✗ fail"));
}

#[test]
fn foreign_names_are_text() {
    let mut report = capacity(EVIL);
    report.steps[0].run.run_file = Some(EVIL.to_owned());
    is_harmless(&render::capacity_html(&report).unwrap());
    fits(&render::capacity_text(&report, false));
    is_harmless(&render::sweep_html(&sweep(EVIL)).unwrap());
    fits(&render::sweep_text(&sweep(EVIL), false));
}

/// Ten seconds after one of warm-up, with ten journeys more in flight each second.
fn run(verdict: Verdict, causes: Vec<Cause>, thresholds: Vec<ThresholdOutcome>) -> RunFile {
    let gauge = |metric: &str, journey: &str, level: f64| {
        let key = SeriesKey::new(metric, &[("journey", journey)], SeriesPhase::Any);
        (key, IntervalRow::Gauge([level, 0.0, level]))
    };
    let counter = |n: u64| {
        let tags = [("journey", "order")];
        let key = SeriesKey::new(names::JOURNEYS_COMPLETED, &tags, SeriesPhase::Steady);
        (key, IntervalRow::Counter(n))
    };
    let waiting = |stage: &str, level: f64| {
        let tags = [("journey", "order"), ("stage", stage)];
        let key = SeriesKey::new(names::STAGE_IN_FLIGHT, &tags, SeriesPhase::Any);
        (key, IntervalRow::Gauge([level, 0.0, level]))
    };
    let late = |second: u64| u64::from(second == 3);
    let interval = |second: u64| Interval {
        start_ns: second * SECOND + second.checked_sub(1).map_or(0, late) * SECOND / 10,
        // The fourth came late, as its level did.
        end_ns: (second + 1) * SECOND + late(second) * SECOND / 10,
        rows: vec![
            gauge(
                names::JOURNEYS_IN_FLIGHT,
                "order",
                100.0 + 10.0 * second as f64 + late(second) as f64,
            ),
            gauge(names::JOURNEYS_IN_FLIGHT, "refund", 1.0),
            waiting("shipped", 5.0 * second as f64),
            waiting("dead", 99.0 * second as f64),
            gauge(names::JOURNEYS_IN_FLIGHT, &names::poisoned("order"), 1e6),
            counter(40),
        ],
    };
    let stage = |name: &str, kind: &str| StageShape {
        name: name.to_owned(),
        kind: kind.to_owned(),
        ..StageShape::default()
    };
    let order = JourneyShape {
        name: "order".to_owned(),
        stages: vec![stage("shipped", "required"), stage("dead", "failure")],
        ..JourneyShape::default()
    };
    RunFile {
        identity: Identity {
            phases_ns: [SECOND, 10 * SECOND, SECOND],
            journeys: vec![order],
            ..Identity::default()
        },
        // Three more of drain.
        intervals: (0..14).map(interval).collect(),
        summary: Some(Summary {
            verdict,
            causes,
            thresholds,
            interrupted: false,
            arrivals_end_ns: 11 * SECOND,
            load_end_ns: 11 * SECOND,
            end_ns: 14 * SECOND,
            drain_ns: Some(3 * SECOND),
            notes: Vec::new(),
            fleet: None,
        }),
        ..RunFile::default()
    }
}

fn cause(name: &str) -> Cause {
    Cause { name: name.to_owned(), detail: "12 ms".to_owned() }
}

#[test]
fn levels_are_those_of_the_steady_phase_of_all_healthy_journeys() {
    let run = run(Verdict::Pass, Vec::new(), Vec::new());
    let model = ReportModel::from_run(&run);
    let seen = observe(&run, &model, &[]);
    assert_eq!((seen.levels.len(), seen.steady_ns), (11, 10 * SECOND));
    for (second, level) in (0u32..).zip(&seen.levels) {
        assert!((level - 101.0 - 10.0 * f64::from(second)).abs() < 1e-6, "{second}: {level}");
    }
    assert_eq!(seen.void, None);
    // Nobody waits for a dead letter.
    assert_eq!(seen.growing_stage().map(|(name, _)| name), Some("shipped"));
    let line = RunLine::new(&run, &model, None);
    assert_eq!((line.completed_per_s, line.in_flight_max), (40.0, Some(201.0)));
}

#[test]
fn a_void_run_says_whether_the_generator_was_the_limit() {
    for (names, by_generator) in [
        (vec!["generator lag"], true),
        (vec!["missed arrivals", "tap behind"], true),
        (vec!["ledger out of balance"], false),
        (vec!["generator lag", "defect"], false),
    ] {
        let run = run(Verdict::Void, names.iter().copied().map(cause).collect(), Vec::new());
        let seen = observe(&run, &ReportModel::from_run(&run), &[]);
        let void = seen.void.unwrap();
        assert_eq!(void.by_generator, by_generator, "{names:?}");
        assert_eq!(void.cause, format!("{} (12 ms)", names[0]));
    }
}

#[test]
fn a_threshold_on_lag_is_the_generators_and_any_other_the_systems() {
    let thresholds: Vec<Threshold> = ["lag.p99 < 5ms", "journey.order.p99 < 1s"]
        .iter()
        .map(|text| Threshold::parse(text).unwrap())
        .collect();
    let failed = |index: usize| {
        let threshold = thresholds[index].clone();
        let outcome = ThresholdOutcome { threshold, measured: Some(2e9), held: false };
        let run = run(Verdict::Fail, vec![cause("threshold")], vec![outcome]);
        observe(&run, &ReportModel::from_run(&run), &thresholds)
    };
    let lagged = failed(0);
    assert!(lagged.broken.is_empty() && lagged.void.is_some_and(|void| void.by_generator));
    let slow = failed(1);
    assert_eq!((slow.void, slow.broken.len()), (None, 1));
    assert_eq!(slow.broken[0].measured, "2.00 s");
}
