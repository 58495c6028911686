//! `sojourn attack`: requests to targets at a rate, as Vegeta has it, and more.

mod connections;
mod flags;
mod inputs;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use sojourn_clock::SECOND_NS;
use sojourn_engine::{ResultSink, ResultWriter, RunOptions, Stop, Targets, exit_code};
use sojourn_live::{MetricsServer, openmetrics};
use sojourn_plan::{AttackLoad, Pace, Plan, Target};
use sojourn_record::{Summary, Verdict};

use crate::{
    control,
    display::{self, Beside, Shown},
    errors::UsageError,
    fail_if, outputs,
    reported::{Reported, RunFormat},
    runner, signals,
    watchers::Watchers,
    web,
};
pub(crate) use flags::Attack;

/// A request without a timeout: a year.
const NO_TIMEOUT_NS: u64 = 365 * 86_400 * SECOND_NS;

/// Where an attack's results go.
enum Output {
    /// A report on the terminal, from a run file.
    Report(PathBuf),
    /// A run file, as asked.
    RunFile(PathBuf),
    /// Records.
    Records(Box<dyn Write + Send>),
}

/// Makes the attack.
pub(crate) fn run(command: &Attack) -> Result<u8, UsageError> {
    let load = load(command)?;
    let thresholds: Result<_, _> =
        command.fail_if.iter().map(|condition| fail_if::threshold(condition)).collect();
    let thresholds = thresholds.map_err(|why| UsageError::new(why, "see `sojourn attack -h`"))?;
    let inputs = inputs::read(command)?;
    let listed: &[Target] = match &inputs.targets {
        Targets::Listed(targets) => targets,
        Targets::Stream(_) | Targets::Scripted(_) => &[],
    };
    let text = inputs::command_line(listed);
    let plan = sojourn_plan::attack_plan(&command.name, text, listed, &load, thresholds);
    let mut plan =
        plan.map_err(|error| UsageError::new(error.to_string(), "see -pace in the help"))?;
    plan.labels.clone_from(&command.label);
    let run_id = runner::run_id();
    let mut options = RunOptions::new(None, run_id.clone());
    options.threads = command.threads;
    options.lag_budget_ns = command.lag_budget;
    options.client = command.connections.config()?;
    options.client.connect_timeout_ns = load.timeout_ns;
    options.client.spin = command.spin;
    let (sink, writer) = match output(command, &plan, &run_id)? {
        Output::Report(path) | Output::RunFile(path) => {
            options.run_file = Some(path);
            (None, None)
        }
        Output::Records(out) => {
            let made = ResultSink::new(out);
            let (sink, writer) = made.map_err(|error| {
                UsageError::new(format!("cannot make a thread: {error}"), "check ulimit -u")
            })?;
            (Some(sink), Some(writer))
        }
    };
    let attack = sojourn_engine::Attack {
        name: command.name.clone(),
        targets: inputs.targets,
        workers_max: load.workers_max,
        redirects_max: u32::try_from(command.redirects).ok(),
        allowed_hosts: command.allow_host.clone(),
        body_max: command.max_body.0,
        chunked: command.chunked,
        results: sink,
        patient: false,
    };
    let warnings = sojourn_engine::attack_room(&plan, &options, &attack)?;
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    plan.warnings.extend(warnings);
    let summary = conduct(command, &plan, &options, attack)?;
    finish(command, &plan, &options, &summary, writer, inputs.failure)
}

fn conduct(
    command: &Attack,
    plan: &Plan,
    options: &RunOptions,
    attack: sojourn_engine::Attack,
) -> Result<Summary, UsageError> {
    let mut watchers = Watchers::default();
    let beside = Beside {
        is_quiet: command.quiet,
        // Scripts that take both streams together get none of the progress.
        silent_without_terminal: true,
        // What a pipeline's next command prints meanwhile would be lost with the screen.
        wants_line: command.output == "stdout" && !std::io::stdout().is_terminal(),
    };
    let stop: Stop = signals::stop_on_signals();
    let metrics = match command.prometheus_addr.as_str() {
        "" => None,
        address => Some(MetricsServer::start(address).map_err(|error| {
            UsageError::runtime(format!("cannot serve metrics at {address}: {error}"))
        })?),
    };
    let run = (options.run_id.as_str(), plan);
    command.out.watch(&mut watchers, run, options.client.tls.ca_file.clone())?;
    let control = control::listen(plan, &options.run_id, &options.rate);
    let web = command.shown.web.as_deref();
    let web = web.map(|address| web::open(address, options.run_file.as_deref())).transpose()?;
    let asked = Shown { live: command.shown.live, web, beside, ..Shown::default() };
    display::show(&mut watchers, asked, plan, &options.rate)?;
    let ended = sojourn_engine::attack(plan, options, attack, &stop, &mut |progress| {
        watchers.second(progress);
        if let Some(metrics) = &metrics {
            metrics.show(openmetrics(progress.store));
        }
    });
    watchers.end();
    drop(control);
    Ok(ended?.summary)
}

