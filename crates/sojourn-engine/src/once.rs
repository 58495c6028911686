//! One journey only: a plan's load replaced by a single arrival per journey.

use std::sync::Arc;

use sojourn_pace::{Arrivals, Profile};
use sojourn_plan::{Journey, Load, Model, Plan};

/// The plan with one arrival of each of these journeys, all at once, drained to their deadline.
pub(crate) fn once(plan: &Plan, is_wanted: impl Fn(&Journey) -> bool) -> Plan {
    let mut once = plan.clone();
    once.thresholds.clear();
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
