//! What the conclusions are drawn from.

use sojourn_analysis::conclusion::{Facts, Polled, Traced};

use super::lookup::Lookup;
use crate::model::{JourneyReport, Ledger, StageRow};

pub(super) fn facts(lookup: &Lookup<'_>, ledger: &Ledger, journey: &JourneyReport) -> Facts {
    let counts = ledger
        .journeys
        .iter()
        .find(|line| line.name == journey.name)
        .map(|line| line.steady)
        .unwrap_or_default();
    let order_violations = journey
        .stages
        .iter()
        .map(|stage| {
            let hops = stage.hop_ns.as_ref().map_or(0, |hop_ns| hop_ns.count);
            (stage.name.clone(), stage.order_violations, hops)
        })
        .collect();
    let sum = |kind: fn(&crate::model::Duplicates) -> u64| -> u64 {
        journey.stages.iter().map(|stage| kind(&stage.duplicates)).sum()
    };
    Facts {
        journey: journey.name.clone(),
        within_ns: journey.within_ns,
        started: counts.started,
        completed: counts.completed,
        late: counts.late,
        lost: counts.lost,
        failed: counts.failed,
        root_failed: counts.root_failed,
        in_flight_at_cutoff: counts.in_flight_at_cutoff,
        p50_ns: journey
            .quantiles
            .iter()
            .find(|quantile| quantile.q == 0.5 && !quantile.beyond)
            .map(|quantile| quantile.ns),
        arrivals_per_s: lookup.per_steady_s(counts.started),
        shares: journey.shares.clone(),
        backlog: journey.backlog.clone(),
        drain: journey.drain,
        growths: journey.growths.clone(),
        saturation: journey.saturation.clone(),
        oldest_age_ns_max: journey.oldest_age_ns_max,
        timers: journey.timers.clone(),
        changes: journey.changes.clone(),
        stalls: journey.stalls.clone(),
        fairness: journey.labels.as_ref().and_then(|labels| labels.fairness.clone()),
        correlations: journey.correlations.clone(),
        lost_last_seen: lost_last_seen(journey),
        order_violations,
        duplicates: vec![
            ("redelivery".to_owned(), sum(|duplicates| duplicates.redelivery)),
            ("republication".to_owned(), sum(|duplicates| duplicates.republication)),
            ("unknown".to_owned(), sum(|duplicates| duplicates.unknown)),
        ],
        polled: journey.stages.iter().filter_map(polled).collect(),
        second_branches: journey
            .branches
            .iter()
            .map(|branch| (branch.stage.clone(), branch.second))
            .collect(),
        traced: journey.stages.iter().filter_map(|stage| traced(journey, stage)).collect(),
    }
}

fn traced(journey: &JourneyReport, stage: &StageRow) -> Option<Traced> {
    let of = |stage: &StageRow| stage.trace.map(|trace| (trace.own, trace.total()));
    let before = journey.stages.iter().find(|before| before.name == stage.after);
    Some(Traced {
        from: stage.after.clone(),
        to: stage.name.clone(),
        carrying: of(stage)?,
        // A polled stage has no event to carry it: what comes after counts as from the root.
        before: before.filter(|before| before.poll_ns.is_none()).and_then(of),
    })
}

fn polled(stage: &StageRow) -> Option<Polled> {
    let waited = stage.poll_waited_ns.as_ref();
    Some(Polled {
        stage: stage.name.clone(),
        every_ns: stage.poll_ns?,
        waited: waited.map_or(0, |waited| waited.count),
        waited_ns_max: waited.map_or(0, |waited| waited.max.unsigned_abs()),
    })
}

/// The last stages of the lost journeys of the steady phase that were kept, the most frequent
/// first.
fn lost_last_seen(journey: &JourneyReport) -> Vec<(Option<String>, u64)> {
    let mut stages: Vec<(Option<String>, u64)> = Vec::new();
    let lost = journey.kept.iter().filter(|kept| kept.role == "lost" && kept.phase == "steady");
    for kept in lost {
        match stages.iter_mut().find(|(known, _)| *known == kept.last_seen) {
            Some((_, n)) => *n += 1,
            None => stages.push((kept.last_seen.clone(), 1)),
        }
    }
    stages.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    stages
}
