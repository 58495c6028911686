//! The mock's queue in simulated time: fifteen million services each, against theory.

use std::num::NonZeroUsize;

use sojourn_metrics::Histogram;
use sojourn_testkit::{Draws, QueueModel, theory};

const SERVICES: u64 = 15_000_000;
const SERVICE_NS: f64 = 1e6;
/// Mean and p99 within 3 %. Of the mean of M/M/1 at ρ = 0.9 that is six standard deviations.
const WITHIN: f64 = 0.03;

#[test]
fn means_and_p99_of_mm1_and_mm3_are_those_of_theory() {
    let mut told = Vec::new();
    for servers in [1_u32, 3] {
        for utilization in [0.5, 0.7, 0.9] {
            let offered = utilization * f64::from(servers);
            let responses = simulate(servers, offered);
            let mean = theory::mmc_mean_response(servers, offered, SERVICE_NS);
            let p99 = theory::mmc_response_quantile(servers, offered, SERVICE_NS, 0.99);
            let off = [
                responses.mean().unwrap() / mean - 1.0,
                responses.quantile(0.99).unwrap() as f64 / p99 - 1.0,
            ];
            told.push(format!(
                "M/M/{servers} at {utilization}: mean off by {:+.2} %, p99 by {:+.2} %",
                off[0] * 100.0,
                off[1] * 100.0
            ));
            assert!(off.iter().all(|off| off.abs() < WITHIN), "{told:#?}");
        }
    }
    println!("{}", told.join("\n"));
}

/// Response times of an empty queue's first requests; Poisson arrivals, exponential services.
fn simulate(servers: u32, offered: f64) -> Histogram {
    let mut gaps = Draws::exponential((SERVICE_NS / offered).round() as u64, 101);
    let mut services = Draws::exponential(SERVICE_NS as u64, 202);
    let mut queue = QueueModel::new(NonZeroUsize::new(servers as usize).unwrap(), usize::MAX);
    let mut responses = Histogram::new();
    let mut arrival_ns = 0;
    for _ in 0..SERVICES {
        arrival_ns += gaps.draw_ns();
        let slot = queue.admit(arrival_ns, services.draw_ns()).unwrap();
        responses.record(slot.finish_ns - arrival_ns);
    }
    responses
}
