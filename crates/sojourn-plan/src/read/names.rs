//! Names of the user's choice, and looking them up.

use super::Reader;
use super::fields::shown;
use super::node::Node;
use super::problems::{Problems, suggestion};
use super::templates::{BUILT_IN, Scope};
use crate::VariableId;

/// Whether a text can name a channel, a stage or a journey: letters, digits, `_` and `-`.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.len() <= 100 && text.chars().all(fits)
}

impl Problems<'_> {
    /// A name that can stand in a threshold and a report: letters, digits, `_` and `-`.
    pub(super) fn check_name(&mut self, byte: usize, name: &str, what: &str) -> Option<()> {
        if is_name(name) {
            return Some(());
        }
        self.at_byte(
            byte,
            format!("`{}` can't name a {what}", shown(name)),
            Some("names have letters, digits, `_` and `-`, and stand in thresholds".to_owned()),
        );
        None
    }

    /// The place of a name among those known.
    pub(super) fn lookup(&mut self, node: &Node, what: &str, known: &[&str]) -> Option<usize> {
        let name = self.text(node)?;
        let place = known.iter().position(|known| *known == name);
        if place.is_none() {
            let shown = self.offending(node);
            let hint = match known.is_empty() {
                true => Some(format!("the plan declares no {what}")),
                false => suggestion(name, known.iter().copied()),
            };
            self.at(node, format!("unknown {what} `{shown}`"), hint);
        }
        place
    }
}

impl Reader<'_> {
    /// The number of a variable, new or known.
    pub(super) fn variable(&mut self, byte: usize, name: &str) -> Option<VariableId> {
        self.problems.check_name(byte, name, "variable")?;
        if BUILT_IN.contains(&name) {
            let message = format!("`{name}` has a meaning of its own in templates");
            let hint = Some("choose another name for the variable".to_owned());
            self.problems.at_byte(byte, message, hint);
            return None;
        }
        if name.starts_with(|c: char| !c.is_alphabetic() && c != '_') {
            let message = format!("variable `{name}` must begin with a letter");
            self.problems.at_byte(byte, message, None);
            return None;
        }
        let known = self.variables.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.variables.push(name.to_owned());
            self.variables.len() - 1
        });
        let id = u16::try_from(place).ok().map(VariableId);
        if id.is_none() {
            let message = "more than 65,536 variables";
            self.problems.at_byte(byte, message, None);
        }
        id
    }
}

impl Scope {
    /// A variable is set from here on.
    pub(super) fn set(&mut self, name: &str, id: VariableId) {
        self.later.remove(name);
        self.variables.insert(name.to_owned(), id);
    }

    /// A variable is set by a step further on, unless it is already.
    pub(super) fn announce(&mut self, name: &str, id: VariableId) {
        if !self.variables.contains_key(name) {
            self.later.insert(name.to_owned(), id);
        }
    }
}
