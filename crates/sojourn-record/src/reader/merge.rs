//! Several runs as one.

use std::collections::BTreeMap;

use sojourn_metrics::{Store, ThresholdContext, ThresholdOutcome};

use super::RunFile;
use crate::{AmendmentRecord, Cause, Interval, JourneyRecord, Summary, Verdict};

const SECOND_NS: u64 = 1_000_000_000;

pub(super) fn merge(mut runs: Vec<RunFile>) -> Result<RunFile, String> {
    check_overlap(&runs)?;
    if runs.len() == 1 {
        return Ok(runs.remove(0));
    }
    let first = runs.first().ok_or("there is no run to merge")?;
    let mut merged = RunFile { identity: first.identity.clone(), ..RunFile::default() };
    let starts = runs.iter().map(|run| run.identity.start_unix_ns);
    let start_unix_ns = starts.min().unwrap_or(0);
    // The same instant on the first run's monotonic clock.
    let earlier_ns = merged.identity.start_unix_ns - start_unix_ns;
    merged.identity.start_unix_ns = start_unix_ns;
    merged.identity.start_monotonic_ns =
        merged.identity.start_monotonic_ns.saturating_sub(earlier_ns);
    for run in &runs {
        merged.store.merge(&run.store);
        let known = &mut merged.identity.journeys;
        // Kinds of journeys may have come into being in some runs and not in others.
        for shape in &run.identity.journeys {
            if !known.iter().any(|journey| journey.name == shape.name) {
                known.push(shape.clone());
            }
        }
    }
    merged.summary = summary(&runs, &merged.store, start_unix_ns);
    let cut_off: Vec<_> = runs
        .iter()
        .filter_map(|run| Some(format!("{}: {}", run.identity.run_id, run.cut_off.as_ref()?)))
        .collect();
    merged.cut_off = (!cut_off.is_empty()).then(|| cut_off.join("; "));
    let seconds = seconds(&runs, start_unix_ns);
    for run in runs {
        let offset_ns = run.identity.start_unix_ns - start_unix_ns;
        let place = |index: usize| seconds[&second(&run.intervals[index], offset_ns)];
        merged.deltas.adopt(run.deltas, place);
        merged.amendments.extend(run.amendments.into_iter().map(|amendment| AmendmentRecord {
            from_ns: amendment.from_ns.saturating_add(offset_ns),
            ..amendment
        }));
        if let Some(kept) = &run.kept {
            merged.kept.get_or_insert_default().add(kept);
        }
        let journeys = run.journeys.into_iter();
        merged.journeys.extend(journeys.map(|journey| shifted(journey, offset_ns)));
    }
    merged.amendments.sort_by_key(|amendment| amendment.from_ns);
    merged.intervals = intervals(&merged, &seconds)?;
    Ok(merged)
}

/// The second that holds an interval's middle, from the start of the earliest run.
fn second(interval: &Interval, offset_ns: u64) -> u64 {
    let middle_ns = interval.start_ns / 2 + interval.end_ns / 2;
    middle_ns.saturating_add(offset_ns) / SECOND_NS
}

/// The seconds in which any run has an interval, with their places in the merged run.
fn seconds(runs: &[RunFile], start_unix_ns: u64) -> BTreeMap<u64, usize> {
    let mut seconds = BTreeMap::new();
    for run in runs {
        let offset_ns = run.identity.start_unix_ns - start_unix_ns;
        for interval in &run.intervals {
            seconds.insert(second(interval, offset_ns), 0);
        }
    }
    for (place, value) in seconds.values_mut().enumerate() {
        *value = place;
    }
    seconds
}

/// Rows computed anew from the merged samples: percentiles of runs can't be added.
fn intervals(merged: &RunFile, seconds: &BTreeMap<u64, usize>) -> Result<Vec<Interval>, String> {
    let mut intervals = Vec::with_capacity(merged.deltas.len());
    for (&second, &place) in seconds {
        let delta = merged.delta(place).map_err(|error| error.to_string())?;
        let start_ns = second.saturating_mul(SECOND_NS);
        let end_ns = start_ns.saturating_add(SECOND_NS);
        intervals.push(Interval::of(start_ns, end_ns, &delta));
    }
    Ok(intervals)
}

fn check_overlap(runs: &[RunFile]) -> Result<(), String> {
    let span = |run: &RunFile| {
        let start = run.identity.start_unix_ns;
        let last = run.intervals.last().map_or(0, |interval| interval.end_ns);
        let end = run.summary.as_ref().map_or(last, |summary| summary.end_ns);
        (start, start.saturating_add(end), run.identity.run_id.clone())
    };
    let mut spans: Vec<_> = runs.iter().map(span).collect();
    spans.sort();
    let mut reached: Option<(u64, String)> = None;
    for (start, end, run_id) in spans {
        if let Some((until, before)) = &reached
            && start > *until
        {
            let gap_s = (start - until) as f64 / SECOND_NS as f64;
            return Err(format!(
                "run {run_id} starts {gap_s:.1} s after run {before} has ended: runs that are \
                 merged must overlap in time"
            ));
        }
        if reached.as_ref().is_none_or(|(until, _)| end > *until) {
            reached = Some((end, run_id));
        }
    }
    Ok(())
}

