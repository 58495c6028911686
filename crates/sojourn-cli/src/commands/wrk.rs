//! `sojourn wrk`: wrk's command line, scripts and output over Sojourn's generator.

use std::ffi::OsString;

use sojourn_clock::SECOND_NS;
use sojourn_engine::{Ended, RunOptions};
use sojourn_plan::{AttackLoad, Pace, Plan};
use sojourn_record::Cause;
use sojourn_wrk::{Asked, Figures, Host, ScriptError, ScriptFile, Site, Words};

use crate::{errors::UsageError, outputs, runner, signals};

/// wrk's exit code when there was no load, or a script ended it.
const FAILED: u8 = 1;
/// A generator that is late by more at p99 is said to be, nanoseconds.
const OWN_LAG_MAX_NS: u64 = 10_000_000;
/// The share of requests that may wait for a connection without a word.
const WAITED_MAX: f64 = 0.001;

/// wrk's own words, see `sojourn wrk --help`.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Wrk {
    /// wrk's options and the URL
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    words: Vec<OsString>,
}

/// Does what the words say.
pub(crate) fn run(command: &Wrk) -> Result<u8, UsageError> {
    let words: Vec<_> = words(command).iter().map(|w| w.to_string_lossy().into_owned()).collect();
    match sojourn_wrk::parse(&words) {
        Ok(Asked::Help) => outputs::print(&sojourn_wrk::usage()),
        Ok(Asked::Version) => {
            outputs::print(&format!("sojourn wrk {}\n", env!("CARGO_PKG_VERSION")));
        }
        Ok(Asked::Load(words)) => return load(&words),
        Err(wrong) => {
            eprintln!("sojourn wrk: {wrong}");
            outputs::print(&sojourn_wrk::usage());
            return Ok(FAILED);
        }
    }
    Ok(0)
}

/// The words after the command's name, as they were given: `--` is one of them.
fn words(command: &Wrk) -> Vec<OsString> {
    let mut all = std::env::args_os().skip_while(|word| word != "wrk");
    match all.next() {
        Some(_) => all.collect(),
        None => command.words.clone(),
    }
}

/// What stopped a load: a script, or something else.
enum Stopped {
    Script(ScriptError),
    Other(UsageError),
}

impl From<ScriptError> for Stopped {
    fn from(error: ScriptError) -> Self {
        Self::Script(error)
    }
}

impl From<UsageError> for Stopped {
    fn from(error: UsageError) -> Self {
        Self::Other(error)
    }
}

fn load(words: &Words) -> Result<u8, UsageError> {
    match make(words) {
        Ok(()) => Ok(0),
        Err(Stopped::Script(error)) => {
            eprintln!("{error}");
            Ok(FAILED)
        }
        Err(Stopped::Other(error)) => Err(error),
    }
}

fn make(words: &Words) -> Result<(), Stopped> {
    let script = words.script.as_deref().map(ScriptFile::read).transpose()?;
    let site = Site::parse(&words.url)?;
    let target = site.target.clone();
    let host = Host::new(site, words.headers.clone(), script.as_ref(), words.threads)?;
    host.prepare(&words.arguments)?;
    let requests = host.requests()?;
    let plan = plan(words, &target)?;
    let attack = sojourn_engine::Attack {
        name: String::new(),
        targets: sojourn_engine::Targets::Scripted(requests),
        workers_max: words.connections,
        redirects_max: None,
        allowed_hosts: Vec::new(),
        body_max: Some(0),
        chunked: false,
        results: None,
        patient: true,
    };
    let options = options(words, &plan)?;
    for warning in room(&plan, &options, &attack)? {
        eprintln!("warning: {warning}");
    }
    outputs::print(&sojourn_wrk::beginning(words));
    let stop = signals::stop_on_signals();
    let ended = sojourn_engine::attack(&plan, &options, attack, &stop, &mut |_| {});
    let ended = ended.map_err(UsageError::from)?;
    if let Some(error) = host.error() {
        return Err(error.into());
    }
    let figures = Figures::new(&ended.figures, ended.summary.load_end_ns);
    outputs::print(&sojourn_wrk::report(words, &figures));
    for warning in warnings(words, &figures, &ended) {
        eprintln!("warning: {warning}");
    }
    for note in ended.summary.notes.iter().filter(|note| !plan.warnings.contains(note)) {
        eprintln!("note: {note}");
    }
    host.done(&figures)?;
    Ok(())
}

