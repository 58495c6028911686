//! The ledger against the demo's own log of what happened: no difference is accepted.
//!
//! Each case loads the payments system with one fault (or all of them), keeps every journey, and
//! then compares journey by journey ([`journeys`]), counter by counter ([`counts`]) and, for the one
//! thing that two observers cannot agree on to the nanosecond, hop by hop within a tolerance
//! ([`hops`]).
//!
//! Small by default; `SOJOURN_TESTS=full` (`cargo xtask test --full`) makes it 200 journeys a second for 30 s.

pub(crate) mod brokers;
pub(crate) mod counts;
mod direct;
pub(crate) mod hops;
pub(crate) mod journeys;
mod kept;
pub(crate) mod log;
mod poison;
mod report;

use sojourn_clock::MILLISECOND_NS;
use sojourn_demo::{
    Carrier, Demo, DemoConfig, FaultConfig, RelayConfig, SlowStage, Stage, StopStage, Truth,
    TruthLog, five_to_nine_seconds,
};
use sojourn_metrics::SeriesPhase;
use sojourn_plan::Journey;
use sojourn_record::{Cause, RunFile, Verdict};

use crate::common::{self, OF_A_BUSY_MACHINE};
use journeys::Examination;
use log::Log;

const PLAN: &str = r#"
name: truth
target: ${TARGET}
channels:
  events:
    kafka:
      brokers: "${KAFKA}"
      topics: [payments.events]
      properties: { fetch.wait.max.ms: "1" }
  dead-letters:
    kafka:
      brokers: "${KAFKA}"
      topics: [payments.dead-letter]
      properties: { fetch.wait.max.ms: "1" }
journeys:
  payment:
    root:
      http:
        method: POST
        url: /api/payment/create
        json: { amount: "{{ int(1, 100000) }}", currency: "{{ pick('GBP', 'EUR', 'USD') }}" }
      expect: { status: 200 }
      key: { from: body.paymentId, as: "pay:{}" }
    stages:
      - { name: initiated, on: events, match: { type: PaymentInitiated }, key: $.aggregateId }
      - { name: created, on: events, match: { type: PaymentCreated }, key: $.aggregateId }
      - { name: settled, on: events, match: { type: PaymentSettled }, key: $.aggregateId }
      - { name: completed, on: events, match: { type: PaymentCompleted }, key: $.aggregateId }
      - { name: dead_letter, on: dead-letters, key: $.aggregateId, failure: true }
    within: ${WITHIN}ms
    linger: ${LINGER}ms
  rejected:
    root:
      http:
        method: POST
        url: /api/payment/create
        json: { amount: "{{ int(1, 100000) }}", currency: ZZZ }
      expect: { status: 400 }
load:
  - { journey: payment, arrivals: poisson, rate: "${RATE}/s", warmup: "${WARMUP}s", steady: "${STEADY}s", drain: 60s }
  - { journey: rejected, arrivals: poisson, rate: 5/s, warmup: "${WARMUP}s", steady: "${STEADY}s", drain: 60s }
# What is compared here does not depend on how punctual a busy machine lets the generator be. All
# other limits stay: they are what the comparison rests on.
health: { lag_p99_max: 5s }
"#;

/// The seed of the demo and of the plan: what befalls which payment is the same in every run.
pub(crate) const SEED: u64 = 7;

/// One way to treat payments badly.
struct Case {
    name: &'static str,
    faults: FaultConfig,
    within_ms: u64,
    linger_ms: u64,
    /// How long taps stay open after nothing is in flight: longer than the system goes on.
    taps_linger_ms: u64,
    /// The least delivery that is reckoned with where nothing acknowledges: how late a busy machine
    /// may wake a tap.
    waking_ns: u64,
}

impl Case {
    /// Deadlines that everything meets which is not lost.
    fn new(name: &'static str, faults: FaultConfig) -> Self {
        let (within_ms, linger_ms, taps_linger_ms) = (3_000, 1_000, 1_000);
        Self { name, faults, within_ms, linger_ms, taps_linger_ms, waking_ns: 0 }
    }

    fn within(self, within_ms: u64, linger_ms: u64) -> Self {
        Self { within_ms, linger_ms, ..self }
    }
}

struct Size {
    rate_per_s: u64,
    warmup_s: u64,
    steady_s: u64,
}