/// `None` when any of them has none: a run that was cut off has no end to speak of.
fn summary(runs: &[RunFile], store: &Store, start_unix_ns: u64) -> Option<Summary> {
    let mut summaries = Vec::new();
    for run in runs {
        let offset_ns = run.identity.start_unix_ns - start_unix_ns;
        summaries.push((run, run.summary.as_ref()?, offset_ns));
    }
    let (first, first_summary, _) = *summaries.first()?;
    let latest = |of: fn(&Summary) -> u64| {
        let instants = summaries.iter();
        let instants = instants.map(|(_, summary, offset)| of(summary).saturating_add(*offset));
        instants.max().unwrap_or(0)
    };
    let arrivals_end_ns = latest(|summary| summary.arrivals_end_ns);
    let drained_ns = |(_, summary, offset_ns): &(_, &Summary, u64)| {
        let arrivals_end_ns = summary.arrivals_end_ns.saturating_add(*offset_ns);
        Some(arrivals_end_ns.saturating_add(summary.drain_ns?))
    };
    let drained: Option<Vec<u64>> = summaries.iter().map(drained_ns).collect();
    let last_drained_ns = drained.and_then(|ends| ends.into_iter().max());
    let drain_ns = last_drained_ns.map(|end_ns| end_ns.saturating_sub(arrivals_end_ns));
    let context = ThresholdContext {
        steady_ns: first.identity.phases_ns[1],
        drain_ns,
        // Backlogs of runs side by side add up.
        backlog_slope_per_s: summaries.iter().filter_map(|(_, s, _)| slope(s)).reduce(|a, b| a + b),
    };
    let evaluate = |outcome: &ThresholdOutcome| outcome.threshold.evaluate(store, &context);
    let thresholds: Vec<_> = first_summary.thresholds.iter().map(evaluate).collect();
    let is_void = summaries.iter().any(|(_, s, _)| s.verdict == Verdict::Void);
    let holds = thresholds.iter().all(|outcome| outcome.held);
    Some(Summary {
        verdict: match (is_void, holds) {
            (true, _) => Verdict::Void,
            (false, true) => Verdict::Pass,
            (false, false) => Verdict::Fail,
        },
        causes: causes(&summaries, &thresholds),
        thresholds,
        interrupted: summaries.iter().any(|(_, s, _)| s.interrupted),
        arrivals_end_ns,
        load_end_ns: latest(|summary| summary.load_end_ns),
        end_ns: latest(|summary| summary.end_ns),
        drain_ns,
        notes: notes(&summaries),
        fleet: None,
    })
}

fn slope(summary: &Summary) -> Option<f64> {
    let is_slope = |outcome: &&ThresholdOutcome| outcome.threshold.subject == ["backlog", "slope"];
    summary.thresholds.iter().find(is_slope)?.measured
}

/// Why runs were void, and which thresholds the merged figures fail: a threshold that only one of
/// the runs failed is none.
fn causes(summaries: &[(&RunFile, &Summary, u64)], thresholds: &[ThresholdOutcome]) -> Vec<Cause> {
    let void = summaries.iter().filter(|(_, s, _)| s.verdict == Verdict::Void);
    let of_runs = void.flat_map(|(run, summary, _)| {
        summary.causes.iter().map(|cause| Cause {
            name: cause.name.clone(),
            detail: format!("{}: {}", run.identity.run_id, cause.detail),
        })
    });
    let failed = thresholds.iter().filter(|outcome| !outcome.held);
    let of_thresholds = failed.map(|outcome| Cause {
        name: "threshold".to_owned(),
        detail: outcome.threshold.text.clone(),
    });
    of_runs.chain(of_thresholds).collect()
}

fn notes(summaries: &[(&RunFile, &Summary, u64)]) -> Vec<String> {
    let ids: Vec<_> = summaries.iter().map(|(run, ..)| run.identity.run_id.as_str()).collect();
    let mut notes = vec![format!("merged from the runs {}", ids.join(", "))];
    for (run, summary, _) in summaries {
        let id = &run.identity.run_id;
        notes.extend(summary.notes.iter().map(|note| format!("{id}: {note}")));
    }
    notes
}

fn shifted(mut journey: JourneyRecord, by_ns: u64) -> JourneyRecord {
    let later = |instant: &mut u64| *instant = instant.saturating_add(by_ns);
    later(&mut journey.t0_ns);
    later(&mut journey.t1_ns);
    later(&mut journey.end_ns);
    journey.t2_ns.iter_mut().for_each(later);
    for step in &mut journey.steps {
        later(&mut step.began_ns);
        step.ended_ns.iter_mut().for_each(later);
    }
    for stage in &mut journey.stages {
        stage.seen_ns.iter_mut().for_each(later);
    }
    journey.duplicates.iter_mut().for_each(|duplicate| later(&mut duplicate.seen_ns));
    journey.messages.iter_mut().for_each(|message| later(&mut message.seen_ns));
    journey
}
