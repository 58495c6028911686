//! The right-hand side of a threshold.

use super::{ThresholdError, subject::Unit};

/// A bound as written, before its unit is held against the subject's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound<'a> {
    number: f64,
    suffix: &'a str,
    /// Where it stands in the threshold.
    at: usize,
    length: usize,
}

/// Units of time, in nanoseconds.
const TIMES: &[(&str, f64)] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("min", 60e9),
    ("h", 3600e9),
];

/// Units of a rate, in seconds.
const RATES: &[(&str, f64)] =
    &[("", 1.0), ("/s", 1.0), ("/m", 60.0), ("/min", 60.0), ("/h", 3600.0)];

impl<'a> Bound<'a> {
    /// Reads a number and what follows it; `at` is where `text` stands in the threshold.
    pub(super) fn parse(text: &'a str, at: usize) -> Result<Self, ThresholdError> {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_');
        let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let number = digits.replace('_', "").parse::<f64>().ok();
        let Some(number) = number.filter(|number| number.is_finite()) else {
            return Err(ThresholdError {
                message: format!("`{text}` is not a number, a time or a percentage"),
                range: at..at + text.len(),
                hint: Some("write a bound such as `3`, `250ms`, `25s` or `0.1%`".into()),
            });
        };
        Ok(Self { number, suffix: suffix.trim(), at, length: text.len() })
    }

    /// Whether it is a percentage.
    pub(super) fn is_percentage(&self) -> bool {
        self.suffix == "%"
    }

    /// Its value in the unit of what it is compared with.
    pub(super) fn value(&self, unit: Unit) -> Result<f64, ThresholdError> {
        let Self { number, suffix, .. } = *self;
        let factor = |table: &[(&str, f64)]| {
            let row = table.iter().find(|&&(name, _)| name == suffix);
            row.map(|&(_, factor)| factor)
        };
        let value = match unit {
            Unit::Time if suffix.is_empty() && number == 0.0 => Some(0.0),
            Unit::Time => factor(TIMES).map(|factor| number * factor),
            Unit::Number => suffix.is_empty().then_some(number),
            Unit::Share if self.is_percentage() => Some(number / 100.0),
            Unit::Share => suffix.is_empty().then_some(number),
            Unit::PerSecond => factor(RATES).map(|seconds| number / seconds),
        };
        value.ok_or_else(|| self.mismatch(unit))
    }

    fn mismatch(&self, unit: Unit) -> ThresholdError {
        let Self { number, suffix, .. } = self;
        let (message, hint) = match unit {
            Unit::Time if suffix.is_empty() => (
                format!("`{number}` is compared with a time and has no unit"),
                format!("write `{number}ms` or `{number}s`"),
            ),
            Unit::Time => {
                (format!("`{suffix}` is not a unit of time"), "use ns, us, ms, s, min or h".into())
            }
            Unit::Number => (
                format!("this is compared with a plain number, not with `{suffix}`"),
                format!("write `{number}`"),
            ),
            Unit::Share => (
                format!("a share is compared with a percentage, not with `{suffix}`"),
                format!("write `{number}%`"),
            ),
            Unit::PerSecond => (
                format!("`{suffix}` is not a unit of a rate"),
                format!("write `{number}/s`, `{number}/min` or `{number}/h`"),
            ),
        };
        ThresholdError { message, range: self.at..self.at + self.length, hint: Some(hint) }
    }
}
