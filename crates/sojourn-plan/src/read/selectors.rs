//! Selectors: text that points at a value.

use crate::{JsonPath, PathStep, Selector};

use super::node::Node;
use super::problems::{Problems, suggestion};

/// What a selector points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// An HTTP answer.
    Answer,
    /// An event on a channel.
    Event,
}

const ANSWER: [&str; 5] = ["status", "header.NAME", "body", "body.PATH", "regex:EXPR"];
const EVENT: [&str; 8] =
    ["type", "key", "topic", "header.NAME", "body", "$.PATH", "$envelope.PATH", "regex:EXPR"];

/// Begins a path into an event's envelope instead of its payload.
const ENVELOPE: &str = "$envelope";

/// Reads a selector from a scalar; problems are reported at it.
pub(super) fn selector(node: &Node, place: Place, problems: &mut Problems<'_>) -> Option<Selector> {
    let text = problems.text(node)?;
    match parse(text, place) {
        Ok(selector) => Some(selector),
        Err(wrong) => {
            let shown = problems.offending(node);
            problems.at(node, format!("`{shown}` {}", wrong.message), wrong.hint);
            None
        }
    }
}

/// What is wrong with a selector.
pub(super) struct Wrong {
    /// Follows the selector's text.
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// Reads a selector.
pub(super) fn parse(text: &str, place: Place) -> Result<Selector, Wrong> {
    let text = text.trim();
    if text.contains("{{") {
        return Err(wrong(
            "is a template, not a selector",
            Some("a selector says where a value is, such as `body.id`".to_owned()),
        ));
    }
    if let Some(expression) = text.strip_prefix("regex:") {
        return regex(expression).map(Selector::Regex);
    }
    if let Some(name) = text.strip_prefix("header.") {
        let is_token = !name.is_empty() && name.bytes().all(is_header_byte);
        return match is_token {
            true => Ok(Selector::Header(name.to_owned())),
            false => Err(wrong("names no header", Some("write `header.X-Name`".to_owned()))),
        };
    }
    if let Some(within) = text.strip_prefix(ENVELOPE)
        && (within.is_empty() || within.starts_with(['.', '[']))
    {
        return match place {
            Place::Event => path(text, &format!("${within}")).map(Selector::Body),
            Place::Answer => Err(wrong(
                "is of an event, not of an HTTP answer",
                Some("an answer has no envelope: write `body.PATH`".to_owned()),
            )),
        };
    }
    if text.starts_with('$') {
        return path(text, text).map(Selector::Body);
    }
    if text.starts_with("body.") || text.starts_with("body[") {
        return path(text, &format!("${}", &text["body".len()..])).map(Selector::Body);
    }
    match (text, place) {
        ("body", _) => Ok(Selector::Text),
        ("status", Place::Answer) => Ok(Selector::Status),
        ("key", Place::Event) => Ok(Selector::MessageKey),
        ("topic", Place::Event) => Ok(Selector::Topic),
        ("type", Place::Event) => Ok(Selector::Type),
        ("status", Place::Event) => Err(wrong(
            "is of an HTTP answer, not of an event",
            Some("an event has `type`, `key`, `topic`, `header.NAME` and `$.PATH`".to_owned()),
        )),
        ("key" | "topic" | "type", Place::Answer) => Err(wrong(
            "is of an event, not of an HTTP answer",
            Some("an answer has `status`, `header.NAME` and `body.PATH`".to_owned()),
        )),
        _ => Err(wrong("is not a selector", hint(text, place))),
    }
}

/// A regular expression, with its complaint in one line.
pub(super) fn regex(expression: &str) -> Result<regex::Regex, Wrong> {
    regex::RegexBuilder::new(expression).size_limit(1 << 20).build().map_err(|error| {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default();
        let last = last.trim_start_matches("error: ");
        wrong(&format!("is not a regular expression: {last}"), None)
    })
}

/// A JSON path; `written` as the file has it, `text` beginning with `$`.
fn path(written: &str, text: &str) -> Result<JsonPath, Wrong> {
    let plain = plain_steps(&text[1..]);
    // Dotted names may hold what RFC 9535 wants in brackets, such as `payment-id`.
    let general = match &plain {
        Some(steps) => bracketed(steps),
        None => text.to_owned(),
    };
    let compiled = serde_json_path::JsonPath::parse(&general).map_err(|error| {
        let text = error.to_string();
        let reason = text.lines().next().unwrap_or_default();
        wrong(
            &format!("is not a JSON path: {reason}"),
            Some("write `$.name`, `$.list[0].name`, or any path of RFC 9535".to_owned()),
        )
    })?;
    Ok(JsonPath { text: written.to_owned(), plain, compiled })
}

/// Names and indices of `.a.b[0]`, if it is as plain as that.
fn plain_steps(text: &str) -> Option<Vec<PathStep>> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (name, tail) = after.split_at(end);
            let is_plain = !name.is_empty()
                && !name.contains(|c: char| c.is_whitespace() || c.is_control())
                && !name.contains(['*', '\'', '"', '(', ')', '?', '@', ',', ':', ']', '\\']);
            if !is_plain {
                return None;
            }
            steps.push(PathStep::Name(name.to_owned()));
            rest = tail;
        } else {
            let (index, tail) = rest.strip_prefix('[')?.split_once(']')?;
            if !index.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            steps.push(PathStep::Index(index.parse().ok()?));
            rest = tail;
        }
    }
    Some(steps)
}