fn size() -> Size {
    match std::env::var("SOJOURN_TESTS").as_deref() {
        Ok("full") => Size { rate_per_s: 200, warmup_s: 2, steady_s: 30 },
        _ => Size { rate_per_s: 50, warmup_s: 1, steady_s: 3 },
    }
}

/// What a case must have brought about, in the ledger's words, or it has shown nothing.
type Expected = &'static [&'static str];

/// A run of the demo that has been compared with the demo's log, and agrees.
pub(crate) struct Agreed {
    pub(crate) run: common::Run,
    pub(crate) examination: Examination,
    pub(crate) log: Log,
    /// Figures in words.
    pub(crate) told: String,
}

/// Runs a plan (as text, with `${TARGET}` and `${KAFKA}`) against a demo and compares everything.
pub(crate) fn agree(
    config: DemoConfig,
    text: &str,
    environment: &[(&str, &str)],
    taps_linger_ms: u64,
) -> Agreed {
    agree_on(None, config, text, environment, (taps_linger_ms, 0))
}

/// The same with another broker than the embedded one; and with the least delivery, nanoseconds.
fn agree_on(
    carrier: Option<Carrier>,
    config: DemoConfig,
    text: &str,
    environment: &[(&str, &str)],
    (taps_linger_ms, delivery_ns_min): (u64, u64),
) -> Agreed {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let truth_path = folder.path().join("truth.ndjson");
    let config = DemoConfig { seed: SEED, truth_path: Some(truth_path.clone()), ..config };
    let demo = Demo::start_on(config, carrier).expect("the demo starts");
    let addresses = [("TARGET", demo.api_url()), ("KAFKA", demo.brokers())];
    let plan = common::plan(text, &[&addresses, environment].concat());
    let run = common::run(&plan, |options| {
        options.keep_all = true;
        options.linger_ns = taps_linger_ms * MILLISECOND_NS;
    });
    let demo_counts = demo.stop().expect("the demo ends");
    let truth = TruthLog::read(&truth_path).expect("the log is readable");

    assert_eq!(demo_counts.problems, Vec::<String>::new());
    let (examination, log, told) = compare(&run.file, &truth, &plan.journeys[0], delivery_ns_min);
    Agreed { run, examination, log, told }
}

/// Compares a run's file with the demo's log, in everything; figures in words.
pub(crate) fn compare(
    file: &RunFile,
    truth: &Truth,
    payment: &Journey,
    delivery_ns_min: u64,
) -> (Examination, Log, String) {
    let summary = file.summary.as_ref().expect("a whole run file");
    // The figures of a generator that was late are to agree with the log all the same.
    let of_machine = |cause: &Cause| OF_A_BUSY_MACHINE.contains(&&*cause.name);
    assert!(summary.causes.iter().all(of_machine), "{summary:?}");
    assert_ne!(summary.verdict, Verdict::Fail, "{summary:?}");
    assert!(!summary.interrupted && summary.drain_ns.is_some());
    assert!(truth.complete, "the log lacks its end");
    assert_eq!(truth.problems, Vec::<String>::new());

    let mut log = Log::until_the_end_of(file, truth);
    log.delivery_p99_ns = log.delivery_p99_ns.max(delivery_ns_min);
    let examination = Examination::of(file, &log, payment);
    examination.assert_no_differences(file);
    counts::compare(file, &examination.counts);
    log.compare_with_its_own_totals(truth, &examination.counts);
    let told = hops::compare(file, &examination, &log);
    report::compare(file, &examination);
    let told = format!("{:?}, {}\n{told}", examination.classes(), log.told());
    (examination, log, told)
}

fn examine(case: Case, expected: Expected) {
    examine_text(PLAN, case, expected);
}

/// The same with another plan.
fn examine_text(text: &str, case: Case, expected: Expected) -> Agreed {
    examine_on(None, text, &size(), case, expected)
}

/// Makes the broker's ends for the demo, with values for `${NAME}` in its channels.
type CarrierOf<'a> = &'a dyn Fn(&[(&str, &str)]) -> Carrier;

