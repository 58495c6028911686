//! The report as GitHub Flavored Markdown, for pull requests and job summaries: the verdict, the
//! journeys, what was asked and measured, hops and findings at once; the rest folded.
//!
//! Names, keys and reasons are foreign input: [`escape`] makes of them what can be nothing but
//! text, in a table as anywhere else.

mod escape;
mod folded;
mod table;

use sojourn_analysis::{conclusion::Weight, words};

use crate::{
    ReportModel,
    model::{Distribution, JourneyLine, JourneyReport, RequirementOutcome, requirements_met},
};
use escape::{code, text};
use table::Table;

/// Rows of a table or items of a list that are printed; a comment on GitHub has an end.
const ROWS_MAX: usize = 100;

pub(super) fn report(model: &ReportModel) -> String {
    let mut out = String::new();
    head(&mut out, model);
    journeys(&mut out, model);
    thresholds(&mut out, model);
    requirements(&mut out, model);
    hops(&mut out, &model.journeys);
    findings(&mut out, model);
    folded::folded(&mut out, model);
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// A heading with a blank line on each side.
fn heading(out: &mut String, text: &str) {
    out.push_str(&format!("\n### {text}\n\n"));
}

fn head(out: &mut String, model: &ReportModel) {
    let verdict = &model.verdict;
    let word = verdict.outcome.word().to_uppercase();
    let interrupted = if verdict.interrupted { " (interrupted)" } else { "" };
    let name = code(&model.identity.name);
    line(out, &format!("## {} {word}: {name}{interrupted}\n", verdict.outcome.mark()));
    line(out, &text(&verdict.headline));
    if let Some(warning) = &verdict.warning {
        line(out, "");
        line(out, &format!("**! {}**", text(warning)));
    }
    if let Some(cut_off) = &verdict.cut_off {
        line(out, "");
        line(out, &format!("**The run file was cut off:** {}.", text(cut_off)));
    }
    if !verdict.causes.is_empty() {
        line(out, "");
    }
    for cause in verdict.causes.iter().take(ROWS_MAX) {
        line(out, &format!("- **{}**: {}", text(&cause.name), text(&cause.detail)));
    }
    beyond(out, verdict.causes.len());
}

/// Says how many items of a list were left out.
fn beyond(out: &mut String, items: usize) {
    if items > ROWS_MAX {
        let more = words::count((items - ROWS_MAX) as u64);
        line(out, &format!("\n{more} more are in the HTML and JSON reports."));
    }
}

fn journeys(out: &mut String, model: &ReportModel) {
    let ledger = &model.ledger;
    if ledger.journeys.is_empty() && ledger.poisoned.is_empty() {
        return;
    }
    let balance = if ledger.balanced { "" } else { ": the ledger **does not add up**" };
    heading(out, &format!("Journeys{balance}"));
    let mut table = Table::new(&[
        "journey",
        "started",
        "completed",
        "late",
        "lost",
        "failed",
        "root failed",
        "in flight",
        "p50",
        "p99",
    ]);
    for row in ledger.journeys.iter().take(ROWS_MAX) {
        let report = model.journeys.iter().find(|journey| journey.name == row.name);
        table.row(journey_cells(row, report));
    }
    for row in ledger.poisoned.iter().take(ROWS_MAX) {
        table.row(journey_cells(row, None));
    }
    table.render(out);
    beyond(out, ledger.journeys.len());
    if model.growing().next().is_some() {
        let growing: Vec<String> = model.growing().map(code).collect();
        line(
            out,
            &format!(
                "\nThe queue of {} grew: these percentiles describe the length of the run.",
                words::list(&growing)
            ),
        );
    }
}

fn journey_cells(row: &JourneyLine, report: Option<&JourneyReport>) -> Vec<String> {
    let counts = &row.steady;
    let mut cells = vec![code(&row.name)];
    cells.extend(
        [
            counts.started,
            counts.completed,
            counts.late,
            counts.lost,
            counts.failed,
            counts.root_failed,
            counts.in_flight_at_cutoff,
        ]
        .map(words::count),
    );
    cells.extend([0.5, 0.99].map(|q| quantile(report, q)));
    cells
}

/// A journey's quantile: `25.0 s`, `> 30.0 s` among the lost, a dash where there is none.
fn quantile(report: Option<&JourneyReport>, q: f64) -> String {
    let quantiles = report.map_or(&[][..], |report| &report.quantiles);
    let found = quantiles.iter().find(|quantile| (quantile.q - q).abs() < 1e-9);
    found.map_or_else(dash, |quantile| {
        let beyond = if quantile.beyond { "&gt; " } else { "" };
        format!("{beyond}{}", words::duration(quantile.ns as f64))
    })
}

fn thresholds(out: &mut String, model: &ReportModel) {
    if model.thresholds.is_empty() {
        return;
    }
    heading(out, "Thresholds");
    let mut table = Table::new(&["", "threshold", "measured"]);
    for row in model.thresholds.iter().take(ROWS_MAX) {
        let mark = if row.held { "✓ held" } else { "✗ **failed**" };
        table.row(vec![mark.to_owned(), code(&row.text), text(&row.measured_text)]);
    }
    table.render(out);
    beyond(out, model.thresholds.len());
}

fn requirements(out: &mut String, model: &ReportModel) {
    let rows = &model.requirements;
    if rows.is_empty() {
        return;
    }
    heading(out, &format!("Requirements: {}", requirements_met(rows)));
    let mut table = Table::new(&["", "requirement, measured and wanted"]);
    for row in rows.iter().take(ROWS_MAX) {
        let mark = match row.outcome {
            RequirementOutcome::Met => "✓ met",
            RequirementOutcome::Missed => "✗ **missed**",
            RequirementOutcome::Unavailable if row.is_optional => "? unavailable",
            RequirementOutcome::Unavailable => "? **unavailable**",
            RequirementOutcome::Disabled => "disabled",
        };
        table.row(vec![mark.to_owned(), text(&row.text)]);
    }
    table.render(out);
    beyond(out, rows.len());
}

fn hops(out: &mut String, journeys: &[JourneyReport]) {
    let stages = || {
        journeys.iter().flat_map(|journey| journey.stages.iter().map(move |stage| (journey, stage)))
    };
    if stages().next().is_none() {
        return;
    }
    heading(out, "Hops");
    let mut table = Table::new(&[
        "journey",
        "from",
        "to",
        "reached",
        "p50",
        "p95",
        "p99",
        "max",
        "of the journey's p50",
        "duplicates",
    ]);
    for (journey, stage) in stages().take(ROWS_MAX) {
        let share = journey.shares.iter().find(|share| share.name == stage.name);
        let share = share.and_then(|share| share.p50_share);
        let hop = stage.hop_ns.as_ref();
        table.row(vec![
            code(&journey.name),
            code(&stage.after),
            code(&stage.name),
            words::count(stage.reached),
            time(hop, |hop| hop.p50),
            time(hop, |hop| hop.p95),
            time(hop, |hop| hop.p99),
            time(hop, |hop| hop.max),
            share.map_or_else(dash, words::percent),
            words::count(stage.duplicates.total()),
        ]);
    }
    table.render(out);
    beyond(out, stages().count());
}

fn findings(out: &mut String, model: &ReportModel) {
    if !model.conclusions.is_empty() {
        heading(out, "Findings");
    }
    for conclusion in model.conclusions.iter().take(ROWS_MAX) {
        let weight = match conclusion.weight {
            Weight::Grave => "**grave:** ",
            Weight::Caution => "**caution:** ",
            Weight::Finding => "finding: ",
        };
        let of = match conclusion.journey.as_str() {
            "" => String::new(),
            journey => format!("{}: ", code(journey)),
        };
        line(out, &format!("- {weight}{of}{}", text(&conclusion.text)));
    }
    beyond(out, model.conclusions.len());
}

fn dash() -> String {
    "–".to_owned()
}

/// A figure of a distribution that may be missing.
fn time(times: Option<&Distribution>, pick: impl Fn(&Distribution) -> i64) -> String {
    times.map_or_else(dash, |times| words::duration(pick(times) as f64))
}
