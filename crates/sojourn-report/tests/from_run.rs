//! A report of a run file that was written, read back, and turned into a model.
//!
//! The run: one second of warm-up and ten steady ones, ten journeys a second. Of the hundred steady
//! journeys the k-th (1-based) takes k ms from root to `created`, except that numbers 99 and 100
//! are lost and that number 1 is seen 2 ms too early.

use std::path::Path;

use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, Threshold, ThresholdOutcome};
use sojourn_record::{
    Identity, JourneyRecord, JourneyShape, RunFile, RunWriter, StageInstant, StageShape,
    StepInstant, Summary, Verdict,
};
use sojourn_report::{ReportModel, model::Outcome, render};

const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
/// CLOCK_MONOTONIC at the run's start.
const START: u64 = 77 * SECOND;

fn identity() -> Identity {
    Identity {
        name: "from a file".into(),
        run_id: "r1".into(),
        start_unix_ns: 1_795_230_911 * SECOND,
        start_monotonic_ns: START,
        phases_ns: [SECOND, 10 * SECOND, SECOND],
        journeys: vec![JourneyShape {
            name: "order".into(),
            steps: vec!["place".into()],
            root_steps: 1,
            stages: vec![
                StageShape {
                    name: "created".into(),
                    on: "events (kafka)".into(),
                    kind: "required".into(),
                    after: "place".into(),
                    poll_ns: None,
                },
                alternative("paid"),
                alternative("refunded"),
            ],
            within_ns: 2 * SECOND,
            poison: None,
        }],
        channels: vec![("events".into(), "kafka orders".into())],
        ..Identity::default()
    }
}

fn alternative(name: &str) -> StageShape {
    StageShape {
        name: name.into(),
        on: "events (kafka)".into(),
        kind: "branch".into(),
        after: "created".into(),
        poll_ns: None,
    }
}

/// Writes to series of one phase.
struct Writer<'a> {
    recorder: &'a mut Recorder,
    phase: SeriesPhase,
}

impl Writer<'_> {
    fn add(&mut self, metric: &str, tags: &[(&str, &str)], n: u64) {
        let key = SeriesKey::new(metric, tags, self.phase);
        let series = self.recorder.series(Kind::Counter, key);
        self.recorder.add(series, n);
    }

    fn record(&mut self, metric: &str, tags: &[(&str, &str)], value: u64) {
        let key = SeriesKey::new(metric, tags, self.phase);
        let series = self.recorder.series(Kind::Trend, key);
        self.recorder.record(series, value);
    }

    fn set(&mut self, metric: &str, tags: &[(&str, &str)], value: f64) {
        let key = SeriesKey::new(metric, tags, SeriesPhase::Any);
        let series = self.recorder.series(Kind::Gauge, key);
        self.recorder.set(series, value);
    }
}

/// One journey's figures; `k` is 0 in the warm-up.
fn journey(writer: &mut Writer<'_>, k: u64) {
    let order = ("journey", "order");
    let created = [order, ("stage", "created")];
    let place = [order, ("step", "place")];
    let is_lost = k >= 99;
    let is_failed = (90..=96).contains(&k);
    writer.add("journeys.scheduled", &[order], 1);
    writer.add("journeys.started", &[order], 1);
    writer.record("lag", &[], 20_000);
    writer.add("step.requests", &[order, ("step", "place"), ("status", "200")], 1);
    writer.record("step.response", &place, MS);
    writer.record("step.response_ok", &place, MS);
    writer.record("step.received_bytes", &place, 100);
    if is_lost {
        writer.add("journeys.lost", &[order], 1);
        return;
    }
    if is_failed {
        let said = if k < 92 { "" } else { "no funds" };
        let by = [order, ("what", "stage dead"), ("reason", said)];
        writer.add("journeys.failed_by", &by, 1);
    }
    writer.add("journeys.completed", &[order], 1);
    // Every fourth is refunded; the 8th reaches the other alternative too. The trace is lost there.
    let branch = if k.is_multiple_of(4) { "refunded" } else { "paid" };
    let taken = [order, ("stage", branch)];
    writer.record("branch.duration", &taken, k.max(1) * MS);
    writer.add("stage.trace", &[order, ("stage", "created"), ("context", "own")], 1);
    let context = if k == 5 { "other" } else { "none" };
    writer.add("stage.trace", &[order, ("stage", branch), ("context", context)], 1);
    if k == 8 {
        writer.add("stage.second_branch", &[order, ("stage", "paid")], 1);
    }
    writer.record("stage.first_member", &created, MS);
    writer.add("stage.reached", &created, 1);
    writer.add("stage.matched", &created, 1);
    writer.record("journey.duration", &[order], k.max(1) * MS);
    writer.record("stage.since_start", &created, k.max(1) * MS);
    match k {
        1 => writer.record("stage.hop_negative", &created, 2 * MS),
        _ => writer.record("stage.hop", &created, k.max(1) * MS),
    }
    let again = [order, ("kind", "redelivery"), ("stage", "created")];
    if k == 7 {
        writer.add("stage.duplicates", &again, 1);
    }
}

