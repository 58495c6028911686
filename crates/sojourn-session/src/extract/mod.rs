//! Taking a value out of an answer: by JSON path, XPath, regular expression or header.

mod json_path;
mod markup;
mod xpath;

pub(crate) use json_path::json_text;

use crate::answer::Answer;
use json_path::JsonPath;
use markup::Markup;
use xpath::XPath;

/// Where a value is in an answer.
#[derive(Clone, Debug)]
pub enum Extractor {
    /// In a body that is JSON.
    JsonPath(JsonPathOf),
    /// In a body that is XML or HTML.
    XPath(XPathOf),
    /// In any body: the first group, or the whole match where there is none.
    Regexp(regex::bytes::Regex),
    /// The first header field of this name, whatever its letters' case.
    Header(String),
}

/// A JSON path, read: dots, `["any key"]`, `[0]`, `[?name==value]`.
#[derive(Clone, Debug)]
pub struct JsonPathOf(JsonPath);

/// An XPath, read: the subset that `docs/session-dsl.md` tells.
#[derive(Clone, Debug)]
pub struct XPathOf(XPath);

/// Most bytes of compiled regular expression.
const REGEXP_BYTES_MAX: usize = 1 << 20;

impl Extractor {
    /// Reads an expression of a kind: `jsonpath`, `xpath`, `regexp`, `header`. The error is a
    /// fragment that says what is wrong with the expression.
    pub fn parse(kind: &str, expression: &str) -> Result<Self, String> {
        match kind {
            "jsonpath" => JsonPath::parse(expression).map(|path| Self::JsonPath(JsonPathOf(path))),
            "xpath" => XPath::parse(expression).map(|path| Self::XPath(XPathOf(path))),
            "regexp" => regex::bytes::RegexBuilder::new(expression)
                .size_limit(REGEXP_BYTES_MAX)
                .build()
                .map(Self::Regexp)
                .map_err(|error| last_line(&error.to_string())),
            "header" => Ok(Self::Header(expression.to_owned())),
            other => Err(format!("there is no extraction `{other}`")),
        }
    }

    /// What journey files call it; `None` where they have nothing of its kind.
    pub(crate) fn selector(&self) -> Option<String> {
        match self {
            Self::JsonPath(path) => path.0.standard(),
            Self::XPath(_) => None,
            Self::Regexp(pattern) => Some(format!("regex:{}", pattern.as_str())),
            Self::Header(name) => Some(format!("header.{name}")),
        }
    }

    /// Whether the body is looked into.
    pub fn needs_body(&self) -> bool {
        !matches!(self, Self::Header(_))
    }
}

/// What a regular expression's error says at its end, without the drawing.
fn last_line(text: &str) -> String {
    let line = text.lines().next_back().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// An answer that is looked into, perhaps several times.
pub(crate) struct Looked<'a> {
    answer: Answer<'a>,
    /// Its markup, once that was asked for.
    markup: Option<Markup<'a>>,
}

impl<'a> Looked<'a> {
    pub(crate) fn new(answer: Answer<'a>) -> Self {
        Self { answer, markup: None }
    }

    /// The value as text, if there is one.
    pub(crate) fn find(&mut self, extractor: &Extractor) -> Option<String> {
        match extractor {
            Extractor::JsonPath(path) => path.0.find(self.answer.body),
            Extractor::XPath(path) => {
                let text = std::str::from_utf8(self.answer.body).ok()?;
                let answer = self.answer;
                let read = || Markup::read(text, answer.header("content-type"));
                path.0.find(self.markup.get_or_insert_with(read))
            }
            Extractor::Regexp(pattern) => {
                let found = pattern.captures(self.answer.body)?;
                let bytes = match pattern.captures_len() {
                    1 => found.get(0)?,
                    _ => found.get(1)?,
                };
                Some(String::from_utf8_lossy(bytes.as_bytes()).into_owned())
            }
            Extractor::Header(name) => self.answer.header(name).map(str::to_owned),
        }
    }
}
