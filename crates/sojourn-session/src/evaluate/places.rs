//! From the lines of a stack to places in the script's files.

use std::sync::Arc;

use sojourn_plan::PlanError;
use sojourn_script::ScriptError;
use url::Url;

use super::calls::Calls;
use crate::definition::Place;

/// The places that a script called from.
pub(super) struct Places {
    /// Address of the script's file, and how it was given.
    entry: (String, Arc<str>),
    calls: Calls,
    known: Vec<Place>,
}

impl Places {
    pub(super) fn new(entry: &Url, given: &str, entry_text: Option<&str>) -> Self {
        let calls = Calls::new(entry.as_str(), entry_text);
        Self { entry: (entry.to_string(), given.into()), calls, known: Vec::new() }
    }

    /// Remembers the place that a stack leads to, within a call of this name if it is not empty;
    /// gives its number.
    pub(super) fn add(&mut self, stack: &str, called: &str) -> usize {
        let place = match of_stack(stack) {
            Some((address, line, column)) => {
                let (line, column) = self.calls.start(address, line, column, called);
                Place { file: self.file(address), line, column }
            }
            None => self.whole(),
        };
        self.known.push(place);
        self.known.len() - 1
    }

    /// The place of a number.
    pub(super) fn get(&self, number: usize) -> Place {
        self.known.get(number).cloned().unwrap_or_else(|| self.whole())
    }

    /// The script as a whole.
    pub(super) fn whole(&self) -> Place {
        Place { file: Arc::clone(&self.entry.1), line: 1, column: 1 }
    }

    /// The file at an address, as it is shown.
    pub(super) fn file(&self, address: &str) -> Arc<str> {
        if address == self.entry.0 {
            return Arc::clone(&self.entry.1);
        }
        let path = Url::parse(address).ok().and_then(|url| url.to_file_path().ok());
        path.map_or_else(|| address.into(), |path| path.display().to_string().into())
    }

    /// What went wrong in the script, at its place.
    pub(super) fn error(&self, error: &ScriptError) -> PlanError {
        if error.interrupted {
            let hint = "a loop may have no end; loops over clients' steps are session.forEver";
            let message = "the script computes for too long";
            return self.whole().error(message, Some(hint.to_owned()));
        }
        let message = error.message.strip_prefix("DefinitionError: ").unwrap_or(&error.message);
        if let Some(found) = self.untranslated(message) {
            return found;
        }
        let (message, hint) = match message.split_once("\nhint: ") {
            Some((message, hint)) => (message, Some(hint.to_owned())),
            None => (message, None),
        };
        let (message, at) = match message.rsplit_once("\nat: ") {
            Some((message, at)) => (message, at.parse().ok()),
            None => (message, None),
        };
        let place = match (at, of_stack(&error.stack)) {
            (Some(at), _) => self.get(at),
            (None, Some((address, line, column))) => {
                Place { file: self.file(address), line, column }
            }
            (None, None) => self.whole(),
        };
        place.error(shortened(message), hint)
    }

    /// `SyntaxError: ADDRESS: line 1, column 2: what`: the translator's own words.
    fn untranslated(&self, message: &str) -> Option<PlanError> {
        let rest = message.strip_prefix("SyntaxError: ")?;
        let (address, rest) = rest.split_once(": line ")?;
        let (line, rest) = rest.split_once(", column ")?;
        let (column, what) = rest.split_once(": ")?;
        let (line, column) = (line.parse().ok()?, column.parse().ok()?);
        let place = Place { file: self.file(address), line, column };
        Some(place.error(format!("syntax error: {}", shortened(what)), None))
    }
}

/// Address, line and column of the first line of a stack that lies in a file.
fn of_stack(stack: &str) -> Option<(&str, u32, u32)> {
    stack.lines().find_map(|line| {
        let start = line.find("file://").or_else(|| line.find("https://"))?;
        let (rest, column) = line[start..].trim_end_matches(')').rsplit_once(':')?;
        let (address, row) = rest.rsplit_once(':')?;
        Some((address, row.parse().ok()?, column.parse().ok()?))
    })
}

/// Most characters of what a script throws.
const MESSAGE_LENGTH_MAX: usize = 500;

fn shortened(message: &str) -> String {
    message.chars().take(MESSAGE_LENGTH_MAX).collect()
}
