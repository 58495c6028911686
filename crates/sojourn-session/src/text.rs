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

/// How the markers of one evaluation look.
#[derive(Clone, Debug)]
pub(crate) struct Markers {
    nonce: String,
}

/// A marker that the script has changed: cut, in other letters, split.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mangled;

impl Markers {
    pub(crate) fn new(nonce: String) -> Self {
        Self { nonce }
    }

    /// Takes marked text apart. `count` is how many placeholders there are.
    pub(crate) fn parse(&self, marked: &str, count: usize) -> Result<Text, Mangled> {
        let plain = format!("{{{{sojourn:{}:", self.nonce);
        let encoded = format!("%7B%7Bsojourn%3A{}%3A", self.nonce);
        let mut text = Text::default();
        let mut rest = marked;
        loop {
            let next_plain = rest.find(&plain).map(|at| (at, &plain, "}}"));
            let next_encoded = rest.find(&encoded).map(|at| (at, &encoded, "%7D%7D"));
            let next = match (next_plain, next_encoded) {
                (Some(a), Some(b)) => Some(if a.0 < b.0 { a } else { b }),
                (a, b) => a.or(b),
            };
            let Some((at, start, end)) = next else { break };
            self.literal(&rest[..at], &mut text)?;
            let after = &rest[at + start.len()..];
            let (inside, behind) = after.split_once(end).ok_or(Mangled)?;
            let (id, escape) = match inside.split_once(':') {
                _ if end != "}}" => (inside, Escape::Url),
                None => (inside, Escape::Raw),
                Some((id, "v")) => (id, Escape::JsonValue),
                Some((id, "s")) => (id, Escape::JsonText),
                Some(_) => return Err(Mangled),
            };
            let placeholder = id.parse().map_err(|_| Mangled)?;
            if placeholder as usize >= count {
                return Err(Mangled);
            }
            text.parts.push(Part::Value { placeholder, escape });
            rest = behind;
        }
        self.literal(rest, &mut text)?;
        Ok(text)
    }

    fn literal(&self, piece: &str, text: &mut Text) -> Result<(), Mangled> {
        if piece.to_ascii_lowercase().contains(&self.nonce) {
            return Err(Mangled);
        }
        text.push_literal(piece);
        Ok(())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn value(placeholder: u32, escape: Escape) -> Part {
        Part::Value { placeholder, escape }
    }

    #[test]
    fn markers_are_found_in_all_their_forms() {
        let markers = Markers::new("ab12".to_owned());
        let text = "/a?x={{sojourn:ab12:0}}&y=%7B%7Bsojourn%3Aab12%3A1%7D%7D{{sojourn:ab12:1:v}}z";
        let expected = vec![
            Part::Literal("/a?x=".to_owned()),
            value(0, Escape::Raw),
            Part::Literal("&y=".to_owned()),
            value(1, Escape::Url),
            value(1, Escape::JsonValue),
            Part::Literal("z".to_owned()),
        ];
        assert_eq!(markers.parse(text, 2), Ok(Text { parts: expected }));
        assert_eq!(markers.parse("", 0), Ok(Text::default()));
        assert_eq!(markers.parse("{{plain}}", 0), Ok(Text::literal("{{plain}}")));
    }

    #[test]
    fn what_is_left_of_a_marker_is_an_error() {
        let markers = Markers::new("ab12".to_owned());
        for text in [
            "{{SOJOURN:AB12:0}}",
            "{{sojourn:ab12:0",
            "sojourn:ab12:0}}",
            "{{sojourn:ab12:9}}",
            "{{sojourn:ab12:x}}",
            "{{sojourn:ab12:0:q}}",
        ] {
            assert_eq!(markers.parse(text, 1), Err(Mangled), "{text}");
        }
    }
}
