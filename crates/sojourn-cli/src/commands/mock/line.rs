//! The mock's live line on standard error.

use std::io::{IsTerminal, Write};

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_mock::{Figures, HoldTimes, Meter};

/// Elsewhere than on a terminal a line is printed this often, seconds.
const PLAIN_EVERY_S: u64 = 10;

/// Rewrites one line a second on a terminal; elsewhere prints one every ten seconds, if anything
/// happened.
pub(crate) struct MockLine {
    quiet: bool,
    is_terminal: bool,
    meter: Meter,
    before: Figures,
    since_ns: u64,
    is_begun: bool,
}

impl MockLine {
    pub(crate) fn new(quiet: bool, meter: Meter) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let before = meter.figures();
        Self { quiet, is_terminal, meter, before, since_ns: now_ns(), is_begun: false }
    }

    /// Shows what happened since the last line, if it is time for another.
    pub(crate) fn show(&mut self) {
        let every_s = if self.is_terminal { 1 } else { PLAIN_EVERY_S };
        let elapsed_ns = now_ns() - self.since_ns;
        if self.quiet || elapsed_ns < every_s * SECOND_NS {
            return;
        }
        let now = self.meter.figures();
        let line = line(&self.before, &now, elapsed_ns as f64 / 1e9);
        let is_idle = now.answered == self.before.answered && now.held == 0;
        self.before = now;
        self.since_ns += elapsed_ns;
        if self.is_terminal {
            // Carriage return, the line, and nothing left of the previous one.
            eprint!("\r{line}\x1b[K");
            self.is_begun = true;
        } else if !is_idle {
            eprintln!("{line}");
        }
        // A terminal that is gone takes no line.
        let _ignored = std::io::stderr().flush();
    }

    /// Leaves the line as it stands and goes to the next.
    pub(crate) fn end(&mut self) {
        if std::mem::take(&mut self.is_begun) {
            eprintln!();
        }
    }
}

fn line(before: &Figures, now: &Figures, seconds: f64) -> String {
    let rate = (now.answered - before.answered) as f64 / seconds;
    let hold = now.hold.since(&before.hold);
    let over = now.overshoot.since(&before.overshoot);
    let failed = |figures: &Figures| -> u64 {
        figures.statuses.iter().filter(|(status, _)| *status >= 400).map(|(_, count)| count).sum()
    };
    format!(
        "{rate:>8.0}/s  connections {}  held {}  hold p50 {} p99 {}  overshoot p99 {}  4xx/5xx {}",
        now.open,
        now.held,
        at(&hold, 0.5),
        at(&hold, 0.99),
        at(&over, 0.99),
        failed(now) - failed(before),
    )
}

fn at(times: &HoldTimes, q: f64) -> String {
    match times.histogram.quantile(q) {
        Some(ns) => format!("{:.2} ms", ns as f64 / 1e6),
        None => "-".to_owned(),
    }
}
