//! The summary of k6 v2.2 as text: thresholds, the whole test, and, in full, scenarios and groups.

use super::listed::{self, Listed};
use super::number;
use super::ours;
use super::section::Section;
use super::source::Source;
use super::table::{Cells, GREEN, Palette, RED, Row, Widths, failed_share};
use super::tree::{self, Branch};
use crate::metrics::{Account, Sink, builtin};

/// How much the summary shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The whole test.
    Compact,
    /// All HTTP timings, and each scenario and group as well.
    Full,
}

/// The text of the compact or the full summary, with ANSI colours or without.
pub fn text(source: &Source<'_>, mode: Mode, is_coloured: bool) -> String {
    let palette = Palette { is_on: is_coloured, dots: "2;37", extra: "2;36" };
    let mut writer = Writer { source, mode, palette, out: "\n\n".to_owned() };
    writer.thresholds();
    writer.header(2, "█", "TOTAL RESULTS");
    writer.body(4, source.totals.account(), &listed::all(source));
    writer.out.push('\n');
    if mode == Mode::Full {
        let (groups, scenarios) = tree::branches(source.totals.scopes());
        for (kind, branches) in [("GROUP", groups), ("SCENARIO", scenarios)] {
            for branch in branches {
                writer.branch(2, "█", kind, &branch);
                writer.out.push('\n');
            }
        }
    }
    let mut out = writer.out;
    out.push('\n');
    ours::push(&mut out, source, &palette);
    out
}

struct Writer<'a, 'b> {
    source: &'b Source<'a>,
    mode: Mode,
    palette: Palette,
    out: String,
}

impl Writer<'_, '_> {
    fn header(&mut self, indent: usize, mark: &str, title: &str) {
        let title = self.palette.paint("1", title);
        self.out.push_str(&format!("{:indent$}{mark} {title} \n\n", ""));
    }

    fn branch(&mut self, indent: usize, mark: &str, kind: &str, branch: &Branch<'_>) {
        self.header(indent, mark, &format!("{kind}: {}", branch.name));
        if let Some(account) = branch.account {
            self.body(indent + 2, account, &listed::of_account(self.source, account));
        }
        for group in &branch.groups {
            self.branch(indent + 2, "↳", "GROUP", group);
        }
    }

    /// Checks and metrics of a block.
    fn body(&mut self, indent: usize, account: &Account, metrics: &[Listed<'_>]) {
        self.checks(indent, account);
        let mut sections: Vec<(Section, Vec<Row>)> =
            Section::ALL.iter().map(|section| (*section, Vec::new())).collect();
        for metric in metrics {
            let Some(section) = Section::of(metric.family, self.mode) else { continue };
            if let Some((_, rows)) = sections.iter_mut().find(|(other, _)| *other == section) {
                let inset = if metric.is_submetric { 2 } else { 0 };
                let prefix = " ".repeat(indent + inset);
                let (name, cells) = (metric.label.clone(), metric.cells(self.source));
                rows.push(Row { prefix, inset, name, cells });
            }
        }
        let widths = Widths::of(sections.iter().flat_map(|(_, rows)| rows));
        for (section, rows) in sections.iter().filter(|(_, rows)| !rows.is_empty()) {
            let title = self.palette.paint("1", section.title());
            self.out.push_str(&format!("{:indent$}{title}\n", ""));
            self.rows(rows, &widths);
            self.out.push('\n');
        }
    }

    fn rows(&mut self, rows: &[Row], widths: &Widths) {
        for row in rows {
            row.push(&mut self.out, widths, self.source.trend_stats, &self.palette);
        }
    }

    fn checks(&mut self, indent: usize, account: &Account) {
        let Some(Sink::Rate(rate)) = account.sink(builtin::CHECKS) else { return };
        let (passes, total) = (rate.trues, rate.total);
        let fails = total - passes;
        let per_second = total as f64 / (self.source.elapsed_ns as f64 / 1e9);
        let share = |part: u64| {
            let percent = number::percent(part as f64 / total as f64);
            Cells::Plain(percent, vec![format!("{part} out of {total}")])
        };
        let rate = vec![format!("{}/s", number::plain(per_second))];
        let row = |name: &str, cells| Row {
            prefix: " ".repeat(indent),
            inset: 0,
            name: name.to_owned(),
            cells,
        };
        let rows = [
            row("checks_total", Cells::Plain(total.to_string(), rate)),
            row("checks_succeeded", share(passes)),
            row("checks_failed", share(fails)),
        ];
        self.rows(&rows, &Widths::of(rows.iter()));
        self.out.push('\n');
        for (name, passes, fails) in account.checks().by_name() {
            let (mark, colour) = if fails == 0 { ("✓", GREEN) } else { ("✗", RED) };
            let line = self.palette.paint(colour, &format!("{mark} {name}"));
            self.out.push_str(&format!("{:indent$}{line}\n", ""));
            if fails > 0 {
                let line = self.palette.paint(RED, &failed_share(passes, fails));
                let indent = 2 * indent - 2;
                self.out.push_str(&format!("{:indent$}{line}\n", ""));
            }
        }
        self.out.push('\n');
    }

    fn thresholds(&mut self) {
        if self.source.thresholds.is_empty() {
            return;
        }
        self.header(2, "█", "THRESHOLDS");
        for (key, is_nested, lines) in listed::thresholds(self.source) {
            let indent = if is_nested { 6 } else { 4 };
            self.out.push_str(&format!("{:indent$}{key}\n", ""));
            for line in lines {
                let (mark, colour) = if line.ok { ("✓", GREEN) } else { ("✗", RED) };
                let mark = self.palette.paint(colour, mark);
                let text = self.palette.paint("37", &format!("'{}'", line.text));
                let label = self.palette.paint("37", &line.label);
                let value = self.palette.paint("36", &line.value);
                self.out.push_str(&format!("{:indent$}{mark} {text} {label}={value}\n", ""));
            }
            self.out.push('\n');
        }
        self.out.push('\n');
    }
}
