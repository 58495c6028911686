//! An M/M/1 queue behind HTTP: the mean response is the one that theory gives, and request by
//! request the one that the server's own book has.

use std::collections::BTreeMap;

use sojourn_clock::MILLISECOND_NS;
use sojourn_metrics::{SeriesKey, SeriesPhase};
use sojourn_record::Verdict;
use sojourn_testkit::{Draws, QueueServer, QueueShape, TruthRecord, theory::Mm1};

use crate::common;

const SERVICE_NS: u64 = 5 * MILLISECOND_NS;
const UTILIZATION: f64 = 0.7;
/// 0.7 of what the server can do.
const RATE_PER_S: u64 = 140;
const STEADY_S: u64 = 60;
/// Two sides of a normal law beyond it have 0.05 % together. Arrivals and service times are seeded,
/// so that the same queue is made each time.
const Z: f64 = 3.5;

const PLAN: &str = r#"
name: theory
target: ${TARGET}
journeys:
  request:
    root: { http: GET /, expect: { status: 200 }, key: body.id }
load:
  - { journey: request, arrivals: poisson, rate: "${RATE}/s", steady: "${STEADY}s", drain: 10s }
"#;

#[test]
fn the_mean_response_of_an_mm1_queue() {
    let _turn = common::alone();
    let law = Draws::exponential(SERVICE_NS, 11);
    let server = QueueServer::start(QueueShape::default(), law).expect("a server");
    let plan = common::plan(
        PLAN,
        &[
            ("TARGET", &server.url("")),
            ("RATE", &RATE_PER_S.to_string()),
            ("STEADY", &STEADY_S.to_string()),
        ],
    );
    let run = common::run(&plan, |options| options.keep_all = true);
    assert_eq!(run.summary.verdict, Verdict::Pass, "{:?}", run.summary);

    let truth = server.truth();
    let counter = |metric: &str| run.file.store.sum(metric, &[], SeriesPhase::Steady);
    let count = truth.len() as u64;
    let counts = ["journeys.scheduled", "journeys.started", "journeys.completed"].map(counter);
    assert_eq!(counts, [count; 3]);
    assert_eq!((server.refused(), server.server().requests()), (0, count));

    let tags = [("journey", "request"), ("step", "root")];
    let key = SeriesKey::new("step.response", &tags, SeriesPhase::Steady);
    let response = run.file.store.trend(&key).expect("responses").totals();
    assert_eq!(response.count, count);
    let measured_ms = response.sum as f64 / count as f64 / MILLISECOND_NS as f64;
    let truth_ns: u64 = truth.iter().map(|it| it.finish_ns - it.arrival_ns).sum();
    let truth_ms = truth_ns as f64 / count as f64 / MILLISECOND_NS as f64;
    let mm1 =
        Mm1 { utilization: UTILIZATION, service_mean: SERVICE_NS as f64 / MILLISECOND_NS as f64 };
    let interval = mm1.mean_response_interval(count, Z);
    let told = format!(
        "{count} requests: mean response {measured_ms:.3} ms, the server's book {truth_ms:.3} ms, \
         theory {:.3} ± {:.3} ms",
        interval.center, interval.half_width
    );
    println!("{told}");
    assert!(interval.contains(measured_ms), "{told}");
    let added_ms = measured_ms - truth_ms;
    assert!((0.0..=2.0).contains(&added_ms), "{told}");
    each_request(&run, &truth);
}

/// Request by request: due and begun before it arrived, answered after it was finished.
fn each_request(run: &common::Run, truth: &[TruthRecord]) {
    let start_ns = run.file.identity.start_monotonic_ns;
    let mut left: BTreeMap<String, &TruthRecord> =
        truth.iter().map(|record| (record.id.to_string(), record)).collect();
    for record in &run.file.journeys {
        let key = record.key.as_deref().unwrap_or_default();
        let truth = left.remove(key).unwrap_or_else(|| panic!("no request {key}: {record:?}"));
        let [t0_ns, t1_ns, t2_ns] =
            [record.t0_ns, record.t1_ns, record.t2_ns.unwrap_or(0)].map(|ns| start_ns + ns);
        let instants = [t0_ns, t1_ns, truth.arrival_ns, truth.start_ns, truth.finish_ns, t2_ns];
        assert!(instants.is_sorted(), "request {key}: {instants:?}");
    }
    assert!(left.is_empty(), "never measured: {:?}", left.keys());
}
