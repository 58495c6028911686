//! Queues in simulated time, and dice for them. Only tests.

use super::{Observation, Step};

/// Random numbers from a seed (xorshift64*).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// In (0, 1].
    pub(super) fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        (bits + 1) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }

    /// Mean 0, deviation 1 (Box and Muller).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.unit()).cos()
    }
}

/// Times between arrivals, or of service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Law {
    Exponential,
    Constant,
}

impl Law {
    fn draw(self, mean: f64, dice: &mut Dice) -> f64 {
        match self {
            Self::Exponential => dice.exponential(mean),
            Self::Constant => mean,
        }
    }
}

/// Some servers, one line, first come first served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) arrivals: Law,
    pub(super) service: Law,
    pub(super) servers: usize,
    pub(super) service_s: f64,
    /// Time that a journey takes besides.
    pub(super) beside_s: f64,
}

impl Queue {
    pub(super) fn capacity_per_s(&self) -> f64 {
        self.servers as f64 / self.service_s
    }

    /// What a step would show, and the journeys' durations in its steady phase, ascending.
    pub(super) fn observe(&self, step: &Step, dice: &mut Dice) -> (Observation, Vec<f64>) {
        let (warm_s, steady_s) = (step.warmup_ns as f64 / 1e9, step.steady_ns as f64 / 1e9);
        let mut free = vec![0.0f64; self.servers];
        let seconds = steady_s as usize;
        let mut levels = vec![0.0; seconds + 1];
        let mut durations = Vec::new();
        let mut at = 0.0;
        loop {
            at += self.arrivals.draw(1.0 / step.rate_per_s, dice);
            if at >= warm_s + steady_s {
                break;
            }
            let server = (0..free.len()).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap();
            free[server] = free[server].max(at) + self.service.draw(self.service_s, dice);
            let end = free[server] + self.beside_s;
            let from = (at - warm_s).ceil().max(0.0) as usize;
            let until = (end - warm_s).ceil().clamp(0.0, seconds as f64 + 1.0) as usize;
            levels.get_mut(from..until).into_iter().flatten().for_each(|level| *level += 1.0);
            if at >= warm_s {
                durations.push(end - at);
            }
        }
        durations.sort_by(f64::total_cmp);
        let quantile = |q: f64| {
            let place = (q * durations.len() as f64).ceil() as usize;
            durations.get(place.saturating_sub(1)).map(|seconds| (seconds * 1e9) as u64)
        };
        let seen = Observation {
            steady_ns: step.steady_ns,
            started: durations.len() as u64,
            levels,
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            ..Observation::default()
        };
        (seen, durations)
    }
}
