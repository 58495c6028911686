//! `sojourn attack`: requests to targets at a rate, as Vegeta has it, and more.

mod connections;
mod flags;
mod inputs;
mod pods;
mod prepared;
mod spread;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use sojourn_engine::{ResultSink, ResultWriter, RunOptions, Stop, exit_code};
use sojourn_live::{MetricsServer, openmetrics};
use sojourn_plan::Plan;
use sojourn_record::{Cause, Summary, Verdict};

use crate::{
    control,
    display::{self, Beside, Shown},
    errors::UsageError,
    kubernetes_flags::OnFlags,
    outputs,
    reported::{Reported, RunFormat},
    runner, signals, version,
    watchers::Watchers,
    web,
};
pub(crate) use flags::Attack;
use prepared::Prepared;
use spread::Spread;
pub(crate) use spread::join;

/// Where an attack's results go.
enum Output {
    /// There is a run file already, and nothing else is wanted.
    Nothing,
    /// A report on the terminal, from a run file.
    Report(PathBuf),
    /// A run file, as asked.
    RunFile(PathBuf),
    /// Records.
    Records(Box<dyn Write + Send>),
}

/// Makes the attack.
pub(crate) fn run(command: &Attack) -> Result<u8, UsageError> {
    if command.version {
        println!("{}", version::lines());
        return Ok(0);
    }
    if command.on.is_asked() {
        return pods::run(command);
    }
    OnFlags::refuse_without_cluster(&["attack"], &[])?;
    let shelf = spread::shelf(command)?;
    let words = spread::words(command)?;
    let prepared = Prepared::of(command, &words, &shelf, runner::run_id())?;
    let Prepared { mut plan, mut options, mut attack, failure } = prepared;
    let stop = signals::stop_on_signals();
    let spread = Spread::of(command, shelf, &stop)?;
    options.processes = spread.processes();
    let processes = options.processes.as_ref().map_or(1, |processes| processes.count);
    options.run_file.clone_from(&command.run_file);
    let writer = match output(command, &plan, &options.run_id)? {
        Output::Nothing => None,
        Output::Report(path) | Output::RunFile(path) => {
            options.run_file = Some(path);
            None
        }
        Output::Records(out) => {
            let made = ResultSink::new(out, processes * options.threads);
            let (sink, writer) = made.map_err(|error| {
                UsageError::new(format!("cannot make a thread: {error}"), "check ulimit -u")
            })?;
            attack.results = Some(sink);
            Some(writer)
        }
    };
    let warnings = sojourn_engine::attack_room(&plan, &options, &attack)?;
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    plan.warnings.extend(warnings);
    let summary = conduct(command, (&plan, &options), attack, &stop)?;
    drop(spread);
    finish(command, (&plan, &options), &summary, writer, &failure)
}

fn conduct(
    command: &Attack,
    (plan, options): (&Plan, &RunOptions),
    attack: sojourn_engine::Attack,
    stop: &Stop,
) -> Result<Summary, UsageError> {
    let mut watchers = Watchers::default();
    let beside = Beside {
        is_silent: false,
        // Scripts that take both streams together get none of the progress.
        silent_without_terminal: command.run_file.is_none(),
        // What a pipeline's next command prints meanwhile would be lost with the screen.
        wants_line: command.quiet || command.output == "stdout" && !std::io::stdout().is_terminal(),
    };
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
    let ended = sojourn_engine::attack(plan, options, attack, stop, &mut |progress| {
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
    (plan, options): (&Plan, &RunOptions),
    summary: &Summary,
    writer: Option<ResultWriter>,
    failure: &inputs::Failure,
) -> Result<u8, UsageError> {
    if let Some(writer) = writer {
        let written = writer.finish().map_err(|error| {
            UsageError::runtime(format!("writing results to {}: {error}", command.output))
        })?;
        if written.is_out_of_order {
            eprintln!(
                "note: results of a generator came so late that others did not wait for them: all \
                 are there, and not all are in order of time"
            );
        }
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
    let counts = command.strict || !command.fail_if.is_empty() || is_incomplete(command, summary);
    Ok(if counts { exit_code(summary) } else { 0 })
}

/// Whether some of several processes is lost, and its share of the load with it: nothing that the
/// targets have a part in.
fn is_incomplete(command: &Attack, summary: &Summary) -> bool {
    let is_loss = |cause: &Cause| matches!(cause.name.as_str(), "generator lost" | "defect");
    command.spread.count().is_some() && summary.causes.iter().any(is_loss)
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
    if command.run_file.is_some() {
        Reported::open(run_file)?.print(RunFormat::Text)?;
    } else if is_terminal(command) {
        let reported = Reported::open(run_file)?;
        reported.print(RunFormat::Text)?;
        let page = run_file.with_extension("html");
        reported.write(&page)?;
        reports.push(page);
    }
    runner::say_where(&runner::Made { code: 0, run_file: run_file.to_path_buf(), reports });
    Ok(())
}

fn is_terminal(command: &Attack) -> bool {
    command.output == "stdout" && std::io::stdout().is_terminal()
}

/// Whether a run file of a name is asked for.
fn is_run_file(command: &Attack) -> bool {
    Path::new(&command.output).extension().is_some_and(|ending| ending == "sojourn")
}

fn output(command: &Attack, plan: &Plan, run_id: &str) -> Result<Output, UsageError> {
    if command.run_file.is_some() && command.output == "stdout" {
        return Ok(Output::Nothing);
    }
    if is_terminal(command) {
        return Ok(Output::Report(outputs::run_file(None, &plan.name, run_id)?));
    }
    if command.output == "stdout" {
        return Ok(Output::Records(Box::new(std::io::stdout())));
    }
    let path = PathBuf::from(&command.output);
    if is_run_file(command) {
        return Ok(Output::RunFile(outputs::run_file(Some(&path), &plan.name, run_id)?));
    }
    let file = std::fs::File::create(&path).map_err(|error| {
        UsageError::runtime(format!("error opening {}: {error}", path.display()))
    })?;
    Ok(Output::Records(Box::new(file)))
}
