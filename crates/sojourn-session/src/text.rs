//! Text with holes, as a script made it: literals, and values that are known only while a client
//! runs.
//!
//! While the script runs, such a value is a marker in ordinary text, `{{sojourn:NONCE:7}}`. It
//! survives joining, template strings and `JSON.stringify`; `encodeURIComponent` makes a form of it
//! that is told apart, so that the value is encoded as well when there is one. Whatever else a
//! script does to a marker is found by what is left of the nonce.

/// Text with holes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Literals, none of them empty and no two in a row, and values.
    pub parts: Vec<Part>,
}

/// A piece of a [`Text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Fixed text.
    Literal(String),
    /// A value that is known only while a client runs.
    Value {
        /// Index into [`Definition::placeholders`](crate::Definition::placeholders).
        placeholder: u32,
        /// How it is written.
        escape: Escape,
    },
}

/// How a value is written into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// As it is.
    Raw,
    /// Percent-encoded, as `encodeURIComponent` does.
    Url,
    /// As `application/x-www-form-urlencoded` has it.
    Form,
    /// A JSON value: numbers, `true`, `false` and `null` as they are, anything else quoted.
    JsonValue,
    /// Within a JSON string: quotes, backslashes and control characters escaped.
    JsonText,
}

impl Text {
    /// Text without holes.
    pub fn literal(text: &str) -> Self {
        let mut made = Self::default();
        made.push_literal(text);
        made
    }

    /// The text, if it has no holes.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The literal that it begins with; empty where it begins with a value.
    pub fn start(&self) -> &str {
        match self.parts.first() {
            Some(Part::Literal(text)) => text,
            _ => "",
        }
    }

    /// Appends fixed text.
    pub(crate) fn push_literal(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Literal(last)) => last.push_str(text),
            _ => self.parts.push(Part::Literal(text.to_owned())),
        }
    }

    /// Appends another text.
    pub(crate) fn append(&mut self, other: &Self) {
        for part in &other.parts {
            match part {
                Part::Literal(text) => self.push_literal(text),
                value => self.parts.push(value.clone()),
            }
        }
    }

    /// The placeholders in it.
    pub fn placeholders(&self) -> impl Iterator<Item = u32> + '_ {
        self.parts.iter().filter_map(|part| match part {
            Part::Value { placeholder, .. } => Some(*placeholder),
            Part::Literal(_) => None,
        })
    }
}

/// Whether text may be the name of a header field: RFC 9110's `token`.
pub(crate) fn is_token(name: &str) -> bool {
    let is_sign = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_sign(byte))
}
