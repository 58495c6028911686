//! How placeholders stand in the texts that a script makes: markers that survive whatever scripts
//! do with text, and come out as a [`Text`].

use crate::text::{Escape, Part, Text};

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
