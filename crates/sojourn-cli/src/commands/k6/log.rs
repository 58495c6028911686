//! Where log lines and what scripts print go.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use sojourn_k6::flags::Settings;
use sojourn_vu::{Console, LogFormat, LogSink, ShareLink};

use super::held::Terminal;
use super::script::Failed;

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
    let (format, output) = (format(settings)?, output(settings));
    let log: LogSink = match output {
        "stderr" => Box::new(Terminal),
        "stdout" => Box::new(io::stdout()),
        "none" => Box::new(io::sink()),
        other => match other.strip_prefix("file=") {
            Some(rest) => Box::new(file(rest.split(',').next().unwrap_or(rest))?),
            None => {
                let kind = other.split('=').next().unwrap_or_default();
                let hint = match kind {
                    "loki" => "; nothing is sent to Loki: an agent such as Promtail reads a file",
                    _ => "",
                };
                let told = format!(
                    "--log-output {kind}: it is none of stderr, stdout, none and file=PATH{hint}"
                );
                return Err(Failed::config(told));
            }
        },
    };
    let script = console_output.map(file).transpose()?.map(|file| Box::new(file) as LogSink);
    let is_terminal = is_terminal(output);
    Ok(Arc::new(Console::new(format, settings.verbose, is_terminal, log, script)))
}

/// The same for a process whose lines another one writes.
pub(super) fn passed_on(
    settings: &Settings,
    console_output: Option<&str>,
    link: &ShareLink,
) -> Result<Arc<Console>, Failed> {
    let script = console_output.map(|_| link.lines(true));
    let is_terminal = is_terminal(output(settings));
    let (format, log) = (format(settings)?, link.lines(false));
    Ok(Arc::new(Console::new(format, settings.verbose, is_terminal, log, script)))
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

fn output(settings: &Settings) -> &str {
    settings.log_output.as_deref().unwrap_or("stderr")
}

fn is_terminal(output: &str) -> bool {
    output == "stderr" && io::stderr().is_terminal()
}

/// A file that lines are appended to.
pub(super) fn file(path: &str) -> Result<File, Failed> {
    let options = File::options().create(true).append(true).clone();
    options.open(path).map_err(|error| Failed::config(format!("{path}: {error}")))
}
