//! Taking a mapping apart by its shape, and scalars by their meaning.

use super::node::{Content, Key, Node};
use super::problems::{Problems, similar, suggestion};
use super::shape::Shape;
use super::units;

/// A mapping whose names are all known.
pub struct Fields<'n> {
    entries: Vec<(&'n Key, &'n Node)>,
    /// Whether names were refused: what seems to be missing may be one of them.
    pub has_unknown: bool,
}

impl<'n> Fields<'n> {
    /// Takes a mapping apart. Unknown and missing names are reported; `None` when it is none.
    pub fn of(node: &'n Node, shape: &Shape, problems: &mut Problems<'_>) -> Option<Self> {
        let Content::Map(entries) = &node.content else {
            let names: Vec<String> =
                shape.fields.iter().map(|field| format!("`{}`", field.name)).collect();
            problems.at(
                node,
                format!("expected {}, found {}", shape.name, node.kind()),
                Some(format!("it is a mapping of {}", names.join(", "))),
            );
            return None;
        };
        let mut unknown = Vec::new();
        for (key, _) in entries {
            if !shape.fields.iter().any(|field| field.name == key.name) {
                unknown.push(key.name.as_str());
                problems.at_byte(
                    key.range.start,
                    format!("unknown field `{}` in {}", shown(&key.name), shape.name),
                    suggestion(&key.name, shape.fields.iter().map(|field| field.name)),
                );
            }
        }
        let fields = Self {
            entries: entries
                .iter()
                .map(|(key, value)| (key, value))
                .filter(|(key, _)| shape.fields.iter().any(|field| field.name == key.name))
                .collect(),
            has_unknown: !unknown.is_empty(),
        };
        for field in shape.fields.iter().filter(|field| field.required) {
            let is_misspelt = unknown.iter().any(|name| similar(name, [field.name]).is_some());
            if fields.get(field.name).is_none() && !is_misspelt {
                problems.at(
                    node,
                    format!("{} without `{}`", shape.name, field.name),
                    Some(field.doc.trim_end_matches('.').to_owned()),
                );
            }
        }
        Some(fields)
    }

    /// The value of this name, where it has one.
    pub fn get(&self, name: &str) -> Option<&'n Node> {
        self.with_null(name).filter(|node| !node.is_null())
    }

    /// The value of this name, even an empty one.
    pub fn with_null(&self, name: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| *node)
    }

    /// The names of `some` that have a value, in the file's order.
    pub fn given(&self, some: &[&str]) -> Vec<(&'n Key, &'n Node)> {
        self.entries
            .iter()
            .filter(|(key, node)| some.contains(&key.name.as_str()) && !node.is_null())
            .copied()
            .collect()
    }
}

