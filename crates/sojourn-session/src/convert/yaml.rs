//! YAML as journey files are written by hand: blocks, and quotes only where they are needed.

use std::fmt::Write as _;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Yaml {
    /// Text, quoted where it would be read as something else.
    Text(String),
    /// A number, a flag, a rate or a duration, as it stands.
    Plain(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Yaml {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn plain(text: impl ToString) -> Self {
        Self::Plain(text.to_string())
    }

    pub(super) fn map(entries: Vec<(&str, Self)>) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// From JSON.
    pub(super) fn of_json(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::String(text) => Self::text(text),
            serde_json::Value::Array(items) => {
                Self::List(items.iter().map(Self::of_json).collect())
            }
            serde_json::Value::Object(entries) => Self::Map(
                entries.iter().map(|(key, value)| (key.clone(), Self::of_json(value))).collect(),
            ),
            other => Self::plain(other),
        }
    }

    /// A whole document: a mapping.
    pub(super) fn document(&self) -> String {
        let mut out = String::new();
        if let Self::Map(entries) = self {
            for (key, value) in entries {
                entry(&mut out, key, value, 0);
            }
        }
        out
    }

    /// In one line.
    fn flow(&self) -> String {
        match self {
            Self::Text(text) => scalar(text),
            Self::Plain(text) => text.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::flow).collect::<Vec<_>>().join(", "))
            }
            Self::Map(entries) if entries.is_empty() => "{}".to_owned(),
            Self::Map(entries) => {
                let pair =
                    |(key, value): &(String, Self)| format!("{}: {}", name(key), value.flow());
                format!("{{ {} }}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// What fits into a line is written in one.
const LINE_MAX: usize = 90;

fn entry(out: &mut String, key: &str, value: &Yaml, indent: usize) {
    let pad = " ".repeat(indent);
    let flow = value.flow();
    let is_short = pad.len() + key.len() + flow.len() < LINE_MAX && indent > 0;
    let is_scalar = matches!(value, Yaml::Text(_) | Yaml::Plain(_));
    match value {
        // Writing to a string never fails; the same below.
        _ if is_short || is_scalar => {
            writeln!(out, "{pad}{}: {flow}", name(key)).ok();
        }
        Yaml::Map(entries) if !entries.is_empty() => {
            writeln!(out, "{pad}{}:", name(key)).ok();
            for (key, value) in entries {
                entry(out, key, value, indent + 2);
            }
        }
        Yaml::List(items) if !items.is_empty() => {
            writeln!(out, "{pad}{}:", name(key)).ok();
            for item in items {
                list_item(out, item, indent + 2);
            }
        }
        _ => {
            writeln!(out, "{pad}{}: {flow}", name(key)).ok();
        }
    }
}

fn list_item(out: &mut String, item: &Yaml, indent: usize) {
    let pad = " ".repeat(indent);
    let flow = item.flow();
    match item {
        Yaml::Map(entries) if indent + flow.len() >= LINE_MAX => {
            let mut inner = String::new();
            for (key, value) in entries {
                entry(&mut inner, key, value, indent + 2);
            }
            // The dash stands in the first line's indentation.
            writeln!(out, "{pad}- {}", inner.trim_start().trim_end()).ok();
        }
        _ => {
            writeln!(out, "{pad}- {flow}").ok();
        }
    }
}

/// A key: environment variables are not looked for in it.
fn name(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    // `${NAME}` would be an environment variable.
    quoted(&text.replace("${", "$${"))
}

/// Double quotes of YAML: those of JSON, and the line separators that only YAML knows.
fn quoted(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let mut out = String::new();
    for letter in quoted.chars() {
        match letter {
            '\u{7f}' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                write!(out, "\\u{:04x}", u32::from(letter)).ok();
            }
            letter => out.push(letter),
        }
    }
    out
}

/// Whether text is itself without quotes, whoever reads it.
fn is_plain(text: &str) -> bool {
    let first = |letter: char| letter.is_ascii_alphabetic() || letter == '/';
    let other = |letter: char| letter.is_ascii_alphanumeric() || "/_-.".contains(letter);
    let is_word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(&text.to_ascii_lowercase().as_str());
    text.starts_with(first) && text.chars().all(other) && !is_word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_stand_where_they_are_needed() {
        for (text, expected) in [
            ("GET", "GET"),
            ("/a/b.json", "/a/b.json"),
            ("yes", "\"yes\""),
            ("12", "\"12\""),
            ("a: b", "\"a: b\""),
            ("", "\"\""),
            ("${X} \u{2028}\"\n", "\"$${X} \\u2028\\\"\\n\""),
        ] {
            assert_eq!(scalar(text), expected);
        }
        let long = Yaml::text("x".repeat(100));
        let step = Yaml::map(vec![("name", Yaml::text("a")), ("http", long)]);
        let list = Yaml::map(vec![("steps", Yaml::List(vec![step, Yaml::map(vec![])]))]);
        let expected = format!("steps:\n  - name: a\n    http: {}\n  - {{}}\n", "x".repeat(100));
        assert_eq!(list.document(), expected);
    }
}
