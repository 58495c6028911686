//! Memory, against what journeys in flight may take.

use sojourn_analysis::{check::Check, words};

use super::{
    cgroup::Allowance,
    demand::{Demand, JOURNEY_BYTES},
};
use crate::{machine::Machine, shape::JOURNEYS_MAX};

/// Holds the worst case against what there is.
pub(super) fn check(demand: &Demand, machine: &Machine, allowance: &Allowance) -> Check {
    let available = machine.memory_available_bytes.into_iter().chain(allowance.memory_bytes).min();
    let need = demand.in_flight.saturating_mul(JOURNEY_BYTES);
    let most = format!(
        "at most {} in flight, {}",
        words::plural(demand.in_flight, "journey", "journeys"),
        words::bytes(need as f64)
    );
    let found = match available {
        Some(bytes) => format!("{} available; {most}", words::bytes(bytes as f64)),
        None => most,
    };
    if demand.in_flight > JOURNEYS_MAX as u64 {
        let advice = format!(
            "the ledger holds {} journeys: beyond them a run is void; lower the rate or `within`",
            words::count(JOURNEYS_MAX as u64)
        );
        return Check::warned("memory", "", found).advised(advice);
    }
    if available.is_some_and(|bytes| need > bytes) {
        let advice = "lower the rate or the journeys' `within`, or use a larger machine";
        return Check::warned("memory", "", found).advised(advice.to_owned());
    }
    Check::passed("memory", "", found)
}

#[cfg(test)]
mod tests {
    use sojourn_analysis::check::Finding;

    use super::*;

    #[test]
    fn the_worst_case_is_held_against_what_is_left() {
        let checked = |in_flight, available, allowed| {
            let demand = Demand { in_flight, connections: Vec::new() };
            let machine =
                Machine { descriptors: 1, ports: 1..=2, memory_available_bytes: available };
            let allowance = Allowance { processors: None, memory_bytes: allowed };
            check(&demand, &machine, &allowance)
        };
        let fits = checked(1_000, Some(1_000_000), None);
        assert_eq!(fits.outcome, Finding::Passed);
        assert_eq!(fits.found, "1.00 MB available; at most 1,000 journeys in flight, 200 kB");
        assert_eq!(checked(10_000, Some(1_000_000), None).outcome, Finding::Warned);
        assert_eq!(checked(1_000, Some(1_000_000), Some(100_000)).outcome, Finding::Warned);
        assert_eq!(checked(1_000, None, None).outcome, Finding::Passed);
        let many = checked(2_000_001, None, None);
        assert!(many.advice.is_some_and(|advice| advice.contains("2,000,000")));
    }
}
