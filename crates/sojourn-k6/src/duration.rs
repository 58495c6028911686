//! Durations as Go and k6 read and write them: `1m30.5s`, `1d12h`, `250` (milliseconds).

use std::fmt;

/// A duration in nanoseconds; negative ones can be written, and are refused where they make no
/// sense. Shown as Go shows it: `1m0.5s`, `300ms`, `0s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub i64);

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Not of the form number, unit, number, unit …
    #[error("`{0}` is no duration such as 30s, 1m30s or 1d12h")]
    Form(String),
    /// A number without a unit, where one must be.
    #[error("`{0}` has no unit: write {0}s for seconds, {0}ms for milliseconds")]
    NoUnit(String),
    /// More than some 292 years.
    #[error("`{0}` is too long a duration")]
    TooLong(String),
}

const NS_PER_MS: f64 = 1e6;
const NS_PER_DAY: i64 = 86_400_000_000_000;

impl Nanos {
    /// From seconds.
    pub const fn from_s(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// The length without a sign: what is negative counts as none.
    pub fn ns(self) -> u64 {
        u64::try_from(self.0).unwrap_or(0)
    }

    /// What k6 accepts in options: Go's form, days before it, or a bare number of milliseconds.
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        match text.parse::<f64>() {
            Ok(ms) if is_plain_number(text) => {
                Self::from_ms(ms).ok_or_else(|| DurationError::TooLong(text.to_owned()))
            }
            _ => Self::parse_units(text),
        }
    }

    /// What k6 accepts in flags: Go's form; neither days nor a bare number, unless zero.
    pub fn parse_go(text: &str) -> Result<Self, DurationError> {
        parse_go(text)
    }

    /// Go's form, days before it.
    fn parse_units(text: &str) -> Result<Self, DurationError> {
        let Some((days, rest)) = text.split_once('d') else { return parse_go(text) };
        let too_long = || DurationError::TooLong(text.to_owned());
        let days_ns = days
            .parse::<i64>()
            .map_err(|_| DurationError::Form(text.to_owned()))?
            .checked_mul(NS_PER_DAY)
            .ok_or_else(too_long)?;
        if rest.is_empty() {
            return Ok(Self(days_ns));
        }
        if rest.starts_with(['+', '-']) {
            return Err(DurationError::Form(text.to_owned()));
        }
        let rest_ns = parse_go(rest).map_err(|_| DurationError::Form(text.to_owned()))?.0;
        let rest_ns = if days.starts_with('-') { -rest_ns } else { rest_ns };
        days_ns.checked_add(rest_ns).map(Self).ok_or_else(too_long)
    }

    /// From milliseconds; `None` when that is no number or too long.
    pub fn from_ms(ms: f64) -> Option<Self> {
        let ns = ms * NS_PER_MS;
        // The bounds are powers of two: both are exact.
        (ns.is_finite() && ns < i64::MAX as f64 && ns > i64::MIN as f64).then_some(Self(ns as i64))
    }
}

/// Digits, one point, one sign, an exponent: what Rust calls a number, without its words
/// (`inf`, `nan`).
fn is_plain_number(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

/// Go's own form: a sign, then number and unit, once or more; `0` alone.
fn parse_go(text: &str) -> Result<Nanos, DurationError> {
    let form = || DurationError::Form(text.to_owned());
    let too_long = || DurationError::TooLong(text.to_owned());
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(Nanos(0));
    }
    if rest.is_empty() {
        return Err(form());
    }
    let mut total_ns = 0_i128;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(end);
        let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        if unit.is_empty() && !number.is_empty() {
            return Err(DurationError::NoUnit(number.to_owned()));
        }
        let unit_ns = unit_ns(unit).ok_or_else(form)?;
        total_ns += times_unit(number, unit_ns).ok_or_else(form)?;
        if total_ns > i128::from(i64::MAX) {
            return Err(too_long());
        }
        rest = tail;
    }
    let signed = if negative { -total_ns } else { total_ns };
    i64::try_from(signed).map(Nanos).map_err(|_| too_long())
}

