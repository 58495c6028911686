//! `sojourn k6 run`: a script from flags to exit code.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use crossbeam_channel::Receiver;
use sojourn_engine::{Processes, Stop};
use sojourn_http::Proxies;
use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::flags::{RunFlags, Settings, SummaryMode};
use sojourn_k6::metrics::SystemTags;
use sojourn_k6::options::{Environment, Segment};
use sojourn_vu::{Ask, Collected, Console, Ended, Output, Plan, Rest, Seen, conduct};

use super::carried::Carried;
use super::display::{Display, Shown, ShownFlags};
use super::journeys::Journeys;
use super::script::{self, Around, Failed};
use super::written::{self, Folder};
use super::{config_file, environment, frames, log, outputs, pods, processes, summary};
use crate::errors::UsageError;
use crate::fleet_flags::FleetFlags;
use crate::kubernetes_flags::{OnFlags, TermsFlags};
use crate::process_flags::ProcessFlags;
use crate::shelf::Shelf;
use crate::signals;

/// Run a script
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn run script.js --vus 25 --duration 30s
  sojourn run script.js -s 10s:20 -s 30s:20 -e BASE=http://127.0.0.1:8080
  sojourn run script.js --out csv=samples.csv --summary-mode full
  sojourn run script.js --out influxdb=http://127.0.0.1:8086/k6
  K6_PROMETHEUS_RW_SERVER_URL=http://127.0.0.1:9090/api/v1/write \\
    sojourn run script.js --out experimental-prometheus-rw
  sojourn run script.js --web               watched in a browser
  sojourn run script.js --generators 4      its users in four processes
  sojourn run script.js --on kubernetes --generators 8")]
// There is another `--linger`, which is k6's.
#[command(mut_arg("results_linger", |arg| arg.long("results-linger")))]
pub(crate) struct Run {
    #[command(flatten)]
    pub(super) making: Making,
    #[command(flatten)]
    pub(super) on: OnFlags,
    #[command(flatten)]
    pub(super) terms: TermsFlags,
}

/// What is to be run and how, whoever has the users.
#[derive(Debug, clap::Args)]
pub(crate) struct Making {
    /// The script; - for standard input
    pub(super) script: PathBuf,
    #[command(flatten)]
    pub(super) flags: RunFlags,
    #[command(flatten)]
    pub(super) spread: ProcessFlags,
    #[command(flatten)]
    shown: ShownFlags,
}

impl Making {
    /// What the script is called.
    pub(super) fn name(&self) -> &str {
        self.script.file_stem().and_then(|name| name.to_str()).unwrap_or("script")
    }
}

/// Who has the users.
pub(super) enum By<'a> {
    /// This process, or several of this machine.
    Here,
    /// Generators that dial in; where files are written, if that is not the working folder.
    Fleet(&'a FleetFlags, Option<&'a Folder>),
}

/// Runs it.
pub(super) fn run(command: &Run) -> Result<u8, UsageError> {
    if command.on.is_asked() {
        return pods::run(command);
    }
    OnFlags::refuse_without_cluster(&["k6", "run"], &TermsFlags::IDS)?;
    make(&command.making, &By::Here)
}

/// Runs it by these.
pub(super) fn make(command: &Making, by: &By<'_>) -> Result<u8, UsageError> {
    let count = command.spread.count();
    if count.is_some() || matches!(by, By::Fleet(..)) {
        processes::refuse_standard_input(&command.script)?;
    }
    let process = environment::of_process();
    let shelf = match by {
        By::Here => Shelf::Here,
        By::Fleet(..) => Shelf::noting(),
    };
    let around = Around { process: &process, is_included: true, shelf: &shelf };
    let (settings, console) = match settled(command, &around) {
        Ok(settled) => settled,
        Err(failed) => return Ok(failed.tell(&log::beginning())),
    };
    let prepared = match prepare(command, by, &around, &settings, &console) {
        Ok(prepared) => prepared,
        Err(failed) => return Ok(failed.tell(&console)),
    };
    let stop = signals::stop_script_on_signals();
    let gathered = match by {
        By::Here => None,
        By::Fleet(fleet, _) => Some(fleet.gather(&command.spread, shelf.into_parcel(), &stop)?),
    };
    let processes = match &gathered {
        None => command.spread.processes()?,
        Some(gathered) => Some(gathered.processes.clone()),
    };
    Ok(match test(command, prepared, processes, &settings, (&stop, &console)) {
        Ok(exit) => exit.code(),
        Err(failed) => failed.tell(&console),
    })
}

/// What is decided outside the script, and the log.
fn settled(command: &Making, around: &Around<'_>) -> Result<(Settings, Arc<Console>), Failed> {
    let settings = settings(command, around)?;
    let console = log::console(&settings, console_output(command, around.process))?;
    Ok((settings, console))
}

