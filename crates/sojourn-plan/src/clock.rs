//! Foreign clocks: what the system's identifiers say of its own time.

use crate::Selector;

/// Most foreign clocks of a plan.
pub const CLOCKS_MAX: usize = 32;

/// Milliseconds that fit into signed nanoseconds: a time after the year 2262 is no clock's.
const UNIX_MS_MAX: u64 = i64::MAX as u64 / 1_000_000;
/// Crockford's base 32: neither I, L, O nor U.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LENGTH: usize = 26;
/// Digits of the time; the others are random.
const TIME_LENGTH: usize = 10;

/// Where an answer or an event shows a foreign clock.
#[derive(Clone, Debug)]
pub struct ClockRule {
    /// Which: index into [`crate::Plan::clocks`].
    pub clock: usize,
    /// Where the ULID is; in the answer to a batch perhaps a list, an element for each event.
    pub ulid: Selector,
}

/// The time in a ULID, milliseconds since the Unix epoch: its first 48 bits, in ten digits of
/// Crockford's base 32 (<https://github.com/ulid/spec>). `None` for what is no ULID, and for one of
/// after the year 2262.
pub fn ulid_unix_ms(text: &str) -> Option<u64> {
    let text = text.as_bytes();
    // The first digit has three bits: 26 of five would be 130.
    if text.len() != ULID_LENGTH || text[0] > b'7' {
        return None;
    }
    let digit = |byte: &u8| {
        let upper = byte.to_ascii_uppercase();
        DIGITS.iter().position(|digit| *digit == upper).map(|value| value as u64)
    };
    let mut unix_ms = 0;
    for (at, byte) in text.iter().enumerate() {
        let value = digit(byte)?;
        if at < TIME_LENGTH {
            unix_ms = unix_ms << 5 | value;
        }
    }
    (unix_ms <= UNIX_MS_MAX).then_some(unix_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ten_digits_are_milliseconds() {
        for (text, expected) in [
            // The specification's own example of a time.
            ("01ARYZ6S41TSV4RRFFQ69G5FAV", Some(1_469_918_176_385)),
            ("01aryz6s41tsv4rrffq69g5fav", Some(1_469_918_176_385)),
            ("00000000000000000000000000", Some(0)),
            ("0000000001ZZZZZZZZZZZZZZZZ", Some(1)),
            // The greatest ULID is of the year 10889.
            ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", None),
            ("80000000000000000000000000", None),
            ("01ARYZ6S41TSV4RRFFQ69G5FA", None),
            ("01ARYZ6S41TSV4RRFFQ69G5FAVV", None),
            ("01ARYZ6S4ITSV4RRFFQ69G5FAV", None),
            ("01ARYZ6S41TSV4RRFFQ69G5FAU", None),
            ("01ARYZ6S41TSV4RRFFQ69G5FA-", None),
            ("", None),
        ] {
            assert_eq!(ulid_unix_ms(text), expected, "{text}");
        }
    }

    #[test]
    fn every_time_comes_back() {
        for unix_ms in [0, 31, 32, 1_795_230_911_123, UNIX_MS_MAX] {
            let time = (0..TIME_LENGTH).rev();
            let text: String = time
                .map(|at| char::from(DIGITS[(unix_ms >> (5 * at)) as usize & 31]))
                .chain(std::iter::repeat_n('Z', ULID_LENGTH - TIME_LENGTH))
                .collect();
            assert_eq!(ulid_unix_ms(&text), Some(unix_ms), "{text}");
        }
    }
}
