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
    frames: ScriptFrames,
    sinks: Vec<Box<dyn FrameSink>>,
    /// Kept where a page is to be made of it.
    timeline: Option<Timeline>,
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
        let mut sinks: Vec<Box<dyn FrameSink>> = Vec::new();
        let web = browser::open(flags.web.as_deref(), dashboard, run_file, console);
        let web = web.map_err(failed)?;
        if flags.live == Live::Screen {
            let rate = RateControl::default();
            let screen = display::screen(name, &rate, Some(FIXED_RATE.to_owned()));
            sinks.push(Box::new(screen.map_err(|why| failed(display::no_screen(&why)))?));
        }
        if let Some(web) = web {
            // On the screen as well, if there is one.
            let _is_told = sojourn_terminal::tell(&format!("dashboard {}", web.link()));
            sinks.push(Box::new(web));
        }
        let has_line = !is_quiet && matches!(flags.live, Live::Auto | Live::Line);
        let frames = ScriptFrames::new(name, planned_ns, latest);
        let timeline =
            dashboard.and_then(|asked| asked.export.as_ref()).map(|_| Timeline::default());
        Ok(Self { line: Progress::new(!has_line), frames, sinks, timeline })
    }

    /// Shows a second.
    pub(super) fn show(&mut self, seen: &Seen<'_>) {
        self.line.show(&seen.view);
        self.send(seen, false);
    }

    /// Shows how it ended, and gives the terminal back; how it went, where that was kept.
    pub(super) fn end(mut self, seen: &Seen<'_>) -> Option<Timeline> {
        self.send(seen, true);
        let timeline = self.timeline.take();
        self.line.end();
        let said: Vec<_> = self.sinks.iter_mut().flat_map(|sink| sink.end()).collect();
        drop(self);
        said.iter().for_each(|line| eprintln!("{line}"));
        timeline
    }

    fn send(&mut self, seen: &Seen<'_>, is_over: bool) {
        if !self.sinks.is_empty() || self.timeline.is_some() {
            let frame = Arc::new(self.frames.frame(seen, is_over));
            if let Some(timeline) = &mut self.timeline {
                timeline.add(&frame);
            }
            self.sinks.iter_mut().for_each(|sink| sink.show(&frame));
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // A screen gives the terminal back first.
        self.sinks.clear();
        held::release();
    }
}

fn failed(error: UsageError) -> Failed {
    Failed::config(error)
}