/// Reports, and says what the exit code is.
fn finish(
    command: &Attack,
    plan: &Plan,
    options: &RunOptions,
    summary: &Summary,
    writer: Option<ResultWriter>,
    failure: inputs::Failure,
) -> Result<u8, UsageError> {
    if let Some(writer) = writer {
        writer.finish().map_err(|error| {
            UsageError::runtime(format!("writing results to {}: {error}", command.output))
        })?;
    }
    if let Some(error) = failure.take() {
        return Err(UsageError::runtime(error.to_string()));
    }
    if let Some(run_file) = &options.run_file {
        report(command, run_file)?;
    }
    if !is_terminal(command) && !command.quiet {
        say(plan, summary);
    }
    let counts = command.strict || !command.fail_if.is_empty();
    Ok(if counts { exit_code(summary) } else { 0 })
}

/// What a report would say, where none is printed.
fn say(plan: &Plan, summary: &Summary) {
    let verdict = match summary.verdict {
        Verdict::Pass => "",
        Verdict::Fail => "failed: ",
        Verdict::Void => "void: ",
    };
    for cause in &summary.causes {
        eprintln!("{verdict}{}: {}", cause.name, cause.detail);
    }
    for note in summary.notes.iter().filter(|note| !plan.warnings.contains(note)) {
        eprintln!("note: {note}");
    }
}

fn report(command: &Attack, run_file: &Path) -> Result<(), UsageError> {
    let mut reports = Vec::new();
    if is_terminal(command) {
        let reported = Reported::open(run_file)?;
        reported.print(RunFormat::Text)?;
        let page = run_file.with_extension("html");
        reported.write(&page)?;
        reports.push(page);
    }
    runner::say_where(&runner::Made { code: 0, run_file: run_file.to_path_buf(), reports });
    Ok(())
}

fn load(command: &Attack) -> Result<AttackLoad, UsageError> {
    let wrong = |error: sojourn_plan::PaceError| {
        UsageError::new(error.to_string(), "such as -rate 50/1s or -pace 30s@50,1m@200")
    };
    let pace = match &command.pace {
        Some(pace) => Pace::parse(pace).map_err(wrong)?,
        None => Pace::rate(&command.rate).map_err(wrong)?,
    };
    let workers_max = u32::try_from(command.max_workers).unwrap_or(u32::MAX);
    if pace == Pace::Unpaced && command.max_workers == u64::MAX {
        return Err(UsageError::new(
            "-rate=0 requires setting -max-workers",
            "without a rate, the number of workers is the load: -max-workers 64",
        ));
    }
    if workers_max == 0 {
        return Err(UsageError::new("-max-workers 0 lets nothing happen", "use at least 1"));
    }
    Ok(AttackLoad {
        pace,
        poisson: command.poisson,
        duration_ns: (command.duration > 0).then_some(command.duration),
        workers_max,
        timeout_ns: if command.timeout == 0 { NO_TIMEOUT_NS } else { command.timeout },
    })
}

fn is_terminal(command: &Attack) -> bool {
    command.output == "stdout" && std::io::stdout().is_terminal()
}

fn output(command: &Attack, plan: &Plan, run_id: &str) -> Result<Output, UsageError> {
    if is_terminal(command) {
        return Ok(Output::Report(outputs::run_file(None, &plan.name, run_id)?));
    }
    if command.output == "stdout" {
        return Ok(Output::Records(Box::new(std::io::stdout())));
    }
    let path = PathBuf::from(&command.output);
    if path.extension().is_some_and(|extension| extension == "sojourn") {
        return Ok(Output::RunFile(outputs::run_file(Some(&path), &plan.name, run_id)?));
    }
    let file = std::fs::File::create(&path).map_err(|error| {
        UsageError::runtime(format!("error opening {}: {error}", path.display()))
    })?;
    Ok(Output::Records(Box::new(file)))
}
