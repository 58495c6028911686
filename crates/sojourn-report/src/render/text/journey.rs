//! A journey's part of the terminal report.

use sojourn_analysis::words;

use super::{
    WIDTH, details, entry, heading, line,
    paint::{Paint, clean, wrap},
    table::Table,
};
use crate::model::{
    AttemptRow, BranchRow, Distribution, JourneyReport, KeptJourney, StageRow, StepRow,
};

/// Lost and failed journeys that are listed; the others are in the HTML and JSON reports.
const LISTED_MAX: usize = 10;

pub(super) fn journey(out: &mut String, journey: &JourneyReport, paint: &Paint) {
    heading(out, &format!("JOURNEY {}", clean(&journey.name)), paint);
    let quantiles: Vec<String> = journey
        .quantiles
        .iter()
        .map(|quantile| {
            let beyond = if quantile.beyond { "> " } else { "" };
            let name = words::quantile(quantile.q);
            format!("{name} {beyond}{}", words::duration(quantile.ns as f64))
        })
        .collect();
    if quantiles.is_empty() {
        entry(out, "duration", "no journey was seen to its end in the steady phase");
    } else {
        entry(out, "duration", &quantiles.join(" · "));
    }
    if journey.is_of_growing_queue {
        entry(out, "", "of a queue that grew: these percentiles describe the length of the run");
    }
    if let Some(duration_ns) = &journey.duration_ns {
        let text = format!(
            "of {} seen complete: min {} · mean {} · max {} · stddev {}",
            words::count(duration_ns.count),
            words::duration(duration_ns.min as f64),
            words::duration(duration_ns.mean),
            words::duration(duration_ns.max as f64),
            words::duration(duration_ns.stddev)
        );
        entry(out, "", &text);
    }
    details::in_flight(out, journey);
    stages(out, &journey.stages, &journey.branches);
    details::growths(out, &journey.growths);
    details::failures(out, &journey.failures);
    super::label::labels(out, journey.labels.as_ref());
    super::batch::batches(out, journey.batch.as_ref(), &journey.batches_again);
    steps(out, &journey.steps);
    kept(out, &journey.kept, paint);
}

/// The table of stages and what belongs to it.
pub(super) fn stages(out: &mut String, stages: &[StageRow], branches: &[BranchRow]) {
    if stages.is_empty() {
        return;
    }
    out.push('\n');
    let mut table = Table::new(&[
        "stage",
        "reached",
        "hop p50",
        "p95",
        "p99",
        "max",
        "since p50",
        "p99",
        "waiting",
        "order",
        "dup",
        "deliv",
    ]);
    for stage in stages {
        let hop = stage.hop_ns.as_ref();
        let since = stage.since_start_ns.as_ref();
        let name = match mark(&stage.kind) {
            Some((mark, _)) => format!("{} {mark}", stage.name),
            None => stage.name.clone(),
        };
        table.row(
            &name,
            [
                words::count(stage.reached),
                time(hop, |hop| hop.p50),
                time(hop, |hop| hop.p95),
                time(hop, |hop| hop.p99),
                time(hop, |hop| hop.max),
                time(since, |since| since.p50),
                time(since, |since| since.p99),
                stage.in_flight_max.map_or_else(|| "–".to_owned(), words::number),
                words::count(stage.order_violations),
                words::count(stage.duplicates.total()),
                stage.deliveries_per_event.map_or_else(|| "–".to_owned(), words::number),
            ],
        );
    }
    table.render(out, WIDTH);
    let mut marks: Vec<_> = stages.iter().filter_map(|stage| mark(&stage.kind)).collect();
    marks.dedup();
    for (mark, meaning) in marks {
        out.push_str(&format!("  {mark} {meaning}\n"));
    }
    stages.iter().for_each(|stage| details::members(out, stage));
    details::trace(out, stages);
    stages.iter().for_each(|stage| polls(out, stage));
    details::branches(out, branches);
}

/// What it cost to look at a polled stage, and how exact its instants are.
fn polls(out: &mut String, stage: &StageRow) {
    if let (Some(every_ns), Some(requests)) = (stage.poll_ns, stage.poll_requests) {
        let waited = stage.poll_waited_ns.as_ref().map_or_else(String::new, |waited| {
            format!(
                "; {} of them waited for the budget, p50 {} · p99 {} · max {}",
                words::count(waited.count),
                words::duration(waited.p50 as f64),
                words::duration(waited.p99 as f64),
                words::duration(waited.max as f64)
            )
        });
        let text = format!(
            "{}: {} requests of its own, not part of the load; reading error ± {}{waited}",
            clean(&stage.name),
            words::count(requests),
            words::duration(every_ns as f64)
        );
        line(out, &wrap(&text, "  polls     ", 12, WIDTH));
    }
}

/// The mark of a stage that is not required, and what it says.
fn mark(kind: &str) -> Option<(char, &'static str)> {
    match kind {
        "failure" => Some(('✗', "reaching it fails the journey")),
        "never" => Some(('!', "must not be reached")),
        "branch" => Some(('|', "one of the alternatives completes the journey")),
        "optional" => Some(('?', "may be reached")),
        _ => None,
    }
}

