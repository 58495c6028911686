//! Numbers with units, as the command line takes them and the output shows them.

/// `1k`, `1M`, `1G`, either case: a whole number.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a number such as 100 or 10k");
    let (digits, scale) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| digits.parse::<u64>().ok()).flatten();
    number.and_then(|number| number.checked_mul(scale)).ok_or_else(wrong)
}

/// Seconds, or `2s`, `2m`, `2h`, or finer: `500ms`, `1m30s`. Nanoseconds, not zero.
pub(crate) fn duration_ns(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a time such as 30, 30s, 2m or 500ms");
    let is_bare = text.bytes().all(|byte| byte.is_ascii_digit());
    let lower = text.to_ascii_lowercase();
    let duration = if is_bare { format!("{text}s") } else { lower };
    sojourn_plan::duration_ns(&duration).ok().filter(|ns| *ns > 0).ok_or_else(wrong)
}

/// Units of one kind: the first one's name, then how many of each make one of the next.
struct Scale {
    base: &'static str,
    steps: &'static [(f64, &'static str)],
}

/// The share of the next unit from which on that one is used: 870 µs are 0.87 ms.
const NEXT_FROM: f64 = 0.85;

impl Scale {
    fn fit(&self, amount: f64) -> (f64, &'static str) {
        let mut fitted = (amount, self.base);
        for (size, unit) in self.steps {
            if fitted.0 < size * NEXT_FROM {
                break;
            }
            fitted = (fitted.0 / size, unit);
        }
        fitted
    }
}

const TIME: Scale =
    Scale { base: "us", steps: &[(1e3, "ms"), (1e3, "s"), (60.0, "m"), (60.0, "h")] };
const METRIC: Scale = Scale { base: "", steps: &[(1e3, "k"), (1e3, "M"), (1e3, "G"), (1e3, "T")] };
const BINARY: Scale = Scale {
    base: "B",
    steps: &[(1024.0, "KB"), (1024.0, "MB"), (1024.0, "GB"), (1024.0, "TB"), (1024.0, "PB")],
};

/// A time given in nanoseconds: (number, unit).
pub(crate) fn time(ns: f64) -> (f64, &'static str) {
    TIME.fit(ns / 1e3)
}

/// A plain number in thousands: (number, unit).
pub(crate) fn metric(amount: f64) -> (f64, &'static str) {
    METRIC.fit(amount)
}

/// Bytes in powers of 1024: (number, unit).
pub(crate) fn bytes(amount: f64) -> (f64, &'static str) {
    BINARY.fit(amount)
}

/// A number with its unit: `1.09ms`.
pub(crate) fn shown((number, unit): (f64, &str)) -> String {
    format!("{number:.2}{unit}")
}

/// A planned length in its greatest whole unit: `30s`, `90s`, `2m`.
pub(crate) fn whole_time(ns: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    let fits = |(size, _): &&(u64, &str)| ns >= *size && ns.is_multiple_of(*size);
    let (size, unit) = UNITS.iter().find(fits).unwrap_or(&(1, "ns"));
    format!("{}{unit}", ns / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times_are_read() {
        for (text, number) in
            [("0", 0), ("12", 12), ("1k", 1_000), ("2M", 2_000_000), ("3g", 3_000_000_000)]
        {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in ["", "k", "-1", "1.5k", "1kk", "1 k", "99999999999999999999", "9999999999999G"]
        {
            assert!(count(text).unwrap_err().contains(text), "{text}");
        }
        for (text, ns) in [
            ("2", 2_000_000_000),
            ("2s", 2_000_000_000),
            ("2M", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("500ms", 500_000_000),
            ("1m30s", 90_000_000_000),
        ] {
            assert_eq!(duration_ns(text), Ok(ns), "{text}");
        }
        for text in ["", "0", "0s", "s", "-1", "1x", "ten", "99999999999999999999"] {
            assert!(duration_ns(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_shown_in_the_unit_that_fits() {
        for (ns, text) in [
            (0.0, "0.00us"),
            (250e3, "250.00us"),
            (849.9e3, "849.90us"),
            (870e3, "0.87ms"),
            (5.8e6, "5.80ms"),
            (1.2e9, "1.20s"),
            (50e9, "50.00s"),
            (90e9, "1.50m"),
            (5400e9, "1.50h"),
        ] {
            assert_eq!(shown(time(ns)), text, "{ns}");
        }
    }

    #[test]
    fn sizes_and_numbers_are_shown_likewise() {
        assert_eq!(shown(metric(739.0)), "739.00");
        assert_eq!(shown(metric(850.0)), "0.85k");
        assert_eq!(shown(metric(56_200.0)), "56.20k");
        assert_eq!(shown(bytes(736.0)), "736.00B");
        assert_eq!(shown(bytes(17.92 * 1024.0 * 1024.0)), "17.92MB");
        assert_eq!(shown(bytes(606.33 * 1024.0 * 1024.0)), "606.33MB");
    }

    #[test]
    fn planned_lengths_are_exact() {
        for (ns, text) in [
            (30_000_000_000, "30s"),
            (90_000_000_000, "90s"),
            (120_000_000_000, "2m"),
            (7_200_000_000_000, "2h"),
            (500_000_000, "500ms"),
        ] {
            assert_eq!(whole_time(ns), text);
        }
    }
}