#[expect(clippy::print_stdout, reason = "clippy.toml allows it in tests, but not in their helpers")]
fn examine_on(
    carrier: Option<CarrierOf<'_>>,
    text: &str,
    size: &Size,
    case: Case,
    expected: Expected,
) -> Agreed {
    let _turn = common::alone();
    let config = DemoConfig {
        // Short, so that what is measured is spread and not a multiple of the relay's interval.
        relay: RelayConfig { poll_ms: 20, ..RelayConfig::default() },
        faults: case.faults,
        ..DemoConfig::default()
    };
    let environment = [
        ("WITHIN", case.within_ms),
        ("LINGER", case.linger_ms),
        ("RATE", size.rate_per_s),
        ("WARMUP", size.warmup_s),
        ("STEADY", size.steady_s),
    ]
    .map(|(name, value)| (name, value.to_string()));
    let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, &**value)).collect();
    let carrier = carrier.map(|connect| connect(&environment));
    let agreed =
        agree_on(carrier, config, text, &environment, (case.taps_linger_ms, case.waking_ns));
    println!("{}: {}", case.name, agreed.told);
    assert_as_many(&agreed.examination, size);
    for what in expected {
        let happened = agreed.examination.happened(what);
        assert!(happened, "{}: the case shows nothing: no {what}", case.name);
    }
    agreed
}

/// The load was as large as it should be: a generator that could not start everything would have
/// less to get right. Arrivals are Poisson's; six standard deviations never happen.
#[track_caller]
fn assert_as_many(examination: &Examination, size: &Size) {
    let scheduled = (size.rate_per_s * size.steady_s) as f64;
    let steady = examination.journeys.iter().filter(|it| it.phase == SeriesPhase::Steady);
    let started = steady.count();
    let least = scheduled - 6.0 * scheduled.sqrt();
    assert!(started as f64 >= least, "{started} journeys started of some {scheduled}");
}

#[test]
fn without_faults() {
    let case = Case::new("none", FaultConfig::default());
    examine(case, &["completed"]);
}

#[test]
fn dropped_events() {
    let faults = FaultConfig { drop_percent: 5.0, ..FaultConfig::default() };
    examine(Case::new("drop", faults), &["completed", "lost"]);
}

#[test]
fn redelivered_events() {
    let faults = FaultConfig { redeliver_percent: 10.0, ..FaultConfig::default() };
    examine(Case::new("redeliver", faults), &["completed", "redelivery"]);
}

#[test]
fn republished_events() {
    let faults = FaultConfig { republish_percent: 10.0, ..FaultConfig::default() };
    examine(Case::new("republish", faults), &["completed", "republication"]);
}

#[test]
fn reordered_events() {
    let faults = FaultConfig { reorder_percent: 10.0, ..FaultConfig::default() };
    examine(Case::new("reorder", faults), &["completed", "out of order"]);
}

#[test]
fn poisoned_events() {
    let faults = FaultConfig { poison_percent: 5.0, ..FaultConfig::default() };
    examine(Case::new("poison", faults), &["completed", "failed"]);
}

/// Its own work takes 5 to 9 s, so that of a deadline of 7 s a good part is late.
#[test]
fn a_slow_stage() {
    let case = Case::new("slow stage", slow_completed());
    examine(case.within(7_000, 5_000), &["completed", "late"]);
}

/// The same, observed until 7 s only: what comes later comes for a journey that was given up.
#[test]
fn a_stage_too_slow_for_its_observation() {
    let case = Case {
        taps_linger_ms: 5_000,
        ..Case::new("given up", slow_completed()).within(6_000, 1_000)
    };
    examine(case, &["completed", "late", "lost", "after failure"]);
}

#[test]
fn a_stage_that_stops() {
    let faults = FaultConfig { stop_stage: Some(stop_settled(&size())), ..FaultConfig::default() };
    examine(Case::new("stop stage", faults), &["completed", "lost"]);
}

#[test]
fn all_faults_together() {
    let faults = FaultConfig {
        drop_percent: 2.0,
        poison_percent: 3.0,
        redeliver_percent: 5.0,
        republish_percent: 5.0,
        reorder_percent: 5.0,
        stop_stage: Some(stop_settled(&size())),
        ..slow_completed()
    };
    examine(
        Case::new("all", faults).within(7_000, 5_000),
        &["completed", "late", "lost", "failed", "redelivery", "republication", "out of order"],
    );
}

fn slow_completed() -> FaultConfig {
    FaultConfig {
        slow_stage: Some(SlowStage { stage: Stage::Completed, service: five_to_nine_seconds() }),
        ..FaultConfig::default()
    }
}

/// Stops when three quarters of the load are over.
fn stop_settled(size: &Size) -> StopStage {
    StopStage { stage: Stage::Settled, after_ms: (size.warmup_s + size.steady_s) * 750 }
}
