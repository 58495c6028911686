//! Durations as Go prints and reads them: `1h2m3.5s`, `300ms`, `1.5µs`.

const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Prints nanoseconds, exactly.
#[must_use]
pub fn print(ns: i64) -> String {
    let size = ns.unsigned_abs();
    let sign = if ns < 0 { "-" } else { "" };
    let text = match size {
        0 => return "0s".to_owned(),
        1..1_000 => format!("{size}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(size, 3)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(size, 6)),
        _ => {
            let (minutes, rest) = (size / 60_000_000_000, size % 60_000_000_000);
            let seconds = decimal(rest, 9);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    };
    format!("{sign}{text}")
}

/// Prints nanoseconds with three digits after the point, or whole seconds from a minute on, or
/// whole minutes from an hour on; halves are rounded up. What is negative is exact.
#[must_use]
pub fn print_rounded(ns: i64) -> String {
    let unit = match ns {
        3_600_000_000_000.. => 60_000_000_000,
        60_000_000_000.. => 1_000_000_000,
        1_000_000_000.. => 1_000_000,
        1_000_000.. => 1_000,
        _ => 1,
    };
    let (whole, rest) = (ns - ns % unit, ns % unit);
    print(if rest < unit - rest { whole } else { whole.saturating_add(unit) })
}

/// Reads a duration: numbers with units, one after the other, or a bare 0. Errs in words.
pub fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    // In 128 bits nothing of what a person types overflows before it is refused.
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after, |c| !c.is_ascii_digit() && c != '.');
        if number.is_empty() || number == "." {
            return Err(invalid());
        }
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {text:?}"));
        }
        let scaled = unit_ns(unit).map(|unit_ns| scale(number, unit_ns));
        let scaled =
            scaled.ok_or_else(|| format!("time: unknown unit {unit:?} in duration {text:?}"))?;
        total += scaled.ok_or_else(invalid)?;
        if total > 1 << 63 {
            return Err(invalid());
        }
        rest = after;
    }
    i64::try_from(if is_negative { -total } else { total }).map_err(|_| invalid())
}

fn unit_ns(unit: &str) -> Option<i64> {
    UNITS.iter().find_map(|(name, ns)| (*name == unit).then_some(*ns))
}

/// So many units; `None` when it is no number or too large. Digits below a nanosecond are cut.
fn scale(number: &str, unit_ns: i64) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || whole.len() > 30 {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let digits = &fraction[..fraction.len().min(18)];
    let part: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let below = part * i128::from(unit_ns) / 10i128.pow(u32::try_from(digits.len()).ok()?);
    whole.checked_mul(i128::from(unit_ns))?.checked_add(below).filter(|ns| *ns <= 1 << 63)
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// A number of the smallest units with the point `places` from the right, without trailing zeros.
fn decimal(value: u64, places: u32) -> String {
    let scale = 10u64.pow(places);
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = format!("{rest:0width$}", width = places as usize);
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_print_as_go_prints_them() {
        for (ns, exact, rounded) in [
            (0, "0s", "0s"),
            (1, "1ns", "1ns"),
            (999, "999ns", "999ns"),
            (1_000, "1µs", "1µs"),
            (449_276, "449.276µs", "449.276µs"),
            (999_999, "999.999µs", "999.999µs"),
            (1_000_499, "1.000499ms", "1ms"),
            (1_000_500, "1.0005ms", "1.001ms"),
            (217_336_999, "217.336999ms", "217.337ms"),
            (999_999_500, "999.9995ms", "1s"),
            (2_000_000_000, "2s", "2s"),
            (59_977_500_000, "59.9775s", "59.978s"),
            (59_999_500_000, "59.9995s", "1m0s"),
            (60_000_000_000, "1m0s", "1m0s"),
            (90_499_999_999, "1m30.499999999s", "1m30s"),
            (90_500_000_000, "1m30.5s", "1m31s"),
            (3_599_500_000_000, "59m59.5s", "1h0m0s"),
            (9_999_000_000_000, "2h46m39s", "2h47m0s"),
            (i64::MAX, "2562047h47m16.854775807s", "2562047h47m0s"),
            (-1_500, "-1.5µs", "-1.5µs"),
            (i64::MIN, "-2562047h47m16.854775808s", "-2562047h47m16.854775808s"),
        ] {
            assert_eq!((print(ns).as_str(), print_rounded(ns).as_str()), (exact, rounded));
        }
    }

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, ns) in [
            ("0", 0),
            ("0s", 0),
            ("-0", 0),
            ("300ms", 300_000_000),
            ("1.5h", 5_400_000_000_000),
            ("2h45m", 9_900_000_000_000),
            ("+1us", 1_000),
            ("1µs", 1_000),
            ("1μs", 1_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("-1m1ns", -60_000_000_001),
            ("0.9999999999999999999999999s", 999_999_999),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ] {
            assert_eq!(parse(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_in_gos_words() {
        for (text, expected) in [
            ("", "time: invalid duration \"\""),
            ("x", "time: invalid duration \"x\""),
            ("-", "time: invalid duration \"-\""),
            (".s", "time: invalid duration \".s\""),
            ("5", "time: missing unit in duration \"5\""),
            ("5 ms", "time: unknown unit \" ms\" in duration \"5 ms\""),
            ("1d", "time: unknown unit \"d\" in duration \"1d\""),
            ("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""),
            ("9999999h", "time: invalid duration \"9999999h\""),
        ] {
            assert_eq!(parse(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let mut value = 1u64;
        for _ in 0..2_000 {
            value = value
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let ns = (value as i64) >> (value % 60);
            assert_eq!(parse(&print(ns)), Ok(ns));
        }
    }
}
