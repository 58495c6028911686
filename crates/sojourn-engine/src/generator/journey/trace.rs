//! The trace context that a journey's requests and messages carry.

use sojourn_ledger::TraceSeed;
use sojourn_plan::Plan;

use super::JourneyActor;
use crate::generator::prepared::{PreparedPlan, TRACEPARENT};

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

/// Names of the headers of a message that has these already: its own, and where it is a binary
/// CloudEvent the attribute too.
pub(super) fn names_beside(headers: &[(&str, Vec<u8>)]) -> Vec<&'static str> {
    let has = |prefix: &str| {
        headers
            .iter()
            .any(|(name, _)| name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))
    };
    let mut names = vec![TRACEPARENT];
    names.extend(has("ce-").then_some("ce-traceparent"));
    names.extend(has("ce_").then_some("ce_traceparent"));
    let is_set = |own: &&str| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(own));
    names.retain(|name| !is_set(name));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cloud_event_carries_it_twice_and_the_plans_own_stays() {
        let names = |given: &[&'static str]| {
            let headers: Vec<_> = given.iter().map(|&name| (name, Vec::new())).collect();
            names_beside(&headers)
        };
        assert_eq!(names(&["kind"]), ["traceparent"]);
        assert_eq!(names(&["ce-type"]), ["traceparent", "ce-traceparent"]);
        assert_eq!(names(&["CE_id"]), ["traceparent", "ce_traceparent"]);
        assert_eq!(names(&["TraceParent", "ce-id"]), ["ce-traceparent"]);
    }
}
