//! M/M/c: how far the mean and a quantile of a run of n requests may lie from theory's.
//!
//! The number in the system is a birth–death process with the law π; a request that finds i there
//! and a service that ends at i + 1 are the steps between i and i + 1. Let ℓ be the mean of π and w
//! the mean response, ℓ = λw.
//!
//! **The mean.** The sum of all responses up to an instant is the time integral of the number in
//! the system, so what n responses stray by in total is that of ∫(L − ℓ)dt − w(N − λt), with N the
//! arrivals (P. W. Glynn and W. Whitt, "Indirect estimation via L = λW", Operations Research 37
//! (1989)). Poisson's equation for L − ℓ is solved by a function whose step from i to i + 1 is
//!
//! > Δ(i) = Σ over j > i of (j − ℓ)π(j), divided by λπ(i)
//!
//! (W. Whitt, "Asymptotic formulas for Markov processes with applications to simulation",
//! Operations Research 40 (1992)), which makes the total a martingale: an arrival at i adds
//! Δ(i) − w, a departure from i + 1 takes Δ(i). Both happen λπ(i) times a second, so per request
//!
//! > σ² = Σ π(i)·((Δ(i) − w)² + Δ(i)²)
//!
//! and the mean of n deviates by σ/√n. With one server this is (1 + ρ)²/(1 − ρ)⁴ in services, the
//! formula of [`super::Mm1::mean_response_interval`]. From an empty start the integral up to the
//! n-th arrival falls short by Σ π(i)·(Δ(0) + … + Δ(i)), and has not yet what those then in the
//! system still wait and are served for: the difference is by what the sum of responses falls
//! short.
//!
//! **A quantile.** Whether a response is beyond the q-quantile is a sample of mean 1 − q, and
//! samples of neighbours hang together. Their asymptotic variance has no such form: it is found by
//! batch means (A. M. Law and W. D. Kelton, *Simulation Modeling and Analysis*, chapter 9) of a
//! simulation of the queue in its own time, far longer than any run, with a fixed seed. The share
//! beyond of n requests deviates by σ/√n, and the quantile lies between those of the shares at both
//! ends.

use std::num::NonZeroUsize;

use sojourn_mock::{Draws, QueueModel};

use super::{Interval, mmc_mean_response, mmc_response_quantile};

/// Requests of the simulation.
const SIMULATED: usize = 8_000_000;

/// Batches of the simulation: their variance is known to about 5 %.
const BATCHES: usize = 200;

/// Fine enough that rounding to nanoseconds is nothing.
const SIMULATED_SERVICE_NS: u64 = 1_000_000;

/// π below this is nothing.
const NEGLIGIBLE: f64 = 1e-30;

/// M/M/c: exponential service, `servers` servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmc {
    /// How many servers; at least one.
    pub servers: u32,
    /// The share of the time that each is busy (ρ), in (0, 1).
    pub utilization: f64,
    /// Mean service time; its unit is the unit of every result.
    pub service_mean: f64,
}

impl Mmc {
    /// Where the mean response of the first `arrivals` requests of an empty queue lies: `z`
    /// standard deviations to each side.
    pub fn mean_response_interval(&self, arrivals: u64, z: f64) -> Interval {
        let (offered, count) = (self.offered(), arrivals as f64);
        // In services from here on, and so λ is the offered load.
        let mean = mmc_mean_response(self.servers, offered, 1.0);
        let law = self.law();
        let length: f64 = law.iter().zip(0_u32..).map(|(share, i)| share * f64::from(i)).sum();
        let mut steps = vec![0.0; law.len()];
        let mut tail = 0.0;
        for (i, share) in law.iter().enumerate().rev() {
            steps[i] = tail / (offered * share);
            tail += (i as f64 - length) * share;
        }
        let squares = |step: f64| (step - mean).powi(2) + step * step;
        let variance: f64 =
            law.iter().zip(&steps).map(|(share, step)| share * squares(*step)).sum();
        let mut up_to = 0.0;
        let shortfall: f64 = law
            .iter()
            .zip(&steps)
            .zip(1_u32..)
            .map(|((share, step), there)| {
                up_to += step;
                share * (up_to - self.left(there))
            })
            .sum();
        Interval {
            center: self.service_mean * (mean - shortfall / count),
            half_width: z * self.service_mean * (variance / count).sqrt(),
        }
    }

