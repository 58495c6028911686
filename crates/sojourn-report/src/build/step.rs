//! An HTTP step's figures.

use sojourn_metrics::names;

use super::{figures::distribution, lookup::Lookup};
use crate::model::{AttemptRow, ByOutcome, ErrorRow, PhaseRow, StatusRow, StepRow};

/// The phases of a request in their order.
const PHASES: [(&str, &str); 6] = [
    ("dns", names::STEP_DNS),
    ("connect", names::STEP_CONNECT),
    ("tls", names::STEP_TLS),
    ("send", names::STEP_SEND),
    ("wait", names::STEP_WAIT),
    ("receive", names::STEP_RECEIVE),
];

pub(super) fn row(lookup: &Lookup<'_>, journey: &str, step: &str) -> StepRow {
    let tags = [(names::JOURNEY, journey), (names::STEP, step)];
    let trend = |metric: &str| distribution(lookup.trend(metric, &tags));
    let mut statuses = statuses(lookup, journey, step);
    let errors = by_reason(lookup, names::STEP_FAILED, journey, step);
    let requests: u64 = statuses.iter().map(|status| status.count).sum();
    let failed: u64 = errors.iter().map(|error| error.count).sum();
    let ok = requests.saturating_sub(failed);
    for status in &mut statuses {
        status.fraction = status.count as f64 / requests.max(1) as f64;
    }
    StepRow {
        name: step.to_owned(),
        requests,
        ok,
        failed,
        requests_per_s: lookup.per_steady_s(requests),
        ok_per_s: lookup.per_steady_s(ok),
        failed_per_s: lookup.per_steady_s(failed),
        response_ns: ByOutcome {
            all: trend(names::STEP_RESPONSE),
            ok: trend(names::STEP_RESPONSE_OK),
            failed: trend(names::STEP_RESPONSE_FAILED),
        },
        service_ns: trend(names::STEP_SERVICE),
        blocked_ns: trend(names::STEP_BLOCKED),
        phases: PHASES
            .into_iter()
            .filter_map(|(phase, metric)| {
                Some(PhaseRow { phase: phase.to_owned(), time_ns: trend(metric)? })
            })
            .collect(),
        received_bytes: trend(names::STEP_RECEIVED_BYTES),
        sent_bytes: trend(names::STEP_SENT_BYTES),
        statuses,
        errors,
        attempts: attempts(lookup, journey, step),
        retries: by_reason(lookup, names::STEP_RETRIES, journey, step),
    }
}

fn attempts(lookup: &Lookup<'_>, journey: &str, step: &str) -> Vec<AttemptRow> {
    let [journey, step] = [(names::JOURNEY, journey), (names::STEP, step)];
    let numbers = lookup.tag_values(names::STEP_ATTEMPT, &[journey, step], names::ATTEMPT);
    let row = |number: &str| {
        let tags = [journey, step, (names::ATTEMPT, number)];
        Some(AttemptRow {
            attempt: number.parse().ok()?,
            time_ns: distribution(lookup.trend(names::STEP_ATTEMPT, &tags))?,
        })
    };
    let mut rows: Vec<AttemptRow> = numbers.into_iter().filter_map(row).collect();
    rows.sort_by_key(|row| row.attempt);
    rows
}

fn statuses(lookup: &Lookup<'_>, journey: &str, step: &str) -> Vec<StatusRow> {
    let [journey, step] = [(names::JOURNEY, journey), (names::STEP, step)];
    lookup
        .tag_values(names::STEP_REQUESTS, &[journey, step], names::STATUS)
        .into_iter()
        .map(|status| StatusRow {
            status: status.to_owned(),
            count: lookup.steady(names::STEP_REQUESTS, &[journey, step, (names::STATUS, status)]),
            fraction: 0.0,
        })
        .filter(|row| row.count > 0)
        .collect()
}

/// A step's counters of a metric by reason, the greatest first.
fn by_reason(lookup: &Lookup<'_>, metric: &str, journey: &str, step: &str) -> Vec<ErrorRow> {
    let [journey, step] = [(names::JOURNEY, journey), (names::STEP, step)];
    let mut rows: Vec<ErrorRow> = lookup
        .tag_values(metric, &[journey, step], names::REASON)
        .into_iter()
        .map(|reason| ErrorRow {
            reason: reason.to_owned(),
            count: lookup.steady(metric, &[journey, step, (names::REASON, reason)]),
        })
        .filter(|row| row.count > 0)
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}
