//! Keys as 128-bit hashes: what the tables compare, so that key bytes need not be kept.
//!
//! SipHash-1-3 with its output of 128 bits. Two of *n* different keys share all 128 bits with a
//! probability of about n² / 2^129: for ten million keys in the book at once that is 1.5 · 10⁻²⁵,
//! far below the odds of a memory error, so a match of the hash is taken for a match of the key.

use siphasher::sip128::SipHasher13;

use crate::Key;

/// Hash of a key and of the kind of journey it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyHash {
    low: u64,
    high: u64,
}

impl KeyHash {
    /// No key at all. That a key hashes to this is as unlikely as any other collision.
    pub(crate) const NONE: Self = Self { low: 0, high: 0 };

    /// Of the bytes alone; [`Self::of_kind`] makes it a name.
    pub(crate) fn of(key: &Key) -> Self {
        let hash = SipHasher13::new_with_keys(LOW, HIGH).hash(key.as_bytes());
        Self { low: hash.h1, high: hash.h2 }
    }

    /// Several kinds may use one key value: each is a name of its own.
    #[inline]
    pub(crate) fn of_kind(self, kind: u16) -> Self {
        let kind = u64::from(kind) + 1;
        Self {
            low: self.low.wrapping_add(kind.wrapping_mul(GOLDEN)),
            high: self.high.wrapping_sub(kind.wrapping_mul(GOLDEN)),
        }
    }

    /// Where a table looks: already as good as random.
    #[inline]
    pub(crate) fn spread(self) -> u64 {
        self.low
    }
}

/// Spreads a journey's number over a table: one multiplication, both halves folded together.
#[inline]
pub(crate) fn spread_id(id: u64) -> u64 {
    let product = u128::from(id ^ LOW) * u128::from(GOLDEN);
    (product as u64) ^ (product >> 64) as u64
}

/// A declared message id (already a hash) in 32 bits; zero for none. Two different ids pass for the
/// same, a republication for a redelivery, once in 2³² duplicates.
#[inline]
pub(crate) fn fold_message_id(id: Option<u64>) -> u32 {
    id.map_or(0, |id| ((id ^ (id >> 32)) as u32).max(1))
}

// The hash's own key: "sojourn" and "ledger".
const LOW: u64 = 0x736f_6a6f_7572_6e00;
const HIGH: u64 = 0x6c65_6467_6572_0001;
/// 2⁶⁴ divided by the golden ratio: its multiples lie far apart.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(key: &str, kind: u16) -> KeyHash {
        KeyHash::of(&Key::new(key.as_bytes()).expect("not empty")).of_kind(kind)
    }

    #[test]
    fn a_name_is_the_key_and_the_kind() {
        assert_eq!(hash("pay:1", 0), hash("pay:1", 0));
        assert_ne!(hash("pay:1", 0), hash("pay:2", 0));
        assert_ne!(hash("pay:1", 0), hash("pay:1", 1));
        assert_ne!(hash("pay:1", 0).low, hash("pay:1", 0).high);
    }

    #[test]
    fn numbers_of_different_generators_spread() {
        let low_bits = |id: u64| spread_id(id) & 0xffff;
        assert_ne!(low_bits(1 << 48), low_bits(2 << 48));
        assert_ne!(low_bits(0), low_bits(1));
    }

    #[test]
    fn a_message_id_never_folds_to_none() {
        assert_eq!(fold_message_id(None), 0);
        assert_ne!(fold_message_id(Some(0)), 0);
        assert_ne!(fold_message_id(Some(0x0000_0001_0000_0001)), 0);
    }
}
