//! The user's log: what clients write by `session.log`.

use std::io::IsTerminal;
use std::path::PathBuf;

use crossbeam_channel::Sender;
use sojourn_session::LogLine;

use super::writer::{To, Writer};
use crate::errors::UsageError;

/// Lines that wait to be written; further ones are dropped and counted.
const LINES_MAX: usize = 10_000;

/// Starts writing to a file, or else to standard error. `sessions` are the sessions' names.
pub(super) fn start(
    path: Option<&PathBuf>,
    sessions: Vec<String>,
) -> Result<(Sender<LogLine>, Writer), UsageError> {
    let to = To::file_or(path, To::Error);
    // The progress line stands there: each line goes over it.
    let clear = match to {
        To::Error if std::io::stderr().is_terminal() => "\r\x1b[K",
        _ => "",
    };
    Writer::start("--log", &to, LINES_MAX, move |line: Option<LogLine>| {
        let line = line?;
        let session = sessions.get(line.session).map_or("?", String::as_str);
        Some(format!("{clear}{}\n", line.written(session)))
    })
}
