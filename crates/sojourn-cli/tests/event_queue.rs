//! The recipe for event queues, against a queue whose log is the truth.

mod again;
mod asked;
mod batches;
mod clocks;
mod limits;
mod losses;
pub(crate) mod simulator;

use sojourn_clock::MILLISECOND_NS;
use sojourn_metrics::{SeriesPhase, Totals, names};
use sojourn_record::Verdict;
use sojourn_testkit::free_port;

use crate::common::{Run, plan, run};
use simulator::{Call, Clock, Log, STEPS, Settings, Simulator};

const EXAMPLE: &str = include_str!("../../../examples/event-queue.yaml");
const STAGES: [&str; 3] = ["started", "charged", "finished"];

/// What differs from run to run.
#[derive(Clone, Copy)]
struct Case {
    example: &'static str,
    asks: bool,
    concurrency: usize,
    throttle_ns: u64,
    dedup: bool,
    runs: usize,
    refuse_every: u64,
    lose_every: u64,
    within: &'static str,
    work: &'static str,
    fail: &'static str,
    rate: &'static str,
    steady: &'static str,
    /// Journeys at once, and starts in 1 s, that the plan says the queue keeps.
    stated: (&'static str, &'static str),
    /// The journey that the load makes; all of them by weight where empty.
    journey: &'static str,
    clock: Clock,
}

const CASE: Case = Case {
    example: EXAMPLE,
    asks: false,
    concurrency: 4,
    throttle_ns: 0,
    dedup: true,
    runs: 0,
    refuse_every: 0,
    lose_every: 0,
    within: "30s",
    work: "2ms",
    fail: "0%",
    rate: "40/s",
    steady: "1s",
    stated: ("1000", "100000"),
    journey: "",
    clock: Clock { offset_ns: 0, jump: None, spoilt_every: 0 },
};

/// A run of the example against such a queue.
fn observe(case: Case) -> (Run, Log) {
    let app = format!("127.0.0.1:{}", free_port().unwrap());
    let settings = Settings {
        app: app.clone(),
        concurrency: case.concurrency,
        throttle_ns: case.throttle_ns,
        dedup: case.dedup,
        runs: case.runs,
        refuse_every: case.refuse_every,
        lose_every: case.lose_every,
        asks: case.asks,
        clock: case.clock,
    };
    let simulator = Simulator::start(&settings);
    let target = simulator.url();
    let environment = [
        ("QUEUE", target.as_str()),
        ("APP", app.as_str()),
        ("WORK", case.work),
        ("FAIL", case.fail),
        ("RATE", case.rate),
        ("STEADY", case.steady),
        ("AT_ONCE", case.stated.0),
        ("STARTS", case.stated.1),
    ];
    let example = match case.journey {
        "" => case.example.to_owned(),
        journey => {
            case.example.replace("- { arrivals:", &format!("- {{ journey: {journey}, arrivals:"))
        }
    };
    let example = example.replace("within: 30s", &format!("within: {}", case.within));
    // The machine that runs tests is busy: what a run claims is compared with the log instead.
    let patient = "\nhealth: { lag_p99_max: 5s, tap_behind_max: 5s, silent_max: 5s }\n";
    let run = run(&plan(&format!("{example}{patient}"), &environment), |options| {
        options.keep_all = true;
    });
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    (run, simulator.stop())
}

fn sum(run: &Run, metric: &str, tags: &[(&str, &str)]) -> u64 {
    let of = |phase| run.file.store.sum(metric, tags, phase);
    // Journeys' counters are of their phase; events' are of none.
    of(SeriesPhase::Steady) + of(SeriesPhase::Any)
}

fn duplicates(run: &Run, kind: &str) -> u64 {
    sum(run, names::EVENTS_DUPLICATE, &[("kind", kind)])
}

fn hops(run: &Run, stage: &str) -> Totals {
    totals(run, names::STAGE_HOP, &[("stage", stage)])
}

fn totals(run: &Run, metric: &str, tags: &[(&str, &str)]) -> Totals {
    let merged = run.file.store.merged(metric, tags, SeriesPhase::Steady);
    *merged.totals()
}

/// The first call of every run's step, by run.
fn first_calls(log: &Log, step: usize) -> Vec<&Call> {
    let mut calls: Vec<_> =
        log.calls.iter().filter(|call| call.step == step && call.attempt == 0).collect();
    calls.sort_by_key(|call| call.run);
    calls
}

/// Runs started, calls made and the time between them are what the queue's own log says.
fn assert_as_logged(run: &Run, log: &Log) {
    let started = sum(run, names::JOURNEYS_STARTED, &[]);
    assert!(started > 5, "{started}");
    assert_eq!(sum(run, names::JOURNEYS_COMPLETED, &[]), started);
    assert_eq!(sum(run, names::EVENTS_SEEN, &[]), log.calls.len() as u64);
    assert_eq!(sum(run, names::EVENTS_MATCHED, &[]), started * 3);
    for stage in STAGES {
        assert_eq!(sum(run, names::STAGE_REACHED, &[("stage", stage)]), started, "{stage}");
    }
}

