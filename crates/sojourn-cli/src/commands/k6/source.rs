//! What a script is made of: a file and what lies around it, standard input, or an archive, which
//! may have come from a coordinator.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sojourn_k6::archive::{Archive, is_tar};
use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::flags::Settings;
use sojourn_vu::Sources;

use super::script::Failed;
use crate::shelf::Shelf;

/// How many bytes tell whether a file is an archive.
const HEAD_BYTES: usize = 512;

/// See the module's page.
pub(super) struct Source {
    /// The script's path; in an archive where it was.
    pub(super) script: PathBuf,
    pub(super) sources: Sources,
    /// The options of an archive, which stand for those that the script exports.
    pub(super) options: Option<Value>,
    /// The variables of an archive.
    pub(super) env: BTreeMap<String, String>,
}

/// Finds out, and reads an archive whole.
pub(super) fn of(script: &Path, settings: &Settings, shelf: &Shelf) -> Result<Source, Failed> {
    if matches!(shelf, Shelf::Sent(_)) {
        return archived(script, shelf);
    }
    let plain = |script: &Path, entry_text| Source {
        script: script.to_owned(),
        sources: Sources { entry_text, ..sojourn_vu::sources() },
        options: None,
        env: BTreeMap::new(),
    };
    if script == Path::new("-") {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| Failed::config(format!("standard input: {error}")))?;
        return Ok(plain(script, Some(text)));
    }
    if is_archived(script, settings) {
        return archived(script, &Shelf::Here);
    }
    check_is_there(script)?;
    Ok(plain(script, None))
}

/// A script that is not there is no exception of one: it has the exit code of whatever else can't
/// be read of a command line.
fn check_is_there(script: &Path) -> Result<(), Failed> {
    let wrong = |problem: String| {
        Failed::new(ExitCode::Unspecified, format!("the script {}: {problem}", script.display()))
    };
    let found = std::fs::metadata(script).map_err(|error| wrong(error.to_string()))?;
    match found.is_dir() {
        true => Err(wrong("it is a folder".to_owned())),
        false => Ok(()),
    }
}

/// Whether the script is an archive, or is said to be one.
pub(super) fn is_archived(script: &Path, settings: &Settings) -> bool {
    settings.kind.as_deref() == Some("archive") || is_archive(script)
}

fn is_archive(path: &Path) -> bool {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    let file = File::open(path);
    let read = file.and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head));
    read.is_ok() && is_tar(&head)
}

fn archived(path: &Path, shelf: &Shelf) -> Result<Source, Failed> {
    let wrong = |problem: &dyn std::fmt::Display| {
        Failed::config(format!("the archive {}: {problem}", path.display()))
    };
    let file = shelf.open(path).map_err(|error| wrong(&error))?;
    let archive = Archive::read(BufReader::new(file)).map_err(|error| wrong(&error))?;
    let entry = archive.entry_path();
    let entry = entry.ok_or_else(|| wrong(&format!("\"{}\" is no file", archive.entry)))?;
    let sources = Sources { archived: Some(Arc::new(archive.files)), ..Sources::default() };
    let env = archive.env.unwrap_or_default();
    let mut options = archive.options;
    // Features are switched on by flags: no script can export them.
    if let Some(options) = options.as_object_mut() {
        options.remove("features");
    }
    Ok(Source { script: entry, sources, options: Some(options), env })
}
