//! Several events in one request: each is a journey, whatever became of the others.

use sojourn_metrics::names;
use sojourn_report::ReportModel;

use super::{CASE, Case, Log, STAGES, observe, sum, totals};
use crate::common::Run;

const IN_BATCHES: Case = Case { journey: "in-batches", rate: "20/s", ..CASE };

fn count(log: &Log, holds: impl Fn(usize, usize) -> bool) -> u64 {
    log.batches.iter().filter(|&&(sent, accepted)| holds(sent, accepted)).count() as u64
}

/// Journeys, requests and their fates are what the queue's own log says.
fn assert_as_logged(run: &Run, log: &Log) {
    let of = |metric| sum(run, metric, &[]);
    let sent: usize = log.batches.iter().map(|(sent, _)| sent).sum();
    let accepted: usize = log.batches.iter().map(|(_, accepted)| accepted).sum();
    let (sent, accepted) = (sent as u64, accepted as u64);
    assert!(log.batches.iter().all(|&(sent, _)| sent == 10), "{:?}", log.batches);
    assert_eq!((of(names::JOURNEYS_SCHEDULED), of(names::JOURNEYS_STARTED)), (sent, sent));
    // Every event had an id of its own.
    assert_eq!((log.accepted, log.runs, log.deduplicated), (accepted, accepted, 0));
    assert_eq!(of(names::JOURNEYS_COMPLETED), accepted);
    assert_eq!(of(names::JOURNEYS_ROOT_FAILED), sent - accepted);
    assert_eq!(of(names::BATCH_EVENTS_ACCEPTED), accepted);
    assert_eq!(of(names::BATCH_EVENTS_REFUSED), sent - accepted);
    for stage in STAGES {
        assert_eq!(sum(run, names::STAGE_REACHED, &[("stage", stage)]), accepted, "{stage}");
    }
    // One request, one sample of its times; one sample of acceptance for each event.
    let batches = log.batches.len() as u64;
    assert_eq!(of(names::STEP_REQUESTS), batches);
    assert_eq!(totals(run, names::STEP_RESPONSE, &[]).count, batches);
    assert_eq!(totals(run, names::LAG, &[]).count, batches);
    assert_eq!(totals(run, names::BATCH_EVENT_ACCEPT, &[]).count, accepted);
    assert_eq!(of(names::BATCHES_WHOLE), count(log, |sent, accepted| sent == accepted));
    assert_eq!(of(names::BATCHES_REFUSED), count(log, |_, accepted| accepted == 0));
    let part = count(log, |sent, accepted| 0 < accepted && accepted < sent);
    assert_eq!(of(names::BATCHES_PART), part);
}

#[test]
fn a_batch_is_one_request_and_many_journeys() {
    let (run, log) = observe(IN_BATCHES);
    assert!(log.batches.len() > 3, "{}", log.batches.len());
    assert_as_logged(&run, &log);
    assert_eq!(sum(&run, names::JOURNEYS_ROOT_FAILED, &[]), 0);
    // The journeys of a batch share their instants, and have a key each.
    let mut journeys: Vec<_> = run.file.journeys.iter().collect();
    journeys.sort_by_key(|journey| (journey.t0_ns, journey.id));
    assert_eq!(journeys.len(), log.batches.len() * 10);
    for batch in journeys.chunks(10) {
        let shared = |at: usize| (batch[at].t0_ns, batch[at].t1_ns, batch[at].t2_ns);
        assert!((1..10).all(|at| shared(at) == shared(0)));
    }
    let mut keys: Vec<_> = journeys.iter().filter_map(|journey| journey.key.as_ref()).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), journeys.len());
}

#[test]
fn a_batch_accepted_in_part_fails_the_rest() {
    let (run, log) = observe(Case { refuse_every: 17, ..IN_BATCHES });
    assert_as_logged(&run, &log);
    let part = count(&log, |sent, accepted| 0 < accepted && accepted < sent);
    assert!(part > 0, "{:?}", log.batches);
    let reason = [("reason", "status 400, expected status: 200")];
    let refused = sum(&run, names::JOURNEYS_ROOT_FAILED, &[]);
    assert_eq!(sum(&run, names::BATCH_EVENTS_REFUSED, &reason), refused);
    let failed = count(&log, |sent, accepted| accepted < sent);
    assert_eq!(sum(&run, names::STEP_FAILED, &reason), failed);
    let report = ReportModel::from_run(&run.file);
    let journey = report.journeys.iter().find(|journey| journey.name == "in-batches").unwrap();
    let batch = journey.batch.as_ref().unwrap();
    let all = log.batches.len() as u64;
    assert_eq!((batch.batches, batch.part, batch.events), (all, part, all * 10));
    assert_eq!((batch.events_refused, journey.started), (refused, all * 10));
    let text = sojourn_report::render::text(&report, false);
    assert!(text.contains(&format!(" {part} in part")), "{text}");
    assert!(text.contains("not accepted: status 400"), "{text}");
    let html = sojourn_report::render::html(&report).unwrap();
    assert!(html.contains("events not accepted: status 400"));
}
