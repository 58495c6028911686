//! How long a server holds a request: a law and a seeded generator.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand_distr::{Distribution, Exp1};

/// A sequence of service times, the same for the same law and seed.
pub struct ServiceTime {
    law: Law,
    random: Xoshiro256PlusPlus,
}

enum Law {
    Deterministic(u64),
    Exponential { mean_ns: f64 },
    General(Box<dyn FnMut(&mut Xoshiro256PlusPlus) -> u64 + Send>),
}

impl ServiceTime {
    /// Always `service_ns`.
    pub fn deterministic(service_ns: u64) -> Self {
        Self::new(Law::Deterministic(service_ns), 0)
    }

    /// Exponential with the given mean, rounded to whole nanoseconds.
    pub fn exponential(mean_ns: u64, seed: u64) -> Self {
        let mean_ns = mean_ns as f64;
        Self::new(Law::Exponential { mean_ns }, seed)
    }

    /// Whatever the closure draws, in nanoseconds.
    pub fn general(
        seed: u64,
        draw: impl FnMut(&mut Xoshiro256PlusPlus) -> u64 + Send + 'static,
    ) -> Self {
        Self::new(Law::General(Box::new(draw)), seed)
    }

    /// The next service time, nanoseconds.
    pub fn draw_ns(&mut self) -> u64 {
        match &mut self.law {
            Law::Deterministic(service_ns) => *service_ns,
            Law::Exponential { mean_ns } => {
                let unit: f64 = Exp1.sample(&mut self.random);
                (unit * *mean_ns).round() as u64
            }
            Law::General(draw) => draw(&mut self.random),
        }
    }

    fn new(law: Law, seed: u64) -> Self {
        Self { law, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    fn draws(mut law: ServiceTime, count: usize) -> Vec<u64> {
        (0..count).map(|_| law.draw_ns()).collect()
    }

    #[test]
    fn the_same_seed_draws_the_same_times() {
        let first = draws(ServiceTime::exponential(1_000_000, 7), 100);
        assert_eq!(first, draws(ServiceTime::exponential(1_000_000, 7), 100));
        assert_ne!(first, draws(ServiceTime::exponential(1_000_000, 8), 100));
    }

    #[test]
    fn exponential_times_have_mean_and_deviation_equal() {
        let count = 100_000;
        let times = draws(ServiceTime::exponential(1_000_000, 1), count);
        let mean = times.iter().sum::<u64>() as f64 / count as f64;
        let square = times.iter().map(|&ns| (ns as f64 - mean).powi(2)).sum::<f64>();
        let deviation = (square / count as f64).sqrt();
        // Standard errors: σ/√n for the mean, and √2·σ/√n for the deviation of an exponential
        // (its kurtosis is 9); four of each.
        let error = 1_000_000.0 / (count as f64).sqrt();
        assert!((mean - 1_000_000.0).abs() < 4.0 * error, "mean {mean}");
        assert!((deviation - 1_000_000.0).abs() < 4.0 * 1.42 * error, "deviation {deviation}");
    }

    #[test]
    fn any_other_law_is_a_closure() {
        let two_points =
            ServiceTime::general(3, |random| if random.random::<bool>() { 10 } else { 1000 });
        let times = draws(two_points, 1000);
        assert!(times.contains(&10) && times.contains(&1000));
        assert_eq!(draws(ServiceTime::deterministic(5), 3), [5, 5, 5]);
    }
}
