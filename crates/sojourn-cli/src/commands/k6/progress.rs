//! What is told while a test runs.

use std::io::{self, IsTerminal as _, Write as _};

use sojourn_k6::executors::Scenario;
use sojourn_vu::View;

/// One line on standard error that changes; on no terminal a line every ten seconds.
pub(super) struct Progress {
    is_quiet: bool,
    is_terminal: bool,
    told: u64,
}

/// How long the scenarios take together.
pub(super) fn planned_ns(scenarios: &[Scenario]) -> u64 {
    let ends = scenarios.iter().map(|s| s.start_time_ns.saturating_add(s.duration_ns()));
    ends.max().unwrap_or(0)
}

impl Progress {
    pub(super) fn new(is_quiet: bool) -> Self {
        Self { is_quiet, is_terminal: io::stderr().is_terminal(), told: 0 }
    }

    pub(super) fn show(&mut self, view: &View) {
        self.told += 1;
        if self.is_quiet || !self.is_terminal && self.told % 10 != 1 {
            return;
        }
        let line = line(view);
        let (start, end) = if self.is_terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        eprint!("{start}{line}{end}");
        // A terminal that is gone shows nothing.
        io::stderr().flush().ok();
    }

    pub(super) fn end(&self) {
        if !self.is_quiet && self.is_terminal && self.told > 0 {
            eprintln!();
        }
    }
}

/// `running (0m30.0s), 00/25 VUs, 209441 complete and 0 interrupted iterations`.
fn line(view: &View) -> String {
    let seconds = view.elapsed_ns as f64 / 1e9;
    let minutes = (seconds / 60.0).floor();
    let (vus, most) = (view.vus, view.vus_max);
    let width = most.to_string().len();
    format!(
        "running ({minutes:.0}m{:04.1}s), {vus:0width$}/{most} VUs, {} complete and {} interrupted \
         iterations",
        seconds - minutes * 60.0,
        view.completed,
        view.interrupted,
    )
}
