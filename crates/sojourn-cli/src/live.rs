//! The progress line on standard error.

use std::io::{IsTerminal, Write};

use sojourn_engine::{Progress, Stretch};
use sojourn_record::JourneyRecord;

use crate::watchers::Watcher;

/// Rewrites one line on a terminal; elsewhere prints a line every ten seconds, and when the run
/// goes from one stretch to the next.
pub(crate) struct ProgressLine {
    quiet: bool,
    is_terminal: bool,
    calls: u64,
    /// The stretch of the line before.
    shown: Option<Stretch>,
    /// What stands before each line: which of several runs it is.
    of: String,
}

impl ProgressLine {
    pub(crate) fn new(quiet: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { quiet, is_terminal, calls: 0, shown: None, of: String::new() }
    }

    /// The same with these words before each line.
    pub(crate) fn of(quiet: bool, of: String) -> Self {
        Self { of, ..Self::new(quiet) }
    }

    /// Shows a second of the run.
    pub(crate) fn show(&mut self, progress: &Progress<'_>) {
        if progress.stretch == Stretch::Over {
            return;
        }
        self.calls += 1;
        let goes_on = self.shown == Some(progress.stretch);
        if self.quiet || (!self.is_terminal && goes_on && !self.calls.is_multiple_of(10)) {
            return;
        }
        self.shown = Some(progress.stretch);
        let stretch = match progress.stretch {
            Stretch::Preparing => "preparing",
            Stretch::WarmUp => "warm-up",
            Stretch::Steady => "steady",
            Stretch::Drain | Stretch::Over => "drain",
        };
        let line = format!(
            "{}{stretch:>9} {:>4.0}/{:.0} s  {:>6.0}/s  started {}  completed {}  in flight {}  \
             failed {}  lag p99 {:.2} ms",
            self.of,
            progress.elapsed_ns as f64 / 1e9,
            progress.planned_ns as f64 / 1e9,
            progress.rate_per_s,
            progress.started,
            progress.completed,
            progress.in_flight,
            progress.failed,
            progress.lag_p99_ns as f64 / 1e6,
        );
        if self.is_terminal {
            // Carriage return, the line, and nothing left of the previous one.
            eprint!("\r{line}\x1b[K");
        } else {
            eprintln!("{line}");
        }
        // A terminal that is gone takes no progress line.
        let _ignored = std::io::stderr().flush();
    }

    /// Leaves the line as it stands and goes to the next.
    pub(crate) fn leave(&self) {
        if self.is_terminal && !self.quiet && self.calls > 0 {
            eprintln!();
        }
    }
}

impl Watcher for ProgressLine {
    fn second(&mut self, progress: &Progress<'_>, _: &[JourneyRecord]) {
        self.show(progress);
    }

    fn end(&mut self) -> Vec<String> {
        self.leave();
        Vec::new()
    }
}
