//! A journey's figures by label.

use sojourn_analysis::words;

use super::{WIDTH, line, table::Table};
use crate::model::LabelReport;

/// Labels shown; the slowest ones.
const LABELS_MAX: usize = 20;

pub(super) fn labels(out: &mut String, report: Option<&LabelReport>) {
    let Some(report) = report else { return };
    line(out, "");
    let mut table = Table::new(&[
        "by label",
        "started",
        "completed",
        "late",
        "lost",
        "failed",
        "mean",
        "p50",
        "p95",
        "p99",
    ]);
    for row in report.rows.iter().take(LABELS_MAX) {
        let count = |count: u64| words::count(count);
        let time = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), words::duration);
        let of = |figure: fn(&crate::model::Distribution) -> f64| {
            time(row.duration_ns.as_ref().map(figure))
        };
        table.row(
            &row.label,
            [
                count(row.started),
                count(row.completed),
                count(row.late),
                count(row.lost),
                count(row.failed + row.root_failed),
                of(|times| times.mean),
                of(|times| times.p50 as f64),
                of(|times| times.p95 as f64),
                of(|times| times.p99 as f64),
            ],
        );
    }
    table.render(out, WIDTH);
    let more = report.rows.len().saturating_sub(LABELS_MAX) as u64;
    if more > 0 {
        line(out, &format!("  {} more in the JSON report", words::plural(more, "label", "labels")));
    }
    if let Some(fairness) = &report.fairness {
        let index =
            |index: Option<f64>| index.map_or_else(|| "–".to_owned(), |i| format!("{i:.3}"));
        line(
            out,
            &format!(
                "  fairness  service {} · speed {} (Jain's index, 1 is fair)",
                index(fairness.service_index),
                index(fairness.speed_index)
            ),
        );
    }
}
