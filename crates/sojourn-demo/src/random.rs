//! Repeatable randomness: every decision is a pure function of the seed and what it is about.

use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// Mixes 64 bits thoroughly (the finalizer of SplitMix64: Steele, Lea, Flood 2014).
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 64 bits that depend on the seed, a text (a payment's key) and a number (what is being decided).
pub(crate) fn draw(seed: u64, key: &str, about: u64) -> u64 {
    // FNV-1a over the key; `mix` repairs its weak high bits.
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mix(mix(seed ^ hash).wrapping_add(about))
}

/// Maps 64 random bits to [0, 100).
pub(crate) fn percent(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64 * 100.0
}

/// The identity of one message: the same for every redelivery of it (`copy` stays), another for a
/// republication (`copy` rises).
pub(crate) fn message_id(seed: u64, key: &str, version: u32, copy: u32) -> Uuid {
    let about = 0x6d65_7373_0000_0000 | (u64::from(version) << 16) | (u64::from(copy) << 1);
    uuid_of(draw(seed, key, about), draw(seed, key, about | 1))
}

/// Hands out payment ids.
pub(crate) enum PaymentIds {
    /// The n-th payment of a seed always has the same id, so its faults are the same in every run.
    Seeded {
        /// The demo's seed.
        seed: u64,
        /// Payments so far.
        count: AtomicU64,
    },
    /// Never the same: for brokers and stores that outlive the demo.
    Random,
}

impl PaymentIds {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self::Seeded { seed, count: AtomicU64::new(0) }
    }

    pub(crate) fn next(&self) -> Uuid {
        match self {
            Self::Seeded { seed, count } => {
                let n = mix(count.fetch_add(1, Ordering::Relaxed));
                uuid_of(mix(seed ^ n), mix(seed.rotate_left(32) ^ n ^ 1))
            }
            Self::Random => Uuid::new_v4(),
        }
    }
}

fn uuid_of(high: u64, low: u64) -> Uuid {
    let bits = (u128::from(high) << 64) | u128::from(low);
    uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn seeded_ids_repeat_and_differ() {
        let ids = |seed| {
            let ids = PaymentIds::seeded(seed);
            (0..10_000).map(|_| ids.next()).collect::<Vec<_>>()
        };
        assert_eq!(ids(1), ids(1));
        let distinct: HashSet<_> = ids(1).into_iter().chain(ids(2)).collect();
        assert_eq!(distinct.len(), 20_000);
    }

    #[test]
    fn message_ids_differ_by_version_and_copy() {
        let distinct: HashSet<_> = (1..5)
            .flat_map(|version| (0..3).map(move |copy| message_id(1, "pay:x", version, copy)))
            .collect();
        assert_eq!(distinct.len(), 12);
        assert_eq!(message_id(1, "pay:x", 1, 0), message_id(1, "pay:x", 1, 0));
    }

    #[test]
    fn percent_is_uniform() {
        let below = (0..100_000).filter(|&k| percent(mix(k)) < 5.0).count();
        assert!((4_700..5_300).contains(&below), "{below}");
    }
}
