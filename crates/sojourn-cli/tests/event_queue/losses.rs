//! What the queue accepts and forgets, what waits in it, how long it takes to drain, and how long
//! accepting takes: each held against the queue's log.

use sojourn_metrics::{SeriesPhase, names};
use sojourn_record::{JourneyRecord, Verdict};
use sojourn_report::ReportModel;

use super::{CASE, Case, Log, STEPS, observe, sum};
use crate::common::Run;

fn event_of<'a>(journey: &JourneyRecord, log: &'a Log) -> (usize, &'a super::simulator::Accepted) {
    let key = journey.key.as_deref().unwrap();
    log.events.iter().enumerate().find(|(_, event)| event.id == key).unwrap()
}

#[test]
fn an_event_that_is_accepted_and_forgotten_is_lost() {
    let case = Case { journey: "order", lose_every: 8, within: "2s\n    linger: 100ms", ..CASE };
    let (run, log) = observe(case);
    let count = |metric| sum(&run, metric, &[]);
    let of_class = |class: &str| {
        let journeys = run.file.journeys.iter().filter(|journey| journey.class == class);
        let mut keys: Vec<_> = journeys.filter_map(|journey| journey.key.clone()).collect();
        keys.sort();
        keys
    };
    let mut lost = log.lost.clone();
    lost.sort();
    assert!(lost.len() > 2, "{lost:?}");
    assert_eq!((of_class("lost"), count(names::JOURNEYS_LOST)), (lost, log.lost.len() as u64));
    assert_eq!(count(names::JOURNEYS_STARTED), log.accepted);
    assert_eq!(count(names::JOURNEYS_COMPLETED) + count(names::JOURNEYS_LATE), log.runs);
    assert_eq!(run.summary.verdict, Verdict::Fail, "lost == 0 does not hold");
    assert_accepting(&run, &log);
}

/// Each event was accepted between its request's beginning and its answer, and the figure is made
/// of just these.
fn assert_accepting(run: &Run, log: &Log) {
    let start_ns = run.file.identity.start_monotonic_ns;
    let mut took_ns = 0;
    for journey in &run.file.journeys {
        let (accepted_ns, t2_ns) = (event_of(journey, log).1.accepted_ns, journey.t2_ns.unwrap());
        let asked = start_ns + journey.t1_ns..=start_ns + t2_ns;
        assert!(asked.contains(&accepted_ns), "{asked:?}, {accepted_ns}");
        took_ns += u128::from(t2_ns - journey.t0_ns);
    }
    let responses = run.file.store.merged(names::STEP_RESPONSE, &[], SeriesPhase::Steady);
    let totals = responses.totals();
    assert_eq!((totals.count, totals.sum), (log.accepted, took_ns));
}

/// The most journeys that waited for their start lie between what the log knows to have waited and
/// what may have; the last one ended with the queue's last call. Of a case without further attempts.
pub(super) fn assert_backlog_and_drain(run: &Run, log: &Log) {
    let (start_ns, summary) = (run.file.identity.start_monotonic_ns, &run.summary);
    let call = |run: u64, step: usize| {
        log.calls.iter().find(|call| (call.run, call.step) == (run, step)).unwrap()
    };
    let (mut surely, mut perhaps) = (Vec::new(), Vec::new());
    for journey in &run.file.journeys {
        let first = call(event_of(journey, log).0 as u64, 0);
        surely.push((start_ns + journey.t2_ns.unwrap(), first.sent_ns));
        perhaps.push((start_ns + journey.t0_ns, first.answered_ns));
    }
    let report = ReportModel::from_run(&run.file);
    let order = report.journeys.iter().find(|journey| journey.name == "order").unwrap();
    let most = order.stages[0].in_flight_max.unwrap() as usize;
    let bounds = most_at_once(&surely)..=most_at_once(&perhaps);
    assert!(*bounds.start() > 5 && bounds.contains(&most), "{bounds:?}, {most}");

    let last_ns = start_ns + summary.arrivals_end_ns + summary.drain_ns.unwrap();
    let ends = (0..log.runs).map(|run| call(run, STEPS.len() - 1));
    let last = ends.max_by_key(|call| call.sent_ns).unwrap();
    let latest_ns = log.calls.iter().map(|call| call.answered_ns).max().unwrap();
    assert!((last.sent_ns..=latest_ns).contains(&last_ns), "{last:?}, {last_ns}");
}

fn most_at_once(waits: &[(u64, u64)]) -> usize {
    let at = |now: u64| waits.iter().filter(|(from, to)| (*from..*to).contains(&now)).count();
    waits.iter().map(|(from, _)| at(*from)).max().unwrap_or(0)
}