    /// Where the `q`-quantile of the responses of `arrivals` requests lies: from, to. `z` standard
    /// deviations of the share beyond it to each side.
    pub fn response_quantile_range(&self, q: f64, arrivals: u64, z: f64) -> (f64, f64) {
        let deviation = self.deviation_beyond(q) / (arrivals as f64).sqrt();
        let at = |share: f64| {
            let share = share.clamp(0.0, 1.0 - f64::EPSILON);
            mmc_response_quantile(self.servers, self.offered(), self.service_mean, share)
        };
        (at(q - z * deviation), at(q + z * deviation))
    }

    /// The asymptotic standard deviation of the share of responses beyond the `q`-quantile, times
    /// the square root of their number.
    fn deviation_beyond(&self, q: f64) -> f64 {
        let limit = mmc_response_quantile(self.servers, self.offered(), 1.0, q);
        let limit_ns = (limit * SIMULATED_SERVICE_NS as f64) as u64;
        let gap_ns = (SIMULATED_SERVICE_NS as f64 / self.offered()).round() as u64;
        let (mut gaps, mut law) =
            (Draws::exponential(gap_ns, 41), Draws::exponential(SIMULATED_SERVICE_NS, 42));
        let servers = NonZeroUsize::new(self.servers as usize).unwrap_or(NonZeroUsize::MIN);
        let mut queue = QueueModel::new(servers, usize::MAX);
        let mut arrival_ns = 0;
        let mut is_beyond = || {
            arrival_ns += gaps.draw_ns();
            let slot = queue.admit(arrival_ns, law.draw_ns());
            slot.is_some_and(|slot| slot.finish_ns - arrival_ns > limit_ns)
        };
        let length = SIMULATED / BATCHES;
        let mut batch = || (0..length).filter(|_| is_beyond()).count() as f64 / length as f64;
        // From an empty start; the first batch finds the usual state.
        batch();
        let shares: Vec<f64> = (0..BATCHES).map(|_| batch()).collect();
        let mean = shares.iter().sum::<f64>() / BATCHES as f64;
        let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
        (squares / (BATCHES - 1) as f64 * length as f64).sqrt()
    }

    /// What so many in the system still wait and are served for together, in services.
    fn left(&self, there: u32) -> f64 {
        let waiting = f64::from(there.saturating_sub(self.servers));
        f64::from(there) + waiting * (waiting + 1.0) / (2.0 * f64::from(self.servers))
    }

    /// Arrival rate times mean service time.
    fn offered(&self) -> f64 {
        self.utilization * f64::from(self.servers)
    }