/// What is decided outside the script.
pub(super) fn settings(command: &Making, around: &Around<'_>) -> Result<Settings, Failed> {
    let config = config_file::read(&command.flags, around)?;
    Settings::new(&command.flags, around.process, &config).map_err(Failed::options)
}

/// Where goes what the script prints, if not into the log.
pub(super) fn console_output<'a>(command: &'a Making, process: &'a Environment) -> Option<&'a str> {
    let output = command.flags.console_output.as_ref();
    output.or_else(|| process.get("K6_CONSOLE_OUTPUT")).map(String::as_str)
}

/// A script that has been read, and where its samples and figures go.
struct Prepared {
    asked: script::Asked,
    look: summary::Look,
    system_tags: SystemTags,
    outputs: Vec<Output>,
}

fn prepare(
    command: &Making,
    by: &By<'_>,
    around: &Around<'_>,
    settings: &Settings,
    console: &Arc<Console>,
) -> Result<Prepared, Failed> {
    let process = around.process;
    let asked = read(command, around, settings, console)?;
    let mut folder = None;
    if let By::Fleet(_, inner) = by {
        folder = *inner;
        carry(command, &asked, around, settings)?.put(&command.script, around.shelf)?;
    }
    if let Some(folder) = folder {
        // Everything has been read by now.
        folder.enter(&written::files(settings, process)?)?;
    }
    let options = &asked.consolidated.options;
    let is_coloured = !settings.no_color && std::io::stdout().is_terminal();
    let script = settings.new_machine_readable_summary.then(|| text_of(&asked.collected));
    let look = summary::Look::new(options, is_coloured)?.below(folder.is_some());
    let look = look.of(script.flatten());
    let system_tags = script::system_tags(options);
    if !settings.quiet {
        announce(command, settings, &asked, by);
    }
    let outputs = outputs::open(&settings.out, process, system_tags)?;
    Ok(Prepared { asked, look, system_tags, outputs })
}

/// The script's own text, without what it imports.
fn text_of(script: &Collected) -> Option<String> {
    let mut all = script.contents().ok()?;
    String::from_utf8(all.remove(&script.entry())?).ok()
}

fn test(
    command: &Making,
    prepared: Prepared,
    processes: Option<Processes>,
    settings: &Settings,
    (stop, console): (&Stop, &Arc<Console>),
) -> Result<ExitCode, Failed> {
    let Prepared { asked, look, system_tags, outputs } = prepared;
    let users = asked.consolidated.requirements().max_vus;
    let journeys = asked.collected.declares_taps();
    let journeys = journeys.then(|| Journeys::prepare(&command.script, settings)).transpose()?;
    let (_rest, asks) = rest(settings, asked.consolidated.options.paused, console)?.unzip();
    let (onlooker, latest) = frames::onlooker();
    let shown = Shown {
        name: command.name(),
        scenarios: &asked.consolidated.scenarios,
        is_quiet: settings.quiet,
        dashboard: settings.dashboard.as_ref(),
        journeys: journeys.as_ref().map(|journeys| (latest, journeys.run_file())),
    };
    let mut display = Display::open(&command.shown, shown, console)?;
    let has_frames = command.shown.asks_for_frames(settings.dashboard.as_ref());
    let onlooker = has_frames.then_some(onlooker);
    let plan = Plan {
        collected: asked.collected,
        consolidated: asked.consolidated,
        system_tags,
        no_thresholds: settings.no_thresholds,
        strict: settings.strict,
        exact: settings.exact_percentiles,
        is_full: settings.summary_mode == SummaryMode::Full,
        threads: settings.threads.unwrap_or_else(|| threads(users, 1)),
        processes,
        outputs,
        has_summary: settings.summary_mode != SummaryMode::Disabled,
        journeys: journeys.as_ref().map(|journeys| journeys.followed_with(onlooker)),
        asks,
        lingers: settings.linger,
    };
    let asked_to_stop = || u8::from(stop.graceful()) + u8::from(stop.at_once());
    let ended = conduct(plan, &asked_to_stop, &mut |seen| display.show(seen), &|ended| {
        summary::data(ended, &look, settings).to_string()
    })
    .map_err(Failed::from)?;
    let Ended { view, totals, thresholds, .. } = &ended;
    let timeline = display.end(&Seen { view: *view, totals, thresholds });
    let page = summary::Page { timeline: timeline.as_ref(), name: command.name() };
    let exit = tell(&ended, settings, &look, &page, console)?;
    match journeys {
        Some(journeys) => journeys.tell(&ended, exit, settings, console),
        None => Ok(exit),
    }
}

/// The script and everything that was asked for, checked.
pub(super) fn read(
    command: &Making,
    around: &Around<'_>,
    settings: &Settings,
    console: &Arc<Console>,
) -> Result<script::Asked, Failed> {
    let proxies = beforehand(around.process, settings, console)?;
    let flags = &command.flags;
    let mut asked = script::ask(&command.script, flags, settings, around, None, console)?;
    asked.collected.go_by(proxies);
    if let Some(count) = command.spread.count() {
        processes::check(&asked, count, console)?;
    }
    Ok(asked)
}

