//! JSON paths, walked over the text itself: numbers keep every digit as it is written.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
    /// Items of a list whose value at `path` has this text.
    Filter {
        path: Vec<String>,
        value: String,
    },
}

/// Most steps of a path.
const STEPS_MAX: usize = 100;

impl JsonPath {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.trim();
        rest = rest.strip_prefix('$').unwrap_or(rest);
        let mut steps = Vec::new();
        let mut is_first = true;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (step, behind) = bracket(inner)?;
                steps.push(step);
                rest = behind;
            } else {
                let name = match rest.strip_prefix('.') {
                    Some(name) => name,
                    None if is_first && !text.trim().starts_with('$') => rest,
                    None => return Err(format!("`.` or `[` is missing before `{rest}`")),
                };
                if name.len() < rest.len() && name.starts_with('[') {
                    rest = name;
                    continue;
                }
                let end = name.find(['.', '[']).unwrap_or(name.len());
                match &name[..end] {
                    "" => return Err("a name is missing after `.`; `..` is not known".to_owned()),
                    "*" => return Err("`*` is not known: a path leads to one value".to_owned()),
                    key => steps.push(Step::Key(key.to_owned())),
                }
                rest = &name[end..];
            }
            is_first = false;
            if steps.len() > STEPS_MAX {
                return Err(format!("more than {STEPS_MAX} steps"));
            }
        }
        Ok(Self(steps))
    }

    /// The same path as RFC 9535 has it; `None` where that has no such path.
    pub(super) fn standard(&self) -> Option<String> {
        let mut path = "$".to_owned();
        let mut is_filtered = false;
        for step in &self.0 {
            match step {
                Step::Key(key) => path.push_str(&member(key)),
                // There it would be an index into each of the matches.
                Step::Index(_) if is_filtered => return None,
                Step::Index(index) => path.push_str(&format!("[{index}]")),
                Step::Filter { path: inner, value } => {
                    let inner: String = inner.iter().map(|key| member(key)).collect();
                    let is_literal = serde_json::from_str::<serde_json::Value>(value)
                        .is_ok_and(|value| value.is_number() || value.is_boolean());
                    let or = match is_literal {
                        true => format!(" || @{inner}=={value}"),
                        false => String::new(),
                    };
                    path.push_str(&format!("[?@{inner}=={}{or}]", in_quotes(value)));
                }
            }
            is_filtered = matches!(step, Step::Filter { .. });
        }
        Some(path)
    }

    /// The text of the first value that the path leads to. Lists and objects are given as JSON,
    /// `null` as empty text.
    pub(super) fn find(&self, body: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(body).ok()?;
        // A mark of the byte order is no JSON, but some systems begin with it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root: &RawValue = serde_json::from_str(text).ok()?;
        let mut found = vec![root];
        for (place, step) in self.0.iter().enumerate() {
            let is_filtered = place > 0 && matches!(self.0[place - 1], Step::Filter { .. });
            found = match step {
                Step::Key(key) => vec![value_of(found.first()?, key)?],
                Step::Index(index) if is_filtered => vec![*found.get(*index)?],
                Step::Index(index) => vec![*items_of(found.first()?)?.get(*index)?],
                Step::Filter { path, value } => {
                    let items = if is_filtered { found } else { items_of(found.first()?)? };
                    let matches = |item: &&RawValue| {
                        let end = path.iter().try_fold(*item, |at, key| value_of(at, key));
                        end.and_then(json_text).is_some_and(|text| text == *value)
                    };
                    items.into_iter().filter(matches).collect()
                }
            };
        }
        json_text(found.first()?)
    }
}

/// What stands in brackets, and what follows them.
fn bracket(inner: &str) -> Result<(Step, &str), String> {
    let unclosed = || "`]` is missing".to_owned();
    if let Some(quote) = inner.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let (key, behind) = quoted(&inner[1..], quote).ok_or_else(unclosed)?;
        let behind = behind.trim_start().strip_prefix(']').ok_or_else(unclosed)?;
        return Ok((Step::Key(key), behind));
    }
    if let Some(filter) = inner.strip_prefix('?') {
        return filtered(filter);
    }
    let (number, behind) = inner.split_once(']').ok_or_else(unclosed)?;
    let index = number.trim().parse().map_err(|_| {
        format!("`[{number}]` is neither an index, nor a quoted name, nor a filter `?name==value`")
    })?;
    Ok((Step::Index(index), behind))
}

/// `name==value]`, perhaps as `(@.name=='value')]`.
fn filtered(text: &str) -> Result<(Step, &str), String> {
    let wrong = || "a filter is written `[?name==value]`".to_owned();
    let (text, end) = match text.strip_prefix('(') {
        Some(inner) => (inner, ")]"),
        None => (text, "]"),
    };
    let (name, rest) = text.split_once("==").ok_or_else(wrong)?;
    let name = name.trim();
    let name = name.strip_prefix("@.").unwrap_or(name);
    let path: Vec<_> = name.split('.').map(str::to_owned).collect();
    if path.iter().any(|key| key.is_empty() || key.contains(['[', ']', '"', '\''])) {
        return Err(wrong());
    }
    let rest = rest.trim_start();
    let (value, behind) = match rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => {
            let (value, behind) = quoted(&rest[1..], quote).ok_or_else(wrong)?;
            (value, behind.trim_start().strip_prefix(end).ok_or_else(wrong)?)
        }
        None => {
            let (value, behind) = rest.split_once(end).ok_or_else(wrong)?;
            (value.trim().to_owned(), behind)
        }
    };
    Ok((Step::Filter { path, value }, behind))
}

