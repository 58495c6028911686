//! The upper bounds of exported histograms: the same in every process and version, so that buckets
//! of several generators add up.
//!
//! A bucket counts what is at most its bound. Counts are taken from Sojourn's own histograms, whose
//! buckets are at most 0.1 % wide: a sample up to 0.1 % above a bound may be counted as at most it.

use crate::names::Unit;

/// Bounds of times, nanoseconds: 1, 1.5, 2, 3, 5 and 7 in each decade from 100 µs to 1,000 s.
pub const SECONDS_NS: [u64; 43] = seconds();

/// Bounds of sizes, bytes: powers of four from 64 B to 1 GiB.
pub const BYTES: [u64; 13] = bytes();

/// Bounds of what has no unit: 1, 2 and 5 in each decade from 1 to 1,000,000.
pub const COUNTS: [u64; 19] = counts();

/// The bounds of what has this unit, in the unit of the samples, ascending.
pub(crate) fn bounds(unit: Unit) -> &'static [u64] {
    match unit {
        Unit::Seconds => &SECONDS_NS,
        Unit::Bytes => &BYTES,
        Unit::None => &COUNTS,
    }
}

const fn seconds() -> [u64; 43] {
    const TENTHS: [u64; 6] = [10, 15, 20, 30, 50, 70];
    let mut all = [0; 43];
    let (mut at, mut decade) = (0, 10_000);
    while at < 43 {
        all[at] = TENTHS[at % 6] * decade;
        at += 1;
        if at % 6 == 0 {
            decade *= 10;
        }
    }
    all
}

const fn bytes() -> [u64; 13] {
    let mut all = [64; 13];
    let mut at = 1;
    while at < 13 {
        all[at] = all[at - 1] * 4;
        at += 1;
    }
    all
}

const fn counts() -> [u64; 19] {
    const STEPS: [u64; 3] = [1, 2, 5];
    let mut all = [0; 19];
    let (mut at, mut decade) = (0, 1);
    while at < 19 {
        all[at] = STEPS[at % 3] * decade;
        at += 1;
        if at % 3 == 0 {
            decade *= 10;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_what_they_say() {
        assert_eq!(
            SECONDS_NS[..7],
            [100_000, 150_000, 200_000, 300_000, 500_000, 700_000, 1_000_000]
        );
        assert_eq!(SECONDS_NS[42], 1_000_000_000_000);
        assert_eq!((BYTES[0], BYTES[12]), (64, 1 << 30));
        assert_eq!((COUNTS[3], COUNTS[18]), (10, 1_000_000));
        for unit in [Unit::Seconds, Unit::Bytes, Unit::None] {
            assert!(bounds(unit).is_sorted_by(|a, b| a < b));
        }
    }
}