/// What goes along to generators elsewhere.
pub(super) fn carry(
    command: &Making,
    asked: &script::Asked,
    around: &Around<'_>,
    settings: &Settings,
) -> Result<Carried, Failed> {
    processes::refuse_what_is_here(asked)?;
    Carried::of(&command.script, settings, around.process, &asked.collected)
}

/// What is said before the script's first word, and the proxies that the environment names.
fn beforehand(
    process: &Environment,
    settings: &Settings,
    console: &Console,
) -> Result<Proxies, Failed> {
    for warning in &settings.warnings {
        console.warn(warning);
    }
    if let Some(path) = process.get("SSLKEYLOGFILE").filter(|path| !path.is_empty()) {
        log::file(path).map_err(|failed| failed.of("SSLKEYLOGFILE"))?;
        console.warn(&format!("SSLKEYLOGFILE: who has {path} can read what is sent by TLS"));
    }
    script::proxies(process)
}

/// The REST interface, where one is asked for. Who waits to be resumed needs one.
fn rest(
    settings: &Settings,
    is_paused: Option<bool>,
    console: &Console,
) -> Result<Option<(Rest, Receiver<Ask>)>, Failed> {
    let Some(address) = &settings.address else {
        return match is_paused {
            Some(true) => {
                let told = "--paused waits for somebody who resumes the test by its REST \
                            interface: give --address localhost:6565 too";
                Err(Failed::config(told))
            }
            _ => Ok(None),
        };
    };
    let (rest, asks) = Rest::start(address, settings.profiling).map_err(|error| {
        Failed::new(ExitCode::CannotStartRest, format!("--address {address}: {error}"))
    })?;
    console.info(&format!("the REST interface is at http://{}/v1/status", rest.address()));
    if !rest.address().ip().is_loopback() {
        console.warn("who reaches the REST interface can stop the test: it has no password");
    }
    Ok(Some((rest, asks)))
}

fn tell(
    ended: &Ended,
    settings: &Settings,
    look: &summary::Look,
    page: &summary::Page<'_>,
    console: &Arc<Console>,
) -> Result<ExitCode, Failed> {
    // Whatever can't be told: what the test came to stands.
    let mut problems = summary::tell(ended, settings, look)
        .unwrap_or_else(|error| vec![format!("the summary can't be written: {error}")]);
    if let Err(error) = summary::export(ended, look, settings) {
        let path = settings.summary_export.as_deref().unwrap_or_default();
        problems.push(format!("--summary-export {path}: {error}"));
    }
    problems.extend(page.write(ended, settings, look).err());
    if !problems.is_empty() {
        let mut told = "Could not save some summary information:".to_owned();
        problems.iter().for_each(|problem| told.push_str(&format!("\n\t- {problem}")));
        console.failure("failed to handle the end-of-test summary", &[("error", &told)]);
    }
    if let Some(reason) = &ended.reason {
        console.failure(reason, &ended.reason_fields);
    }
    for problem in &ended.outputs_failed {
        console.error(&format!("an output is incomplete: {problem}"));
    }
    Ok(if settings.strict { strictly(ended, console) } else { ended.exit })
}

/// What a test that went well otherwise ends with where `--strict` looks closer: figures that may
/// not be believed come before exceptions.
fn strictly(ended: &Ended, console: &Console) -> ExitCode {
    for cause in &ended.generator.causes {
        console.error(&format!("the run is void: {cause} (--strict)"));
    }
    let exceptions = ended.view.exceptions;
    if exceptions > 0 {
        console.error(&format!("{exceptions} iterations threw (--strict)"));
    }
    match ended.exit {
        ExitCode::Success if !ended.generator.causes.is_empty() => ExitCode::Panic,
        ExitCode::Success if exceptions > 0 => ExitCode::ScriptException,
        exit => exit,
    }
}

/// What is about to run.
fn announce(command: &Making, settings: &Settings, asked: &script::Asked, by: &By<'_>) {
    let needed = asked.consolidated.requirements();
    let scenarios = &asked.consolidated.scenarios;
    let shown: Vec<_> = settings.out.iter().map(|out| outputs::shown(out)).collect();
    let outputs = if shown.is_empty() { "-".to_owned() } else { shown.join(", ") };
    let by = match (by, command.spread.count()) {
        (By::Here, None) => "local".to_owned(),
        (By::Here, Some(count)) => format!("local, by {count} processes"),
        (By::Fleet(..), count) => format!("by {} generators", count.unwrap_or_default()),
    };
    println!("\n     execution: {by}");
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

/// As many as the users are worth, one a core at most of those that each of several processes may
/// have.
pub(super) fn threads(users: u64, processes: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cores = (cores / processes.max(1)).max(1);
    usize::try_from(users / USERS_PER_THREAD).unwrap_or(usize::MAX).clamp(1, cores)
}
