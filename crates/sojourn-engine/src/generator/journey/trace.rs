//! The trace context that a journey's requests and messages carry.

use sojourn_ledger::TraceSeed;
use sojourn_plan::Plan;

use super::JourneyActor;
use crate::generator::prepared::PreparedPlan;

impl JourneyActor {
    /// The header's value; `None` for a journey without a trace.
    pub(super) fn traceparent(
        &self,
        plan: &Plan,
        prepared: &PreparedPlan,
        run_id: &str,
    ) -> Option<String> {
        let is_traced = prepared.journeys[self.kind()].trace;
        let seed = is_traced.then(|| TraceSeed::of(plan.seed, run_id))?;
        Some(seed.id(self.arrival.journey).traceparent())
    }
}
