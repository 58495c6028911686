//! `sojourn session run --validate`: one client of each session, all that it did, and whether that
//! was right.

use std::sync::Arc;

use sojourn_engine::{EXIT_FAILED, Ended, exit_code};
use sojourn_metrics::names;
use sojourn_record::Verdict;
use sojourn_session::nfr::{Figures, Filter, Requirements, Subject, summary};
use sojourn_session::{Dump, Program, Traced, one_line, validation_load};

use super::{
    curl::listing,
    figures::Counted,
    log,
    read::Script,
    run::{Making, sessions},
    writer::{To, Writer},
};
use crate::{
    connectors::registry, errors::UsageError, live::ProgressLine, outputs, report_file::ReportFile,
    reported::Reported, requirements, runner::run_id, signals,
};

/// Things that wait to be shown: some 64 MiB of the largest messages.
const TRACED_MAX: usize = 2_048;

/// Makes the validation.
pub(super) fn validate(command: &Making, script: Script) -> Result<u8, UsageError> {
    let Script { name, definition, mut program, channels, text } = script;
    for path in &command.flags.report {
        ReportFile::of(path)?;
    }
    let wanted = command.flags.nfr.as_deref().map(requirements::read).transpose()?;
    let endless = program.end_endless_loops();
    if endless > 0 {
        let what = if endless == 1 { "loop goes" } else { "loops go" };
        eprintln!("note: {endless} endless {what} around once, and the client ends then");
    }
    let mut load = validation_load(&name, text, (&program, &channels), command.timeout);
    load.plan.seed = command.seed;
    let plan = std::mem::take(&mut load.plan);
    let program = Arc::new(program);
    outputs::print(&listing(&definition));
    let mut dump = Dump::new(Arc::clone(&program), command.show_secrets);
    let to = To::file_or(command.dump.as_ref(), To::Output);
    let (trace, writer) =
        Writer::start("--dump", &to, TRACED_MAX, move |traced: Option<Traced>| match traced {
            Some(traced) => dump.take(&traced),
            None => Some(dump.finish()),
        })?;
    let mut sessions = sessions(command, &program, load, definition.options.cookies);
    sessions.trace = Some(trace);
    // Lines are shown with all else; a file has them besides.
    let log = match &command.log {
        Some(path) => {
            let names = program.sessions().map(str::to_owned).collect();
            let (sender, writer) = log::start(Some(path), names)?;
            sessions.log = Some(sender);
            Some(writer)
        }
        None => None,
    };
    let run_id = run_id();
    let is_kept = command.flags.output.is_some() || !command.flags.report.is_empty();
    let run_file = match is_kept {
        true => Some(outputs::run_file(command.flags.output.as_deref(), &plan.name, &run_id)?),
        false => None,
    };
    let options = command.flags.machine.options(run_file.clone(), run_id);
    let (stop, connectors) = (signals::stop_on_signals(), registry());
    let with = (sessions, &connectors);
    let mut line = ProgressLine::new(command.flags.machine.quiet);
    let ended = sojourn_engine::run_sessions(&plan, &options, with, &stop, &mut |progress| {
        line.show(progress);
    });
    line.leave();
    writer.finish();
    if let Some(writer) = log {
        writer.finish();
    }
    let ended = ended?;
    let code = judge(&ended, &program, wanted);
    if let Some(run_file) = &run_file {
        let reported = Reported::open(run_file)?;
        for report in &command.flags.report {
            reported.write(report)?;
        }
        eprintln!("run file  {}", run_file.display());
    }
    Ok(code)
}

/// Prints what came of the validation, of these requirements or else the usual ones; the exit code.
fn judge(ended: &Ended, program: &Program, wanted: Option<Requirements>) -> u8 {
    let counted = Counted(ended);
    let requirements = wanted.unwrap_or_else(|| usual(&counted, program));
    let outcomes = requirements.evaluate(&counted);
    let mut out = String::new();
    for outcome in &outcomes {
        out.push_str(&format!("{outcome}\n"));
    }
    let problems = problems(&counted);
    for problem in &problems {
        out.push_str(&format!("✗ {problem}\n"));
    }
    out.push_str(&format!("{}\n", summary(&outcomes)));
    outputs::print(&out);
    for note in &ended.summary.notes {
        eprintln!("note: {note}");
    }
    if ended.summary.verdict == Verdict::Void {
        for cause in &ended.summary.causes {
            eprintln!("void: {}: {}", cause.name, cause.detail);
        }
    }
    match exit_code(&ended.summary) {
        0 if !problems.is_empty() || outcomes.iter().any(|outcome| outcome.has_failed()) => {
            EXIT_FAILED
        }
        code => code,
    }
}

/// What a validation without a file of requirements must meet: only what the script makes possible.
fn usual(counted: &Counted<'_>, program: &Program) -> Requirements {
    let checks = counted.checks(&Filter::default()).unwrap_or_default();
    let mut requirements = Requirements::of_validation(checks != (0, 0));
    if !program.has_requests() {
        requirements.list.retain(|requirement| requirement.subject != Subject::ErrorRatio);
    }
    requirements
}

/// What no requirement speaks of: requests without an answer, and clients that could not go on.
fn problems(counted: &Counted<'_>) -> Vec<String> {
    let of =
        |key: &sojourn_metrics::SeriesKey, tag: &str| one_line(key.tag(tag).unwrap_or_default());
    let mut problems = Vec::new();
    for (key, count) in counted.counters(names::STEP_FAILED) {
        let reason = of(key, names::REASON);
        // Answers with an error's status are what http.error_ratio counts.
        if !reason.starts_with("status ") {
            let (session, step) = (of(key, names::JOURNEY), of(key, names::STEP));
            problems.push(format!("session {session}, {step}: {reason} ({count} ×)"));
        }
    }
    for (key, count) in counted.counters(names::JOURNEYS_FAILED_BY) {
        let why = of(key, names::WHAT);
        // Assertions are checks; whoever writes `abort()` means it.
        if why != "an assertion did not hold" && why != "aborted by its script" {
            let session = of(key, names::JOURNEY);
            problems.push(format!("session {session}: a client ended: {why} ({count} ×)"));
        }
    }
    problems
}
