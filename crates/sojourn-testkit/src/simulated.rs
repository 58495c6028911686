//! The mock's queue in simulated time: millions of services against theory. Only tests.

use std::num::NonZeroUsize;

use sojourn_mock::{Clerk, Draws, QueueModel, Truth, TruthRecord};

use crate::theory::{Mm1, mmc_mean_response, mmc_response_quantile};

const SERVICES: usize = 15_000_000;
const SERVICE_NS: u64 = 1_000_000;
/// Against theory. By the theory of M/M/1 itself the mean of so many services at a utilization of
/// 0.9 strays by 0.5 % (one deviation), its p99 by about twice that; at lower ones by less.
const WITHIN: f64 = 0.03;

/// Nobody asks.
struct NoTruth;

impl Truth for NoTruth {
    fn admitted(&mut self, _record: &TruthRecord) {}
    fn ended(&mut self, _id: u64, _sent_ns: Option<u64>) {}
    fn refused(&mut self) {}
}

/// Response times of Poisson arrivals at the very clerk that serves requests of `sojourn mock`.
fn responses(servers: usize, utilization: f64) -> Vec<u64> {
    let model = QueueModel::new(NonZeroUsize::new(servers).unwrap(), usize::MAX);
    let mut clerk = Clerk::new(model, Draws::exponential(SERVICE_NS, 41), NoTruth);
    let gap_ns = SERVICE_NS as f64 / (utilization * servers as f64);
    let mut gaps = Draws::exponential(gap_ns.round() as u64, 42);
    let mut arrival_ns = 0;
    let response = |_| {
        arrival_ns += gaps.draw_ns();
        clerk.admit(arrival_ns).unwrap().finish_ns - arrival_ns
    };
    (0..SERVICES).map(response).collect()
}

#[test]
fn fifteen_million_services_have_the_mean_and_the_p99_of_theory() {
    for servers in [1, 3] {
        for utilization in [0.5, 0.7, 0.9] {
            let mut found = responses(servers as usize, utilization);
            let mean = found.iter().map(|ns| *ns as f64).sum::<f64>() / SERVICES as f64;
            let place = SERVICES / 100 * 99;
            let p99 = *found.select_nth_unstable(place).1 as f64;
            let service = SERVICE_NS as f64;
            let offered = utilization * f64::from(servers);
            let expected = [
                mmc_mean_response(servers, offered, service),
                mmc_response_quantile(servers, offered, service, 0.99),
            ];
            let off = [mean / expected[0] - 1.0, p99 / expected[1] - 1.0];
            println!(
                "M/M/{servers} at {utilization}: mean {:+.3} %, p99 {:+.3} % from theory",
                off[0] * 100.0,
                off[1] * 100.0
            );
            assert!(off.iter().all(|it| it.abs() < WITHIN), "M/M/{servers} {utilization}: {off:?}");
            if servers == 1 {
                let mm1 = Mm1 { utilization, service_mean: service };
                let interval = mm1.mean_response_interval(SERVICES as u64, 3.5);
                assert!(
                    interval.contains(mean),
                    "M/M/1 {utilization}: {mean} outside {interval:?}"
                );
            }
        }
    }
}