fn events(recorder: &mut Recorder, matched: u64, redelivered: u64) {
    let mut writer = Writer { recorder, phase: SeriesPhase::Any };
    let events = ("channel", "events");
    writer.add("events.seen", &[events], matched + redelivered);
    writer.add("events.matched", &[events], matched);
    if redelivered > 0 {
        writer.add("events.duplicate", &[events, ("kind", "redelivery")], redelivered);
    }
    writer.set("journeys.in_flight", &[("journey", "order")], 5.0);
    writer.set("stage.in_flight", &[("journey", "order"), ("stage", "created")], 4.0);
    writer.set("health.cpu", &[("thread", "generator-0")], 0.25);
    writer.set("health.run_queue", &[("thread", "generator-0")], 0.01);
    writer.set("health.tap_behind_ms", &[events], 3.0);
    writer.set("health.connections", &[("generator", "0")], 2.0);
}

/// The slowest one paid after it had placed its order, and had no answer when it ended.
fn steps(id: u64, t0_ns: u64) -> Vec<StepInstant> {
    let step = |name: &str, began_ns, ended_ns| StepInstant {
        name: name.into(),
        began_ns: t0_ns + began_ns,
        ended_ns,
        status: None,
    };
    let place = step("place", 20_000, Some(t0_ns + MS));
    if id == 98 { vec![place, step("pay", 2 * MS, None)] } else { vec![place] }
}

fn kept(id: u64, class: &str, kept_as: &str) -> JourneyRecord {
    let t0_ns = SECOND + id * 100 * MS;
    JourneyRecord {
        journey: "order".into(),
        id,
        key: Some(format!("order-{id}")),
        class: class.into(),
        phase: "steady".into(),
        kept_as: kept_as.into(),
        t0_ns,
        t1_ns: t0_ns + 20_000,
        t2_ns: Some(t0_ns + MS),
        steps: steps(id, t0_ns),
        end_ns: if class == "lost" { t0_ns + 2 * SECOND } else { t0_ns + id * MS },
        stages: vec![StageInstant {
            name: "created".into(),
            seen_ns: (class == "completed").then_some(t0_ns + id * MS),
        }],
        trace_id: (id == 99).then(|| "4bf92f".into()),
        ..JourneyRecord::default()
    }
}

