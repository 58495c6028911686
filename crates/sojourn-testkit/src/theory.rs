//! What queueing theory says the averages must be, and how far a run of n arrivals may stray.
//!
//! Arrivals are Poisson everywhere, the line is first come, first served, and times are in the
//! unit of the mean service time that is passed in. Response time is the whole time in the system,
//! waiting included (the sojourn time).
//!
//! Sources: L. Kleinrock, *Queueing Systems* I (1975), for M/M/1, Erlang's C and
//! Pollaczek–Khinchine; D. J. Daley, "The serial correlation coefficients of waiting times in a
//! stationary single server queue", J. Austral. Math. Soc. 8 (1968), and W. Whitt, "Planning
//! queueing simulations", Management Science 35 (1989), for the variance of such means; the
//! closed form used here is derived at [`Mm1::mean_response_interval`].

mod run_length;

pub use run_length::Mmc;

/// An interval around an expected mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The expected mean.
    pub center: f64,
    /// Half the width.
    pub half_width: f64,
}

impl Interval {
    /// Whether `value` lies inside.
    pub fn contains(&self, value: f64) -> bool {
        (value - self.center).abs() <= self.half_width
    }
}

/// M/M/1: exponential service, one server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mm1 {
    /// Arrival rate times mean service time (ρ), in [0, 1).
    pub utilization: f64,
    /// Mean service time (1/μ); its unit is the unit of every result.
    pub service_mean: f64,
}

impl Mm1 {
    /// Mean response time, 1/(μ(1 − ρ)).
    pub fn mean_response(&self) -> f64 {
        self.service_mean / (1.0 - self.utilization)
    }

    /// The response time that a share `q` of requests does not exceed: response times are
    /// exponential with rate μ(1 − ρ).
    pub fn response_quantile(&self, q: f64) -> f64 {
        -self.mean_response() * (1.0 - q).ln()
    }

    /// Where the mean response of the first `arrivals` requests of an empty queue lies: `z`
    /// standard deviations to each side (z = 1.96 for 95 %, 3.29 for 99.9 %).
    ///
    /// Response times of neighbours are strongly correlated, so the deviation of their mean is far
    /// above that of independent samples. Measure time in services (μ = 1) and let T be the
    /// response, A the exponential gap to the next arrival (rate ρ) and V its service:
    /// T' = max(T − A, 0) + V. The Poisson equation h(t) − E[h(T') | T = t] = t − E T is solved by
    /// h(t) = t + ρt²/(2(1 − ρ)), as insertion shows. T is exponential with rate θ = 1 − ρ, so the
    /// asymptotic variance 2·E[h(T)(T − ET)] − Var T is
    ///
    /// > σ² = 2(1/θ² + 2ρ/θ⁴) − 1/θ² = (1 + ρ)²/(1 − ρ)⁴
    ///
    /// and the standard deviation of the mean of n is (1 + ρ)/((1 − ρ)²√n). The same h gives the
    /// start's bias: the first request waits for nobody, and the sum of all responses falls short
    /// by E h(T) − E h(V) = ρ/(1 − ρ)³.
    ///
    /// A normal approximation: n should be many times 1/(1 − ρ)².
    pub fn mean_response_interval(&self, arrivals: u64, z: f64) -> Interval {
        let idle = 1.0 - self.utilization;
        let count = arrivals as f64;
        let bias = self.utilization / (idle.powi(3) * count);
        let deviation = (1.0 + self.utilization) / (idle.powi(2) * count.sqrt());
        Interval {
            center: self.mean_response() - self.service_mean * bias,
            half_width: z * self.service_mean * deviation,
        }
    }
}

/// M/G/1 mean response: one server, service times with squared coefficient of variation `scv`
/// (variance over squared mean; 0 deterministic, 1 exponential). Pollaczek–Khinchine.
pub fn mg1_mean_response(utilization: f64, service_mean: f64, scv: f64) -> f64 {
    let wait = utilization * service_mean * (1.0 + scv) / (2.0 * (1.0 - utilization));
    wait + service_mean
}

/// M/D/1 mean response: one server that always takes `service`.
pub fn md1_mean_response(utilization: f64, service: f64) -> f64 {
    mg1_mean_response(utilization, service, 0.0)
}

/// Erlang's C: the share of requests that must wait before `servers` servers, under an offered
/// load of `offered` servers' worth of work (arrival rate times mean service time, below
/// `servers`).
pub fn erlang_c(servers: u32, offered: f64) -> f64 {
    // Erlang's B by its recurrence, which neither overflows nor cancels, then C from B.
    let blocked = (1..=servers)
        .fold(1.0, |blocked, count| offered * blocked / (f64::from(count) + offered * blocked));
    let utilization = offered / f64::from(servers);
    blocked / (1.0 - utilization * (1.0 - blocked))
}

/// M/M/c mean response: `servers` exponential servers under `offered` servers' worth of work.
pub fn mmc_mean_response(servers: u32, offered: f64, service_mean: f64) -> f64 {
    let wait = erlang_c(servers, offered) * service_mean / (f64::from(servers) - offered);
    wait + service_mean
}

