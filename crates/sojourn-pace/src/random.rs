//! Randomness as a function: the same (seed, stream, k) gives the same number on every machine.

/// A uniform 64-bit number for draw `k` of `stream` under `seed` (SplitMix64's finaliser, Steele,
/// Lea and Flood 2014, applied to the mixed inputs).
pub fn random_u64(seed: u64, stream: u64, k: u64) -> u64 {
    mix(mix(seed ^ mix(stream)).wrapping_add(k.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// A uniform number in [0, 1) with 53 random bits.
pub fn random_unit(seed: u64, stream: u64, k: u64) -> f64 {
    (random_u64(seed, stream, k) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// The stream of Poisson gaps: gap k is draw k. Letters in place of a small number, so that no
/// other user of the seed meets it by counting.
pub(crate) const GAPS_STREAM: u64 = u64::from_be_bytes(*b"arrivals");

/// The stream of random rates; segment i uses the i-th after it.
pub(crate) const STEPS_STREAM: u64 = u64::from_be_bytes(*b"steprate");

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