/// Writes the run; without its summary when it is to look cut off.
pub(crate) fn write(path: &Path, is_whole: bool) {
    let mut run = RunWriter::create(path, &identity()).expect("the file can be created");
    let mut recorder = Recorder::new(0);
    let mut store = Store::new();
    for second in 0..12 {
        let phase = if second == 0 { SeriesPhase::WarmUp } else { SeriesPhase::Steady };
        let mut writer = Writer { recorder: &mut recorder, phase };
        if second < 11 {
            for nth in 1..=10 {
                let k = if second == 0 { 0 } else { (second - 1) * 10 + nth };
                journey(&mut writer, k);
            }
        }
        let tags = [("channel", "events"), ("of", "billing"), ("figure", "waiting")];
        let key = SeriesKey::new("backlog", &tags, SeriesPhase::Any);
        let waiting = recorder.series(Kind::Gauge, key);
        recorder.set(waiting, (second % 7) as f64);
        match second {
            0 => events(&mut recorder, 10, 0),
            1 => events(&mut recorder, 10, 1),
            10 => events(&mut recorder, 8, 0),
            11 => {}
            _ => events(&mut recorder, 10, 0),
        }
        let mut snapshot = recorder.take(START + (second + 1) * SECOND, None);
        snapshot.start_ns = START + second * SECOND;
        store.apply(&snapshot).expect("in sequence");
        run.interval(std::slice::from_ref(&snapshot)).expect("written");
    }
    for record in [
        kept(50, "completed", "sample"),
        kept(98, "completed", "slowest"),
        kept(99, "lost", "lost"),
        kept(100, "lost", "lost"),
    ] {
        run.journey(&record).expect("written");
    }
    if is_whole {
        run.finish(&store, &summary()).expect("written");
    }
}

fn summary() -> Summary {
    let outcome = |text: &str, measured: f64, held: bool| ThresholdOutcome {
        threshold: Threshold::parse(text).expect("a threshold"),
        measured: Some(measured),
        held,
    };
    Summary {
        verdict: Verdict::Fail,
        causes: Vec::new(),
        thresholds: vec![
            outcome("journey.order.p50 < 1s", 50e6, true),
            outcome("journey.order.p99 < 1s", f64::INFINITY, false),
            outcome("lost == 0", 2.0, false),
        ],
        interrupted: false,
        arrivals_end_ns: 11 * SECOND,
        load_end_ns: 11 * SECOND,
        end_ns: 12 * SECOND,
        drain_ns: None,
        notes: vec!["a note".into()],
        fleet: None,
    }
}

fn model(is_whole: bool) -> ReportModel {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.sojourn");
    write(&path, is_whole);
    ReportModel::from_run(&RunFile::open(&path).expect("the file is readable"))
}

/// Whether a figure is within the histogram's stated error.
fn near(measured: i64, expected_ms: i64) -> bool {
    let expected = expected_ms * MS as i64;
    (measured - expected).abs() <= expected.abs() / 1_000 + 1
}

#[test]
fn the_ledger_is_the_runs() {
    let model = model(true);
    let ledger = &model.ledger;
    assert!(ledger.balanced, "{ledger:?}");
    let line = &ledger.journeys[0];
    assert_eq!((line.steady.started, line.whole_run.started), (100, 110));
    assert_eq!((line.steady.completed, line.steady.lost), (98, 2));
    let events = &ledger.events[0].whole_run;
    assert_eq!((events.seen, events.matched, events.redelivery), (109, 108, 1));
    assert_eq!(ledger.events_total.whole_run, *events);
}

#[test]
fn quantiles_rank_lost_journeys_last_and_negative_hops_first() {
    let model = model(true);
    let journey = &model.journeys[0];
    let quantile = |q: f64| {
        let found = journey.quantiles.iter().find(|quantile| quantile.q == q);
        found.expect("a quantile")
    };
    assert!(near(quantile(0.5).ns as i64, 50) && !quantile(0.5).beyond);
    assert!(near(quantile(0.95).ns as i64, 95) && !quantile(0.95).beyond);
    assert!(quantile(0.99).beyond && quantile(0.99).ns == 2 * SECOND);
    let duration_ns = journey.duration_ns.expect("98 complete");
    assert_eq!(duration_ns.count, 98);
    assert_eq!(duration_ns.max, 98 * MS as i64);
    assert!((duration_ns.mean - 49.5e6).abs() < 1.0);
    let hop_ns = journey.stages[0].hop_ns.expect("98 hops");
    assert_eq!((hop_ns.count, hop_ns.min), (98, -2 * MS as i64));
    assert!(near(hop_ns.p50, 49), "rank 49 of 98: the 49th, number 1 being negative");
    let sum_ms = (2..=98).sum::<i64>() - 2;
    assert!((hop_ns.mean - sum_ms as f64 / 98.0 * 1e6).abs() < 1.0);
    assert_eq!(journey.stages[0].order_violations, 1);
    assert_eq!(journey.stages[0].duplicates.redelivery, 1);
    assert_eq!(journey.stages[0].hop_bins.iter().map(|bin| bin.count).sum::<u64>(), 97);
}

