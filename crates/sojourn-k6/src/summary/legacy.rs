//! The summary of k6 before v1 as text: checks by group, then one list of metrics.

use super::group_tree::GroupNode;
use super::listed::{self, Listed};
use super::ours;
use super::source::Source;
use super::table::{GREEN, Palette, RED, Row, Widths, failed_share};

/// The text of the legacy summary, with ANSI colours or without.
pub fn legacy_text(source: &Source<'_>, is_coloured: bool) -> String {
    let palette = Palette { is_on: is_coloured, dots: "2", extra: "36;2" };
    let mut out = "\n".to_owned();
    push_group(&mut out, &GroupNode::root(source.totals.checks()), 5, &palette);
    let rows: Vec<Row> =
        listed::all(source).iter().map(|metric| row(source, metric, &palette)).collect();
    let widths = Widths::of(rows.iter());
    for row in &rows {
        row.push(&mut out, &widths, source.trend_stats, &palette);
    }
    out.push('\n');
    ours::push(&mut out, source, &palette);
    out
}

fn row(source: &Source<'_>, metric: &Listed<'_>, palette: &Palette) -> Row {
    let inset = if metric.is_submetric { 2 } else { 0 };
    let thresholds = source.thresholds.of(metric.metric.id);
    let mark = if thresholds.is_empty() {
        " ".to_owned()
    } else if thresholds.iter().all(|threshold| threshold.ok) {
        palette.paint(GREEN, "✓")
    } else {
        palette.paint(RED, "✗")
    };
    let prefix = format!("{:1$}{mark} ", "", 3 + inset);
    Row { prefix, inset, name: metric.label.clone(), cells: metric.cells(source) }
}

fn push_group(out: &mut String, group: &GroupNode<'_>, indent: usize, palette: &Palette) {
    for check in &group.checks {
        let (mark, colour) = if check.fails == 0 { ("✓", GREEN) } else { ("✗", RED) };
        let mut lines = format!("{:indent$}{mark} {}", "", check.name);
        if check.fails > 0 {
            let share = failed_share(check.passes, check.fails);
            lines.push_str(&format!("\n{:1$}{share}", "", indent + 1));
        }
        out.push_str(&palette.paint(colour, &lines));
        out.push('\n');
    }
    if !group.checks.is_empty() {
        out.push('\n');
    }
    for inner in &group.groups {
        out.push_str(&format!("{:indent$}█ {}\n\n", "", inner.name));
        push_group(out, inner, indent + 2, palette);
    }
}
