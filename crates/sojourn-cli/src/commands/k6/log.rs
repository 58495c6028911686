//! Where log lines and what scripts print go.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use sojourn_k6::flags::Settings;
use sojourn_vu::{Console, LogFormat, LogSink};

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
    let format = match settings.log_format.as_deref() {
        None | Some("" | "text") => LogFormat::Text,
        Some("json") => LogFormat::Json,
        Some("raw") => LogFormat::Raw,
        Some(other) => {
            let told = format!("--log-format {other}: it is none of raw, json and text");
            return Err(Failed::config(told));
        }
    };
    let output = settings.log_output.as_deref().unwrap_or("stderr");
    let is_terminal = output == "stderr" && io::stderr().is_terminal();
    let log: LogSink = match output {
        "stderr" => Box::new(Terminal),
        "stdout" => Box::new(io::stdout()),
        "none" => Box::new(io::sink()),
        other => match other.strip_prefix("file=") {
            Some(rest) => Box::new(file(rest.split(',').next().unwrap_or(rest))?),
            None => {
                let told = format!(
                    "--log-output {other}: it is none of stderr, stdout, none and file=PATH"
                );
                return Err(Failed::config(told));
            }
        },
    };
    let script = console_output.map(file).transpose()?.map(|file| Box::new(file) as LogSink);
    Ok(Arc::new(Console::new(format, settings.verbose, is_terminal, log, script)))
}

fn file(path: &str) -> Result<File, Failed> {
    let options = File::options().create(true).append(true).clone();
    options.open(path).map_err(|error| Failed::config(format!("{path}: {error}")))
}