fn plan(words: &Words, target: &sojourn_plan::Target) -> Result<Plan, UsageError> {
    let wrong = |error: sojourn_plan::PaceError| UsageError::new(error.to_string(), "see -R");
    let load = AttackLoad {
        pace: match words.rate {
            None => Pace::Unpaced,
            Some(rate) => Pace::rate(&rate.to_string()).map_err(wrong)?,
        },
        poisson: false,
        duration_ns: Some(words.duration_ns),
        workers_max: words.connections,
        timeout_ns: words.timeout_ns,
    };
    // Headers and the script's words may be secret.
    let text = format!("sojourn wrk {}\n", target.label());
    let targets = std::slice::from_ref(target);
    let mut plan =
        sojourn_plan::attack_plan("wrk", text, targets, &load, Vec::new()).map_err(wrong)?;
    // Every request under way has ended by its own timeout before that.
    plan.load[0].drain_ns = words.timeout_ns.saturating_add(SECOND_NS);
    Ok(plan)
}

fn options(words: &Words, plan: &Plan) -> Result<RunOptions, UsageError> {
    let run_id = runner::run_id();
    let run_file = match &words.output {
        None => None,
        Some(path) => Some(outputs::run_file(Some(path), &plan.name, &run_id)?),
    };
    let mut options = RunOptions::new(run_file, run_id);
    options.threads = words.threads;
    // Its latency counts from the scheduled instant: nothing is to be added to that.
    options.lag_budget_ns = Some(0);
    options.client.connections_max = words.connections as usize;
    options.client.idle_max = words.connections as usize;
    // As wrk has it: a load test of a server with a certificate of its own is the usual case.
    options.client.tls.insecure = true;
    Ok(options)
}

fn room(
    plan: &Plan,
    options: &RunOptions,
    attack: &sojourn_engine::Attack,
) -> Result<Vec<String>, UsageError> {
    sojourn_engine::attack_room(plan, options, attack).map_err(|mut error| {
        error.hint = Some("ask for fewer connections (-c)".to_owned());
        UsageError::from(error)
    })
}

/// Why the figures may not be what they seem.
fn warnings(words: &Words, figures: &Figures, ended: &Ended) -> Vec<String> {
    let connections = words.connections;
    // Those two are told apart below: a busy server is not a busy generator.
    let is_known = |cause: &&Cause| !["generator lag", "missed arrivals"].contains(&&*cause.name);
    let causes = ended.summary.causes.iter().filter(is_known);
    let mut warnings: Vec<String> =
        causes.map(|cause| format!("{}: {}", cause.name, cause.detail)).collect();
    let begun = figures.latency.count().max(1);
    if figures.waited as f64 > WAITED_MAX * begun as f64 {
        warnings.push(format!(
            "{} of {begun} requests were due while all {connections} connections were busy; the \
             wait is in their latency, as it should be",
            figures.waited
        ));
    }
    if figures.missed > 0 {
        warnings.push(format!(
            "{} requests were due and never sent, because all {connections} connections were busy \
             until the end: the target does not keep up with -R {}, or -c is too low",
            figures.missed,
            words.rate.unwrap_or(0)
        ));
    }
    if figures.own_lag_p99_ns > OWN_LAG_MAX_NS {
        warnings.push(format!(
            "generator lag: p99 {:.1} ms: this machine was too busy for its own schedule",
            figures.own_lag_p99_ns as f64 / 1e6
        ));
    }
    if figures.cut_off > 0 {
        warnings.push(format!("{} requests had no answer when it ended", figures.cut_off));
    }
    warnings
}
