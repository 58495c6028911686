//! Values of a request, for conditions and templates: `path.id`, `query.page`, `header.X-Tenant`,
//! `cookie.session`, `body.amount`.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;
use sojourn_clock::Anchor;
use sojourn_plan::PathStep;

use super::pattern::Pattern;
use crate::server::Request;

/// What a template may name, by its first part.
pub(crate) const FOUND: [&str; 7] =
    ["body", "cookie", "header", "method", "path", "query", "unix_ms"];

/// Where a value of a request is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The whole body as text.
    Body,
    /// A value of a JSON body.
    BodyPath(Vec<PathStep>),
    /// A cookie.
    Cookie(String),
    /// A header.
    Header(String),
    /// The method.
    Method,
    /// The path without its query.
    Path,
    /// The part of the path that stands for a parameter of the pattern.
    PathPart(String),
    /// The whole query.
    Query,
    /// A parameter of the query.
    QueryPart(String),
    /// The wall clock when the request arrived, milliseconds since 1970.
    UnixMs,
}

impl Place {
    /// Reads a dotted name that has been taken apart. Err: what is wrong with it.
    pub fn of(parts: &[&str]) -> Result<Self, String> {
        let dotted = || parts[1..].join(".");
        match parts {
            ["body"] => Ok(Self::Body),
            ["body", rest @ ..] => Ok(Self::BodyPath(rest.iter().map(|part| step(part)).collect())),
            ["cookie", _, ..] => Ok(Self::Cookie(dotted())),
            ["header", _, ..] => Ok(Self::Header(dotted())),
            ["method"] => Ok(Self::Method),
            ["path"] => Ok(Self::Path),
            ["path", name] => Ok(Self::PathPart((*name).to_owned())),
            ["query"] => Ok(Self::Query),
            ["query", _, ..] => Ok(Self::QueryPart(dotted())),
            ["unix_ms"] => Ok(Self::UnixMs),
            _ => Err(format!("`{}` is no value of a request", parts.join("."))),
        }
    }

    /// Whether the body must be kept for it.
    pub fn needs_body(&self) -> bool {
        matches!(self, Self::Body | Self::BodyPath(_))
    }
}

fn step(part: &str) -> PathStep {
    part.parse().map_or_else(|_| PathStep::Name(part.to_owned()), PathStep::Index)
}

/// The values of one request.
pub(crate) struct Values<'r> {
    request: &'r Request<'r>,
    pattern: &'r Pattern,
    anchor: &'r Anchor,
    json: OnceCell<Option<Value>>,
}

impl<'r> Values<'r> {
    pub(crate) fn new(request: &'r Request<'r>, pattern: &'r Pattern, anchor: &'r Anchor) -> Self {
        Self { request, pattern, anchor, json: OnceCell::new() }
    }

    /// A value as JSON; everything but a body's values is text.
    pub(crate) fn json(&self, place: &Place) -> Option<Cow<'_, Value>> {
        if let Place::BodyPath(steps) = place {
            return self.in_body(steps).map(Cow::Borrowed);
        }
        self.text(place).map(|text| Cow::Owned(Value::String(text.into_owned())))
    }

    /// A value as text: a string's own, anything else's JSON.
    pub(crate) fn text(&self, place: &Place) -> Option<Cow<'_, str>> {
        let request = self.request;
        match place {
            Place::Body => Some(String::from_utf8_lossy(request.body)),
            Place::BodyPath(steps) => match self.in_body(steps)? {
                Value::Null => None,
                Value::String(text) => Some(Cow::Borrowed(text)),
                other => Some(Cow::Owned(other.to_string())),
            },
            Place::Cookie(name) => cookie(request, name).map(Cow::Borrowed),
            Place::Header(name) => request.header(name).map(String::from_utf8_lossy),
            Place::Method => Some(Cow::Borrowed(request.method)),
            Place::Path => Some(Cow::Borrowed(request.route())),
            Place::PathPart(name) => {
                self.pattern.parameter(name, request.route()).map(percent_decoded)
            }
            Place::Query => Some(Cow::Borrowed(request.query())),
            Place::QueryPart(name) => query(request.query(), name),
            Place::UnixMs => {
                let unix_ns = self.anchor.unix_ns_at(request.arrival_ns);
                Some(Cow::Owned((unix_ns / 1_000_000).to_string()))
            }
        }
    }

    fn in_body(&self, steps: &[PathStep]) -> Option<&Value> {
        let parsed = self.json.get_or_init(|| serde_json::from_slice(self.request.body).ok());
        steps.iter().try_fold(parsed.as_ref()?, |value, step| match step {
            PathStep::Name(name) => value.get(name),
            PathStep::Index(index) => value.get(index),
        })
    }
}

/// The first parameter of this name in a query, decoded.
pub(crate) fn query<'q>(query: &'q str, name: &str) -> Option<Cow<'q, str>> {
    if query.is_empty() {
        return None;
    }
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.find(|(known, _)| known == name).map(|(_, value)| value)
}

/// The first cookie of this name.
pub(crate) fn cookie<'r>(request: &Request<'r>, name: &str) -> Option<&'r str> {
    let headers = request.headers.iter().filter(|it| it.name.eq_ignore_ascii_case("cookie"));
    let texts = headers.filter_map(|header| std::str::from_utf8(header.value).ok());
    texts.flat_map(|text| text.split(';')).find_map(|pair| {
        let (known, value) = pair.trim().split_once('=')?;
        (known == name).then_some(value)
    })
}

/// `%20` is a space; what is no such code stays.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |place: usize| char::from(*bytes.get(place)?).to_digit(16);
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use httparse::Header;

    use super::*;

    #[test]
    fn every_place_of_a_request() {
        let headers = [
            Header { name: "X-Tenant", value: b"acme" },
            Header { name: "Cookie", value: b"a=1; session=s%201" },
        ];
        let request = Request {
            method: "POST",
            path: "/pay/a%20b%zz?page=2&q=x+y&page=3",
            headers: &headers,
            body: br#"{"amount": 5, "items": [{"id": "i1"}], "none": null}"#,
            arrival_ns: 2_000_000,
            connection: 0,
            version: 11,
            tls: None,
        };
        let pattern = Pattern::read("/pay/{id}").unwrap();
        let anchor = Anchor { monotonic_ns: 0, unix_ns: 5_000_000_000 };
        let values = Values::new(&request, &pattern, &anchor);
        let check = |name: &str, expected: Option<&str>| {
            let parts: Vec<&str> = name.split('.').collect();
            let found = values.text(&Place::of(&parts).unwrap());
            assert_eq!(found.as_deref(), expected, "{name}");
        };
        check("method", Some("POST"));
        check("path", Some("/pay/a%20b%zz"));
        check("path.id", Some("a b%zz"));
        check("path.other", None);
        check("query", Some("page=2&q=x+y&page=3"));
        check("query.page", Some("2"));
        check("query.q", Some("x y"));
        check("query.none", None);
        check("header.x-tenant", Some("acme"));
        check("cookie.session", Some("s%201"));
        check("cookie.b", None);
        check("body.amount", Some("5"));
        check("body.items.0.id", Some("i1"));
        check("body.items.1.id", None);
        check("body.none", None);
        check("unix_ms", Some("5002"));
        assert!(Place::of(&["status"]).is_err() && Place::of(&["header"]).is_err());
        assert!(Place::of(&["path", "a", "b"]).is_err());
    }
}