fn steps(out: &mut String, steps: &[StepRow]) {
    if steps.is_empty() {
        return;
    }
    out.push('\n');
    let mut table = Table::new(&[
        "http step",
        "requests",
        "RPS",
        "min",
        "mean",
        "max",
        "StdDev",
        "p50",
        "p75",
        "p95",
        "p99",
    ]);
    for step in steps {
        let response = &step.response_ns;
        let rows = [
            ("response", step.requests, step.requests_per_s, &response.all),
            ("  ok", step.ok, step.ok_per_s, &response.ok),
            ("  failed", step.failed, step.failed_per_s, &response.failed),
        ];
        for (name, requests, per_s, times) in rows {
            let name = if name == "response" { step.name.as_str() } else { name };
            table.row(name, figures(words::count(requests), per_s, times.as_ref()));
        }
        for (name, times) in [("  service", &step.service_ns), ("  blocked", &step.blocked_ns)] {
            if let Some(times) = times {
                table.row(name, figures(String::new(), None, Some(times)));
            }
        }
    }
    table.render(out, WIDTH);
    for step in steps {
        step_lists(out, step);
    }
}

fn figures(requests: String, per_s: Option<f64>, times: Option<&Distribution>) -> Vec<String> {
    let rate = match per_s {
        Some(per_s) => words::number(per_s),
        None if requests.is_empty() => String::new(),
        None => "–".to_owned(),
    };
    vec![
        requests,
        rate,
        time(times, |times| times.min),
        times.map_or_else(|| "–".to_owned(), |times| words::duration(times.mean)),
        time(times, |times| times.max),
        times.map_or_else(|| "–".to_owned(), |times| words::duration(times.stddev)),
        time(times, |times| times.p50),
        time(times, |times| times.p75),
        time(times, |times| times.p95),
        time(times, |times| times.p99),
    ]
}

fn step_lists(out: &mut String, step: &StepRow) {
    let name = clean(&step.name);
    let statuses: Vec<String> = step
        .statuses
        .iter()
        .map(|row| {
            format!(
                "{} {} ({})",
                clean(&row.status),
                words::count(row.count),
                words::percent(row.fraction)
            )
        })
        .collect();
    if !statuses.is_empty() {
        line(out, &wrap(&format!("{name}: {}", statuses.join(", ")), "  status    ", 12, WIDTH));
    }
    for (label, bytes) in
        [("  received  ", &step.received_bytes), ("  sent      ", &step.sent_bytes)]
    {
        if let Some(bytes) = bytes {
            let text = format!(
                "{name}: min {} · mean {} · max {} · all {}",
                words::bytes(bytes.min as f64),
                words::bytes(bytes.mean),
                words::bytes(bytes.max as f64),
                words::bytes(bytes.sum)
            );
            line(out, &wrap(&text, label, 12, WIDTH));
        }
    }
    for error in &step.errors {
        let text = format!("{name}: {} × {}", words::count(error.count), clean(&error.reason));
        line(out, &wrap(&text, "  error     ", 12, WIDTH));
    }
    for retry in &step.retries {
        let count = words::plural(retry.count, "further attempt", "further attempts");
        let text = format!("{name}: {count} after {}", clean(&retry.reason));
        line(out, &wrap(&text, "  retry     ", 12, WIDTH));
    }
    for AttemptRow { attempt, time_ns } in &step.attempts {
        let text = format!(
            "{name}: number {attempt} {} × · p50 {} · p99 {} · max {}",
            words::count(time_ns.count),
            words::duration(time_ns.p50 as f64),
            words::duration(time_ns.p99 as f64),
            words::duration(time_ns.max as f64)
        );
        line(out, &wrap(&text, "  attempt   ", 12, WIDTH));
    }
}

/// Lost and failed ones that were kept.
pub(super) fn kept(out: &mut String, kept: &[KeptJourney], paint: &Paint) {
    let told: Vec<&KeptJourney> =
        kept.iter().filter(|kept| matches!(kept.role.as_str(), "lost" | "failed")).collect();
    if told.is_empty() {
        return;
    }
    out.push('\n');
    for kept in told.iter().take(LISTED_MAX) {
        let key = kept.key.as_deref().map_or_else(|| format!("#{}", kept.id), clean);
        let last = kept.last_seen.as_deref().map_or_else(|| "no stage".to_owned(), clean);
        let reason = kept
            .reason
            .as_deref()
            .map_or_else(String::new, |reason| format!(": {}", clean(reason)));
        let trace = kept.trace_id.as_deref();
        let trace = trace.map_or_else(String::new, |id| format!(" (trace {})", clean(id)));
        let text = format!(
            "{key} started at {}, last seen at {last}{reason}{trace}",
            words::duration(kept.t0_ns as f64)
        );
        line(out, &wrap(&text, &format!("  {:<10}", kept.role), 12, WIDTH));
    }
    if told.len() > LISTED_MAX {
        let more = words::count((told.len() - LISTED_MAX) as u64);
        line(out, &paint.dim(&format!("  and {more} more, in the HTML and JSON reports")));
    }
}

/// A figure of a distribution that may be missing.
pub(super) fn time(times: Option<&Distribution>, pick: impl Fn(&Distribution) -> i64) -> String {
    times.map_or_else(|| "–".to_owned(), |times| words::duration(pick(times) as f64))
}
