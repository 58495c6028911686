//! Requests of a journey's steps; of attacks by target, of sessions by the request's name.

use sojourn_metrics::names;

use super::{Frame, StepFrame, lookup::Lookup};

/// Steps in declared order, then those that the plan does not name; and how many had no room.
pub(super) fn steps(
    lookup: &Lookup<'_>,
    journey: &str,
    declared: &[String],
) -> (Vec<StepFrame>, u64) {
    let of = [(names::JOURNEY, journey)];
    let others = lookup.values(names::STEP_REQUESTS, names::STEP, &of);
    let others = others.into_iter().filter(|name| !declared.contains(name));
    let all: Vec<String> = declared.iter().cloned().chain(others).collect();
    let beyond = all.len().saturating_sub(Frame::STEPS_MAX) as u64;
    let shown = all.into_iter().take(Frame::STEPS_MAX);
    (shown.map(|name| step(lookup, journey, name)).collect(), beyond)
}

fn step(lookup: &Lookup<'_>, journey: &str, name: String) -> StepFrame {
    let tags = [(names::JOURNEY, journey), (names::STEP, name.as_str())];
    let (response, response_so_far) = lookup.trends(names::STEP_RESPONSE, &tags);
    StepFrame {
        requests: lookup.count(names::STEP_REQUESTS, &tags),
        requests_per_s: lookup.per_s(names::STEP_REQUESTS, &tags),
        response,
        response_so_far,
        statuses: lookup.by(names::STEP_REQUESTS, names::STATUS, &tags),
        errors: lookup.by(names::STEP_FAILED, names::REASON, &tags),
        failed: lookup.count(names::STEP_FAILED, &tags),
        name,
    }
}
