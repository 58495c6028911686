//! How a run is shown on the terminal while it goes on: a screen, a line, or not at all.

use std::io::IsTerminal;
use std::sync::Arc;

use sojourn_engine::RateControl;
use sojourn_live::frame::Frame;
use sojourn_plan::{Model, Plan};
use sojourn_terminal::{Controls, Screen};

use crate::{
    errors::UsageError,
    framed::{FrameSink, Framed},
    live::ProgressLine,
    signals,
    watchers::Watchers,
    web::{self, WebSink},
};

/// How a run is shown while it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Live {
    /// A screen where standard error is a terminal that can show one, else lines
    #[default]
    Auto,
    /// The whole terminal: stages, hops, thresholds, errors and losses; ? tells its keys
    Screen,
    /// One line
    Line,
    /// Nothing
    Off,
}

/// What else is known of who is at the terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beside {
    /// What the run itself says is wanted, and nothing else.
    pub(crate) is_silent: bool,
    /// Quiet is asked for, others write on standard error while the run goes on, or it is over at
    /// once.
    pub(crate) wants_line: bool,
    /// Without a terminal nothing is shown, not even a line now and then.
    pub(crate) silent_without_terminal: bool,
}

/// The flags that say how runs are shown while they go on.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ShownFlags {
    /// How the run is shown on the terminal while it goes on
    #[arg(long, value_enum, default_value_t = Live::Auto, value_name = "HOW")]
    pub(crate) live: Live,
    /// Show the run in a browser, too, at this address [of --web alone: 127.0.0.1:8089]; elsewhere
    /// than on this machine a token is asked for
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = web::ADDRESS)]
    pub(crate) web: Option<String>,
}

/// How a run is to be shown.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) live: Live,
    /// The browsers' dashboard, if there is one.
    pub(crate) web: Option<WebSink>,
    pub(crate) beside: Beside,
    /// Which of several runs it is; empty where it is the only one.
    pub(crate) of: String,
    /// Why its rate is nobody's to change, besides what the plan says.
    pub(crate) fixed_rate: Option<&'static str>,
}

/// Adds what shows the run. Errs when a screen is asked for where there can be none.
pub(crate) fn show(
    watchers: &mut Watchers,
    shown: Shown,
    plan: &Plan,
    rate: &RateControl,
) -> Result<(), UsageError> {
    let mut framed = Framed::new(plan, &shown.of, rate);
    on_terminal(watchers, &mut framed, &shown, plan, rate)?;
    if let Some(web) = shown.web {
        // On the screen as well, if there is one.
        let _is_told = sojourn_terminal::tell(&format!("dashboard {}", web.link()));
        framed.add(web);
    }
    if framed.is_seen() {
        watchers.add(framed);
    }
    Ok(())
}

fn on_terminal(
    watchers: &mut Watchers,
    framed: &mut Framed,
    shown: &Shown,
    plan: &Plan,
    rate: &RateControl,
) -> Result<(), UsageError> {
    let Shown { live, beside, .. } = *shown;
    if beside.is_silent || live == Live::Off {
        return Ok(());
    }
    let wanted = match live {
        Live::Screen => true,
        Live::Auto => !beside.wants_line,
        Live::Line | Live::Off => false,
    };
    if wanted {
        let fixed = shown.fixed_rate.map(str::to_owned).or_else(|| fixed_rate(plan));
        match screen(&plan.name, rate, fixed) {
            Ok(screen) => {
                framed.add(screen);
                return Ok(());
            }
            Err(why) if live == Live::Screen => return Err(no_screen(&why)),
            Err(_) => {}
        }
    }
    if std::io::stderr().is_terminal() || !beside.silent_without_terminal {
        let of = if shown.of.is_empty() { String::new() } else { format!("{}  ", shown.of) };
        watchers.add(ProgressLine::of(false, of));
    }
    Ok(())
}

/// Takes the terminal for a run of this name, whose rate keys may change unless it is fixed. Says
/// why it can't be taken.
pub(crate) fn screen(
    name: &str,
    rate: &RateControl,
    fixed_rate: Option<String>,
) -> Result<Screen, String> {
    can_show()?;
    let controls = Keys { rate: rate.clone(), fixed_rate };
    Screen::open(name, has_colour(), controls)
        .map_err(|error| format!("the terminal can't be taken: {error}"))
}

/// What to do where there can be no screen.
pub(crate) fn no_screen(why: &str) -> UsageError {
    UsageError::new(
        format!("--live screen: {why}"),
        "--live line needs no more than standard error",
    )
}

/// Whether standard error is a terminal that can show a screen and is ours just now; why not.
fn can_show() -> Result<(), String> {
    let stderr = std::io::stderr();
    if !stderr.is_terminal() {
        return Err("standard error is no terminal".to_owned());
    }
    match std::env::var("TERM") {
        Ok(kind) if !kind.is_empty() && kind != "dumb" => {}
        _ => return Err("TERM names no terminal that has a screen".to_owned()),
    }
    // Taking the terminal from the background would stop the process (SIGTTOU).
    let foreground = rustix::termios::tcgetpgrp(&stderr);
    if foreground.is_ok_and(|group| group != rustix::process::getpgrp()) {
        return Err("it runs in the background".to_owned());
    }
    Ok(())
}

/// Colours are wanted unless `NO_COLOR` says otherwise (no-color.org).
fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Why a plan's rate can't be changed; `None` where it can.
pub(crate) fn fixed_rate(plan: &Plan) -> Option<String> {
    let is_open = |model: &Model| matches!(model, Model::Open { .. });
    let has_rate = plan.load.iter().any(|load| is_open(&load.model));
    (!has_rate).then(|| "users keep their own pace".to_owned())
}

impl FrameSink for Screen {
    fn show(&mut self, frame: &Arc<Frame>) {
        Self::show(self, Arc::clone(frame));
    }

    fn end(&mut self) -> Vec<String> {
        match self.close() {
            0 => Vec::new(),
            left_out => vec![format!("the terminal was too slow for {left_out} seconds of it")],
        }
    }
}

/// What keys ask of a run.
struct Keys {
    rate: RateControl,
    fixed_rate: Option<String>,
}

impl Controls for Keys {
    fn fixed_rate(&self) -> Option<String> {
        self.fixed_rate.clone()
    }

    fn rate_factor(&self) -> f64 {
        self.rate.factor()
    }

    fn ask_rate(&self, rate_factor: f64) -> bool {
        self.rate.ask(rate_factor, "keys")
    }

    /// As if the key had been a signal, which it would be but for raw mode.
    fn stop(&self) {
        signals::ask();
    }
}
