//! What is folded away: requests, the generator, events, brokers, resources, kept journeys, notes
//! and the plan.

use sojourn_analysis::words;

use super::{
    ROWS_MAX, beyond, dash,
    escape::{code, text},
    line, quantile,
    table::Table,
    time,
};
use crate::{
    model::{Health, KeptJourney, Ledger, ReportModel, RunIdentity},
    render::text::ran,
};

/// Characters of the plan that are printed: a comment on GitHub has an end.
const PLAN_MAX: usize = 20_000;

/// Bytes after which nothing further is folded in: GitHub takes 65,536 characters in a comment.
const REPORT_MAX: usize = 60_000;

pub(super) fn folded(out: &mut String, model: &ReportModel) {
    let mut left_out = Vec::new();
    let parts = [
        ("Percentiles of the journeys", percentiles(model)),
        ("Requests", steps(model)),
        ("Generator", generator(&model.health)),
        ("Events", events(&model.ledger)),
        ("Backlogs of the brokers", backlogs(model)),
        ("Resources", resources(model)),
        ("Checks", checks(model)),
        ("Lost and failed journeys that were kept", kept(model)),
        ("What the findings rest on", evidence(model)),
        ("Notes", notes(&model.notes)),
        ("Run", run(&model.identity)),
        ("Plan (as it was run, secrets replaced)", plan(&model.identity.plan)),
    ];
    for (title, content) in parts {
        if out.len() + content.len() > REPORT_MAX {
            left_out.push(title);
        } else {
            fold(out, title, &content);
        }
    }
    if !left_out.is_empty() {
        let titles = left_out.join("; ");
        line(out, &format!("\nToo long for a comment, so only in the HTML report: {titles}."));
    }
}

/// A part that opens at a click; nothing for an empty one.
fn fold(out: &mut String, title: &str, content: &str) {
    if !content.is_empty() {
        out.push_str(&format!("\n<details><summary>{title}</summary>\n\n{content}\n</details>\n"));
    }
}

fn percentiles(model: &ReportModel) -> String {
    let mut out = String::new();
    let mut table =
        Table::new(&["journey", "p50", "p75", "p90", "p95", "p99", "p99.9", "mean", "max"]);
    for journey in model.journeys.iter().take(ROWS_MAX) {
        let mut cells = vec![code(&journey.name)];
        cells.extend([0.5, 0.75, 0.9, 0.95, 0.99, 0.999].map(|q| quantile(Some(journey), q)));
        let times = journey.duration_ns.as_ref();
        cells.push(times.map_or_else(dash, |times| words::duration(times.mean)));
        cells.push(time(times, |times| times.max));
        table.row(cells);
    }
    table.render(&mut out);
    beyond(&mut out, model.journeys.len());
    out
}

fn steps(model: &ReportModel) -> String {
    let mut out = String::new();
    let mut table = Table::new(&[
        "journey", "step", "requests", "per s", "ok", "failed", "p50", "p95", "p99", "max",
        "status",
    ]);
    let steps = || {
        let journeys = model.journeys.iter();
        journeys.flat_map(|journey| journey.steps.iter().map(move |step| (journey, step)))
    };
    for (journey, step) in steps().take(ROWS_MAX) {
        let times = step.response_ns.all.as_ref();
        let statuses = step.statuses.iter().take(10);
        let statuses: Vec<String> =
            statuses.map(|row| format!("{} {}", row.status, words::count(row.count))).collect();
        table.row(vec![
            code(&journey.name),
            code(&step.name),
            words::count(step.requests),
            step.requests_per_s.map_or_else(dash, words::number),
            words::count(step.ok),
            words::count(step.failed),
            time(times, |times| times.p50),
            time(times, |times| times.p95),
            time(times, |times| times.p99),
            time(times, |times| times.max),
            code(&statuses.join(", ")),
        ]);
    }
    table.render(&mut out);
    beyond(&mut out, steps().count());
    out
}

fn generator(health: &Health) -> String {
    let mut out = String::new();
    if let Some(verdict) = &health.verdict {
        line(&mut out, &format!("- {}", text(&verdict.text)));
    }
    let delivered = health.delivered.map_or_else(dash, words::percent);
    line(
        &mut out,
        &format!(
            "- arrivals: {} scheduled, {} started, {} missed ({delivered} delivered)",
            words::count(health.scheduled),
            words::count(health.started),
            words::count(health.missed)
        ),
    );
    let lag = health.lag_ns.as_ref();
    line(
        &mut out,
        &format!(
            "- lag: p50 {} · p99 {} · max {}",
            time(lag, |lag| lag.p50),
            time(lag, |lag| lag.p99),
            time(lag, |lag| lag.max)
        ),
    );
    for tap in health.taps.iter().take(ROWS_MAX) {
        let most = words::duration(tap.behind_ms_max * 1e6);
        line(&mut out, &format!("- tap {}: behind at most {most}", code(&tap.channel)));
    }
    for refusal in health.refused.iter().filter(|refusal| refusal.count > 0).take(ROWS_MAX) {
        let count = words::count(refusal.count);
        line(&mut out, &format!("- refused by {}: {count}", code(&refusal.queue)));
    }
    out
}

