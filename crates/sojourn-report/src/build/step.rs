//! An HTTP step's figures.

use super::{figures::distribution, lookup::Lookup};
use crate::model::{ByOutcome, ErrorRow, PhaseRow, StatusRow, StepRow};

/// The phases of a request in their order.
const PHASES: [&str; 6] = ["dns", "connect", "tls", "send", "wait", "receive"];

pub(super) fn row(lookup: &Lookup<'_>, journey: &str, step: &str) -> StepRow {
    let tags = [("journey", journey), ("step", step)];
    let trend = |metric: &str| distribution(lookup.trend(metric, &tags));
    let mut statuses = statuses(lookup, journey, step);
    let errors = errors(lookup, journey, step);
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
            all: trend("step.response"),
            ok: trend("step.response_ok"),
            failed: trend("step.response_failed"),
        },
        service_ns: trend("step.service"),
        blocked_ns: trend("step.blocked"),
        phases: PHASES
            .into_iter()
            .filter_map(|phase| {
                Some(PhaseRow {
                    phase: phase.to_owned(),
                    time_ns: trend(&format!("step.{phase}"))?,
                })
            })
            .collect(),
        bytes_in: trend("step.bytes_in"),
        bytes_out: trend("step.bytes_out"),
        statuses,
        errors,
    }
}

fn statuses(lookup: &Lookup<'_>, journey: &str, step: &str) -> Vec<StatusRow> {
    let [journey, step] = [("journey", journey), ("step", step)];
    lookup
        .tag_values("step.requests", &[journey, step], "status")
        .into_iter()
        .map(|status| StatusRow {
            status: status.to_owned(),
            count: lookup.steady("step.requests", &[journey, step, ("status", status)]),
            fraction: 0.0,
        })
        .filter(|row| row.count > 0)
        .collect()
}

fn errors(lookup: &Lookup<'_>, journey: &str, step: &str) -> Vec<ErrorRow> {
    let [journey, step] = [("journey", journey), ("step", step)];
    let mut rows: Vec<ErrorRow> = lookup
        .tag_values("step.failed", &[journey, step], "reason")
        .into_iter()
        .map(|reason| ErrorRow {
            reason: reason.to_owned(),
            count: lookup.steady("step.failed", &[journey, step, ("reason", reason)]),
        })
        .filter(|row| row.count > 0)
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}