/// Text up to the quote, and what follows it; `\` takes the next character as it is.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.push(letters.next()?.1),
            _ if letter == quote => return Some((value, &text[at + 1..])),
            _ => value.push(letter),
        }
    }
    None
}

/// A value's text; `None` for text that is none (half a pair of surrogates).
pub(crate) fn json_text(value: &RawValue) -> Option<String> {
    match value.get() {
        "null" => Some(String::new()),
        quoted if quoted.starts_with('"') => serde_json::from_str(quoted).ok(),
        plain => Some(plain.to_owned()),
    }
}

/// The last value of this name in an object.
fn value_of<'a>(object: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    let mut reader = serde_json::Deserializer::from_str(object.get());
    reader.deserialize_map(ValueOf(key)).ok()?
}

/// The items of a list.
fn items_of(list: &RawValue) -> Option<Vec<&RawValue>> {
    if list.get().starts_with('[') { serde_json::from_str(list.get()).ok() } else { None }
}

struct ValueOf<'k>(&'k str);

impl<'de> Visitor<'de> for ValueOf<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_wanted) = entries.next_key_seed(KeyIs(self.0))? {
            if is_wanted {
                found = Some(entries.next_value()?);
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(A::Error::custom("a list has no names"))
    }
}

/// Compares a key without keeping it.
struct KeyIs<'k>(&'k str);

impl<'de> DeserializeSeed<'de> for KeyIs<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyIs<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

/// A name in a path of RFC 9535.
fn member(key: &str) -> String {
    let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let is_plain = key.starts_with(is_first)
        && key.chars().all(|letter| is_first(letter) || letter.is_ascii_digit());
    if is_plain { format!(".{key}") } else { format!("[{}]", in_quotes(key)) }
}

fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, body: &str) -> Option<String> {
        JsonPath::parse(path).unwrap().find(body.as_bytes())
    }

    #[test]
    fn paths_lead_to_the_text_as_written() {
        let body = r#"{"a":{"b c":[1,2.50,{"d":null}],"n":4555666777888999},
            "l":[{"id":1,"x":{"y":"p"},"v":"%41"},{"id":2,"v":"é\n"},{"id":1,"v":"w"}],
            "t":true,"a":{"z":7}}"#;
        for (path, expected) in [
            ("$.a.z", Some("7")),
            ("t", Some("true")),
            (".t", Some("true")),
            ("$.l[1].v", Some("é\n")),
            ("$.l[0].v", Some("%41")),
            ("$.l[?id==1].v", Some("%41")),
            ("$.l[?id==1][1].v", Some("w")),
            ("$.l[?(@.id=='2')].id", Some("2")),
            ("$.l[?x.y==\"p\"].id", Some("1")),
            ("$.l[?id==1][?v==w].v", Some("w")),
            ("$.l[?id==9].v", None),
            ("$.l[9]", None),
            ("$.l.id", None),
            ("$.missing", None),
            ("$['t']", Some("true")),
            ("$.l[1]", Some("{\"id\":2,\"v\":\"é\\n\"}")),
        ] {
            assert_eq!(found(path, body).as_deref(), expected, "{path}");
        }
        let other =
            r#"{"b c":[1,2.50,{"d":null}],"n":4555666777888999,"big":99999999999999999999.0}"#;
        assert_eq!(found("$[\"b c\"][1]", other).as_deref(), Some("2.50"));
        assert_eq!(found("$[\"b c\"][2].d", other).as_deref(), Some(""));
        assert_eq!(found("n", other).as_deref(), Some("4555666777888999"));
        assert_eq!(found("big", other).as_deref(), Some("99999999999999999999.0"));
        assert_eq!(found("$[1].id", r#"[{"id":1},{"id":2}]"#).as_deref(), Some("2"));
        assert_eq!(found("$", " 5 ").as_deref(), Some("5"));
        assert_eq!(found("a", "no json"), None);
        assert_eq!(found("a", "\u{feff}{\"a\":1}").as_deref(), Some("1"));
    }

    #[test]
    fn what_is_no_path_says_why() {
        for (path, expected) in [
            ("$..a", "`..`"),
            ("$.a.", "a name is missing"),
            ("$.*", "`*`"),
            ("$[*]", "neither an index"),
            ("$[0", "`]` is missing"),
            ("$['a", "`]` is missing"),
            ("$[?a>1]", "a filter is written"),
            ("$a", "`.` or `[` is missing"),
            ("$[0]a", "`.` or `[` is missing"),
        ] {
            let error = JsonPath::parse(path).unwrap_err();
            assert!(error.contains(expected), "{path}: {error}");
        }
    }
}