#[test]
fn accept_start_steps_and_finish_are_as_the_queue_logged_them() {
    let (run, log) = observe(Case { fail: "30%", ..CASE });
    assert_as_logged(&run, &log);
    // What was sent twice started one run.
    assert_eq!(log.runs, sum(&run, names::JOURNEYS_STARTED, &[]));
    assert_eq!(log.accepted, log.runs + log.deduplicated);
    assert!(log.deduplicated > 0);
    // Every further call is a redelivery, and there is one for each call that failed.
    let failed = log.calls.iter().filter(|call| call.status == 500).count() as u64;
    assert!(failed > 0 && log.calls.iter().all(|call| matches!(call.status, 200 | 500)));
    assert_eq!(log.calls.len() as u64, log.runs * STEPS.len() as u64 + failed);
    assert_eq!(duplicates(&run, "redelivery"), failed);
    assert_eq!(duplicates(&run, "republication") + duplicates(&run, "unknown"), 0);
    // A call is received between its sending and its answer, on the same clock.
    for (step, stage) in STAGES.iter().enumerate().skip(1) {
        let pairs = first_calls(&log, step - 1).into_iter().zip(first_calls(&log, step));
        let (least, most): (Vec<_>, Vec<_>) = pairs
            .map(|(from, to)| {
                assert_eq!(from.run, to.run);
                (
                    to.sent_ns.saturating_sub(from.answered_ns),
                    to.answered_ns.saturating_sub(from.sent_ns),
                )
            })
            .unzip();
        let hops = hops(&run, stage);
        assert_eq!(hops.count, log.runs);
        let bounds = |values: &[u64]| values.iter().map(|ns| u128::from(*ns)).sum::<u128>();
        assert!((bounds(&least)..=bounds(&most)).contains(&hops.sum), "{stage}: {hops:?}");
        assert!(hops.min >= *least.iter().min().unwrap(), "{stage}: {hops:?}");
        assert!(hops.max <= *most.iter().max().unwrap(), "{stage}: {hops:?}");
    }
}

#[test]
fn a_queue_that_forgets_ids_is_found_out() {
    let (run, log) = observe(Case { dedup: false, ..CASE });
    let again = log.accepted - sum(&run, names::JOURNEYS_STARTED, &[]);
    assert!(again > 0);
    assert_eq!(log.deduplicated, 0);
    assert_eq!(duplicates(&run, "republication"), again * STEPS.len() as u64);
    assert_eq!(duplicates(&run, "redelivery") + duplicates(&run, "unknown"), 0);
    assert_eq!(run.summary.verdict, Verdict::Fail, "duplicates == 0 does not hold");
}

#[test]
fn a_limit_of_calls_at_once_shows_in_the_hops() {
    let (work, rate, steady) = ("20ms", "200/s", "200ms");
    let limited = Case { journey: "order", concurrency: 2, work, rate, steady, ..CASE };
    let (run, log) = observe(limited);
    assert_as_logged(&run, &log);
    assert_eq!(duplicates(&run, "redelivery"), 0);
    let at_once = |call: &Call| {
        let holds =
            |other: &&Call| other.sent_ns <= call.sent_ns && call.sent_ns < other.answered_ns;
        log.calls.iter().filter(holds).count()
    };
    assert_eq!(log.calls.iter().map(at_once).max(), Some(2), "the limit was used, and held");
    // Two at once, 20 ms each: the last call comes no earlier than that, for one who arrived by
    // the load's end.
    let serial = (log.calls.len() as u64 / 2).saturating_sub(1) * 20 * MILLISECOND_NS;
    let durations = totals(&run, names::JOURNEY_DURATION, &[]);
    let least_ns = serial.saturating_sub(200 * MILLISECOND_NS);
    assert!(durations.max >= least_ns, "{} < {least_ns}", durations.max);
    losses::assert_backlog_and_drain(&run, &log);
}

#[test]
fn a_throttle_spaces_the_starts() {
    let throttle_ns = 20 * MILLISECOND_NS;
    let throttled = Case { throttle_ns, rate: "200/s", steady: "200ms", ..CASE };
    let (run, log) = observe(throttled);
    assert_as_logged(&run, &log);
    let least_ns = (log.runs - 1) * throttle_ns - 200 * MILLISECOND_NS;
    let durations = totals(&run, names::JOURNEY_DURATION, &[]);
    assert!(durations.max >= least_ns, "{} < {least_ns}", durations.max);
}
