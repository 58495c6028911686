//! Durations, rates, sizes and fractions as people write them.

/// The longest duration a plan may name: a year. Longer ones are slips, and sums stay within `u64`.
const DURATION_MAX_S: f64 = 366.0 * 86_400.0;

/// The highest rate a plan may name, arrivals per second.
const RATE_MAX_PER_S: f64 = 1e9;

/// `5s`, `1m30s`, `500ms`, `1.5h` in nanoseconds. Err: what is wrong.
pub fn duration_ns(text: &str) -> Result<u64, String> {
    let text = text.trim();
    if text == "0" {
        return Ok(0);
    }
    let mut total_ns: u128 = 0;
    let mut rest = text;
    if rest.is_empty() {
        return Err("an empty duration".to_owned());
    }
    while !rest.is_empty() {
        let (number, unit, after) =
            number_and_unit(rest).ok_or_else(|| format!("`{text}` is not a duration"))?;
        let unit_ns = unit_ns(unit).ok_or_else(|| match unit {
            "" => format!("`{text}` has no unit"),
            unit => format!("`{unit}` is not a unit of time"),
        })?;
        // Whole numbers exactly; fractions of a unit to the nearest nanosecond.
        let part_ns = match number.parse::<u64>() {
            Ok(whole) => u128::from(whole) * u128::from(unit_ns),
            Err(_) => {
                let value: f64 =
                    number.parse().map_err(|_| format!("`{text}` is not a duration"))?;
                (value * unit_ns as f64).round() as u128
            }
        };
        total_ns = total_ns.saturating_add(part_ns);
        rest = after;
    }
    if total_ns as f64 / 1e9 > DURATION_MAX_S {
        return Err(format!("`{text}` is longer than a year"));
    }
    u64::try_from(total_ns).map_err(|_| format!("`{text}` is longer than a year"))
}

/// `50/s`, `90/min`, `12/h`, `3/10s` in arrivals per second. Err: what is wrong.
pub fn rate_per_s(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let Some((count, per)) = text.split_once('/') else {
        return Err(match text.parse::<f64>() {
            Ok(_) => format!("`{text}` does not say per what"),
            Err(_) => format!("`{text}` is not a rate"),
        });
    };
    let count: f64 = match plain_number(count.trim()) {
        Some(count) => count,
        None => return Err(format!("`{text}` is not a rate")),
    };
    let per = per.trim();
    let per_ns = match unit_ns(per) {
        Some(ns) => ns,
        None => duration_ns(per).map_err(|_| format!("`{per}` is not a unit of time"))?,
    };
    if per_ns == 0 {
        return Err(format!("`{text}` is a rate per nothing"));
    }
    let rate = count * 1e9 / per_ns as f64;
    if rate > RATE_MAX_PER_S {
        return Err(format!("`{text}` is more than 1,000,000,000 a second"));
    }
    Ok(rate)
}

/// `0.1%` or `0.001` as a fraction between 0 and 1. Err: what is wrong.
pub fn fraction(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let value = match text.strip_suffix('%') {
        Some(percent) => plain_number(percent.trim()).map(|percent| percent / 100.0),
        None => plain_number(text),
    };
    match value {
        Some(value) if value <= 1.0 => Ok(value),
        Some(_) => Err(format!("`{text}` is more than the whole")),
        None => Err(format!("`{text}` is not a fraction")),
    }
}

/// `10MB`, `64KiB` or a plain number, in bytes. Err: what is wrong.
pub fn bytes(text: &str) -> Result<usize, String> {
    let wrong = || format!("`{text}` is not a size");
    let (number, unit, rest) = number_and_unit(text.trim()).ok_or_else(wrong)?;
    let scale: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" | "k" => 1_000,
        "mb" | "m" => 1_000_000,
        "gb" | "g" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err(wrong()),
    };
    let size = plain_number(number).ok_or_else(wrong)? * scale as f64;
    if !rest.is_empty() {
        return Err(wrong());
    }
    if size > u32::MAX as f64 {
        return Err(format!("`{text}` is more than 4 GiB"));
    }
    Ok(size as usize)
}

/// A number of nanoseconds in the shortest form that keeps it exact, for messages and reports.
pub fn show_ns(ns: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    if ns == 0 {
        return "0s".to_owned();
    }
    let mut out = String::new();
    let mut rest = ns;
    for (unit, name) in UNITS {
        if rest >= unit {
            out.push_str(&format!("{}{name}", rest / unit));
            rest %= unit;
        }
    }
    out
}

