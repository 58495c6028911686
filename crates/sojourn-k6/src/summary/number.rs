//! Numbers as k6's summaries write them: JavaScript's ways of writing them, and units upon those.

use super::options::TimeUnit;
use crate::metrics::Contains;
use crate::output::go_number;

/// A value with the unit of what the metric contains.
pub(super) fn value(value: f64, contains: Contains, unit: Option<TimeUnit>) -> String {
    match contains {
        Contains::Default => plain(value),
        Contains::Time => duration(value, unit),
        Contains::Data => bytes(value),
    }
}

/// Six digits after the point at most.
pub(super) fn plain(value: f64) -> String {
    without_zeros(&fixed(value, 6))
}

/// A share as a percentage, cut after two digits.
pub(super) fn percent(share: f64) -> String {
    format!("{}%", fixed((share * 100.0 * 100.0).trunc() / 100.0, 2))
}

/// A number of milliseconds: in the unit that was asked for, or in that which suits its size, cut
/// after two digits.
pub(super) fn duration(ms: f64, unit: Option<TimeUnit>) -> String {
    match unit {
        Some(TimeUnit::Seconds) => return format!("{}s", fixed(ms * 0.001, 2)),
        Some(TimeUnit::Milliseconds) => return format!("{}ms", fixed(ms, 2)),
        Some(TimeUnit::Microseconds) => return format!("{}µs", fixed(ms * 1000.0, 2)),
        None => {}
    }
    if ms == 0.0 {
        return "0s".to_owned();
    }
    if ms < 0.001 {
        return format!("{}ns", script((ms * 1_000_000.0).trunc()));
    }
    if ms < 1.0 {
        return format!("{}µs", cut(ms * 1000.0));
    }
    if ms < 1000.0 {
        return format!("{}ms", cut(ms));
    }
    let seconds = ms / 1000.0;
    if seconds < 60.0 {
        return format!("{}s", cut(seconds));
    }
    let rest = script((seconds % 60.0).trunc());
    let minutes = (seconds / 60.0).trunc();
    if minutes < 60.0 {
        return format!("{}m{rest}s", script(minutes));
    }
    let hours = (minutes / 60.0).trunc();
    format!("{}h{}m{rest}s", script(hours), script(minutes % 60.0))
}

/// A number of bytes, in powers of 1000.
pub(super) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    if bytes < 10.0 || !bytes.is_finite() {
        return format!("{} B", script(bytes));
    }
    let power = (bytes.ln() / 1000_f64.ln()).floor();
    let scaled = (bytes / 1000_f64.powf(power) * 10.0 + 0.5).floor() / 10.0;
    let digits = usize::from(scaled < 10.0);
    // The greatest f64 has 308 digits, which no sum of bytes reaches; it would be in YB.
    let unit = UNITS[(power as usize).min(UNITS.len() - 1)];
    format!("{} {unit}", fixed(scaled, digits))
}

/// As JavaScript's `toFixed`: nearest, upwards from the middle; beyond 1e21 as [`script`].
pub(super) fn fixed(value: f64, digits: usize) -> String {
    if !value.is_finite() || value.abs() >= 1e21 {
        return script(value);
    }
    // Beyond `digits` and 26 more there is nothing in a number that lies in the middle.
    let exact = format!("{value:.0$}", digits + 26);
    let (kept, rest) = exact.split_at(exact.len() - 26);
    let is_middle = rest.starts_with('5') && rest[1..].bytes().all(|byte| byte == b'0');
    let text = if is_middle { away_from_zero(kept) } else { format!("{value:.digits$}") };
    // JavaScript has a sign for negative numbers that round to zero, but not for -0.
    if value == 0.0 { text.trim_start_matches('-').to_owned() } else { text }
}

/// A decimal number with one more in its last place.
fn away_from_zero(text: &str) -> String {
    let mut out: Vec<u8> = text.trim_end_matches('.').bytes().collect();
    for byte in out.iter_mut().rev() {
        match byte {
            b'9' => *byte = b'0',
            b'0'..=b'8' => {
                *byte += 1;
                return out.into_iter().map(char::from).collect();
            }
            _ => {}
        }
    }
    let digits: String = out.into_iter().map(char::from).collect();
    match digits.strip_prefix('-') {
        Some(digits) => format!("-1{digits}"),
        None => format!("1{digits}"),
    }
}

/// As JavaScript makes text of a number.
pub(super) fn script(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let mut text = String::new();
    go_number::push_json(&mut text, value + 0.0);
    text
}

/// Cut after two digits, without zeros at the end.
fn cut(value: f64) -> String {
    without_zeros(&fixed((value * 100.0).trunc() / 100.0, 2))
}

/// What reading the number again and writing it anew comes to.
fn without_zeros(text: &str) -> String {
    text.parse().map_or_else(|_| text.to_owned(), script)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn to_fixed_rounds_the_middle_upwards() {
        for (value, digits, expected) in [
            (0.5, 0, "1"),
            (2.5, 0, "3"),
            (-2.5, 0, "-3"),
            (1.25, 1, "1.3"),
            (9.5, 0, "10"),
            (-99.5, 0, "-100"),
            (900_025_919_999_999.9, 2, "900025919999999.88"),
            (1.005, 2, "1.00"),
            (0.000_000_5, 6, "0.000000"),
            (1.5, 6, "1.500000"),
            (1e21, 2, "1e+21"),
            (-0.0, 2, "0.00"),
        ] {
            assert_eq!(fixed(value, digits), expected, "{value}");
        }
    }

    #[test]
    fn sizes_have_units() {
        for (value, expected) in [
            (0.0, "0 B"),
            (9.0, "9 B"),
            (10.0, "10 B"),
            (446.0, "446 B"),
            (4466.0, "4.5 kB"),
            (99_949.0, "100 kB"),
            (6_913_578.0, "6.9 MB"),
            (1.5e9, "1.5 GB"),
        ] {
            assert_eq!(bytes(value), expected);
        }
    }
    proptest! {
        #[test]
        fn to_fixed_is_the_nearest(value in -1e15..1e15_f64, digits in 0_usize..7) {
            let text = fixed(value, digits);
            prop_assert_eq!(text.split_once('.').map_or(0, |(_, part)| part.len()), digits);
            let off = (text.parse::<f64>().unwrap() - value).abs();
            let half = 0.5 * 10_f64.powi(-(digits as i32));
            prop_assert!(off <= half + value.abs() * f64::EPSILON, "{text} {off}");
        }

        #[test]
        fn any_number_has_a_text(number in any::<f64>()) {
            let units = [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds];
            for unit in units.map(Some).into_iter().chain([None]) {
                for contains in [Contains::Default, Contains::Time, Contains::Data] {
                    prop_assert!(!value(number, contains, unit).is_empty());
                }
            }
        }
    }
}
