//! What an attack reads: targets, their default headers and body.

use std::{
    fs::File,
    io::{BufRead, BufReader, Cursor, IsTerminal},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use crossbeam_channel::Sender;
use sojourn_engine::Targets;
use sojourn_plan::{Target, TargetDefaults, TargetError, TargetFormat, TargetReader, header_of};

use super::Attack;
use crate::{errors::UsageError, out, shelf::Shelf};

/// Targets of a stream read ahead.
const AHEAD_MAX: usize = 1_024;

/// Where a stream's bodies are read from: it is read in one process.
static HERE: Shelf = Shelf::Here;

/// What was read, and what may still fail.
pub(super) struct Inputs {
    pub(super) targets: Targets,
    pub(super) failure: Failure,
}

/// What went wrong in a stream of targets after it began.
#[derive(Clone, Default)]
pub(super) struct Failure(Arc<Mutex<Option<TargetError>>>);

impl Failure {
    pub(super) fn take(&self) -> Option<TargetError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, error: TargetError) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

/// Reads the targets, or begins to, with their files from this shelf.
pub(super) fn read(command: &Attack, shelf: &Shelf) -> Result<Inputs, UsageError> {
    let defaults = defaults(command, shelf)?;
    let failure = Failure::default();
    let format = match command.format.as_str() {
        "http" => TargetFormat::Http,
        "json" => TargetFormat::Json,
        other => {
            let message = format!("format {other:?} isn't one of [http, json]");
            return Err(UsageError::runtime(message));
        }
    };
    if let Some(url) = &command.url {
        let line = format!("{} {url}", command.method);
        let line = line.as_bytes();
        let mut reader = reader("the command line", line, (TargetFormat::Http, defaults), shelf);
        let target = reader.next().transpose().map_err(runtime)?;
        let targets = Targets::Listed(target.into_iter().collect());
        return Ok(Inputs { targets, failure });
    }
    if command.lazy {
        let reader = reader(&command.targets, open(command, &HERE)?, (format, defaults), &HERE);
        let (sender, stream) = crossbeam_channel::bounded(AHEAD_MAX);
        let failed = failure.clone();
        std::thread::spawn(move || feed(reader, &sender, &failed));
        return Ok(Inputs { targets: Targets::Stream(stream), failure });
    }
    let input = open(command, shelf)?;
    let mut reader = reader(&command.targets, input, (format, defaults), shelf);
    let targets: Vec<Target> = reader.by_ref().collect::<Result<_, _>>().map_err(runtime)?;
    if targets.is_empty() {
        return Err(UsageError::runtime("no targets to attack"));
    }
    Ok(Inputs { targets: Targets::Listed(targets.into()), failure })
}

/// The command line and what it aims at, for reports: the values of headers are secrets, and what
/// lets us into outputs.
pub(super) fn command_line(words: &[String], targets: &[Target]) -> String {
    const SHOWN_MAX: usize = 100;
    let mut text = "sojourn".to_owned();
    let (mut is_header, mut is_out) = (false, false);
    for word in words {
        let name = word.trim_start_matches('-');
        let masked = match name.split_once('=') {
            Some(("header" | "proxy-header", value)) if word.starts_with('-') => {
                format!("-header={}", masked(value))
            }
            Some(("out", value)) if word.starts_with('-') => {
                format!("--out={}", out::shown(value))
            }
            _ if is_header => masked(word),
            _ if is_out => out::shown(word),
            _ => word.clone(),
        };
        is_header = word.starts_with('-') && matches!(name, "header" | "proxy-header");
        is_out = word.starts_with('-') && name == "out";
        text.push(' ');
        let is_plain =
            masked.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c));
        if is_plain {
            text.push_str(&masked);
        } else {
            text.push_str(&format!("'{}'", masked.replace('\'', "'\\''")));
        }
    }
    text.push_str("\n\ntargets:\n");
    for target in targets.iter().take(SHOWN_MAX) {
        text.push_str(&format!("  {}\n", target.label()));
    }
    match targets.len() {
        0 => text.push_str("  read one by one\n"),
        n if n > SHOWN_MAX => text.push_str(&format!("  and {} more\n", n - SHOWN_MAX)),
        _ => {}
    }
    text
}

fn masked(header: &str) -> String {
    let name = header.split(':').next().unwrap_or_default();
    format!("{name}: ***")
}

fn runtime(error: TargetError) -> UsageError {
    UsageError::runtime(error.to_string())
}

fn defaults(command: &Attack, shelf: &Shelf) -> Result<TargetDefaults, UsageError> {
    let headers: Result<Vec<_>, _> = command.header.iter().map(|text| header(text)).collect();
    let body = match &command.body {
        None => Arc::default(),
        Some(path) => shelf.read(path).map(Arc::from).map_err(|error| {
            UsageError::runtime(format!("error reading {}: {error}", path.display()))
        })?,
    };
    Ok(TargetDefaults { headers: headers?, body })
}

/// A header of the command line. What may be a secret in one that is none is not shown.
pub(super) fn header(text: &str) -> Result<(String, String), UsageError> {
    header_of(text).ok_or_else(|| {
        let end = text.find([':', ' ']).map_or(text.len(), |at| at + 1);
        let (name, rest) = text.split_at(end);
        let rest = if rest.trim().is_empty() { rest } else { "***" };
        let message = format!("header '{name}{rest}' has a wrong format");
        UsageError::new(message, "write 'Key: Value'")
    })
}

fn open(command: &Attack, shelf: &Shelf) -> Result<Box<dyn BufRead + Send>, UsageError> {
    let failed = |error: std::io::Error| {
        UsageError::runtime(format!("error opening {}: {error}", command.targets))
    };
    if command.targets != "stdin" {
        if matches!(shelf, Shelf::Here) {
            let file = File::open(&command.targets).map_err(failed)?;
            return Ok(Box::new(BufReader::new(file)));
        }
        let content = shelf.read(Path::new(&command.targets)).map_err(failed)?;
        return Ok(Box::new(Cursor::new(content)));
    }
    if matches!(shelf, Shelf::Sent(_)) {
        return Ok(Box::new(Cursor::new(shelf.read_standard_input().map_err(failed)?)));
    }
    if std::io::stdin().is_terminal() {
        return Err(UsageError::new(
            "no target: a URL, -targets FILE, or targets on standard input",
            "such as `sojourn attack http://127.0.0.1:8080/ -duration 5s`",
        ));
    }
    match shelf {
        Shelf::Here => Ok(Box::new(BufReader::new(std::io::stdin()))),
        _ => Ok(Box::new(Cursor::new(shelf.read_standard_input().map_err(failed)?))),
    }
}

fn reader<'s, R: BufRead>(
    name: &str,
    input: R,
    (format, defaults): (TargetFormat, TargetDefaults),
    shelf: &'s Shelf,
) -> TargetReader<'s, R> {
    let files = Box::new(move |path: &str| shelf.read(Path::new(path)));
    TargetReader::new(name, input, format, defaults, files)
}

/// Hands targets on one by one.
fn feed(
    reader: TargetReader<'static, Box<dyn BufRead + Send>>,
    targets: &Sender<Target>,
    failure: &Failure,
) {
    for target in reader {
        match target {
            Ok(target) => {
                if targets.send(target).is_err() {
                    // The attack has ended.
                    return;
                }
            }
            Err(error) => return failure.set(error),
        }
    }
}
