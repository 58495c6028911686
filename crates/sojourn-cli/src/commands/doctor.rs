//! `sojourn doctor`: checks before a run.

use std::{
    io::{IsTerminal, Write},
    path::Path,
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use sojourn_analysis::check::Check;
use sojourn_clock::now_ns;
use sojourn_engine::{
    EXIT_INTERRUPTED,
    doctor::{Examination, unread},
};
use sojourn_report::{
    doctor::DoctorReport,
    render::{doctor_json, doctor_text},
};

use crate::{
    connectors::registry,
    errors::{EXIT_USAGE, UsageError},
    files::Unread,
    outputs,
    plan_flags::PlanFlags,
    runner::{MachineFlags, run_id},
    signals,
};

/// Check whether a journey file can run here and its figures be believed, without load
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn doctor journey.yaml
  sojourn doctor journey.yaml --target http://127.0.0.1:8080 -e RATE=500/s
  sojourn doctor journey.yaml --probe            send one journey too: every tap must see it
  sojourn doctor journey.yaml --format json | jq '.checks[] | select(.outcome == \"failed\")'

Looks at the plan, this machine (clock, sleeps, processors, memory, descriptors, ports), each target
(name, connection, TLS) and each channel (connector, broker, credentials, names, a tap that is
ready). Nothing is sent without --probe, and nothing is left behind in a broker.

Exit codes: 0 nothing failed (`!` marks what may spoil figures), 2 something failed, 105
interrupted.")]
pub(crate) struct Doctor {
    #[command(flatten)]
    plan: PlanFlags,
    /// Send one journey of each kind, with whatever that causes, and see that it completes
    #[arg(long)]
    probe: bool,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    machine: MachineFlags,
}

/// The output's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people, in a terminal
    Text,
    /// For programs
    Json,
}

/// Looks, and prints what was found.
pub(crate) fn run(command: &Doctor) -> Result<u8, UsageError> {
    let stop = signals::stop_checking_on_signals();
    let file = command.plan.file.display().to_string();
    let checks = match script(&command.plan.file) {
        Some(problem) => unread(&file, vec![problem]),
        None => match command.plan.try_read(&[]) {
            Ok(plan) => {
                let mut options = command.machine.options(Default::default(), run_id());
                options.run_file = None;
                let registry = registry();
                let examination = Examination {
                    plan: &plan,
                    options: &options,
                    registry: &registry,
                    probe: command.probe,
                    stop: &stop,
                };
                watched(command.machine.quiet, |begin| examination.run(begin))
            }
            Err(Unread::Given(error)) => unread("", vec![error.into_parts()]),
            Err(Unread::Plan(errors)) => {
                let place = |error: sojourn_plan::PlanError| {
                    let sojourn_plan::PlanError { file, line, column, message, hint } = error;
                    (format!("{file}:{line}:{column}: {message}"), hint)
                };
                unread("", errors.0.into_iter().map(place).collect())
            }
        },
    };
    let report = DoctorReport::new(checks);
    match command.format {
        Format::Text => outputs::print(&doctor_text(&report, outputs::wants_colour())),
        Format::Json => outputs::print(&format!("{}\n", doctor_json(&report)?)),
    }
    Ok(match (stop.graceful(), report.ready) {
        (true, _) => EXIT_INTERRUPTED,
        (false, true) => 0,
        (false, false) => EXIT_USAGE,
    })
}

/// What is to be said of a file that is a script by its name.
fn script(path: &Path) -> Option<(String, Option<String>)> {
    let kind = match path.extension()?.to_str()? {
        "js" | "mjs" | "cjs" | "ts" => "a k6 script",
        "lua" | "py" | "rhai" => "a session script",
        _ => return None,
    };
    Some((
        format!("this is {kind} by its name: only journey files can be checked, scripts not yet"),
        Some("`sojourn init > journey.yaml` writes a first journey file".to_owned()),
    ))
}

/// How long a check may take before a terminal is told what is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often that line is renewed.
const RENEW: Duration = Duration::from_millis(500);

/// Runs the checks beside a thread that says what takes long, on a terminal.
fn watched(quiet: bool, examine: impl FnOnce(&mut dyn FnMut(&str)) -> Vec<Check>) -> Vec<Check> {
    if quiet || !std::io::stderr().is_terminal() {
        return examine(&mut |_| {});
    }
    let (sender, begun) = bounded::<String>(1_000);
    let thread = std::thread::spawn(move || tell(&begun));
    let checks = examine(&mut |name| say(&sender, name));
    end(sender, thread);
    checks
}

fn say(sender: &Sender<String>, name: &str) {
    // A line that nobody has room for is not missed.
    let _ignored = sender.try_send(name.to_owned());
}

fn end(sender: Sender<String>, thread: JoinHandle<()>) {
    drop(sender);
    // It ends when the sender is gone.
    let _ignored = thread.join();
}

/// Shows what has been looked at for longer than [`PATIENCE`], on a line that is taken away again.
fn tell(begun: &Receiver<String>) {
    let mut name = String::new();
    let mut since_ns = now_ns();
    let mut is_shown = false;
    loop {
        let wait = if is_shown { RENEW } else { PATIENCE };
        match begun.recv_timeout(wait) {
            Err(RecvTimeoutError::Timeout) => {
                let seconds = (now_ns() - since_ns) / sojourn_clock::SECOND_NS;
                eprint!("\rchecking {name}: {seconds} s\x1b[K");
                is_shown = true;
            }
            other => {
                if is_shown {
                    eprint!("\r\x1b[K");
                }
                let Ok(next) = other else { return };
                (name, since_ns, is_shown) = (next, now_ns(), false);
            }
        }
        // A terminal that is gone takes no progress line.
        let _ignored = std::io::stderr().flush();
    }
}
