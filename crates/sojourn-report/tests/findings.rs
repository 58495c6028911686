//! Findings of simulated runs: first come, first served by so many at once, whoever comes at
//! scheduled instants of a constant rate. What is found must be what was simulated, and a run
//! without it must not be said to have it.

use sojourn_analysis::{backlog::Backlog, saturation::Exhausted};
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};
use sojourn_record::{
    Identity, Interval, IntervalRow, JourneyRecord, JourneyShape, RunFile, StageInstant,
    StageShape, Summary, Verdict,
};
use sojourn_report::{ReportModel, render};

const SECOND: u64 = 1_000_000_000;
const SECONDS: u64 = 60;
const OF: (&str, &str) = (names::JOURNEY, "order");

/// An order's instants, seconds: scheduled, created, packed.
type Order = [f64; 3];

/// Mixed bits of a number, 0 to 1.
fn chance(k: u64) -> f64 {
    let mixed = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// `per_s` orders a second; packing takes 20 ms, and `packers` do it.
fn orders(per_s: f64, packers: usize) -> Vec<Order> {
    let mut free_s = vec![0.0f64; packers];
    (0..(per_s * SECONDS as f64) as u64)
        .map(|k| {
            let due_s = k as f64 / per_s;
            let created_s = due_s + 0.005 - 0.002 * (1.0 - chance(k)).ln();
            let packer =
                (0..packers).min_by(|a, b| free_s[*a].total_cmp(&free_s[*b])).expect("packers");
            free_s[packer] = created_s.max(free_s[packer]) + 0.02;
            [due_s, created_s, free_s[packer]]
        })
        .collect()
}

fn stage(name: &str, after: &str) -> StageShape {
    StageShape {
        name: name.into(),
        on: "events (kafka)".into(),
        kind: "required".into(),
        after: after.into(),
        poll_ns: None,
    }
}

fn ns(s: f64) -> u64 {
    (s * SECOND as f64) as u64
}

/// Of samples in ascending order.
fn trend(hops: &[u64]) -> IntervalRow {
    let at = |q: f64| hops[(q * (hops.len() - 1) as f64) as usize];
    IntervalRow::Trend {
        count: hops.len() as u64,
        min: at(0.0),
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        max: at(1.0),
        sum: hops.iter().map(|ns| u128::from(*ns)).sum(),
    }
}

fn interval(orders: &[Order], start_s: u64) -> Interval {
    let (from, to) = (start_s as f64, (start_s + 1) as f64);
    let is_in = |at_s: f64| at_s >= from && at_s < to;
    let counter = |metric: &str, tags: &[(&str, &str)], point: usize| {
        let n = orders.iter().filter(|order| is_in(order[point])).count() as u64;
        (SeriesKey::new(metric, tags, SeriesPhase::Steady), IntervalRow::Counter(n))
    };
    let level = |metric: &str, tags: &[(&str, &str)], points: [usize; 2]| {
        let is_between = |order: &&Order| order[points[0]] < to && order[points[1]] >= to;
        let n = orders.iter().filter(is_between).count() as f64;
        (SeriesKey::new(metric, tags, SeriesPhase::Any), IntervalRow::Gauge([n, n, n]))
    };
    let oldest_s = orders.iter().find(|order| order[2] >= to).map_or(to, |order| order[0]);
    let age_ms = (to - oldest_s).max(0.0) * 1e3;
    let mut rows = vec![
        counter(names::JOURNEYS_STARTED, &[OF], 0),
        counter(names::JOURNEYS_COMPLETED, &[OF], 2),
        level(names::JOURNEYS_IN_FLIGHT, &[OF], [0, 2]),
        (
            SeriesKey::new(names::JOURNEYS_OLDEST_AGE_MS, &[OF], SeriesPhase::Any),
            IntervalRow::Gauge([age_ms; 3]),
        ),
    ];
    for (name, point) in [("created", 1), ("packed", 2)] {
        let tags = [OF, (names::STAGE, name)];
        let seen = orders.iter().filter(|order| is_in(order[point]));
        let mut hops: Vec<u64> = seen.map(|order| ns(order[point] - order[point - 1])).collect();
        hops.sort_unstable();
        rows.push(counter(names::STAGE_REACHED, &tags, point));
        rows.push(level(names::STAGE_IN_FLIGHT, &tags, [point - 1, point]));
        if !hops.is_empty() {
            rows.push((SeriesKey::new(names::STAGE_HOP, &tags, SeriesPhase::Steady), trend(&hops)));
        }
    }
    Interval { start_ns: start_s * SECOND, end_ns: (start_s + 1) * SECOND, rows }
}

fn store(orders: &[Order], intervals: &[Interval]) -> Store {
    let mut recorder = Recorder::new(0);
    for (key, row) in intervals.iter().flat_map(|interval| &interval.rows) {
        match row {
            IntervalRow::Counter(n) => {
                let series = recorder.series(Kind::Counter, key.clone());
                recorder.add(series, *n);
            }
            IntervalRow::Gauge([last, _, _]) => {
                let series = recorder.series(Kind::Gauge, key.clone());
                recorder.set(series, *last);
            }
            _ => {}
        }
    }
    let mut record = |metric: &str, tags: &[(&str, &str)], sample: &dyn Fn(&Order) -> f64| {
        let key = SeriesKey::new(metric, tags, SeriesPhase::Steady);
        let series = recorder.series(Kind::Trend, key);
        orders.iter().for_each(|order| recorder.record(series, ns(sample(order))));
    };
    record(names::JOURNEY_DURATION, &[OF], &|order| order[2] - order[0]);
    record(names::STAGE_HOP, &[OF, (names::STAGE, "created")], &|order| order[1] - order[0]);
    record(names::STAGE_HOP, &[OF, (names::STAGE, "packed")], &|order| order[2] - order[1]);
    let mut store = Store::new();
    store.apply(&recorder.take(SECOND, None)).expect("the first snapshot");
    store
}

fn kept(orders: &[Order]) -> Vec<JourneyRecord> {
    let kept = orders.iter().enumerate().step_by(orders.len() / 100);
    kept.map(|(id, order)| JourneyRecord {
        journey: "order".into(),
        id: id as u64,
        class: "completed".into(),
        phase: "steady".into(),
        kept_as: "sample".into(),
        t0_ns: ns(order[0]),
        t1_ns: ns(order[0]),
        end_ns: ns(order[2]),
        stages: [("created", order[1]), ("packed", order[2])]
            .map(|(name, at_s)| StageInstant { name: name.into(), seen_ns: Some(ns(at_s)) })
            .to_vec(),
        ..JourneyRecord::default()
    })
    .collect()
}

fn model(orders: &[Order]) -> ReportModel {
    ReportModel::from_run(&run_of(orders))
}

fn run_of(orders: &[Order]) -> RunFile {
    let last_s = orders.iter().map(|order| order[2]).fold(0.0, f64::max);
    let end_s = last_s.ceil() as u64;
    let intervals: Vec<Interval> = (0..end_s).map(|second| interval(orders, second)).collect();
    RunFile {
        identity: Identity {
            name: "orders".into(),
            phases_ns: [0, SECONDS * SECOND, 0],
            journeys: vec![JourneyShape {
                name: "order".into(),
                steps: vec!["place".into()],
                root_steps: 1,
                stages: vec![stage("created", "place"), stage("packed", "created")],
                within_ns: 60 * SECOND,
                poison: None,
            }],
            ..Identity::default()
        },
        store: store(orders, &intervals),
        intervals,
        journeys: kept(orders),
        summary: Some(Summary {
            verdict: Verdict::Pass,
            causes: Vec::new(),
            thresholds: Vec::new(),
            interrupted: false,
            arrivals_end_ns: SECONDS * SECOND,
            load_end_ns: SECONDS * SECOND,
            end_ns: end_s * SECOND,
            drain_ns: Some(ns(last_s).saturating_sub(SECONDS * SECOND)),
            notes: Vec::new(),
            fleet: None,
        }),
        ..RunFile::default()
    }
}

#[test]
fn past_capacity_the_stage_and_its_four_packers_are_named_everywhere() {
    let model = model(&orders(230.0, 4));
    let journey = &model.journeys[0];
    assert!(matches!(journey.backlog, Some(Backlog::Growing { .. })), "{:?}", journey.backlog);
    let found = journey.saturation.as_ref().expect("grows");
    assert_eq!(found.stage, "packed");
    let Some(Exhausted::Throughput { at_once: Some(at_once), .. }) = found.exhausted else {
        panic!("{found:?}")
    };
    assert!((at_once - 4.0).abs() < 0.1, "{found:?}");
    // A queue that grows has hops of every length, evenly: no timer.
    assert_eq!(journey.timers, []);
    assert_eq!((journey.changes.len(), journey.stalls.len()), (0, 0));
    // 30 more each second, for 60: the last waits 9 s.
    let oldest_s = journey.oldest_age_ns_max.expect("measured") as f64 / 1e9;
    assert!((7.0..9.5).contains(&oldest_s), "{oldest_s}");
    let sentence = "the concurrency of packed is exhausted, the bottleneck: 230/s come and 200/s \
                    leave, however many wait: it works on about 4 at once";
    assert!(model.verdict.headline.contains(sentence), "{}", model.verdict.headline);
    let said: Vec<&str> = model.conclusions.iter().map(|it| it.text.as_str()).collect();
    assert!(said.contains(&sentence), "{said:?}");
    let text = render::text(&model, false).replace("\n            ", " ");
    assert!(text.contains("of a queue that grew: these percentiles describe the length"));
    assert!(text.contains("growth    waiting for packed grew by"), "{text}");
    let html = render::html(&model).expect("renders");
    assert!(html.contains("<strong>Of a queue that grew</strong>"));
    assert!(html.contains("Age of the oldest in flight"));
    let json: serde_json::Value =
        serde_json::from_str(&render::json(&model).expect("renders")).expect("is JSON");
    assert_eq!(json["journeys"][0]["is_of_growing_queue"], true);
    assert_eq!(json["journeys"][0]["growths"][1]["judgement"], "growing");
    assert_eq!(json["journeys"][0]["saturation"]["exhausted"]["kind"], "throughput");
}

/// Adds a lost order every half second: created and never packed, in flight to the end.
fn with_losses(mut run: RunFile) -> RunFile {
    let end_ns = run.intervals.last().expect("intervals").end_ns + 30 * SECOND;
    let lost = (0..2 * SECONDS).map(|half| JourneyRecord {
        journey: "order".into(),
        id: 1_000_000 + half,
        class: "lost".into(),
        phase: "steady".into(),
        kept_as: "lost".into(),
        t0_ns: half * SECOND / 2,
        t1_ns: half * SECOND / 2,
        end_ns,
        stages: vec![
            StageInstant { name: "created".into(), seen_ns: Some(half * SECOND / 2 + 5_000_000) },
            StageInstant { name: "packed".into(), seen_ns: None },
        ],
        ..JourneyRecord::default()
    });
    run.journeys.extend(lost);
    let packed = [OF, (names::STAGE, "packed")];
    for interval in &mut run.intervals {
        let more = (2 * interval.end_ns.min(SECONDS * SECOND) / SECOND) as f64;
        for (key, row) in &mut interval.rows {
            let is_level = key.metric == names::JOURNEYS_IN_FLIGHT
                || *key == SeriesKey::new(names::STAGE_IN_FLIGHT, &packed, SeriesPhase::Any);
            if let (true, IntervalRow::Gauge(level)) = (is_level, row) {
                level.iter_mut().for_each(|value| *value += more);
            }
        }
    }
    run
}

#[test]
fn losses_are_no_queue_that_grows() {
    let model = ReportModel::from_run(&with_losses(run_of(&orders(150.0, 4))));
    let journey = &model.journeys[0];
    assert!(!journey.is_of_growing_queue, "{:?}", journey.backlog);
    assert_eq!(journey.saturation, None);
    // Nor do they hide one.
    let model = ReportModel::from_run(&with_losses(run_of(&orders(230.0, 4))));
    assert!(model.journeys[0].is_of_growing_queue);
    assert_eq!(model.journeys[0].saturation.as_ref().map(|found| &*found.stage), Some("packed"));
}

#[test]
fn with_room_nothing_of_it_is_said() {
    let model = model(&orders(150.0, 4));
    let journey = &model.journeys[0];
    assert!(!journey.is_of_growing_queue);
    assert_eq!(journey.saturation, None);
    assert_eq!((journey.timers.len(), journey.changes.len(), journey.stalls.len()), (0, 0, 0));
    let definitions: Vec<&str> = model.conclusions.iter().map(|it| it.definition).collect();
    assert_eq!(definitions, ["backlog-slope", "share"]);
    assert!(!render::text(&model, false).contains("queue that grew"));
    assert!(!render::html(&model).expect("renders").contains("Of a queue that grew"));
}

/// From the thirtieth second on `created` takes 200 ms more; between the 40th and the 46th nothing
/// is packed.
#[test]
fn a_change_and_a_stall_are_told_with_their_moments() {
    let mut orders = orders(100.0, 40);
    for order in &mut orders {
        let slower_s = if order[0] >= 30.0 { 0.2 } else { 0.0 };
        order[1] += slower_s;
        order[2] += slower_s;
        if (40.0..46.0).contains(&order[2]) {
            order[2] = 46.001;
        }
    }
    let model = model(&orders);
    let journey = &model.journeys[0];
    let change = journey.changes.iter().find(|it| it.of == "the hop to created").expect("told");
    assert!(change.change.at_ns.abs_diff(30 * SECOND) <= SECOND, "{change:?}");
    assert_eq!(change.arrivals_per_s, [100.0, 100.0]);
    assert_eq!(journey.stalls.len(), 1, "{:?}", journey.stalls);
    let stall = &journey.stalls[0];
    assert_eq!((stall.stall.from_ns, stall.stall.to_ns), (40 * SECOND, 46 * SECOND));
    assert_eq!(stall.stage.as_deref(), Some("packed"));
    let text = render::text(&model, false).replace("\n    ", " ");
    assert!(text.contains("nothing was completed for 6.00 s from 40.0 s on"), "{text}");
    assert!(text.contains("the hop to created became slower 30.0 s into the run"), "{text}");
}
