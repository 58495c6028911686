//! Draws of blocks, with replacement, the same in every comparison of the same runs.

/// SplitMix64 (Steele, Lea, Flood: OOPSLA 2014).
pub(super) struct Draws(u64);

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A whole number below `n`, which is not zero.
    pub(super) fn below(&mut self, n: usize) -> usize {
        // The high half of a product is uniform enough: n is at most some dozens.
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// How often each of `n` blocks is drawn in `n` draws.
    pub(super) fn weights(&mut self, n: usize, into: &mut Vec<u32>) {
        into.clear();
        into.resize(n, 0);
        for _ in 0..n {
            into[self.below(n)] += 1;
        }
    }
}
