//! What an arrival makes, and what its user waits for.

use sojourn_pace::random_unit;
use sojourn_plan::{Load, Model, Plan, Until};

/// Which journey arrival `k` of a load entry makes.
pub(super) fn pick_journey(load: &Load, seed: u64, entry: u16, k: u64) -> u16 {
    let total: f64 = load.journeys.iter().map(|(_, weight)| weight).sum();
    let mut point = match load.journeys.as_slice() {
        [(only, _)] => return *only as u16,
        _ => random_unit(seed, 0x3E1C + u64::from(entry), k) * total,
    };
    for (journey, weight) in &load.journeys {
        if point < *weight {
            return *journey as u16;
        }
        point -= weight;
    }
    load.journeys.last().map_or(0, |(journey, _)| *journey as u16)
}

/// Whether a closed load's user waits for the ledger to end the journey, not only for its root.
pub(crate) fn waits_for_journey(plan: &Plan, load: &Load, kind: u16) -> bool {
    let journey = &plan.journeys[usize::from(kind)];
    let is_more_than_root =
        !journey.stages.is_empty() || journey.steps.iter().any(|step| step.after.is_some());
    matches!(load.model, Model::Closed { until: Until::Journey, .. }) && is_more_than_root
}
