//! A sweep, for a terminal.

use sojourn_analysis::words;

use super::{
    WIDTH, heading, line,
    paint::{Paint, clean, wrap},
    resource::side_by_side,
    table::Table,
};
use crate::{
    model::Outcome,
    sweep::{SweepReport, SweepRow},
};

/// Columns of the longest bar.
const BAR: usize = 40;

pub(in crate::render) fn report(report: &SweepReport, colour: bool) -> String {
    let paint = Paint { colour };
    let mut out = String::new();
    let interrupted = if report.interrupted { " (interrupted)" } else { "" };
    line(&mut out, &format!("{}  SWEEP{interrupted}", paint.bold(&clean(&report.name))));
    line(&mut out, &wrap(&clean(&report.sentence()), "", 0, WIDTH));
    if report.rows.is_empty() {
        return out;
    }
    heading(&mut out, "RUNS", &paint);
    table(&mut out, report);
    heading(&mut out, "p99", &paint);
    bars(&mut out, &report.rows, |row| row.run.p99_ns.map(|ns| ns as f64), words::duration);
    heading(&mut out, "completed per second", &paint);
    let rate = |per_s: f64| format!("{}/s", words::number(per_s));
    bars(&mut out, &report.rows, |row| Some(row.run.completed_per_s), rate);
    let runs: Vec<_> = report.rows.iter().map(|row| (row.name(), &row.run)).collect();
    side_by_side(&mut out, &report.variables.join(", "), &runs, &paint);
    details(&mut out, report, &paint);
    out
}

fn table(out: &mut String, report: &SweepReport) {
    let name = report.variables.join(", ");
    let mut table = Table::new(&[
        name.as_str(),
        "arrivals",
        "completed",
        "p50",
        "p95",
        "p99",
        "in flight",
        "lost",
        "failed",
        "verdict",
    ]);
    for row in &report.rows {
        let run = &row.run;
        table.row(
            &row.name(),
            [
                format!("{}/s", words::number(run.arrivals_per_s)),
                format!("{}/s", words::number(run.completed_per_s)),
                time(run.p50_ns),
                time(run.p95_ns),
                time(run.p99_ns),
                level(run.in_flight_max),
                words::count(run.lost),
                words::count(run.failed),
                format!("{} {}", run.outcome.mark(), run.outcome.word()),
            ],
        );
    }
    table.render(out, WIDTH);
}

fn bars(
    out: &mut String,
    rows: &[SweepRow],
    value: impl Fn(&SweepRow) -> Option<f64>,
    print: impl Fn(f64) -> String,
) {
    let most = rows.iter().filter_map(&value).fold(0.0, f64::max);
    let widest = rows.iter().map(|row| row.name().chars().count()).max().unwrap_or(0).min(24);
    for row in rows {
        let name = super::table::fit(&clean(&row.name()), widest);
        let text = match value(row) {
            Some(value) if most > 0.0 => {
                let bar = "█".repeat(((value / most * BAR as f64).round() as usize).max(1));
                format!("  {name}  {bar} {}", print(value))
            }
            Some(value) => format!("  {name}  {}", print(value)),
            None => format!("  {name}  –"),
        };
        line(out, &text);
    }
}

/// What did not pass, and where runs are.
fn details(out: &mut String, report: &SweepReport, paint: &Paint) {
    heading(out, "WHERE", paint);
    for row in &report.rows {
        let name = clean(&row.name());
        if row.run.outcome != Outcome::Pass {
            let text = format!("{name}: {}", clean(&row.run.headline));
            line(out, &wrap(&text, "  · ", 4, WIDTH));
        }
        if let Some(file) = &row.run.run_file {
            line(out, &paint.dim(&format!("    {name}: {}", clean(file))));
        }
    }
}

/// A duration, or a dash where a quantile falls among lost journeys or nothing was measured.
pub(super) fn time(ns: Option<u64>) -> String {
    ns.map_or_else(|| "–".to_owned(), |ns| words::duration(ns as f64))
}

/// A level, likewise.
pub(super) fn level(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), words::number)
}
