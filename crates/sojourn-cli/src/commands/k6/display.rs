//! What shows a script's run while it goes on: k6's own line, a screen, browsers.

use std::path::Path;
use std::sync::Arc;

use sojourn_engine::RateControl;
use sojourn_k6::executors::Scenario;
use sojourn_k6::flags::DashboardSettings;
use sojourn_vu::{Console, Seen};

use super::frames::{Latest, ScriptFrames};
use super::progress::{self, Progress};
use super::script::Failed;
use super::timeline::Timeline;
use super::{browser, held};
use crate::display::{self, Live};
use crate::errors::UsageError;
use crate::framed::FrameSink;
use crate::web;

/// Why keys leave the rate alone.
const FIXED_RATE: &str = "a script's scenarios have rates of their own";

/// The flags that say how a script's run is shown.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ShownFlags {
    /// How the run is shown on the terminal while it goes on; `auto` is a line, since scripts have
    /// the terminal for what they print. What they print while a screen has it is told at its end
    #[arg(long, value_enum, default_value_t = Live::Auto, value_name = "HOW")]
    live: Live,
    /// Show the run in a browser, too, at this address [of --web alone: 127.0.0.1:8089]; elsewhere
    /// than on this machine a token is asked for
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = web::ADDRESS)]
    web: Option<String>,
}

impl ShownFlags {
    /// Whether anybody is shown frames.
    pub(super) fn asks_for_frames(&self, dashboard: Option<&DashboardSettings>) -> bool {
        let has_address = dashboard.is_some_and(|asked| asked.address.is_some());
        self.live == Live::Screen || self.web.is_some() || has_address
    }
}

/// What is run.
pub(super) struct Shown<'a> {
    pub(super) name: &'a str,
    pub(super) scenarios: &'a [Scenario],
    pub(super) is_quiet: bool,
    /// The dashboard that k6's words ask for.
    pub(super) dashboard: Option<&'a DashboardSettings>,
    /// The journeys that the script follows, if it does, and their run file.
    pub(super) journeys: Option<(Latest, &'a Path)>,
}

/// What shows a run.
pub(super) struct Display {
    line: Progress,
    /// On the terminal, every second.
    screen: Audience,
    /// In browsers and the report, as often as is asked for.
    pages: Audience,
}

/// Those who are shown the same frames.
struct Audience {
    frames: ScriptFrames,
    /// Least time between two frames, ns.
    every_ns: u64,
    /// From when on the next one is shown, since the run's beginning.
    due_ns: u64,
    sinks: Vec<Box<dyn FrameSink>>,
    /// Kept where a page is to be made of it.
    timeline: Option<Timeline>,
}

/// Seconds are seen a little early or late.
const SLACK_NS: u64 = 500_000_000;

impl Audience {
    fn new(frames: ScriptFrames, every_ns: u64) -> Self {
        Self { frames, every_ns, due_ns: 0, sinks: Vec::new(), timeline: None }
    }

    fn show(&mut self, seen: &Seen<'_>, is_over: bool) {
        let elapsed_ns = seen.view.elapsed_ns;
        let is_wanted = !self.sinks.is_empty() || self.timeline.is_some();
        if !is_wanted || (elapsed_ns < self.due_ns && !is_over) {
            return;
        }
        self.due_ns = (elapsed_ns + self.every_ns).saturating_sub(SLACK_NS);
        let frame = Arc::new(self.frames.frame(seen, is_over));
        if let Some(timeline) = &mut self.timeline {
            timeline.add(&frame);
        }
        self.sinks.iter_mut().for_each(|sink| sink.show(&frame));
    }
}

impl Display {
    /// Opens what is asked for. Errs when there can be no screen, or no server for browsers.
    pub(super) fn open(
        flags: &ShownFlags,
        shown: Shown<'_>,
        console: &Console,
    ) -> Result<Self, Failed> {
        let Shown { name, scenarios, is_quiet, dashboard, journeys } = shown;
        let (latest, run_file) = journeys.unzip();
        let planned_ns = progress::planned_ns(scenarios);
        let period_ns = dashboard.and_then(|asked| asked.period).map_or(0, |period| period.ns());
        let frames = |latest| ScriptFrames::new(name, planned_ns, latest);
        let mut screen = Audience::new(frames(latest.clone()), 0);
        let mut pages = Audience::new(frames(latest), period_ns);
        let web = browser::open(flags.web.as_deref(), dashboard, run_file, console);
        let web = web.map_err(failed)?;
        if flags.live == Live::Screen {
            let rate = RateControl::default();
            let opened = display::screen(name, &rate, Some(FIXED_RATE.to_owned()));
            screen.sinks.push(Box::new(opened.map_err(|why| failed(display::no_screen(&why)))?));
        }
        if let Some(web) = web {
            // On the screen as well, if there is one.
            let _is_told = sojourn_terminal::tell(&format!("dashboard {}", web.link()));
            pages.sinks.push(Box::new(web));
        }
        let has_line = !is_quiet && matches!(flags.live, Live::Auto | Live::Line);
        pages.timeline =
            dashboard.and_then(|asked| asked.export.as_ref()).map(|_| Timeline::default());
        Ok(Self { line: Progress::new(!has_line), screen, pages })
    }

    /// Shows a second.
    pub(super) fn show(&mut self, seen: &Seen<'_>) {
        self.line.show(&seen.view);
        self.screen.show(seen, false);
        self.pages.show(seen, false);
    }

    /// Shows how it ended, and gives the terminal back; how it went, where that was kept.
    pub(super) fn end(mut self, seen: &Seen<'_>) -> Option<Timeline> {
        self.screen.show(seen, true);
        self.pages.show(seen, true);
        let timeline = self.pages.timeline.take();
        self.line.end();
        let sinks = self.screen.sinks.iter_mut().chain(&mut self.pages.sinks);
        let said: Vec<_> = sinks.flat_map(|sink| sink.end()).collect();
        drop(self);
        said.iter().for_each(|line| eprintln!("{line}"));
        timeline
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // A screen gives the terminal back first.
        self.screen.sinks.clear();
        held::release();
    }
}

fn failed(error: UsageError) -> Failed {
    Failed::config(error)
}

#[cfg(test)]
mod tests {
    use sojourn_k6::metrics::{Registry, Totals};
    use sojourn_k6::thresholds::Thresholds;
    use sojourn_vu::View;

    use super::*;

    #[test]
    fn pages_are_shown_as_often_as_is_asked_for_and_at_the_end() {
        let thresholds = Thresholds::new(&mut Registry::new(), []).unwrap();
        let totals = Totals::default();
        let mut pages = Audience::new(ScriptFrames::new("script", 0, None), 3_000_000_000);
        pages.timeline = Some(Timeline::default());
        for elapsed_ns in (1..=8).map(|second| second * 1_000_000_000 - second % 2 * 9_000_000) {
            let view = View { elapsed_ns, ..View::default() };
            let seen = Seen { view, totals: &totals, thresholds: &thresholds };
            pages.show(&seen, elapsed_ns == 8_000_000_000);
        }
        let moments = pages.timeline.unwrap();
        let at_s: Vec<_> = moments.moments().iter().map(|at| at.elapsed_s.round()).collect();
        assert_eq!(at_s, [1.0, 4.0, 7.0, 8.0]);
    }
}
