//! Limits that the queue is said to keep, held against what it did.
//!
//! Two truths: the queue's own log bounds what can have been seen, and the figures must equal those
//! made here, in another way, from the instants of every kept journey.

use sojourn_clock::MILLISECOND_NS;
use sojourn_record::Verdict;
use sojourn_report::ReportModel;
use sojourn_report::model::LimitRow;

use super::{CASE, Case, Log, STEPS, observe};
use crate::common::Run;

/// Every journey's instants at its first and last stage, by the former.
fn stays(run: &Run) -> Vec<(u64, u64)> {
    let seen = |journey: &sojourn_record::JourneyRecord, stage: usize| {
        journey.stages.get(stage).and_then(|stage| stage.seen_ns).unwrap()
    };
    let mut stays: Vec<_> =
        run.file.journeys.iter().map(|journey| (seen(journey, 0), seen(journey, 2))).collect();
    stays.sort_unstable();
    stays
}

fn row(run: &Run, name: &str) -> LimitRow {
    let report = ReportModel::from_run(&run.file);
    let text = sojourn_report::render::text(&report, false);
    assert!(text.contains(&format!(" {name}: at most ")), "{text}");
    report.limits.into_iter().find(|row| row.name == name).unwrap()
}

fn held(run: &Run, name: &str) -> bool {
    let text = format!("limit.{name}.violations == 0");
    run.summary.thresholds.iter().find(|it| it.threshold.text == text).unwrap().held
}

/// How many stays hold at each one's beginning, itself counted.
fn at_once(stays: &[(u64, u64)]) -> Vec<u64> {
    let holds = |&(from, _): &(u64, u64)| {
        stays.iter().filter(|&&(began, ended)| began <= from && from < ended).count() as u64
    };
    stays.iter().map(holds).collect()
}

/// The same of what the log says: from a run's first call to its last one's answer.
fn most_by_log(log: &Log) -> u64 {
    let of = |run: u64, step: usize| {
        log.calls.iter().find(|call| (call.run, call.step) == (run, step)).unwrap()
    };
    let runs: Vec<_> = (0..log.runs)
        .map(|run| (of(run, 0).sent_ns, of(run, STEPS.len() - 1).answered_ns))
        .collect();
    at_once(&runs).into_iter().max().unwrap()
}

#[test]
fn runs_at_once_are_counted_and_a_limit_too_low_is_found_out() {
    for (stated, is_kept) in [("3", true), ("2", false)] {
        let case = Case { runs: 3, rate: "100/s", steady: "400ms", work: "10ms", ..CASE };
        let (run, log) = observe(Case { journey: "order", stated: (stated, "100000"), ..case });
        let (row, stays) = (row(&run, "runs"), stays(&run));
        let counts = at_once(&stays);
        assert_eq!((row.counted, row.unfinished), (log.runs, 0));
        assert_eq!(row.most, *counts.iter().max().unwrap() as f64);
        assert!(row.most as u64 <= most_by_log(&log) && most_by_log(&log) == 3);
        let most: u64 = stated.parse().unwrap();
        let over: Vec<_> = stays.iter().zip(&counts).filter(|&(_, &count)| count > most).collect();
        assert_eq!(row.violations, over.len() as u64);
        // Seconds are kept as a number with a fraction: exact to the microsecond.
        let first = over.first().map(|((from, _), _)| from / 1_000);
        assert_eq!(row.first_ns.map(|ns| ns / 1_000), first);
        assert_eq!((row.violations == 0, held(&run, "runs")), (is_kept, is_kept));
        assert!(is_kept || run.summary.verdict == Verdict::Fail);
    }
}

/// Starts that a bucket of these figures could not take: (how many, the first).
fn spilled(starts: &[u64], interval_ns: u64, tolerance_ns: u64) -> (u64, Option<u64>) {
    let (mut level, mut last, mut spilled) = (0_u64, 0_u64, Vec::new());
    for &at in starts {
        let now = level.saturating_sub(at - last);
        if now > tolerance_ns {
            spilled.push(at);
        } else {
            (level, last) = (now + interval_ns, at);
        }
    }
    (spilled.len() as u64, spilled.first().copied())
}

#[test]
fn a_throttle_is_verified_and_one_too_low_is_found_out() {
    // The queue starts one in 20 ms; its calls come late by what this machine is busy.
    let case = Case { throttle_ns: 20 * MILLISECOND_NS, rate: "200/s", steady: "300ms", ..CASE };
    for (stated, interval_ms, is_kept) in [("40", 25, false), ("50", 20, true)] {
        let (run, log) = observe(Case { journey: "order", stated: ("1000", stated), ..case });
        let row = row(&run, "starts");
        let starts: Vec<u64> = stays(&run).into_iter().map(|(from, _)| from).collect();
        let tolerance_ns = 10 * MILLISECOND_NS;
        let (violations, first) = spilled(&starts, interval_ms * MILLISECOND_NS, tolerance_ns);
        assert_eq!((row.counted, row.violations), (log.runs, violations));
        assert_eq!(row.first_ns.map(|ns| ns / 1_000), first.map(|ns| ns / 1_000));
        let in_period = |&at: &u64| {
            starts.iter().filter(|&&it| it <= at && at < it + 1_000 * MILLISECOND_NS).count()
        };
        assert_eq!(row.most as usize, starts.iter().map(in_period).max().unwrap());
        assert_eq!(held(&run, "starts"), violations == 0);
        // At least one start in five is one that a slower rule would have held back.
        assert!(is_kept || violations > log.runs / 10, "{violations} of {}", log.runs);
    }
}
