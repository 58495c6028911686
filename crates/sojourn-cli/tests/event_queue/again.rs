//! A whole batch sent twice: each of its events starts one run, or the queue does not know its ids.

use std::collections::HashMap;

use sojourn_metrics::names;
use sojourn_record::Verdict;
use sojourn_report::ReportModel;

use super::{CASE, Case, STAGES, STEPS, duplicates, observe, sum, totals};
use crate::common::Run;

const TWICE: Case = Case { journey: "batch-twice", rate: "10/s", ..CASE };

/// A figure of both steps.
fn by_step(run: &Run, metric: &str) -> [u64; 2] {
    ["send", "send-again"].map(|step| sum(run, metric, &[("step", step)]))
}

#[test]
fn a_batch_sent_twice_starts_each_journey_once() {
    let (run, log) = observe(Case { fail: "20%", ..TWICE });
    let journeys = sum(&run, names::JOURNEYS_STARTED, &[]);
    let batches = journeys / 10;
    assert!(batches > 3 && journeys.is_multiple_of(10), "{journeys}");
    assert!(log.batches.iter().all(|&batch| batch == (10, 10)), "{:?}", log.batches);
    assert_eq!(log.batches.len() as u64, 2 * batches);
    assert_eq!((log.accepted, log.runs, log.deduplicated), (2 * journeys, journeys, journeys));
    // The second request has the very ids of the first.
    let mut times = HashMap::<&str, u32>::new();
    log.events.iter().for_each(|event| *times.entry(&event.id).or_default() += 1);
    assert_eq!(times.len() as u64, journeys);
    assert!(times.values().all(|&times| times == 2));
    assert_eq!(sum(&run, names::JOURNEYS_COMPLETED, &[]), journeys);
    for stage in STAGES {
        assert_eq!(sum(&run, names::STAGE_REACHED, &[("stage", stage)]), journeys, "{stage}");
    }
    // Further calls are further attempts of the one run, after those that failed.
    let failed = log.calls.iter().filter(|call| call.status == 500).count() as u64;
    assert!(failed > 0);
    assert_eq!(duplicates(&run, "redelivery"), failed);
    assert_eq!(duplicates(&run, "republication") + duplicates(&run, "unknown"), 0);
    assert_eq!(by_step(&run, names::STEP_REQUESTS), [batches; 2]);
    assert_eq!(by_step(&run, names::BATCHES_WHOLE), [batches; 2]);
    assert_eq!(by_step(&run, names::BATCH_EVENTS_ACCEPTED), [journeys; 2]);
    // Lag is of arrivals; each request has its own times.
    assert_eq!(totals(&run, names::LAG, &[]).count, batches);
    assert_eq!(totals(&run, names::STEP_RESPONSE, &[]).count, 2 * batches);
    let report = ReportModel::from_run(&run.file);
    let journey = report.journeys.iter().find(|journey| journey.name == "batch-twice").unwrap();
    let again = &journey.batches_again[0];
    assert_eq!((again.step.as_str(), again.whole, again.events), ("send-again", batches, journeys));
    let text = sojourn_report::render::text(&report, false);
    assert!(text.contains("again by send-again, "), "{text}");
    assert!(sojourn_report::render::html(&report).unwrap().contains("<q>send-again</q>"));
    // A kept journey has both requests on its timeline.
    let kept = run.file.journeys.iter().find(|kept| kept.class == "completed").unwrap();
    let steps: Vec<_> = kept.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["send", "send-again"]);
}

#[test]
fn a_queue_that_forgets_the_ids_of_a_batch_is_found_out() {
    let (run, log) = observe(Case { dedup: false, ..TWICE });
    let journeys = sum(&run, names::JOURNEYS_STARTED, &[]);
    assert_eq!((log.runs, log.deduplicated), (2 * journeys, 0));
    assert_eq!(duplicates(&run, "republication"), journeys * STEPS.len() as u64);
    assert_eq!(duplicates(&run, "redelivery") + duplicates(&run, "unknown"), 0);
    assert_eq!(run.summary.verdict, Verdict::Fail, "duplicates == 0 does not hold");
}

#[test]
fn what_was_refused_is_not_sent_again() {
    // By their numbers, events are refused at the first requests, or at those that send again.
    for (refuse_every, at_first) in [(23, true), (17, false)] {
        let (run, log) = observe(Case { refuse_every, ..TWICE });
        let started = sum(&run, names::JOURNEYS_STARTED, &[]);
        let [accepted, accepted_again] = by_step(&run, names::BATCH_EVENTS_ACCEPTED);
        let [refused, refused_again] = by_step(&run, names::BATCH_EVENTS_REFUSED);
        assert_eq!((refused > 0, refused_again > 0), (at_first, !at_first));
        assert_eq!((accepted + refused, accepted_again + refused_again), (started, accepted));
        let sent: usize = log.batches.iter().map(|(sent, _)| sent).sum();
        assert_eq!((sent as u64, log.accepted), (started + accepted, accepted + accepted_again));
        assert_eq!((log.runs, log.deduplicated), (accepted, accepted_again));
        // An event that was refused at either request is a failed root.
        assert_eq!(sum(&run, names::JOURNEYS_ROOT_FAILED, &[]), refused + refused_again);
        assert_eq!(sum(&run, names::JOURNEYS_COMPLETED, &[]), accepted_again);
        assert_eq!(duplicates(&run, "republication"), 0);
    }
}
