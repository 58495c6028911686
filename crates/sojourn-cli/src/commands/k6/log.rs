//! Where log lines and what scripts print go.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, PoisonError};

use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::flags::Settings;
use sojourn_k6::log::{LogOutput, LokiOptions};
use sojourn_vu::{Console, LogFormat, LogSink, Loki, ShareLink};

use super::held::Terminal;
use super::script::Failed;

/// What has to be sent before the process ends.
static LOKI: Mutex<Option<Loki>> = Mutex::new(None);

/// The log before it is known what flags ask for.
pub(super) fn beginning() -> Console {
    let is_terminal = io::stderr().is_terminal();
    Console::new(LogFormat::Text, false, is_terminal, Box::new(io::stderr()), None)
}

/// The log that flags ask for.
pub(super) fn console(
    settings: &Settings,
    console_output: Option<&str>,
) -> Result<Arc<Console>, Failed> {
    let (format, output) = (format(settings)?, output(settings)?);
    let log: LogSink = match &output {
        LogOutput::Stderr => Box::new(Terminal),
        LogOutput::Stdout => Box::new(io::stdout()),
        LogOutput::None => Box::new(io::sink()),
        LogOutput::File { path, .. } => Box::new(file(path)?),
        LogOutput::Loki(options) => loki(options)?,
    };
    let script = console_output.map(file).transpose()?.map(|file| Box::new(file) as LogSink);
    let console = Console::new(format, settings.verbose, is_terminal(&output), log, script);
    Ok(Arc::new(console.from_level(output.least()).with_log_format(format_of(&output))))
}

/// The same for a process whose lines another one writes.
pub(super) fn passed_on(
    settings: &Settings,
    console_output: Option<&str>,
    link: &ShareLink,
) -> Result<Arc<Console>, Failed> {
    let script = console_output.map(|_| link.lines(true));
    let (format, output, log) = (format(settings)?, output(settings)?, link.lines(false));
    let console = Console::new(format, settings.verbose, is_terminal(&output), log, script);
    Ok(Arc::new(console.from_level(output.least()).with_log_format(format_of(&output))))
}

/// Begins to send lines to Loki. What goes wrong with that is said on standard error.
fn loki(options: &LokiOptions) -> Result<LogSink, Failed> {
    let is_terminal = io::stderr().is_terminal();
    let say = move |text: &str| {
        Console::new(LogFormat::Text, false, is_terminal, Box::new(Terminal), None).error(text);
    };
    let wrong = |problem| wrong_output(&format!("loki: {problem}"));
    let (loki, sink) = Loki::start(options.clone(), Box::new(say)).map_err(wrong)?;
    *LOKI.lock().unwrap_or_else(PoisonError::into_inner) = Some(loki);
    Ok(sink)
}

/// Sends what is left of the log.
pub(super) fn end() {
    LOKI.lock().unwrap_or_else(PoisonError::into_inner).take();
}

fn format(settings: &Settings) -> Result<LogFormat, Failed> {
    match settings.log_format.as_deref() {
        None | Some("" | "text") => Ok(LogFormat::Text),
        Some("json") => Ok(LogFormat::Json),
        Some("raw") => Ok(LogFormat::Raw),
        Some(other) => {
            let told = format!("--log-format {other}: it is none of raw, json and text");
            Err(Failed::config(told))
        }
    }
}

fn output(settings: &Settings) -> Result<LogOutput, Failed> {
    let text = settings.log_output.as_deref().unwrap_or_default();
    LogOutput::parse(text).map_err(|problem| wrong_output(&problem))
}

fn wrong_output(problem: &str) -> Failed {
    Failed::new(ExitCode::Unspecified, format!("--log-output {problem}"))
}

/// Lines on their way to Loki are objects, whatever `--log-format` says.
fn format_of(output: &LogOutput) -> Option<LogFormat> {
    matches!(output, LogOutput::Loki(_)).then_some(LogFormat::Json)
}

fn is_terminal(output: &LogOutput) -> bool {
    *output == LogOutput::Stderr && io::stderr().is_terminal()
}

/// A file that lines are appended to.
pub(super) fn file(path: &str) -> Result<File, Failed> {
    let options = File::options().create(true).append(true).clone();
    options.open(path).map_err(|error| Failed::config(format!("{path}: {error}")))
}
