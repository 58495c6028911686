//! The queue's clock, which its ULIDs show, is a foreign one: its offset is found, durations by it
//! lie between bounds, and one that is set while the run goes on is told.

use sojourn_clock::MILLISECOND_NS;
use sojourn_metrics::names;
use sojourn_record::{JourneyRecord, Verdict};
use sojourn_report::{
    ReportModel,
    model::{Between, ClockDuration, ClockReport},
};

use super::{CASE, Case, Clock, Log, observe, sum};
use crate::common::Run;

const OFFSET_NS: i64 = 3_700_000_000;
const AHEAD: Clock = Clock { offset_ns: OFFSET_NS, jump: None, spoilt_every: 0 };
/// Runs are created a while after their events were accepted.
const THROTTLED: Case =
    Case { clock: AHEAD, journey: "order", throttle_ns: 4 * MILLISECOND_NS, rate: "100/s", ..CASE };

/// The report as text, and its one clock.
fn clock(run: &Run) -> (String, ClockReport) {
    let report = ReportModel::from_run(&run.file);
    let text = sojourn_report::render::text(&report, false);
    let html = sojourn_report::render::html(&report).unwrap();
    assert!(html.contains("<section id=\"clocks\">") && text.contains("FOREIGN CLOCKS"), "{text}");
    let [clock] = report.clocks.as_slice() else { panic!("{:?}", report.clocks) };
    assert_eq!(clock.name, "queue");
    (text.split_whitespace().collect::<Vec<_>>().join(" "), clock.clone())
}

/// What the queue's clock was ahead of the run's.
fn true_offset_ns(run: &Run, log: &Log) -> i64 {
    let identity = &run.file.identity;
    let queue_ns = log.anchor.unwrap().unix_ns_at(identity.start_monotonic_ns);
    queue_ns as i64 - identity.start_unix_ns as i64 + OFFSET_NS
}

/// When a journey was due, its event accepted, its run created and that run first seen.
fn instants(run: &Run, log: &Log) -> Vec<[u64; 4]> {
    let start_ns = run.file.identity.start_monotonic_ns;
    let of = |journey: &JourneyRecord| {
        let key = journey.key.as_deref().unwrap();
        let event = log.events.iter().find(|event| event.id == key).unwrap();
        let seen_ns = journey.stages[0].seen_ns.unwrap();
        [start_ns + journey.t0_ns, event.accepted_ns, event.created_ns, start_ns + seen_ns]
    };
    run.file.journeys.iter().map(of).collect()
}

/// Every figure lies between its bounds.
fn assert_bounds(clock: &ClockReport, to: &str, mut truth: Vec<u64>) {
    let row = clock.durations.iter().find(|row| row.to == to).unwrap();
    let ClockDuration { mean, p50, p95, p99, max, .. } = *row;
    assert_eq!(row.count, truth.len() as u64);
    truth.sort_unstable();
    let holds = |figure: Between, ns: f64, what: &str| {
        // Histograms are exact to a thousandth.
        let (least, most) = (figure.least_ns as f64, figure.most_ns as f64);
        let is_between = least - least.abs() * 1e-3 <= ns && ns <= most + most.abs() * 1e-3;
        assert!(is_between, "{to}, {what}: {least} … {most}, but {ns}");
    };
    let sum: u64 = truth.iter().sum();
    holds(mean, sum as f64 / truth.len() as f64, "mean");
    for (figure, q) in [(p50, 0.5), (p95, 0.95), (p99, 0.99), (max, 1.0)] {
        let rank = (q * truth.len() as f64 - 1e-9).ceil() as usize;
        holds(figure, truth[rank - 1] as f64, "quantile");
    }
}

fn apart(instants: &[[u64; 4]], from: usize, to: usize) -> Vec<u64> {
    instants.iter().map(|at| at[to] - at[from]).collect()
}

