//! `sojourn k6 run`: a script from flags to exit code.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::flags::{RunFlags, Settings, SummaryMode};
use sojourn_k6::metrics::SystemTags;
use sojourn_k6::options::{Environment, Segment};
use sojourn_k6::output::TimeFormat;
use sojourn_vu::{Console, Ended, Format, Output, Plan, conduct};

use super::journeys::Journeys;
use super::progress::Progress;
use super::script::{self, Failed};
use super::{environment, log, summary};
use crate::errors::UsageError;
use crate::signals;

/// Run a script
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn run script.js --vus 25 --duration 30s
  sojourn run script.js -s 10s:20 -s 30s:20 -e BASE=http://127.0.0.1:8080
  sojourn run script.js --out csv=samples.csv --summary-mode full")]
pub(crate) struct Run {
    /// The script; - for standard input
    script: PathBuf,
    #[command(flatten)]
    flags: RunFlags,
}

/// Runs it.
pub(super) fn run(command: &Run) -> Result<u8, UsageError> {
    let process = environment::of_process();
    let console = log::beginning();
    let prepared = script::config_file(&command.flags, &process).and_then(|config| {
        let settings = Settings::new(&command.flags, &process, &config);
        let settings = settings.map_err(Failed::options)?;
        let output = command.flags.console_output.as_ref();
        let output = output.or_else(|| process.get("K6_CONSOLE_OUTPUT"));
        let console = log::console(&settings, output.map(String::as_str))?;
        Ok((settings, console))
    });
    Ok(match prepared {
        Ok((settings, console)) => match test(command, &process, &settings, &console) {
            Ok(exit) => exit.code(),
            Err(failed) => failed.tell(&console),
        },
        Err(failed) => failed.tell(&console),
    })
}

fn test(
    command: &Run,
    process: &Environment,
    settings: &Settings,
    console: &Arc<Console>,
) -> Result<ExitCode, Failed> {
    for warning in &settings.warnings {
        console.warn(warning);
    }
    let asked = script::ask(&command.script, &command.flags, settings, process, true, console)?;
    let options = &asked.consolidated.options;
    let is_coloured = !settings.no_color && std::io::stdout().is_terminal();
    let look = summary::Look::new(options, is_coloured)?;
    let system_tags = match &options.system_tags {
        Some(tags) => SystemTags::from_keys(tags.0.iter().copied()),
        None => SystemTags::default(),
    };
    if !settings.quiet {
        announce(command, settings, &asked);
    }
    let mut progress = Progress::new(settings.quiet, &asked.consolidated.scenarios);
    let outputs = outputs(settings, process, system_tags)?;
    let users = asked.consolidated.requirements().max_vus;
    let journeys = asked.collected.declares_taps();
    let journeys = journeys.then(|| Journeys::prepare(&command.script, settings)).transpose()?;
    let plan = Plan {
        collected: asked.collected,
        consolidated: asked.consolidated,
        system_tags,
        no_thresholds: settings.no_thresholds,
        strict: settings.strict,
        exact: settings.exact_percentiles,
        is_full: settings.summary_mode == SummaryMode::Full,
        threads: settings.threads.unwrap_or_else(|| threads(users)),
        outputs,
        has_summary: settings.summary_mode != SummaryMode::Disabled,
        journeys: journeys.as_ref().map(Journeys::followed_with),
    };
    let stop = signals::stop_script_on_signals();
    let asked_to_stop = || u8::from(stop.graceful()) + u8::from(stop.at_once());
    let ended = conduct(plan, &asked_to_stop, &mut |view| progress.show(view), &|ended| {
        summary::data(ended, &look, settings).to_string()
    })
    .map_err(Failed::from)?;
    progress.end();
    let exit = tell(&ended, settings, &look, console)?;
    match journeys {
        Some(journeys) => journeys.tell(&ended, exit, settings, console),
        None => Ok(exit),
    }
}

fn tell(
    ended: &Ended,
    settings: &Settings,
    look: &summary::Look,
    console: &Arc<Console>,
) -> Result<ExitCode, Failed> {
    let problems = summary::tell(ended, settings, look)
        .map_err(|error| Failed::config(format!("the summary can't be written: {error}")))?;
    if !problems.is_empty() {
        let mut told = "Could not save some summary information:".to_owned();
        problems.iter().for_each(|problem| told.push_str(&format!("\n\t- {problem}")));
        console.failure("failed to handle the end-of-test summary", &[("error", &told)]);
    }
    summary::export(ended, look, settings)
        .map_err(|error| Failed::config(format!("--summary-export: {error}")))?;
    if let Some(reason) = &ended.reason {
        console.failure(reason, &ended.reason_fields);
    }
    for problem in &ended.outputs_failed {
        console.error(&format!("an output is incomplete: {problem}"));
    }
    if settings.strict && ended.exit == ExitCode::Success && ended.view.exceptions > 0 {
        console.error(&format!("{} iterations threw (--strict)", ended.view.exceptions));
        return Ok(ExitCode::ScriptException);
    }
    Ok(ended.exit)
}

/// What is about to run.
fn announce(command: &Run, settings: &Settings, asked: &script::Asked) {
    let needed = asked.consolidated.requirements();
    let scenarios = &asked.consolidated.scenarios;
    let outputs = if settings.out.is_empty() { "-".to_owned() } else { settings.out.join(", ") };
    println!("\n     execution: local");
    println!("        script: {}", command.script.display());
    println!("        output: {outputs}\n");
    let segment = asked.consolidated.options.execution_segment.unwrap_or_default();
    let segment: &Segment = &segment;
    println!("     {}", needed.line(scenarios.len(), segment));
    for scenario in scenarios {
        println!("              * {}", scenario.line());
    }
    println!();
}

/// Users that make another thread worth while.
const USERS_PER_THREAD: u64 = 100;

/// As many as the users are worth, one a core at most.
fn threads(users: u64) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    usize::try_from(users / USERS_PER_THREAD).unwrap_or(usize::MAX).clamp(1, cores)
}

fn outputs(
    settings: &Settings,
    process: &Environment,
    tags: SystemTags,
) -> Result<Vec<Output>, Failed> {
    let mut outputs = Vec::new();
    for out in &settings.out {
        let (kind, path) = out.split_once('=').unwrap_or((out, ""));
        let (format, path) = match kind {
            "json" => (Format::Json, path.to_owned()),
            "csv" => {
                let word = process.get("K6_CSV_TIME_FORMAT").map_or("unix", String::as_str);
                let time = TimeFormat::from_word(word).ok_or_else(|| {
                    Failed::config(format!("K6_CSV_TIME_FORMAT={word} is no format of times"))
                })?;
                let named = process.get("K6_CSV_FILENAME").filter(|_| path.is_empty());
                (Format::Csv(time), named.cloned().unwrap_or_else(|| path.to_owned()))
            }
            other => {
                let told = format!("invalid output type '{other}', available types are: csv, json");
                return Err(Failed::new(ExitCode::Unspecified, told));
            }
        };
        let path = if path.is_empty() && kind == "csv" { "file.csv".to_owned() } else { path };
        let output = Output::create(format, &path, tags)
            .map_err(|error| Failed::config(format!("--out {out}: {error}")))?;
        outputs.push(output);
    }
    Ok(outputs)
}
