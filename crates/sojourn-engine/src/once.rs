//! One journey only: a plan's load replaced by a single arrival per journey.

use std::sync::Arc;

use sojourn_metrics::Threshold;

use sojourn_pace::{Arrivals, Profile};
use sojourn_plan::{Journey, Load, Model, Plan};

/// What must hold of one journey, in place of the plan's thresholds, which are of its load.
const HOLDS: [&str; 3] = ["lost == 0", "failed == 0", "root_failed == 0"];

/// The plan with one arrival of each of these journeys, all at once, drained to their deadline.
pub(crate) fn once(plan: &Plan, is_wanted: impl Fn(&Journey) -> bool) -> Plan {
    let mut once = plan.clone();
    once.thresholds = HOLDS.iter().filter_map(|text| Threshold::parse(text).ok()).collect();
    once.load = (0..plan.journeys.len())
        .filter(|&journey| is_wanted(&plan.journeys[journey]))
        .map(|journey| Load {
            journeys: vec![(journey, 1.0)],
            model: Model::Open {
                profile: Profile::default(),
                arrivals: Arrivals::Replay(Arc::from([0])),
                limit: Some(1),
            },
            warmup_ns: 0,
            steady_ns: 0,
            drain_ns: plan.journeys[journey].within_ns + plan.journeys[journey].linger_ns,
            declared: format!("one {}", plan.journeys[journey].name),
        })
        .collect();
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_hold_can_be_read() {
        assert!(HOLDS.iter().all(|text| Threshold::parse(text).is_ok()));
    }
}