#[test]
fn the_offset_of_the_queues_clock_is_found_and_its_times_are_bounded() {
    let (run, log) = observe(THROTTLED);
    let (text, clock) = clock(&run);
    let journeys = sum(&run, names::JOURNEYS_STARTED, &[]);
    assert_eq!((clock.answers, clock.events, clock.unread.len()), (journeys, journeys, 0));
    let offset = clock.offset_ns.unwrap();
    let truth_ns = true_offset_ns(&run, &log);
    assert!(offset.least_ns <= truth_ns && truth_ns <= offset.most_ns, "{offset:?}, {truth_ns}");
    assert!(offset.most_ns - offset.least_ns < 10 * MILLISECOND_NS as i64, "{offset:?}");
    let of: Vec<_> = clock.durations.iter().map(|row| (&*row.from, &*row.to)).collect();
    assert_eq!(
        of,
        [
            ("root scheduled", "root accepted"),
            ("root accepted", "started created"),
            ("started created", "started seen"),
        ]
    );
    let instants = instants(&run, &log);
    assert_bounds(&clock, "root accepted", apart(&instants, 0, 1));
    assert_bounds(&clock, "started created", apart(&instants, 1, 2));
    assert_bounds(&clock, "started seen", apart(&instants, 2, 3));
    // Shown as such: with bounds, and apart from the journey's own figures.
    for part in
        ["queue: +3,", " ms from this machine's, by ", "order: root scheduled → root accepted"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn each_event_of_a_batch_has_an_id_of_its_own() {
    let (run, log) = observe(Case { journey: "in-batches", rate: "15/s", ..THROTTLED });
    let (_, clock) = clock(&run);
    let offset = clock.offset_ns.unwrap();
    let truth_ns = true_offset_ns(&run, &log);
    assert!(offset.least_ns <= truth_ns && truth_ns <= offset.most_ns, "{offset:?}, {truth_ns}");
    assert_eq!(clock.answers, log.accepted);
    let instants = instants(&run, &log);
    assert_bounds(&clock, "root accepted", apart(&instants, 0, 1));
    assert_bounds(&clock, "started created", apart(&instants, 1, 2));
}

#[test]
fn a_clock_that_is_set_while_the_run_goes_on_is_told() {
    let jump_ns = 2_000 * MILLISECOND_NS as i64;
    let clock_set = Clock { jump: Some((40, jump_ns)), ..AHEAD };
    let (run, log) = observe(Case { clock: clock_set, ..THROTTLED });
    assert!(log.events.len() > 60);
    let (text, clock) = clock(&run);
    assert_eq!(clock.offset_ns, None);
    assert!(clock.durations.is_empty(), "{:?}", clock.durations);
    let contradiction = clock.contradiction.unwrap();
    assert!((jump_ns - 100_000_000..=jump_ns).contains(&contradiction.by_ns), "{contradiction:?}");
    // Not before the clock was set.
    let set_ns = log.events[40].accepted_ns - run.file.identity.start_monotonic_ns;
    let first_ns = contradiction.first_ns.unwrap();
    assert!(first_ns >= set_ns, "{first_ns} < {set_ns}");
    assert!(text.contains("queue: its readings contradict each other by "), "{text}");
    // It spoils nothing else.
    assert_eq!(run.summary.verdict, Verdict::Pass);
}

#[test]
fn ids_that_are_no_ulids_are_counted() {
    let spoilt = Clock { spoilt_every: 3, ..AHEAD };
    let (run, log) = observe(Case { clock: spoilt, ..THROTTLED });
    let (text, clock) = clock(&run);
    let journeys = sum(&run, names::JOURNEYS_STARTED, &[]);
    let (events, runs) = log.spoilt;
    assert!(events > 10 && runs > 10, "{events} {runs}");
    assert_eq!((clock.answers, clock.events), (journeys - events, journeys - runs));
    let unread: Vec<_> = clock.unread.iter().map(|row| (&*row.reason, row.count)).collect();
    assert_eq!(unread, [("not a ULID", events + runs)]);
    assert!(text.contains(&format!("{} × not read: not a ULID", events + runs)), "{text}");
    let offset = clock.offset_ns.unwrap();
    let truth_ns = true_offset_ns(&run, &log);
    assert!(offset.least_ns <= truth_ns && truth_ns <= offset.most_ns, "{offset:?}, {truth_ns}");
    assert_eq!(run.summary.verdict, Verdict::Pass);
}
