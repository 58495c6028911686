//! Figures in words: durations, counts, rates and fractions with three significant digits and the
//! unit that fits, the same in every sentence and every table.

/// A duration in the unit that fits, three significant digits: `10.1 s`, `873 ms`, `44.2 µs`.
/// From two minutes on in minutes and seconds, from two hours on in hours and minutes.
pub fn duration(ns: f64) -> String {
    if !ns.is_finite() {
        return "–".to_owned();
    }
    let sign = if ns < 0.0 { "−" } else { "" };
    let size = ns.abs();
    if size >= 7_199.5e9 {
        let minutes = (size / 60e9).round() as u64;
        return format!("{sign}{} h {:02} min", minutes / 60, minutes % 60);
    }
    if size >= 119.95e9 {
        let seconds = (size / 1e9).round() as u64;
        return format!("{sign}{} min {:02} s", seconds / 60, seconds % 60);
    }
    // Rounding to three digits may carry into the next unit: 999.6 µs is 1.00 ms.
    for (unit_ns, unit) in [(1.0, "ns"), (1e3, "µs"), (1e6, "ms")] {
        if size < 999.5 * unit_ns {
            return format!("{sign}{} {unit}", significant(size / unit_ns, unit_ns == 1.0));
        }
    }
    format!("{sign}{} s", significant(size / 1e9, false))
}

/// A difference of two clocks: sign, milliseconds and thousandths of them, which three significant
/// digits would not do for: `+3,700.123 ms`.
pub fn offset(ns: i64) -> String {
    let sign = if ns < 0 { "−" } else { "+" };
    // Rounded to whole microseconds before it is taken apart: 999.9995 ms is 1,000.000.
    let us = (ns.unsigned_abs() + 500) / 1_000;
    format!("{sign}{}.{:03} ms", count(us / 1_000), us % 1_000)
}

/// A whole number with separated thousands: `6,000`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with three significant digits; thousands are separated: `12.3`, `1,230`, `0.0421`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    let size = value.abs();
    if size >= 999.5 {
        return format!("{sign}{}", count(size.round() as u64));
    }
    format!("{sign}{}", significant(size, size.fract() == 0.0))
}

/// A fraction as a percentage: `44 %`, `0.05 %`. Only exactly 0 and 1 print as such.
pub fn percent(fraction: f64) -> String {
    if !fraction.is_finite() {
        return "–".to_owned();
    }
    let percent = fraction * 100.0;
    if fraction == 0.0 || fraction == 1.0 {
        format!("{percent:.0} %")
    } else if percent.abs() < 0.005 {
        "< 0.01 %".to_owned()
    } else if percent.abs() < 1.0 || (99.0..100.0).contains(&percent) {
        // Never rounded up to a whole that it is not.
        format!("{:.2} %", (percent * 100.0).floor() / 100.0)
    } else if percent.abs() < 10.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// A quantile's name: `p50`, `p99.9`.
pub fn quantile(q: f64) -> String {
    // Whole millionths, so that 0.999 · 100 prints as 99.9.
    format!("p{}", (q * 1e6).round() / 1e4)
}

/// An amount of bytes in decimal units: `512 B`, `1.20 kB`, `34.5 MB`.
pub fn bytes(amount: f64) -> String {
    if !amount.is_finite() {
        return "–".to_owned();
    }
    for (unit_bytes, unit) in [(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")] {
        if amount < 999.5 * unit_bytes {
            return format!("{} {unit}", significant(amount / unit_bytes, unit_bytes == 1.0));
        }
    }
    format!("{} TB", significant(amount / 1e12, false))
}

/// A count with its noun: `1 journey`, `6,000 journeys`.
pub fn plural(n: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", count(n), if n == 1 { singular } else { plural })
}

/// Names or phrases as a list: `a`, `a and b`, `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Three significant digits of a value of 0 or more; whole values stay whole where asked for.
fn significant(value: f64, whole: bool) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if whole && value >= 1.0 {
        return format!("{value:.0}");
    }
    let magnitude = value.log10().floor() as i32;
    // 9.996 rounds to 10.0, not 10.00.
    let rounds_up = value >= 10f64.powi(magnitude + 1) - 0.5 * 10f64.powi(magnitude - 2);
    let decimals = (2 - magnitude - i32::from(rounds_up)).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_the_unit_that_fits() {
        for (ns, expected) in [
            (0.0, "0 ns"),
            (1.0, "1 ns"),
            (999.0, "999 ns"),
            (999.6, "1.00 µs"),
            (44_240.0, "44.2 µs"),
            (999_600.0, "1.00 ms"),
            (9_996_000.0, "10.0 ms"),
            (873e6, "873 ms"),
            (10.1e9, "10.1 s"),
            (30e9, "30.0 s"),
            (119.9e9, "120 s"),
            (125e9, "2 min 05 s"),
            (7_260e9, "2 h 01 min"),
            (-1.5e6, "−1.50 ms"),
            (f64::INFINITY, "–"),
        ] {
            assert_eq!(duration(ns), expected, "{ns} ns");
        }
    }

    #[test]
    fn offsets_have_microseconds_however_large() {
        for (ns, expected) in [
            (0, "+0.000 ms"),
            (3_700_123_456, "+3,700.123 ms"),
            (-1_499, "−0.001 ms"),
            (999_999_500, "+1,000.000 ms"),
            (i64::MIN, "−9,223,372,036,854.776 ms"),
        ] {
            assert_eq!(offset(ns), expected, "{ns}");
        }
    }

    #[test]
    fn counts_separate_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(6_000), "6,000");
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(number(12.345), "12.3");
        assert_eq!(number(1234.5), "1,235");
        assert_eq!(number(0.04213), "0.0421");
        assert_eq!(number(50.0), "50");
        assert_eq!(number(-0.5), "−0.500");
    }

    #[test]
    fn percentages_never_round_to_a_whole_they_are_not() {
        assert_eq!(percent(0.9999), "99.99 %");
        assert_eq!(percent(0.99999), "99.99 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.0005), "0.05 %");
        assert_eq!(percent(0.000_01), "< 0.01 %");
        assert_eq!(percent(0.436), "44 %");
        assert_eq!(percent(0.061), "6.1 %");
    }

    #[test]
    fn bytes_and_lists() {
        assert_eq!(quantile(0.5), "p50");
        assert_eq!(quantile(0.999), "p99.9");
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(1_200.0), "1.20 kB");
        assert_eq!(bytes(34.5e6), "34.5 MB");
        let items = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&items), "a, b and c");
        assert_eq!(plural(1, "journey", "journeys"), "1 journey");
    }
}