fn bracketed(steps: &[PathStep]) -> String {
    let mut text = "$".to_owned();
    for step in steps {
        match step {
            PathStep::Name(name) => text.push_str(&format!("['{name}']")),
            PathStep::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

fn hint(text: &str, place: Place) -> Option<String> {
    let is_name =
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let known: &[&str] = match place {
        Place::Answer => &ANSWER,
        Place::Event => &EVENT,
    };
    match super::problems::similar(text, known.iter().copied().filter(|name| !name.contains('.'))) {
        Some(name) if !name.contains(':') => Some(format!("did you mean `{name}`?")),
        _ if is_name && place == Place::Answer => Some(format!("did you mean `body.{text}`?")),
        _ if is_name => Some(format!("did you mean `$.{text}`?")),
        _ => suggestion(text, known.iter().copied()),
    }
}

fn wrong(message: &str, hint: Option<String>) -> Wrong {
    Wrong { message: message.to_owned(), hint }
}

/// RFC 9110's `tchar`.
pub(super) fn is_header_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn find(text: &str) -> Option<serde_json::Value> {
        let value = json!({"a": {"b-c": [10, {"d": "x"}]}, "ä": 1, "list": [{"k": 1}, {"k": 2}]});
        let Ok(Selector::Body(path)) = parse(text, Place::Answer) else {
            panic!("{text} should be a path");
        };
        path.find(&value).cloned()
    }

    #[test]
    fn plain_and_general_paths() {
        assert_eq!(find("body.a.b-c[0]"), Some(json!(10)));
        assert_eq!(find("$.a.b-c[1].d"), Some(json!("x")));
        assert_eq!(find("$.ä"), Some(json!(1)));
        assert_eq!(find("$['a']['b-c'][0]"), Some(json!(10)));
        assert_eq!(find("$.list[?@.k == 2].k"), Some(json!(2)));
        assert_eq!(find("$..d"), Some(json!("x")));
        assert_eq!(find("body.list[-1].k"), Some(json!(2)));
        assert_eq!(find("$.a.nothing"), None);
        assert_eq!(find("$.a[0]"), None);
    }

    #[test]
    fn a_plain_path_and_its_general_form_agree() {
        let value = json!({"a": {"b-c": [10, {"d": "x"}]}});
        for text in ["$", "$.a", "$.a.b-c", "$.a.b-c[1].d", "$.a.b-c[7]", "$.a.b"] {
            let Ok(Selector::Body(path)) = parse(text, Place::Answer) else {
                panic!("{text} should be a path");
            };
            assert!(path.plain.is_some());
            assert_eq!(path.find(&value), path.compiled.query(&value).first(), "{text}");
        }
    }

    #[test]
    fn a_path_may_begin_at_the_envelope() {
        let value = json!({"subject": "s", "data": {"ids": [7]}});
        for (text, expected) in [
            ("$envelope", Some(value.clone())),
            ("$envelope.subject", Some(json!("s"))),
            ("$envelope.data.ids[0]", Some(json!(7))),
            ("$envelope['data']..ids[-1]", Some(json!(7))),
            ("$envelope.envelope", None),
        ] {
            let Ok(Selector::Body(path)) = parse(text, Place::Event) else {
                panic!("{text} should be a path");
            };
            assert_eq!(path.text, text);
            assert_eq!(path.find(&value).cloned(), expected, "{text}");
        }
        check("$envelope.id", Place::Answer, "of an event", "`body.PATH`");
        check("$envelopes.id", Place::Event, "is not a JSON path", "RFC 9535");
    }

    fn check(text: &str, place: Place, message: &str, hint: &str) {
        let Err(wrong) = parse(text, place) else {
            panic!("{text} should be wrong");
        };
        assert!(wrong.message.contains(message), "{text}: {}", wrong.message);
        let got = wrong.hint.unwrap_or_default();
        assert!(got.contains(hint), "{text}: {got}");
    }

    #[test]
    fn wrong_selectors_say_what_to_write() {
        check("statsu", Place::Answer, "is not a selector", "did you mean `status`?");
        check("paymentId", Place::Answer, "is not a selector", "did you mean `body.paymentId`?");
        check("aggregateId", Place::Event, "is not a selector", "did you mean `$.aggregateId`?");
        check("status", Place::Event, "of an HTTP answer", "`type`");
        check("type", Place::Answer, "of an event", "`body.PATH`");
        check("header.", Place::Answer, "names no header", "header.X-Name");
        check("regex:(", Place::Answer, "is not a regular expression: unclosed group", "");
        check("$[", Place::Answer, "is not a JSON path", "RFC 9535");
        check("{{ x }}", Place::Answer, "is a template", "body.id");
    }
}
