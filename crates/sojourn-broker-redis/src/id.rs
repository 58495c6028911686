//! Ids of a stream's entries, and offsets made of them.

use std::fmt;

/// Bits of an offset that hold the number within a millisecond.
const SEQUENCE_BITS: u32 = 22;

/// An entry's id: milliseconds since the Unix epoch by the server's clock, unless the producer
/// chose otherwise, and a number within the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    pub(crate) ms: u64,
    pub(crate) sequence: u64,
}

impl Id {
    /// Reads `MS-SEQUENCE`.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let dash = text.iter().position(|byte| *byte == b'-')?;
        Some(Self { ms: digits(&text[..dash])?, sequence: digits(&text[dash + 1..])? })
    }

    /// As one number that keeps the order: 42 bits of milliseconds, which last until the year 2109,
    /// and 22 of the number within. `None`: it does not fit.
    pub(crate) fn offset(self) -> Option<u64> {
        let fits = self.ms < 1 << (64 - SEQUENCE_BITS) && self.sequence < 1 << SEQUENCE_BITS;
        fits.then_some(self.ms << SEQUENCE_BITS | self.sequence)
    }

    /// The id of an offset.
    pub(crate) fn of_offset(offset: u64) -> Self {
        Self { ms: offset >> SEQUENCE_BITS, sequence: offset & ((1 << SEQUENCE_BITS) - 1) }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.sequence)
    }
}

fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut number: u64 = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_are_read_as_they_are_shown(ms: u64, sequence: u64) {
            let id = Id { ms, sequence };
            prop_assert_eq!(Id::parse(id.to_string().as_bytes()), Some(id));
        }

        #[test]
        fn offsets_keep_the_order_and_lead_back(one: (u64, u64), other: (u64, u64)) {
            let id = |(ms, sequence)| Id { ms: ms >> 22, sequence: sequence >> 42 };
            let (one, other) = (id(one), id(other));
            let (low, high) = (one.offset().unwrap(), other.offset().unwrap());
            prop_assert_eq!(one.cmp(&other), low.cmp(&high));
            prop_assert_eq!(Id::of_offset(low), one);
        }

        #[test]
        fn any_bytes_are_an_id_or_not(text: Vec<u8>) {
            if let Some(id) = Id::parse(&text) {
                prop_assert_eq!(Id::parse(id.to_string().as_bytes()), Some(id));
            }
        }
    }

    #[test]
    fn what_is_no_id_or_does_not_fit() {
        for text in ["", "-", "1", "1-", "-1", "1-x", "1-2-3", "18446744073709551616-0"] {
            assert_eq!(Id::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Id { ms: 1 << 42, sequence: 0 }.offset(), None);
        assert_eq!(Id { ms: 0, sequence: 1 << 22 }.offset(), None);
    }
}
