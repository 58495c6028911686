//! A target that freezes for two seconds: the stall is in the figures, whole, and nothing is omitted.
//!
//! A closed tool, or one that counts from the actual send, would show some slow requests and none
//! of those that it did not send meanwhile.

use sojourn_clock::{MILLISECOND_NS, SECOND_NS};
use sojourn_metrics::{Histogram, SeriesKey, SeriesPhase};
use sojourn_record::Verdict;
use sojourn_testkit::{FreezingServer, Window};

use crate::common;

const RATE_PER_S: u64 = 500;
const FREEZE_NS: u64 = 2 * SECOND_NS;

const PLAN: &str = r#"
name: omission
target: ${TARGET}
journeys:
  request:
    root: { http: GET /, expect: { status: 200 } }
load:
  - { journey: request, arrivals: constant, rate: "${RATE}/s", steady: "${STEADY}s", drain: 10s }
"#;

/// A run of so many seconds, frozen from `freeze_s` on, with so many connections at most.
fn frozen(steady_s: u64, freeze_s: u64, connections_max: usize) -> (common::Run, u64) {
    let from_ns = freeze_s * SECOND_NS;
    let server =
        FreezingServer::start(&[Window { from_ns, to_ns: from_ns + FREEZE_NS }]).expect("a server");
    let plan = common::plan(
        PLAN,
        &[
            ("TARGET", &server.url("")),
            ("RATE", &RATE_PER_S.to_string()),
            ("STEADY", &steady_s.to_string()),
        ],
    );
    let run = common::run(&plan, |options| options.client.connections_max = connections_max);
    (run, server.requests())
}

fn trend<'a>(run: &'a common::Run, metric: &str) -> &'a Histogram {
    let tags: &[(&str, &str)] = match metric {
        "lag" => &[],
        _ => &[("journey", "request"), ("step", "root")],
    };
    let key = SeriesKey::new(metric, tags, SeriesPhase::Steady);
    run.file.store.trend(&key).unwrap_or_else(|| panic!("no {metric}"))
}

fn quantile_ms(run: &common::Run, metric: &str, q: f64) -> f64 {
    trend(run, metric).quantile(q).unwrap_or(0) as f64 / MILLISECOND_NS as f64
}

fn told(run: &common::Run) -> String {
    ["step.response", "step.service", "step.blocked", "lag"]
        .map(|metric| {
            let [p50, p99, max] = [0.5, 0.99, 1.0].map(|q| quantile_ms(run, metric, q));
            format!("{metric}: p50 {p50:.3} ms, p99 {p99:.3} ms, max {max:.3} ms")
        })
        .join("\n")
}

/// Every arrival was due, was started, reached the server and was answered, once.
fn assert_nothing_omitted(run: &common::Run, requests: u64, expected: u64) {
    let counter = |metric: &str| run.file.store.sum(metric, &[], SeriesPhase::Steady);
    let counts = ["journeys.scheduled", "journeys.started", "journeys.completed", "step.requests"];
    assert_eq!(run.summary.verdict, Verdict::Pass, "{:?}\n{}", run.summary, told(run));
    assert_eq!(counts.map(counter), [expected; 4], "{}", told(run));
    assert_eq!(counter("journeys.missed"), 0);
    assert_eq!(requests, expected, "requests at the server");
    for metric in ["step.response", "step.service", "step.blocked", "lag"] {
        assert_eq!(trend(run, metric).count(), expected, "{metric}");
    }
}

#[test]
fn a_frozen_target_is_measured_from_the_schedule() {
    let _turn = common::alone();
    let (run, requests) = frozen(20, 8, 10_000);
    println!("{}", told(&run));
    assert_nothing_omitted(&run, requests, 20 * RATE_PER_S);
    // A tenth of all requests fell into the freeze, evenly: p99 is the one due 0.2 s after its start.
    let p99 = quantile_ms(&run, "step.response", 0.99);
    assert!((1_500.0..2_000.0).contains(&p99), "response p99 {p99} ms\n{}", told(&run));
    let max = quantile_ms(&run, "step.response", 1.0);
    assert!((1_990.0..2_500.0).contains(&max), "response max {max} ms\n{}", told(&run));
    // No one waited for us: arrivals went out on time throughout, each on a connection of its own,
    // so service time says the same as response.
    let service = quantile_ms(&run, "step.service", 0.99);
    assert!((p99 - service).abs() <= 10.0, "service p99 {service} ms\n{}", told(&run));
    // Nine tenths were not touched.
    let p50 = quantile_ms(&run, "step.response", 0.5);
    assert!(p50 < 50.0, "response p50 {p50} ms\n{}", told(&run));
}

/// With ten connections all others wait for one: that is the target's doing, and never our lag.
#[test]
fn waiting_for_a_connection_is_no_lag() {
    let _turn = common::alone();
    let (run, requests) = frozen(6, 2, 10);
    println!("{}", told(&run));
    assert_nothing_omitted(&run, requests, 6 * RATE_PER_S);
    // A third fell into the freeze: p99 is the one due 0.06 s after its start.
    for metric in ["step.response", "step.service", "step.blocked"] {
        let p99 = quantile_ms(&run, metric, 0.99);
        assert!((1_500.0..2_500.0).contains(&p99), "{metric} p99 {p99} ms\n{}", told(&run));
    }
}