fn unit_ns(unit: &str) -> Option<i64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `number` (digits with at most one point) of a unit, fractions of a nanosecond cut off.
fn times_unit(number: &str, unit_ns: i64) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()? };
    // Nineteen digits are more than a nanosecond of an hour needs.
    let digits = &fraction[..fraction.len().min(18)];
    let scale = 10_i128.pow(u32::try_from(digits.len()).ok()?);
    let part = if digits.is_empty() { 0 } else { digits.parse::<i128>().ok()? };
    Some(i128::from(whole) * i128::from(unit_ns) + part * i128::from(unit_ns) / scale)
}

impl fmt::Display for Nanos {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.unsigned_abs();
        if self.0 < 0 {
            formatter.write_str("-")?;
        }
        match ns {
            0 => formatter.write_str("0s"),
            1..1_000 => write!(formatter, "{ns}ns"),
            1_000..1_000_000 => write!(formatter, "{}µs", decimal(ns, 1_000)),
            1_000_000..1_000_000_000 => write!(formatter, "{}ms", decimal(ns, 1_000_000)),
            _ => {
                let minutes = ns / 60_000_000_000;
                let seconds = decimal(ns % 60_000_000_000, 1_000_000_000);
                match (minutes / 60, minutes % 60) {
                    (0, 0) => write!(formatter, "{seconds}s"),
                    (0, minutes) => write!(formatter, "{minutes}m{seconds}s"),
                    (hours, minutes) => write!(formatter, "{hours}h{minutes}m{seconds}s"),
                }
            }
        }
    }
}

/// `ns` in units of `unit_ns` (a power of ten), without trailing zeros.
fn decimal(ns: u64, unit_ns: u64) -> String {
    let (whole, rest) = (ns / unit_ns, ns % unit_ns);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = unit_ns.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shown_as_go_shows_them() {
        for (ns, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (3_300_000_000, "3.3s"),
            (245_000_000_000, "4m5s"),
            (245_001_000_000, "4m5.001s"),
            (18_367_001_000_000, "5h6m7.001s"),
            (480_000_000_001, "8m0.000000001s"),
            (-1_500_000_000, "-1.5s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(Nanos(ns).to_string(), text);
        }
    }

    #[test]
    fn read_as_k6_reads_them() {
        for (text, ns) in [
            ("0", 0),
            ("250", 250_000_000),
            ("1.5", 1_500_000),
            ("30s", 30_000_000_000),
            ("1h2m3.5s", 3_723_500_000_000),
            (".5s", 500_000_000),
            ("1d", NS_PER_DAY),
            ("1d12h", NS_PER_DAY + NS_PER_DAY / 2),
            ("-1d12h", -NS_PER_DAY - NS_PER_DAY / 2),
            ("-1.5h", -5_400_000_000_000),
            ("3µs", 3_000),
        ] {
            assert_eq!(Nanos::parse(text), Ok(Nanos(ns)), "{text}");
        }
        for text in ["", "s", "1x", "1d-12h", "12h1d", "1.5d", ".s", "1..5s", "inf", "9999999h"] {
            assert!(Nanos::parse(text).is_err(), "{text}");
        }
        assert_eq!(Nanos::parse_go("10"), Err(DurationError::NoUnit("10".to_owned())));
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(ns in any::<i64>()) {
            // The least number has no positive twin; Go reads it, nobody writes it.
            prop_assume!(ns != i64::MIN);
            prop_assert_eq!(Nanos::parse(&Nanos(ns).to_string()), Ok(Nanos(ns)));
        }

        #[test]
        fn no_text_panics(text in "[-+0-9.dhmsnuµ]{0,12}|.{0,12}") {
            drop(Nanos::parse(&text));
        }
    }
}
