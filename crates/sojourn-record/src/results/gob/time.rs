//! Instants as Go's `time.Time` writes itself.

use super::YEAR_1_TO_UNIX_S;
use crate::results::Timestamp;

/// Minutes east that stand for UTC itself.
const UTC: i16 = -1;

/// Version, seconds since the year 1, nanoseconds, minutes east; version 2 has seconds of the zone
/// besides. `None` for anything else, and for years that nanoseconds in 64 bits cannot tell.
pub(super) fn read_time(bytes: &[u8]) -> Option<Timestamp> {
    let (&version, rest) = bytes.split_first()?;
    let (seconds, rest) = rest.split_first_chunk::<8>()?;
    let (ns, rest) = rest.split_first_chunk::<4>()?;
    let (minutes, rest) = rest.split_first_chunk::<2>()?;
    let odd_s = match (version, rest) {
        (1, []) => 0,
        (2, [odd_s]) => *odd_s as i8,
        _ => return None,
    };
    let (seconds, ns) = (i64::from_be_bytes(*seconds), i32::from_be_bytes(*ns));
    if (seconds, ns) == (0, 0) {
        return Some(Timestamp::UNKNOWN);
    }
    let minutes = i16::from_be_bytes(*minutes);
    let is_utc = minutes == UTC && odd_s == 0;
    let offset_s = (!is_utc).then(|| i32::from(minutes) * 60 + i32::from(odd_s));
    let ns = i64::from(ns);
    if !(0..1_000_000_000).contains(&ns) || offset_s.is_some_and(|s| s.abs() > 86_400) {
        return None;
    }
    Timestamp::of_seconds(seconds.checked_sub(YEAR_1_TO_UNIX_S)?, ns, offset_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read_and_nothing_else() {
        let mut bytes = vec![1, 0, 0, 0, 0x0e, 0xdc, 0xe5, 0xe8, 0, 0, 0, 0, 5, 0xff, 0xff];
        let utc = Timestamp::utc(1_700_000_000_000_000_005);
        assert_eq!(read_time(&bytes), Some(utc));
        bytes[13..].copy_from_slice(&(-210i16).to_be_bytes());
        assert_eq!(read_time(&bytes), Some(Timestamp { offset_s: Some(-12_600), ..utc }));
        bytes[0] = 2;
        assert_eq!(read_time(&bytes), None);
        bytes.push(0xec);
        assert_eq!(read_time(&bytes), Some(Timestamp { offset_s: Some(-12_620), ..utc }));
        bytes[9..13].copy_from_slice(&1_000_000_000i32.to_be_bytes());
        assert_eq!(read_time(&bytes), None, "too many nanoseconds");
        bytes[1] = 0x7f;
        assert_eq!(read_time(&bytes), None, "too late a year");
        assert_eq!(read_time(&[]), None);
    }
}
