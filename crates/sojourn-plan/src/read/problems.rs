//! Everything found wrong, each at its place.

use std::collections::HashSet;
use std::ops::Range;

use super::node::Node;
use super::{PlanError, PlanErrors};

/// How many problems are reported at most: enough to mend a file, not enough to flood a terminal.
const PROBLEMS_MAX: usize = 100;

/// Collects problems while reading goes on.
pub struct Problems<'a> {
    file: &'a str,
    source: &'a str,
    found: Vec<PlanError>,
    /// Starts of values already reported on: what follows from them is not worth a second line.
    broken: HashSet<usize>,
    /// Values that came from outside the file: never shown, whoever composes the message.
    secrets: Vec<String>,
}

/// The least length of a value that is searched for in messages: shorter ones stand in any text.
const SECRET_LENGTH_LEAST: usize = 4;

impl<'a> Problems<'a> {
    /// Nothing is wrong yet with this file of this text.
    pub fn new(file: &'a str, source: &'a str) -> Self {
        Self { file, source, found: Vec::new(), broken: HashSet::new(), secrets: Vec::new() }
    }

    /// Something is wrong with a whole value.
    pub fn at(&mut self, node: &Node, message: impl Into<String>, hint: Option<String>) {
        if !self.broken.contains(&node.range.start) {
            self.at_byte(node.range.start, message, hint);
        }
    }

    /// Something is wrong with a part of a value: the place is the part's, where the source has it
    /// as it is.
    pub fn within(
        &mut self,
        node: &Node,
        part: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        self.within_both(node, "", part, message, hint);
    }

    /// Something is wrong with a part of a part of a value.
    pub fn within_both(
        &mut self,
        node: &Node,
        outer: &str,
        inner: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        if self.broken.contains(&node.range.start) {
            return;
        }
        let written = self.source.get(node.range.clone()).unwrap_or_default();
        let outer = written.find(outer).unwrap_or(0);
        let inner = written[outer..].find(inner).unwrap_or(0);
        self.at_byte(node.range.start + outer + inner, message, hint);
    }

    /// Something is wrong at a byte of the source.
    pub fn at_byte(&mut self, byte: usize, message: impl Into<String>, hint: Option<String>) {
        let (line, column) = position(self.source, byte);
        self.push(PlanError {
            file: self.file.to_owned(),
            line,
            column,
            message: message.into(),
            hint,
        });
    }

    /// Something is wrong elsewhere: in a file the plan names, or on the command line.
    pub fn push(&mut self, mut error: PlanError) {
        for secret in &self.secrets {
            error.message = without(&error.message, secret);
            error.hint = error.hint.filter(|hint| without(hint, secret) == *hint);
        }
        if self.found.len() < PROBLEMS_MAX && !self.found.contains(&error) {
            self.found.push(error);
        }
    }

    /// A value that no message may show.
    pub fn keep_secret(&mut self, value: &str) {
        let is_new = !self.secrets.iter().any(|known| known == value);
        if value.len() >= SECRET_LENGTH_LEAST && is_new {
            self.secrets.push(value.to_owned());
        }
    }

    /// Says no more about this value.
    pub fn give_up_on(&mut self, node: &Node) {
        self.broken.insert(node.range.start);
    }

    /// A value as it stands in the file, shortened: never what `${NAME}` stands for.
    pub fn written(&self, range: &Range<usize>) -> String {
        let text = self.source.get(range.clone()).unwrap_or_default().trim();
        let line = text.lines().next().unwrap_or_default();
        let mut short: String = line.chars().take(60).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        short
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// How many things are wrong, as far as they are kept: to see whether reading found another.
    pub fn count_found(&self) -> usize {
        self.found.len()
    }

    /// What was found, in the order of the file.
    pub fn into_errors(mut self) -> PlanErrors {
        self.found.sort_by_key(|error| (error.file != self.file, error.line, error.column));
        PlanErrors(self.found)
    }
}

/// The known name that `wrong` was probably meant to be.
pub fn similar<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let lower = wrong.to_lowercase();
    known
        .into_iter()
        .map(|name| {
            let likeness = strsim::jaro_winkler(&lower, &name.to_lowercase());
            let edits = strsim::damerau_levenshtein(&lower, &name.to_lowercase());
            (name, likeness, edits)
        })
        .filter(|&(name, likeness, edits)| {
            likeness > 0.85 || edits <= 1 + name.len().min(wrong.len()) / 5
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(name, _, _)| name)
}

/// "did you mean `x`?", or the list of what there is.
pub fn suggestion<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let mut seen = HashSet::new();
    let known: Vec<&str> = known.into_iter().filter(|name| seen.insert(*name)).collect();
    if let Some(name) = similar(wrong, known.iter().copied()) {
        return Some(format!("did you mean `{name}`?"));
    }
    if known.is_empty() {
        return None;
    }
    let mut list =
        known.iter().take(16).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if known.len() > 16 {
        list.push_str(", …");
    }
    Some(format!("there is {list}"))
}

/// The text with `***` in place of a secret, however its letters are written.
fn without(text: &str, secret: &str) -> String {
    let pattern = regex::RegexBuilder::new(&regex::escape(secret)).case_insensitive(true).build();
    match pattern {
        Ok(pattern) => pattern.replace_all(text, "***").into_owned(),
        // Too long to compile: then it is too long for a message, too.
        Err(_) => text.replace(secret, "***"),
    }
}

/// Line and column of a byte, both from 1, the column in characters.
fn position(source: &str, byte: usize) -> (usize, usize) {
    let mut byte = byte.min(source.len());
    while !source.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &source[..byte];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_nearest_name_or_lists_all() {
        assert_eq!(similar("matchh", ["name", "match", "member"]), Some("match"));
        assert_eq!(similar("Name", ["name", "match"]), Some("name"));
        assert_eq!(similar("paymnt", ["payment", "refund"]), Some("payment"));
        assert_eq!(similar("zzz", ["name", "match"]), None);
        assert_eq!(suggestion("zzz", ["a", "b"]).as_deref(), Some("there is `a`, `b`"));
        assert_eq!(suggestion("zzz", []), None);
    }

    #[test]
    fn positions_count_characters_from_one() {
        assert_eq!(position("é: 1\nbé: x", 0), (1, 1));
        assert_eq!(position("é: 1\nbé: x", 2), (1, 2));
        assert_eq!(position("é: 1\nbé: x", 11), (2, 5));
        assert_eq!(position("a", 99), (1, 2));
    }
}
