//! The mock's live line on standard error.

use std::io::{IsTerminal, Write};

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_mock::{CallbackFigures, Figures, HoldTimes, Meter, Mock};

/// Elsewhere than on a terminal a line is printed this often, seconds.
const PLAIN_EVERY_S: u64 = 10;

/// Rewrites one line a second on a terminal; elsewhere prints one every ten seconds, if anything
/// happened.
pub(crate) struct MockLine<'a> {
    quiet: bool,
    is_terminal: bool,
    mock: &'a Mock,
    meter: Meter,
    before: Figures,
    callbacks_before: CallbackFigures,
    since_ns: u64,
    is_begun: bool,
}

impl<'a> MockLine<'a> {
    pub(crate) fn new(quiet: bool, mock: &'a Mock) -> Self {
        let meter = mock.meter();
        Self {
            quiet,
            is_terminal: std::io::stderr().is_terminal(),
            mock,
            before: meter.figures(),
            meter,
            callbacks_before: mock.callbacks(),
            since_ns: now_ns(),
            is_begun: false,
        }
    }

    /// Shows what happened since the last line, if it is time for another.
    pub(crate) fn show(&mut self) {
        let every_s = if self.is_terminal { 1 } else { PLAIN_EVERY_S };
        let elapsed_ns = now_ns() - self.since_ns;
        if self.quiet || elapsed_ns < every_s * SECOND_NS {
            return;
        }
        let now = self.meter.figures();
        let callbacks = self.mock.callbacks();
        let seconds = elapsed_ns as f64 / 1e9;
        let mut line = line(&self.before, &now, seconds);
        line.push_str(&of_callbacks(&self.callbacks_before, &callbacks, seconds));
        let is_idle = now.answered == self.before.answered
            && now.held == 0
            && callbacks == self.callbacks_before;
        self.before = now;
        self.callbacks_before = callbacks;
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

/// Nothing as long as there are none. What went wrong is told in all, not of the last second.
fn of_callbacks(before: &CallbackFigures, now: &CallbackFigures, seconds: f64) -> String {
    if now.accepted + now.refused == 0 {
        return String::new();
    }
    let rate = (now.done - before.done) as f64 / seconds;
    let mut text = format!("  callbacks {rate:.0}/s waiting {}", now.waiting());
    for (what, count) in [("failed", now.failed), ("refused", now.refused)] {
        if count > 0 {
            text.push_str(&format!(" {what} {count}"));
        }
    }
    text
}

fn at(times: &HoldTimes, q: f64) -> String {
    match times.histogram.quantile(q) {
        Some(ns) => format!("{:.2} ms", ns as f64 / 1e6),
        None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callbacks_are_told_once_there_are_any() {
        let none = CallbackFigures::default();
        assert_eq!(of_callbacks(&none, &none, 1.0), "");
        let now = CallbackFigures { accepted: 30, done: 20, failed: 3, refused: 2 };
        let told = of_callbacks(&none, &now, 2.0);
        assert_eq!(told, "  callbacks 10/s waiting 7 failed 3 refused 2");
    }
}