/// A rate in the unit that reads best.
pub fn show_rate(per_s: f64) -> String {
    let shown = |value: f64, unit: &str| format!("{}/{unit}", (value * 1e6).round() / 1e6);
    if per_s == 0.0 || per_s >= 0.1 {
        shown(per_s, "s")
    } else if per_s * 60.0 >= 0.1 {
        shown(per_s * 60.0, "min")
    } else {
        shown(per_s * 3600.0, "h")
    }
}

/// Digits and a point, then letters, then what is left.
fn number_and_unit(text: &str) -> Option<(&str, &str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(letters);
    plain_number(number)?;
    Some((number, unit, rest))
}

/// A number of digits and at most one point: no sign, no exponent, no `inf`.
fn plain_number(text: &str) -> Option<f64> {
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || c == '.')
        && text.contains(|c: char| c.is_ascii_digit());
    let number: f64 = is_plain.then(|| text.parse().ok())??;
    number.is_finite().then_some(number)
}

pub(crate) fn unit_ns(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, ns) in [
            ("5s", 5_000_000_000),
            ("1m30s", 90_000_000_000),
            ("500ms", 500_000_000),
            ("1.5h", 5_400_000_000_000),
            ("0.5us", 500),
            ("7ns", 7),
            ("2min", 120_000_000_000),
            ("1d", 86_400_000_000_000),
            ("0", 0),
            ("0s", 0),
            ("250µs", 250_000),
        ] {
            assert_eq!(duration_ns(text), Ok(ns), "{text}");
        }
        for (text, wrong) in [
            ("5", "`5` has no unit"),
            ("", "an empty duration"),
            ("s", "`s` is not a duration"),
            ("-5s", "`-5s` is not a duration"),
            ("1e3s", "`e` is not a unit of time"),
            ("5 s", "`5 s` has no unit"),
            ("5x", "`x` is not a unit of time"),
            ("9999d", "`9999d` is longer than a year"),
            ("99999999999999999999999s", "`99999999999999999999999s` is longer than a year"),
            ("1..5s", "`1..5s` is not a duration"),
        ] {
            assert_eq!(duration_ns(text), Err(wrong.to_owned()), "{text}");
        }
    }

    #[test]
    fn rates() {
        for (text, per_s) in [
            ("50/s", 50.0),
            ("0.5/s", 0.5),
            ("90/min", 1.5),
            ("12/h", 12.0 / 3600.0),
            ("3/10s", 0.3),
            ("1/ms", 1000.0),
            ("0/s", 0.0),
            ("5 / s", 5.0),
        ] {
            assert_eq!(rate_per_s(text), Ok(per_s), "{text}");
        }
        for (text, wrong) in [
            ("50", "`50` does not say per what"),
            ("fast", "`fast` is not a rate"),
            ("-1/s", "`-1/s` is not a rate"),
            ("inf/s", "`inf/s` is not a rate"),
            ("5/fortnight", "`fortnight` is not a unit of time"),
            ("5/0s", "`5/0s` is a rate per nothing"),
            ("5/ns", "`5/ns` is more than 1,000,000,000 a second"),
        ] {
            assert_eq!(rate_per_s(text), Err(wrong.to_owned()), "{text}");
        }
    }

    #[test]
    fn fractions_and_sizes() {
        assert_eq!(fraction("0.1%"), Ok(0.001));
        assert_eq!(fraction("0.995"), Ok(0.995));
        assert!(fraction("101%").is_err());
        assert!(fraction("-1%").is_err());
        assert_eq!(bytes("10MB"), Ok(10_000_000));
        assert_eq!(bytes("64KiB"), Ok(65_536));
        assert_eq!(bytes("512"), Ok(512));
        assert!(bytes("10 parsecs").is_err());
        assert!(bytes("99GB").is_err());
    }

    #[test]
    fn shown_as_written() {
        assert_eq!(show_ns(90_000_000_000), "1m30s");
        assert_eq!(show_ns(1_500_000), "1ms500us");
        assert_eq!(show_ns(0), "0s");
        assert_eq!(show_rate(50.0), "50/s");
        assert_eq!(show_rate(1.5 / 60.0), "1.5/min");
        assert_eq!(show_rate(0.0), "0/s");
    }
}