    /// The law of the number in the system, up to where it is nothing (Erlang).
    fn law(&self) -> Vec<f64> {
        let offered = self.offered();
        let mut law = vec![1.0_f64];
        let mut last = 1.0;
        for count in 1_u32.. {
            last *= offered / f64::from(count.min(self.servers));
            if last < NEGLIGIBLE && count > self.servers {
                break;
            }
            law.push(last);
        }
        let sum: f64 = law.iter().sum();
        law.iter_mut().for_each(|share| *share /= sum);
        law
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{Mm1, mmc_response_beyond};

    /// Responses of a run from an empty queue, in services.
    fn run(mmc: &Mmc, arrivals: usize, gaps: &mut Draws, law: &mut Draws) -> Vec<f64> {
        let servers = NonZeroUsize::new(mmc.servers as usize).unwrap();
        let mut queue = QueueModel::new(servers, usize::MAX);
        let mut arrival_ns = 0;
        let respond = |_| {
            arrival_ns += gaps.draw_ns();
            let slot = queue.admit(arrival_ns, law.draw_ns()).unwrap();
            (slot.finish_ns - arrival_ns) as f64 / SIMULATED_SERVICE_NS as f64
        };
        (0..arrivals).map(respond).collect()
    }

    fn draws(mmc: &Mmc, seed: u64) -> (Draws, Draws) {
        let gap_ns = (SIMULATED_SERVICE_NS as f64 / mmc.offered()).round() as u64;
        (Draws::exponential(gap_ns, seed), Draws::exponential(SIMULATED_SERVICE_NS, seed + 1))
    }

    #[test]
    fn with_one_server_it_is_the_closed_form() {
        for utilization in [0.1, 0.5, 0.7, 0.9] {
            let mm1 = Mm1 { utilization, service_mean: 3.0 }.mean_response_interval(10_000, 2.0);
            let mmc = Mmc { servers: 1, utilization, service_mean: 3.0 };
            let mmc = mmc.mean_response_interval(10_000, 2.0);
            assert!((mmc.center / mm1.center - 1.0).abs() < 1e-9, "{mmc:?} {mm1:?}");
            assert!((mmc.half_width / mm1.half_width - 1.0).abs() < 1e-9, "{mmc:?} {mm1:?}");
        }
    }

    /// With servers without end every response is a service of its own: variance 1, no shortfall.
    #[test]
    fn with_servers_enough_responses_are_independent() {
        let mmc = Mmc { servers: 200, utilization: 0.05, service_mean: 1.0 };
        let interval = mmc.mean_response_interval(100, 1.0);
        assert!((interval.half_width - 0.1).abs() < 1e-6, "{interval:?}");
        assert!((interval.center - 1.0).abs() < 1e-6, "{interval:?}");
    }

    /// The scatter between many runs is what the formulas say.
    #[test]
    fn intervals_have_the_width_of_the_scatter_between_runs() {
        const RUNS: usize = 400;
        let mmc = Mmc { servers: 3, utilization: 0.7, service_mean: 1.0 };
        let (arrivals, q) = (20_000, 0.99);
        let expected = mmc.mean_response_interval(arrivals as u64, 1.0);
        let limit = mmc_response_quantile(3, mmc.offered(), 1.0, q);
        assert!((mmc_response_beyond(3, mmc.offered(), 1.0, limit) - 0.01).abs() < 1e-9);
        let share = mmc.deviation_beyond(q) / (arrivals as f64).sqrt();
        let (mut gaps, mut law) = draws(&mmc, 61);
        let mut means = Vec::new();
        let mut shares = Vec::new();
        for _ in 0..RUNS {
            let times = run(&mmc, arrivals, &mut gaps, &mut law);
            means.push(times.iter().sum::<f64>() / arrivals as f64);
            shares.push(times.iter().filter(|t| **t > limit).count() as f64 / arrivals as f64);
        }
        let center = means.iter().sum::<f64>() / RUNS as f64;
        // A deviation that is estimated from r runs itself deviates by 1/√(2r), here 3.5 %, and
        // that of the batch means by 5 %.
        let relative = deviation(&means) / expected.half_width;
        assert!((relative - 1.0).abs() < 0.14, "the means' scatter is {relative} of the formula");
        let shift = (center - expected.center) / expected.half_width;
        assert!(shift.abs() < 4.0 / (RUNS as f64).sqrt(), "the center is off by {shift}");
        let relative = deviation(&shares) / share;
        assert!((relative - 1.0).abs() < 0.22, "the shares' scatter is {relative} of the batches'");
    }

    fn deviation(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (values.len() - 1) as f64).sqrt()
    }

    #[test]
    fn a_quantiles_range_holds_it_and_narrows_with_the_runs_length() {
        let mmc = Mmc { servers: 1, utilization: 0.5, service_mean: 2.0 };
        let exact = mmc_response_quantile(1, 0.5, 2.0, 0.99);
        let (from, to) = mmc.response_quantile_range(0.99, 100_000, 3.29);
        let (nearer_from, nearer_to) = mmc.response_quantile_range(0.99, 1_000_000, 3.29);
        assert!(from < nearer_from && nearer_from < exact, "{from} {nearer_from} {exact}");
        assert!(exact < nearer_to && nearer_to < to, "{exact} {nearer_to} {to}");
        let narrower = (to - from) / (nearer_to - nearer_from);
        assert!((narrower / 10_f64.sqrt() - 1.0).abs() < 0.1, "{narrower}");
    }
}