fn events(ledger: &Ledger) -> String {
    let mut out = String::new();
    let mut table = Table::new(&[
        "channel",
        "seen",
        "matched",
        "duplicate",
        "after failure",
        "orphan",
        "foreign",
        "unattributed",
        "undecodable",
    ]);
    for row in ledger.events.iter().take(ROWS_MAX) {
        let counts = &row.whole_run;
        let mut cells = vec![code(&row.channel)];
        cells.extend(
            [
                counts.seen,
                counts.matched,
                counts.duplicates(),
                counts.after_failure,
                counts.orphan,
                counts.foreign,
                counts.unattributed,
                counts.undecodable,
            ]
            .map(words::count),
        );
        table.row(cells);
    }
    table.render(&mut out);
    beyond(&mut out, ledger.events.len());
    out
}

fn backlogs(model: &ReportModel) -> String {
    let mut out = String::new();
    let mut table = Table::new(&["channel", "whose", "figure", "highest", "at the end"]);
    for row in model.backlogs.iter().take(ROWS_MAX) {
        table.row(vec![
            code(&row.channel),
            code(&row.of),
            code(&row.figure),
            words::number(row.max),
            words::number(row.last),
        ]);
    }
    table.render(&mut out);
    beyond(&mut out, model.backlogs.len());
    out
}

fn resources(model: &ReportModel) -> String {
    let mut out = String::new();
    let mut table = Table::new(&["resource", "cores", "max", "memory", "max", "value", "max"]);
    for row in model.resources.iter().take(ROWS_MAX) {
        let (processor, memory, value) = (&row.processor, &row.memory, row.value);
        table.row(vec![
            code(&row.name),
            processor.as_ref().map_or_else(dash, |of| words::number(of.cores_mean)),
            processor.as_ref().map_or_else(dash, |of| words::number(of.cores_max)),
            memory.as_ref().map_or_else(dash, |of| words::bytes(of.mean_bytes)),
            memory.as_ref().map_or_else(dash, |of| words::bytes(of.max_bytes)),
            value.map_or_else(dash, |of| words::number(of.mean)),
            value.map_or_else(dash, |of| words::number(of.max)),
        ]);
    }
    table.render(&mut out);
    beyond(&mut out, model.resources.len());
    out
}

fn checks(model: &ReportModel) -> String {
    let mut out = String::new();
    let mut table = Table::new(&["check", "held", "failed"]);
    for row in model.checks.iter().take(ROWS_MAX) {
        table.row(vec![code(&row.name), words::count(row.held), words::count(row.failed)]);
    }
    table.render(&mut out);
    beyond(&mut out, model.checks.len());
    out
}

fn kept(model: &ReportModel) -> String {
    let mut out = String::new();
    let is_told = |kept: &&KeptJourney| matches!(kept.role.as_str(), "lost" | "failed");
    let told = || model.journeys.iter().flat_map(|journey| &journey.kept).filter(is_told);
    let mut table = Table::new(&["", "key", "journey", "started at", "last seen at", "why"]);
    for kept in told().take(ROWS_MAX) {
        table.row(vec![
            kept.role.clone(),
            code(&kept.name()),
            code(&kept.journey),
            words::duration(kept.t0_ns as f64),
            kept.last_seen.as_deref().map_or_else(|| "no stage".to_owned(), code),
            kept.reason.as_deref().map_or_else(dash, text),
        ]);
    }
    table.render(&mut out);
    beyond(&mut out, told().count());
    out
}

fn evidence(model: &ReportModel) -> String {
    let mut out = String::new();
    let rested = model.conclusions.iter().filter(|conclusion| !conclusion.evidence.is_empty());
    for conclusion in rested.take(ROWS_MAX) {
        let evidence = text(&conclusion.evidence.join("; "));
        line(&mut out, &format!("- {}: {evidence}", text(&conclusion.text)));
    }
    out
}

fn notes(notes: &[String]) -> String {
    let mut out = String::new();
    for note in notes.iter().take(ROWS_MAX) {
        line(&mut out, &format!("- {}", text(note)));
    }
    beyond(&mut out, notes.len());
    out
}

fn run(identity: &RunIdentity) -> String {
    let mut out = String::new();
    let mut table = Table::new(&["", ""]);
    let mut row = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    row("run", code(&identity.run_id));
    row("start", text(&identity.start));
    row("host", code(&identity.host));
    row("sojourn", code(&identity.version));
    if let Some(suite) = &identity.suite {
        row("suite", code(suite));
    }
    for (name, value) in identity.labels.iter().take(ROWS_MAX) {
        row("label", code(&format!("{name}={value}")));
    }
    for load in identity.load.iter().take(ROWS_MAX) {
        row("load", text(load));
    }
    for amendment in identity.amendments.iter().take(ROWS_MAX) {
        row("load", text(&amendment.in_words()));
    }
    row("ran", ran(identity));
    table.render(&mut out);
    out
}

/// In a fence that is longer than any of the plan's own.
fn plan(plan: &str) -> String {
    if plan.trim().is_empty() {
        return String::new();
    }
    let mut shown: String = plan.chars().take(PLAN_MAX).collect();
    let is_cut = shown.len() < plan.len();
    let fence = "`".repeat(longest_run(&shown, '`').max(2) + 1);
    // Line ends and tabs are the plan's own; anything else that controls is not.
    shown = shown
        .split('\n')
        .map(|line| crate::render::text::paint::clean(&line.replace('\t', "  ")))
        .collect::<Vec<_>>()
        .join("\n");
    let mut out = format!("{fence}yaml\n{}\n{fence}\n", shown.trim_end());
    if is_cut {
        line(&mut out, "\nThe HTML report has the rest of it.");
    }
    out
}

fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