#[test]
fn failures_are_told_by_reason_and_deliveries_by_event() {
    let model = model(true);
    let journey = &model.journeys[0];
    let rows: Vec<_> = journey
        .failures
        .iter()
        .map(|row| (row.what.as_str(), row.reason.as_deref(), row.count))
        .collect();
    assert_eq!(rows, [("stage dead", Some("no funds"), 5), ("stage dead", None, 2)]);
    assert_eq!(journey.failures[0].fraction, 5.0 / 7.0);
    assert_eq!(journey.stages[0].matched, 98);
    assert_eq!(journey.stages[0].deliveries_per_event, Some(99.0 / 98.0));
    let text = render::text(&model, false);
    assert!(text.contains("  failed    5 (71 %) by stage dead: no funds\n"), "{text}");
    assert!(text.contains("  failed    2 (29 %) by stage dead\n"), "{text}");
    let html = render::html(&model).expect("the template renders");
    assert!(html.contains("<td>no funds</td><td class=\"n\">5</td>"));
}

#[test]
fn alternatives_members_and_traces_come_through() {
    let model = model(true);
    let journey = &model.journeys[0];
    let branches: Vec<_> = journey
        .branches
        .iter()
        .map(|branch| (branch.stage.as_str(), branch.journeys, branch.ratio, branch.second))
        .collect();
    let expected = [("paid", 74, Some(74.0 / 98.0), 1), ("refunded", 24, Some(24.0 / 98.0), 0)];
    assert_eq!(branches, expected);
    assert_eq!(journey.branches[1].duration_ns.map(|all| all.max), Some(96 * MS as i64));
    assert_eq!(journey.stages[0].first_member_ns.map(|all| all.count), Some(98));
    let traces: Vec<_> = journey.stages.iter().filter_map(|stage| stage.trace).collect();
    let counts: Vec<_> = traces.iter().map(|trace| (trace.own, trace.other, trace.none)).collect();
    assert_eq!(counts, [(98, 0, 0), (0, 1, 73), (0, 0, 24)]);
    let texts: Vec<_> = model.conclusions.iter().map(|said| said.text.as_str()).collect();
    for said in [
        "1 journey reached an alternative after another one: paid (1)",
        "trace context is lost at hop created → paid (0 of 74 events carry it)",
    ] {
        assert!(texts.contains(&said), "{texts:?}");
    }
    let text = render::text(&model, false);
    for line in [
        "  trace     carried by created 98 of 98 · paid 0 of 74 (1 another one) · refunded 0 of 24\n",
        "  members   created: first since start p50 1.00 ms · p99 1.00 ms; last p50 49.0 ms",
        "  | one of the alternatives completes the journey\n",
        "(trace 4bf92f)",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let html = render::html(&model).expect("the template renders");
    for part in ["reached second", "in 0 of 74 events (1 another one)", "; trace 4bf92f"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn rates_are_of_the_steady_phase_and_levels_of_the_run() {
    let model = model(true);
    let step = &model.journeys[0].steps[0];
    assert_eq!((step.requests, step.ok, step.failed), (100, 100, 0));
    assert_eq!(step.requests_per_s, Some(10.0));
    assert_eq!(step.received_bytes.map(|bytes| bytes.sum), Some(10_000.0));
    assert_eq!(step.statuses[0].fraction, 1.0);
    let health = &model.health;
    assert_eq!((health.scheduled, health.delivered), (100, Some(1.0)));
    assert!(near(health.lag_ns.expect("measured").p99 * 50, 1));
    assert_eq!(health.threads[0].cpu_mean, Some(0.25));
    assert_eq!(health.taps[0].behind_ms_max, 3.0);
    assert_eq!(health.connections_max, Some(2.0));
    assert_eq!(model.identity.steady_ns, 10 * SECOND);
    assert_eq!(model.identity.start, "2026-11-21 03:15:11 UTC");
}

#[test]
fn the_brokers_backlog_has_a_row_and_a_line_over_time() {
    let model = model(true);
    let [row] = model.backlogs.as_slice() else { panic!("{:?}", model.backlogs) };
    assert_eq!((row.channel.as_str(), row.of.as_str()), ("events", "billing"));
    assert_eq!((row.figure.as_str(), row.max, row.last), ("waiting", 6.0, 4.0));
    let timeline = &model.journeys[0].timeline;
    let line = timeline
        .find("backlog", "billing: waiting", sojourn_report::model::Statistic::Max)
        .unwrap();
    assert_eq!(line.values[..4], [Some(0.0), Some(1.0), Some(2.0), Some(3.0)]);
}

#[test]
fn time_and_kept_journeys_come_through() {
    let model = model(true);
    let journey = &model.journeys[0];
    assert_eq!(journey.timeline.starts_ns.len(), 12);
    let names: Vec<_> =
        journey.timeline.series.iter().map(|series| series.metric.as_str()).collect();
    for metric in ["stage.hop", "stage.in_flight", "step.response", "journeys.started"] {
        assert!(names.contains(&metric), "{metric} in {names:?}");
    }
    let roles: Vec<_> = journey.kept.iter().map(|kept| (kept.role.as_str(), kept.id)).collect();
    assert_eq!(roles, [("median", 50), ("slowest", 98), ("lost", 99), ("lost", 100)]);
    assert_eq!(journey.kept[0].spans[1].to_ns, Some(50 * MS as i64));
    assert_eq!(journey.kept[0].spans[1].from_ns, Some(20_000));
    assert_eq!(journey.kept[2].last_seen, None);
    let bars: Vec<_> = journey.kept[1]
        .spans
        .iter()
        .map(|span| (span.name.as_str(), span.from_ns, span.to_ns))
        .collect();
    let ms = |ms: i64| Some(ms * MS as i64);
    // A stage's hop counts from the step begun last before it was seen.
    let expected =
        [("place", Some(20_000), ms(1)), ("pay", ms(2), None), ("created", ms(2), ms(98))];
    assert_eq!(bars, expected);
}

#[test]
fn the_verdict_and_its_sentences() {
    let model = model(true);
    assert_eq!(model.verdict.outcome, Outcome::Fail);
    assert_eq!(
        model.verdict.headline,
        "2 of 3 thresholds failed: journey.order.p99 < 1s (measured > 2.00 s (lost)) and lost == 0 \
         (measured 2); of 100 journeys 98 completed and 2 lost; p50 50.0 ms, p99 > 2.00 s"
    );
    assert_eq!(model.thresholds[0].measured_text, "50.0 ms");
    assert_eq!(model.thresholds[1].measured, None);
    let lost = &model.conclusions[0].text;
    assert_eq!(lost, "2 of 100 journeys were lost; none was seen at any stage");
    assert_eq!(model.notes, ["a note"]);
}

#[test]
fn every_renderer_takes_a_real_run_whole_or_cut_off() {
    for is_whole in [true, false] {
        let model = model(is_whole);
        let html = render::html(&model).expect("the template renders");
        let text = render::text(&model, false);
        assert!(render::json(&model).expect("serialisable").contains("\"order-99\""));
        assert!(text.lines().all(|line| line.chars().count() <= 100));
        assert_eq!(html.contains("The run file was cut off"), !is_whole);
        assert_eq!(text.contains("THE RUN FILE WAS CUT OFF"), !is_whole);
        assert!(model.journeys[0].duration_ns.is_some());
    }
}