/// M/M/c: the share of requests whose response time exceeds `time` (D. Gross and C. M. Harris,
/// *Fundamentals of Queueing Theory*, section 2.3: a wait with probability C, exponential with rate
/// μ(c − a), then an exponential service with rate μ).
pub fn mmc_response_beyond(servers: u32, offered: f64, service_mean: f64, time: f64) -> f64 {
    let waits = erlang_c(servers, offered);
    let services = time / service_mean;
    let apart = f64::from(servers) - offered - 1.0;
    // The two rates may be equal; near there the quotient is all rounding.
    let waited = match apart.abs() < 1e-9 {
        true => services,
        false => -(-services * apart).exp_m1() / apart,
    };
    (-services).exp() * (1.0 + waits * waited)
}

/// M/M/c: the response time that a share `q` of requests does not exceed, found by halving.
pub fn mmc_response_quantile(servers: u32, offered: f64, service_mean: f64, q: f64) -> f64 {
    let beyond = |time| mmc_response_beyond(servers, offered, service_mean, time);
    let (mut low, mut high) = (0.0, service_mean);
    while beyond(high) > 1.0 - q {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if beyond(middle) > 1.0 - q { low = middle } else { high = middle }
    }
    high
}

/// The mean of correlated samples with its interval, by batch means: the run is cut into `batches`
/// equal parts (a remainder at the end is left out), whose means are nearly independent when each
/// is long. For laws without a closed form. `None` below two batches or two samples a batch.
pub fn batch_means(samples: &[f64], batches: usize, z: f64) -> Option<Interval> {
    let length = samples.len().checked_div(batches)?;
    if batches < 2 || length < 2 {
        return None;
    }
    let means = samples
        .chunks_exact(length)
        .take(batches)
        .map(|batch| batch.iter().sum::<f64>() / length as f64);
    let (sum, sum_of_squares) =
        means.fold((0.0, 0.0), |(sum, squares), mean| (sum + mean, squares + mean * mean));
    let count = batches as f64;
    let center = sum / count;
    let variance = ((sum_of_squares - count * center * center) / (count - 1.0)).max(0.0);
    Some(Interval { center, half_width: z * (variance / count).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_mock::{Draws, Latency, QueueModel};
    use std::num::NonZeroUsize;

    const SERVICE_NS: u64 = 1_000_000;

    /// Response times, in mean services, of the first `count` requests of an empty queue.
    fn simulate(servers: u32, utilization: f64, mut law: Draws, count: usize) -> Vec<f64> {
        let gap_ns = SERVICE_NS as f64 / (utilization * f64::from(servers));
        let mut gaps = Draws::exponential(gap_ns.round() as u64, 11 + count as u64);
        respond(servers, &mut gaps, &mut law, count)
    }

    fn respond(servers: u32, gaps: &mut Draws, law: &mut Draws, count: usize) -> Vec<f64> {
        let servers = NonZeroUsize::new(servers as usize).unwrap();
        let mut queue = QueueModel::new(servers, usize::MAX);
        let mut arrival_ns = 0;
        (0..count)
            .map(|_| {
                arrival_ns += gaps.draw_ns();
                let slot = queue.admit(arrival_ns, law.draw_ns()).unwrap();
                (slot.finish_ns - arrival_ns) as f64 / SERVICE_NS as f64
            })
            .collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn known_values() {
        // One server waits with probability ρ, and M/M/c with c = 1 is M/M/1.
        assert!((erlang_c(1, 0.7) - 0.7).abs() < 1e-12);
        let mm1 = Mm1 { utilization: 0.7, service_mean: 3.0 };
        assert!((mmc_mean_response(1, 0.7, 3.0) - mm1.mean_response()).abs() < 1e-12);
        assert!((mg1_mean_response(0.7, 3.0, 1.0) - mm1.mean_response()).abs() < 1e-12);
        // Two servers: C = 2ρ²/(1 + ρ), here with ρ = 1/2.
        assert!((erlang_c(2, 1.0) - 1.0 / 3.0).abs() < 1e-12);
        // With one server the response is exponential; two, just so loaded that both rates of the
        // sum are equal, have the limit of the formula's quotient.
        for q in [0.5, 0.99] {
            let general = mmc_response_quantile(1, 0.7, 3.0, q);
            assert!((general / mm1.response_quantile(q) - 1.0).abs() < 1e-9);
        }
        let near = mmc_response_beyond(2, 1.0 + 1e-7, 1.0, 2.0);
        assert!((mmc_response_beyond(2, 1.0, 1.0, 2.0) - near).abs() < 1e-6);
        // Half loaded, deterministic: waits half a service of the exponential queue's whole one.
        assert!((md1_mean_response(0.5, 1.0) - 1.5).abs() < 1e-12);
        assert!((mm1.response_quantile(0.5) - 10.0 * std::f64::consts::LN_2).abs() < 1e-9);
    }

    #[test]
    fn mm1_means_and_quantiles_are_found_by_simulation() {
        for utilization in [0.3, 0.5, 0.8] {
            let law = Draws::exponential(SERVICE_NS, 5);
            let mut times = simulate(1, utilization, law, 400_000);
            let mm1 = Mm1 { utilization, service_mean: 1.0 };
            let expected = mm1.mean_response_interval(times.len() as u64, 3.3);
            let found = mean(&times);
            assert!(expected.contains(found), "{found} outside {expected:?}");
            times.sort_by(f64::total_cmp);
            let median = times[times.len() / 2];
            let relative = median / mm1.response_quantile(0.5);
            // The median varies about as much as the mean does.
            let bound = 3.3 * expected.half_width / expected.center;
            assert!((relative - 1.0).abs() < bound, "median off by {relative}");
        }
    }

    /// The variance of the mean, found from many runs, is what the formula says, and so is the
    /// shortfall of the empty start.
    #[test]
    fn mm1_interval_has_the_width_of_the_scatter_between_runs() {
        for (utilization, arrivals, runs) in [(0.3, 2_000, 1_000), (0.6, 10_000, 1_000)] {
            let mm1 = Mm1 { utilization, service_mean: 1.0 };
            let expected = mm1.mean_response_interval(arrivals as u64, 1.0);
            let gap_ns = (SERVICE_NS as f64 / utilization).round() as u64;
            let mut gaps = Draws::exponential(gap_ns, 21);
            let mut law = Draws::exponential(SERVICE_NS, 22);
            let means: Vec<f64> =
                (0..runs).map(|_| mean(&respond(1, &mut gaps, &mut law, arrivals))).collect();
            let center = mean(&means);
            let squares = means.iter().map(|value| (value - center).powi(2)).sum::<f64>();
            let deviation = (squares / (f64::from(runs) - 1.0)).sqrt();
            // The deviation estimated from r runs itself deviates by about 1/√(2r), here 2.2 %;
            // the mean of all runs by 1/√r of a run's.
            let relative = deviation / expected.half_width;
            assert!((relative - 1.0).abs() < 0.09, "scatter is {relative} of the formula");
            let shift = (center - expected.center) / expected.half_width;
            assert!(shift.abs() < 4.0 / f64::from(runs).sqrt(), "center off by {shift}");
        }
    }

    /// From an empty start a short run falls short of the long-run mean by just the stated bias.
    #[test]
    fn mm1_bias_of_the_empty_start() {
        let mm1 = Mm1 { utilization: 0.5, service_mean: 1.0 };
        let runs = 20_000;
        let arrivals = 100;
        let mut gaps = Draws::exponential(2 * SERVICE_NS, 31);
        let mut law = Draws::exponential(SERVICE_NS, 32);
        let means: Vec<f64> =
            (0..runs).map(|_| mean(&respond(1, &mut gaps, &mut law, arrivals))).collect();
        let expected = mm1.mean_response_interval(arrivals as u64, 1.0);
        let error = expected.half_width / f64::from(runs).sqrt();
        let found = mean(&means);
        assert!((found - expected.center).abs() < 4.0 * error, "{found} {expected:?}");
        assert!((found - mm1.mean_response()).abs() > 4.0 * error, "bias would go unseen");
    }

    #[test]
    fn md1_mg1_and_mmc_means_lie_in_the_interval_of_batch_means() {
        let law = Latency::Uniform { low_ns: 0.0, high_ns: 2.0 * SERVICE_NS as f64 };
        let uniform = || Draws::new(law.clone(), 9);
        let exponential = || Draws::exponential(SERVICE_NS, 8);
        let cases = [
            ("M/D/1", 1, 0.7, Draws::fixed(SERVICE_NS), md1_mean_response(0.7, 1.0)),
            ("M/U/1", 1, 0.6, uniform(), mg1_mean_response(0.6, 1.0, 1.0 / 3.0)),
            ("M/M/3", 3, 0.8, exponential(), mmc_mean_response(3, 2.4, 1.0)),
            ("M/M/10", 10, 0.9, exponential(), mmc_mean_response(10, 9.0, 1.0)),
        ];
        for (name, servers, utilization, law, theory) in cases {
            let times = simulate(servers, utilization, law, 1_000_000);
            let found = batch_means(&times, 50, 3.5).unwrap();
            assert!(found.contains(theory), "{name}: {theory} outside {found:?}");
            assert!(found.half_width < 0.1 * theory, "{name}: {found:?} says nothing");
        }
    }

    #[test]
    fn batch_means_need_two_batches_of_two() {
        assert_eq!(batch_means(&[1.0, 2.0, 3.0], 2, 1.0), None);
        assert_eq!(batch_means(&[1.0; 8], 1, 1.0), None);
        assert_eq!(batch_means(&[1.0; 8], 0, 1.0), None);
        let found = batch_means(&[1.0, 1.0, 3.0, 3.0], 2, 1.0).unwrap();
        assert_eq!((found.center, found.half_width), (2.0, 1.0));
    }
}
