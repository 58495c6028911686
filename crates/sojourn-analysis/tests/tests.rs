//! Whether the findings are found, and whether they stay silent: seeded runs by the thousand.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod anomalies;
mod timers;

use rand::{SeedableRng, rngs::StdRng};
use rand_distr::Distribution;

/// A source of chance, its own for each run.
fn chance(run: u64) -> StdRng {
    StdRng::seed_from_u64(run.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x50_1093)
}

/// Draws of a distribution.
fn draws(of: impl Distribution<f64> + 'static) -> Box<dyn Fn(&mut StdRng) -> f64> {
    Box::new(move |chance| of.sample(chance))
}
