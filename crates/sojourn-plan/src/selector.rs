//! Pointing at a value in an answer or an event, and testing it.

/// Where a value is.
#[derive(Clone, Debug)]
pub enum Selector {
    /// HTTP status.
    Status,
    /// A header, by name.
    Header(String),
    /// A JSON path into the body: of an event, into the decoder's payload.
    Body(JsonPath),
    /// The whole body as text.
    Text,
    /// First match of a regular expression in the body; its first group, where it has one.
    Regex(regex::Regex),
    /// The broker's message key.
    MessageKey,
    /// Topic, subject or path.
    Topic,
    /// The event's type, as the design defines it.
    Type,
}

/// A compiled JSON path (RFC 9535). Plain dotted paths are walked without the general engine.
#[derive(Clone, Debug)]
pub struct JsonPath {
    /// As written.
    pub text: String,
    /// Names and indices, when the path is a plain one.
    pub plain: Option<Vec<PathStep>>,
    /// The general form.
    pub compiled: serde_json_path::JsonPath,
}

/// One step of a plain path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// Member of an object.
    Name(String),
    /// Element of an array.
    Index(usize),
}

impl JsonPath {
    /// The first value the path finds.
    pub fn find<'v>(&self, value: &'v serde_json::Value) -> Option<&'v serde_json::Value> {
        match &self.plain {
            Some(steps) => steps.iter().try_fold(value, |value, step| match step {
                PathStep::Name(name) => value.get(name),
                PathStep::Index(index) => value.get(index),
            }),
            None => self.compiled.query(value).first(),
        }
    }
}

/// A condition on a selected value.
#[derive(Clone, Debug)]
pub struct Check {
    /// As written, for reports.
    pub text: String,
    /// Of what.
    pub selector: Selector,
    /// Which condition.
    pub test: Test,
}

/// A condition. A value that is not there fails every test but `Absent`.
#[derive(Clone, Debug)]
pub enum Test {
    /// It is there and not null.
    Present,
    /// It is not there.
    Absent,
    /// Equal, as JSON; a number or boolean in text equals its JSON form.
    Equals(serde_json::Value),
    /// Not equal.
    Differs(serde_json::Value),
    /// One of these.
    OneOf(Vec<serde_json::Value>),
    /// Its text matches.
    Matches(regex::Regex),
    /// Its text contains.
    Contains(String),
    /// A number below, or equal where `or_equal`.
    Less {
        /// The bound.
        than: f64,
        /// Whether the bound itself passes.
        or_equal: bool,
    },
    /// A number above, or equal where `or_equal`.
    Greater {
        /// The bound.
        than: f64,
        /// Whether the bound itself passes.
        or_equal: bool,
    },
}

impl Test {
    /// Whether the value passes.
    pub fn holds(&self, _value: Option<&serde_json::Value>) -> bool {
        false
    }
}
