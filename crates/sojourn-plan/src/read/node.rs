//! YAML as a tree whose every value knows where it stands in the file.
//!
//! The tree is kept, rather than reading straight into types, so that one pass can report
//! everything that is wrong with a file, each at its own place.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Bytes of the source it was defined by (an alias: those of its anchor). Empty for block
    /// lists and mappings, of which only the start is known.
    pub range: Range<usize>,
    /// What it is.
    pub content: Content,
}

/// What stands at a place.
#[derive(Clone, Debug)]
pub enum Content {
    /// Nothing, `~` or `null`.
    Null,
    /// Text, a number or a boolean.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the file's order; no name twice.
    Map(Vec<(Key, Node)>),
}

/// A scalar: its text, and what JSON would make of it.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// The text; of a number, as written.
    pub text: String,
    /// The value by YAML's rules: a plain `5` is a number, a quoted one is text.
    pub value: serde_json::Value,
    /// Whether part of it came from `${NAME}`: such text is never shown.
    pub secret: bool,
}

/// A mapping's name for a value.
#[derive(Clone, Debug)]
pub struct Key {
    /// The name.
    pub name: String,
    /// Bytes of the source.
    pub range: Range<usize>,
}

/// What made text unreadable as YAML.
pub struct Malformed {
    /// Byte of the source.
    pub at: usize,
    /// Lower-case fragment.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Node {
    /// Reads one YAML document.
    pub fn parse(source: &str) -> Result<Self, Malformed> {
        let options = serde_saphyr::options! {
            emit_comments: false,
            strict_booleans: true,
            with_snippet: false,
            non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::AsString,
        };
        let raw: Raw = serde_saphyr::from_str_with_options(source, options)
            .map_err(|error| malformed(source, &error))?;
        Ok(raw.placed(source))
    }

    /// The scalar, if it is one.
    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.content {
            Content::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The scalar's text, if it is one.
    pub fn text(&self) -> Option<&str> {
        self.scalar().map(|scalar| scalar.text.as_str())
    }

    /// Whether nothing stands here.
    pub fn is_null(&self) -> bool {
        matches!(self.content, Content::Null)
    }

    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Null => "nothing",
            Content::Scalar(scalar) => match scalar.value {
                serde_json::Value::Bool(_) => "true or false",
                serde_json::Value::Number(_) => "a number",
                _ => "text",
            },
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }
}

/// The value that a plain scalar's text stands for (YAML 1.2 core schema, without octal).
pub(super) fn plain_value(text: &str) -> serde_json::Value {
    match text {
        "" | "~" | "null" => serde_json::Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ => match serde_json::from_str(text) {
            Ok(number @ serde_json::Value::Number(_)) => number,
            _ => text.into(),
        },
    }
}

/// The tree as the YAML library hands it over.
struct Raw(Spanned<RawContent>);

enum RawContent {
    Null,
    Typed(serde_json::Value),
    Text(String),
    List(Vec<Raw>),
    Map(Vec<(Spanned<String>, Raw)>),
}

impl Raw {
    fn placed(self, source: &str) -> Node {
        let range = range_of(self.0.defined, source);
        let written = source.get(range.clone()).unwrap_or_default();
        let scalar = |text: String, value| Content::Scalar(Scalar { text, value, secret: false });
        let content = match self.0.value {
            RawContent::Null => Content::Null,
            RawContent::Typed(value) => scalar(written.trim().to_owned(), value),
            RawContent::Text(text) => scalar(text.clone(), text.into()),
            RawContent::List(items) => {
                Content::List(items.into_iter().map(|item| item.placed(source)).collect())
            }
            RawContent::Map(entries) => Content::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| {
                        let key = Key { range: range_of(key.defined, source), name: key.value };
                        (key, value.placed(source))
                    })
                    .collect(),
            ),
        };
        Node { range, content }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for RawContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<RawContent, E> {
        Ok(RawContent::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawContent, E> {
        Ok(RawContent::Typed(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawContent, E> {
        Ok(RawContent::Typed(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawContent, E> {
        Ok(RawContent::Typed(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<RawContent, E> {
        Ok(RawContent::Typed(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawContent, E> {
        Ok(RawContent::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawContent, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(RawContent::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<RawContent, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(RawContent::Map(map))
    }
}

fn range_of(location: Location, source: &str) -> Range<usize> {
    let span = location.span();
    let offset = span.byte_offset().unwrap_or(0);
    let length = span.byte_len().unwrap_or(0);
    let bound = |byte: u64| usize::try_from(byte).map_or(source.len(), |at| at.min(source.len()));
    bound(offset)..bound(offset.saturating_add(length))
}

/// Puts the library's complaint in our words where a newcomer is likely to meet it.
fn malformed(source: &str, error: &serde_saphyr::Error) -> Malformed {
    // Only the line and column of an error are always known.
    let at =
        error.location().map_or(0, |location| byte_at(source, location.line(), location.column()));
    let full = error.to_string();
    // The library ends its text with the position, which we give ourselves.
    let text = full.split(" at line ").next().unwrap_or(&full);
    let quote = "put quotes around the value: `{`, `[`, `,` and `}` mean something in YAML";
    let before = source.get(..at).unwrap_or_default().trim_end();
    let (message, hint) = match error.without_snippet() {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => {
            (format!("`{key}` stands here twice"), Some("keep one of the two".to_owned()))
        }
        serde_saphyr::Error::MultipleDocuments { .. } => (
            "a second document begins here".to_owned(),
            Some("a journey file is one document: remove the `---`".to_owned()),
        ),
        serde_saphyr::Error::UnknownAnchor { .. } => (
            "this alias names no anchor".to_owned(),
            Some("put quotes around text that begins with `*`".to_owned()),
        ),
        _ if before.ends_with('{') && source[at..].starts_with('{') => (
            "`{{` outside quotes".to_owned(),
            Some("put quotes around the template: \"{{ … }}\"".to_owned()),
        ),
        _ if text.contains("did not find expected ','") || before.ends_with('$') => {
            (format!("malformed YAML: {text}"), Some(quote.to_owned()))
        }
        _ if source.get(at..).is_some_and(starts_with_tab) => {
            ("a tab where only spaces may stand".to_owned(), Some("indent with spaces".to_owned()))
        }
        _ => (format!("malformed YAML: {text}"), None),
    };
    Malformed { at, message, hint }
}

/// The byte of a line and column, both from 1, the column in characters.
fn byte_at(source: &str, line: u64, column: u64) -> usize {
    let mut lines = source.split_inclusive('\n');
    let skipped: usize = (1..line).filter_map(|_| lines.next()).map(str::len).sum();
    let columns = lines.next().unwrap_or_default().char_indices();
    let column = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
    let offset = columns.map(|(at, _)| at).nth(column);
    offset.map_or(source.len(), |offset| skipped + offset)
}

fn starts_with_tab(text: &str) -> bool {
    text.trim_start_matches(' ').starts_with('\t')
}