impl Problems<'_> {
    /// A scalar's text.
    pub fn text<'n>(&mut self, node: &'n Node) -> Option<&'n str> {
        let text = node.text();
        if text.is_none() {
            self.at(node, format!("expected text, found {}", node.kind()), None);
        }
        text
    }

    /// A duration in nanoseconds.
    pub fn duration(&mut self, node: &Node) -> Option<u64> {
        let hint = "a duration is a number and a unit: `500ms`, `5s`, `1m30s`, `2h`";
        self.parsed(node, "a duration", hint, units::duration_ns)
    }

    /// A duration above zero in nanoseconds.
    pub fn duration_above_zero(&mut self, node: &Node) -> Option<u64> {
        let ns = self.duration(node)?;
        if ns == 0 {
            self.at(node, "must be longer than zero", None);
            return None;
        }
        Some(ns)
    }

    /// A rate in arrivals per second.
    pub fn rate(&mut self, node: &Node) -> Option<f64> {
        let hint = "a rate is a number per time: `50/s`, `0.5/s`, `90/min`, `12/h`";
        self.parsed(node, "a rate", hint, units::rate_per_s)
    }

    /// A fraction between 0 and 1.
    pub fn fraction(&mut self, node: &Node) -> Option<f64> {
        let hint = "write `0.1%` or 0.001";
        self.parsed(node, "a fraction", hint, units::fraction)
    }

    /// A size in bytes.
    pub fn bytes(&mut self, node: &Node) -> Option<usize> {
        self.parsed(node, "a size", "write `10MB` or `64KiB`", units::bytes)
    }

    /// A whole number within bounds.
    pub fn count(&mut self, node: &Node, least: u64, most: u64) -> Option<u64> {
        let hint = format!("a whole number from {least} to {most}");
        let number = self.parsed(node, "a whole number", &hint, |text| {
            text.parse::<u64>().map_err(|_| format!("`{text}` is not a whole number"))
        })?;
        if !(least..=most).contains(&number) {
            let shown = self.offending(node);
            self.at(node, format!("`{shown}` is out of range"), Some(hint));
            return None;
        }
        Some(number)
    }

    /// A finite number.
    pub fn number(&mut self, node: &Node) -> Option<f64> {
        self.parsed(node, "a number", "write `2` or `0.5`", |text| match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("`{text}` is not a number")),
        })
    }

    /// `true` or `false`.
    pub fn flag(&mut self, node: &Node) -> Option<bool> {
        self.parsed(node, "true or false", "write `true` or `false`", |text| match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(format!("`{text}` is neither true nor false")),
        })
    }

    /// One of some words, by its place among them.
    pub fn choice(&mut self, node: &Node, words: &[&str]) -> Option<usize> {
        let text = self.text(node)?;
        let place = words.iter().position(|word| *word == text);
        if place.is_none() {
            let text = self.offending(node);
            self.at(
                node,
                format!("`{text}` is not one of the choices"),
                suggestion(&text, words.iter().copied()),
            );
        }
        place
    }

    /// A list's items.
    pub fn list<'n>(&mut self, node: &'n Node) -> Option<&'n [Node]> {
        match &node.content {
            Content::List(items) => Some(items),
            _ => {
                let hint = "a list has one `- ` per item, or stands in [brackets]";
                let message = format!("expected a list, found {}", node.kind());
                self.at(node, message, Some(hint.to_owned()));
                None
            }
        }
    }

    /// A mapping's entries.
    pub fn map<'n>(&mut self, node: &'n Node) -> Option<&'n [(Key, Node)]> {
        match &node.content {
            Content::Map(entries) => Some(entries),
            _ => {
                let message = format!("expected a mapping, found {}", node.kind());
                self.at(node, message, Some("write `name: value` lines".to_owned()));
                None
            }
        }
    }

    /// The text to show for a scalar: its own, or the source's where `${NAME}` made it.
    pub fn offending(&self, node: &Node) -> String {
        match node.scalar() {
            Some(scalar) if !scalar.secret => shown(&scalar.text),
            _ => self.written(&node.range),
        }
    }

    fn parsed<T>(
        &mut self,
        node: &Node,
        what: &str,
        hint: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let Some(scalar) = node.scalar() else {
            let message = format!("expected {what}, found {}", node.kind());
            self.at(node, message, Some(hint.to_owned()));
            return None;
        };
        match parse(&scalar.text) {
            Ok(value) => Some(value),
            Err(message) => {
                let message = match scalar.secret || scalar.text.len() > 80 {
                    true => format!("`{}` is not {what}", self.written(&node.range)),
                    false => message,
                };
                self.at(node, message, Some(hint.to_owned()));
                // What would follow from a value that is none is not worth a second line.
                self.give_up_on(node);
                None
            }
        }
    }
}

/// What stands at a node, or the default where nothing does. `None`: a problem, already reported.
pub fn given_or<T>(
    node: Option<&Node>,
    default: T,
    read: impl FnOnce(&Node) -> Option<T>,
) -> Option<T> {
    match node {
        Some(node) => read(node),
        None => Some(default),
    }
}

/// Text short enough for a message, control characters escaped.
pub fn shown(text: &str) -> String {
    let mut short = String::new();
    for c in text.chars().take(80) {
        match c.is_control() {
            true => short.extend(c.escape_default()),
            false => short.push(c),
        }
    }
    if text.chars().nth(80).is_some() {
        short.push('…');
    }
    short
}
