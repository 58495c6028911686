//! Instants as outputs write them.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// How the CSV output writes instants (`K6_CSV_TIME_FORMAT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeFormat {
    /// Seconds since 1970.
    #[default]
    Unix,
    /// Milliseconds since 1970.
    UnixMilli,
    /// Microseconds since 1970.
    UnixMicro,
    /// Nanoseconds since 1970.
    UnixNano,
    /// `2026-11-22T18:55:29Z`, in local time.
    Rfc3339,
    /// `2026-11-22T18:55:29.123456789Z`, in local time.
    Rfc3339Nano,
}

impl TimeFormat {
    /// The format of a word that `K6_CSV_TIME_FORMAT` may hold.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "unix" => Self::Unix,
            "unix_milli" => Self::UnixMilli,
            "unix_micro" => Self::UnixMicro,
            "unix_nano" => Self::UnixNano,
            "rfc3339" => Self::Rfc3339,
            "rfc3339_nano" => Self::Rfc3339Nano,
            _ => return None,
        })
    }

    /// Writes an instant, in nanoseconds since 1970.
    pub fn push(self, out: &mut String, at_ns: u64, zone: &TimeZone) {
        let count = match self {
            Self::Unix => at_ns / 1_000_000_000,
            Self::UnixMilli => at_ns / 1_000_000,
            Self::UnixMicro => at_ns / 1_000,
            Self::UnixNano => at_ns,
            Self::Rfc3339 => return push_rfc3339(out, at_ns, zone, false),
            Self::Rfc3339Nano => return push_rfc3339(out, at_ns, zone, true),
        };
        // Writing to a string does not fail.
        let _never = write!(out, "{count}");
    }
}

/// As Go's `time.RFC3339Nano`, or without a fraction: zeros at the fraction's end are left out, and
/// `Z` stands for no offset.
pub(super) fn push_rfc3339(out: &mut String, at_ns: u64, zone: &TimeZone, has_fraction: bool) {
    // Nanoseconds of 64 bits end in 2554, within what jiff counts; its error is unreachable.
    let instant = Timestamp::from_nanosecond(i128::from(at_ns)).unwrap_or(Timestamp::UNIX_EPOCH);
    let offset = zone.to_offset(instant);
    let local = offset.to_datetime(instant);
    let (date, time) = (local.date(), local.time());
    let _never = write!(
        out,
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        date.year(),
        date.month(),
        date.day(),
        time.hour(),
        time.minute(),
        time.second()
    );
    let fraction_ns = at_ns % 1_000_000_000;
    if has_fraction && fraction_ns > 0 {
        let digits = format!("{fraction_ns:09}");
        let _never = write!(out, ".{}", digits.trim_end_matches('0'));
    }
    let seconds = offset.seconds();
    if seconds == 0 {
        out.push('Z');
    } else {
        let sign = if seconds < 0 { '-' } else { '+' };
        let minutes = seconds.abs() / 60;
        let _never = write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::Offset;

    use super::*;

    #[test]
    fn instants_are_written_as_go_does() {
        let at_ns = 1_700_000_000_120_000_000;
        let east = TimeZone::fixed(Offset::constant(5));
        for (format, zone, expected) in [
            (TimeFormat::Unix, TimeZone::UTC, "1700000000"),
            (TimeFormat::UnixMilli, TimeZone::UTC, "1700000000120"),
            (TimeFormat::UnixMicro, TimeZone::UTC, "1700000000120000"),
            (TimeFormat::UnixNano, TimeZone::UTC, "1700000000120000000"),
            (TimeFormat::Rfc3339, TimeZone::UTC, "2023-11-14T22:13:20Z"),
            (TimeFormat::Rfc3339Nano, TimeZone::UTC, "2023-11-14T22:13:20.12Z"),
            (TimeFormat::Rfc3339Nano, east, "2023-11-15T03:13:20.12+05:00"),
        ] {
            let mut out = String::new();
            format.push(&mut out, at_ns, &zone);
            assert_eq!(out, expected);
        }
    }
}
