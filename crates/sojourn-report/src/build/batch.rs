//! Figures of batches.

use sojourn_metrics::names;
use sojourn_record::JourneyShape;

use super::{figures::distribution, lookup::Lookup};
use crate::model::{BatchReport, ErrorRow};

/// Of each step in turn; none of a journey that shares its request with no other.
pub(super) fn reports(lookup: &Lookup<'_>, shape: &JourneyShape) -> Vec<BatchReport> {
    shape.steps.iter().filter_map(|step| report(lookup, &shape.name, step)).collect()
}

fn report(lookup: &Lookup<'_>, journey: &str, step: &str) -> Option<BatchReport> {
    let of = [(names::JOURNEY, journey), (names::STEP, step)];
    let count = |metric: &str| lookup.steady(metric, &of);
    let [whole, part, refused] =
        [names::BATCHES_WHOLE, names::BATCHES_PART, names::BATCHES_REFUSED].map(count);
    let batches = whole + part + refused;
    if batches == 0 {
        return None;
    }
    let reasons = lookup.tag_values(names::BATCH_EVENTS_REFUSED, &of, names::REASON);
    let row = |reason: &str| {
        let tags = [of[0], of[1], (names::REASON, reason)];
        let count = lookup.steady(names::BATCH_EVENTS_REFUSED, &tags);
        ErrorRow { reason: reason.to_owned(), count }
    };
    let mut reasons: Vec<_> = reasons.into_iter().map(row).filter(|row| row.count > 0).collect();
    reasons.sort_by_key(|row| std::cmp::Reverse(row.count));
    let events_accepted = count(names::BATCH_EVENTS_ACCEPTED);
    let events_refused: u64 = reasons.iter().map(|row| row.count).sum();
    Some(BatchReport {
        step: step.to_owned(),
        batches,
        whole,
        part,
        refused,
        events: events_accepted + events_refused,
        events_accepted,
        events_refused,
        event_accept_ns: distribution(lookup.trend(names::BATCH_EVENT_ACCEPT, &of)),
        reasons,
    })
}
