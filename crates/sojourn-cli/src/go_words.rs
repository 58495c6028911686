//! Values as Go's flags have them: durations and sizes.

/// How much of a body is kept, bytes; `None`: all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyLimit(pub(crate) Option<usize>);

/// `300ms`, `1.5h`, `2h45m`, `0`; nanoseconds.
pub(crate) fn duration(text: &str) -> Result<u64, String> {
    sojourn_plan::duration_ns(text)
        .map_err(|why| format!("{why}; write a number and a unit, such as 300ms or 1m30s"))
}

/// `-1`, or a size in powers of 1024: `10 MB`, `10240 g`, `1tB`, `5 peta`, `28 kilobytes`.
pub(crate) fn body_limit(text: &str) -> Result<BodyLimit, String> {
    if text.trim() == "-1" {
        return Ok(BodyLimit(None));
    }
    let wrong = || "write -1, or a size such as 2000, 64KB or `10 MB`".to_owned();
    let digits = text.trim();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let number: u64 = digits[..end].parse().map_err(|_| wrong())?;
    let unit = digits[end..].trim().to_ascii_lowercase();
    let power = match unit.as_str() {
        "" | "b" | "byte" | "bytes" => 0,
        unit => {
            let names = ["k", "m", "g", "t", "p", "e"];
            let long = ["kilo", "mega", "giga", "tera", "peta", "exa"];
            let is = |short: &str, long: &str| {
                unit == short
                    || unit.strip_prefix(short) == Some("b")
                    || unit
                        .strip_prefix(long)
                        .is_some_and(|rest| matches!(rest, "" | "byte" | "bytes"))
            };
            let at = names.iter().zip(long).position(|(short, long)| is(short, long));
            1 + at.ok_or_else(wrong)? as u32
        }
    };
    let bytes = 1024_u64.checked_pow(power).and_then(|scale| number.checked_mul(scale));
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(wrong)?;
    Ok(BodyLimit(Some(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("2000", 2000),
            ("10 MB", 10 << 20),
            ("10240 g", 10240 << 30),
            ("1tB", 1 << 40),
            ("5 peta", 5 << 50),
            ("28 kilobytes", 28 << 10),
            ("0", 0),
        ] {
            assert_eq!(body_limit(text), Ok(BodyLimit(Some(bytes))), "{text}");
        }
        assert_eq!(body_limit("-1"), Ok(BodyLimit(None)));
        for bad in ["", "ten", "5 parsecs", "-2", "99999999 exa"] {
            assert!(body_limit(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(duration("2h45m"), Ok(9_900_000_000_000));
        assert!(duration("5").unwrap_err().contains("has no unit"));
    }
}
