//! Pointing at a value in an answer or an event, and testing it.

use std::borrow::Cow;

use serde_json::{Number, Value};

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
    pub fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
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
    Equals(Value),
    /// Not equal.
    Differs(Value),
    /// One of these.
    OneOf(Vec<Value>),
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
    /// Whether the value passes. `null` counts as not there for `Present` and `Absent`.
    pub fn holds(&self, value: Option<&Value>) -> bool {
        if matches!(self, Self::Absent) {
            return value.is_none_or(Value::is_null);
        }
        let Some(value) = value else {
            return false;
        };
        match self {
            Self::Absent => false,
            Self::Present => !value.is_null(),
            Self::Equals(expected) => equal(value, expected),
            Self::Differs(expected) => !equal(value, expected),
            Self::OneOf(choices) => choices.iter().any(|choice| equal(value, choice)),
            Self::Matches(regex) => regex.is_match(&text_of(value)),
            Self::Contains(part) => text_of(value).contains(part.as_str()),
            Self::Less { than, or_equal } => number_of(value)
                .is_some_and(|number| number < *than || (*or_equal && number == *than)),
            Self::Greater { than, or_equal } => number_of(value)
                .is_some_and(|number| number > *than || (*or_equal && number == *than)),
        }
    }
}

/// Equality as JSON, but `"200"` equals 200 and `"true"` equals true: headers have only text.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => equal_numbers(a, b),
        (Value::String(text), Value::Number(number))
        | (Value::Number(number), Value::String(text)) => match text.trim().parse::<Number>() {
            Ok(parsed) => equal_numbers(&parsed, number),
            Err(_) => false,
        },
        (Value::String(text), Value::Bool(flag)) | (Value::Bool(flag), Value::String(text)) => {
            text == if *flag { "true" } else { "false" }
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        _ => left == right,
    }
}

/// Whole numbers exactly, others as floating point.
fn equal_numbers(a: &Number, b: &Number) -> bool {
    match a.is_f64() || b.is_f64() {
        true => a.as_f64() == b.as_f64(),
        false => a == b,
    }
}

/// A string's own text, anything else's JSON.
fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(test: &Test, passing: &[Value], failing: &[Value]) {
        for value in passing {
            assert!(test.holds(Some(value)), "{test:?} should hold for {value}");
        }
        for value in failing {
            assert!(!test.holds(Some(value)), "{test:?} should not hold for {value}");
        }
    }

    #[test]
    fn equality_crosses_text_and_numbers() {
        check(
            &Test::Equals(json!(200)),
            &[json!(200), json!("200"), json!(200.0), json!("2e2")],
            &[json!(201), json!("x"), json!(null), json!([200])],
        );
        check(&Test::Equals(json!("200")), &[json!(200), json!("200")], &[json!("200 ")]);
        check(&Test::Equals(json!(true)), &[json!(true), json!("true")], &[json!("yes"), json!(1)]);
        check(&Test::Equals(json!(86.1)), &[json!(86.10)], &[json!(86.11)]);
        check(&Test::Equals(json!(null)), &[json!(null)], &[json!("null"), json!(0)]);
        check(
            &Test::OneOf(vec![json!("GBP"), json!(5)]),
            &[json!("GBP"), json!("5")],
            &[json!("EUR")],
        );
        // Beyond 2^53 whole numbers are compared exactly.
        let id = u64::MAX;
        check(&Test::Equals(json!(id)), &[json!(id), json!(id.to_string())], &[json!(id - 1)]);
    }

    #[test]
    fn text_and_bounds() {
        let regex = regex::Regex::new("^2[0-9]{2}$").unwrap();
        check(&Test::Matches(regex), &[json!(204), json!("200")], &[json!(304)]);
        check(&Test::Contains("b\":1".into()), &[json!({"b": 1})], &[json!({"b": 2})]);
        let less = |or_equal| Test::Less { than: 5.0, or_equal };
        check(&less(false), &[json!(4.9), json!("4")], &[json!(5), json!("x"), json!(null)]);
        check(&less(true), &[json!(5)], &[json!(5.1), json!("NaN"), json!("-inf")]);
        let greater = |or_equal| Test::Greater { than: 5.0, or_equal };
        check(&greater(false), &[json!(6)], &[json!(5)]);
        check(&greater(true), &[json!(5)], &[json!(4), json!(true)]);
    }

    #[test]
    fn a_missing_value_passes_only_absent() {
        for test in [
            Test::Present,
            Test::Equals(json!(null)),
            Test::Differs(json!(1)),
            Test::OneOf(vec![json!(1)]),
            Test::Contains(String::new()),
            Test::Less { than: 1.0, or_equal: true },
        ] {
            assert!(!test.holds(None), "{test:?}");
        }
        assert!(Test::Absent.holds(None));
        check(&Test::Absent, &[json!(null)], &[json!(0), json!("")]);
        check(&Test::Present, &[json!(0), json!("")], &[json!(null)]);
        check(&Test::Differs(json!(1)), &[json!(2), json!(null)], &[json!("1")]);
    }
}
