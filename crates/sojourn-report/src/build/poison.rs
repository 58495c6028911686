//! Poisoned journeys: the figures apart.

use sojourn_analysis::conclusion::PoisonFacts;
use sojourn_metrics::names;
use sojourn_record::JourneyShape;

use super::{figures::distribution, journey, lookup::Lookup};
use crate::model::{JourneyLine, PoisonReport};

/// The report of a journey of the run file that is the poisoned ones of another; `line` is
/// the ledger's.
pub(super) fn report(
    lookup: &Lookup<'_>,
    shape: &JourneyShape,
    line: &JourneyLine,
) -> Option<PoisonReport> {
    let poison = shape.poison.as_ref()?;
    let tags = [(names::JOURNEY, shape.name.as_str())];
    let counter = |metric: &str| lookup.steady(metric, &tags);
    let others = lookup.steady(names::JOURNEYS_STARTED, &[(names::JOURNEY, &poison.of)]);
    let of_line = PoisonReport::of_line(&line.steady, counter(names::POISON_CONTAINED));
    let figures = journey::report(lookup, shape);
    let matched: u64 = figures.stages.iter().map(|stage| stage.matched).sum();
    let again: u64 = figures.stages.iter().map(|stage| stage.duplicates.total()).sum();
    let begun = of_line.sent + others;
    Some(PoisonReport {
        journey: poison.of.clone(),
        name: shape.name.clone(),
        share: poison.share,
        within_ns: shape.within_ns,
        sent_fraction: (begun > 0).then(|| of_line.sent as f64 / begun as f64),
        contained_late: counter(names::POISON_CONTAINED_LATE),
        containment_ns: distribution(lookup.trend(names::POISON_CONTAINMENT, &tags)),
        deliveries_per_event: (matched > 0).then(|| (matched + again) as f64 / matched as f64),
        events_after: counter(names::POISON_EVENTS_AFTER),
        failures: figures.failures,
        batch: figures.batch,
        batches_again: figures.batches_again,
        stages: figures.stages,
        kept: figures.kept,
        ..of_line
    })
}

/// What its conclusions are drawn from.
pub(super) fn facts(poison: &PoisonReport) -> PoisonFacts {
    PoisonFacts {
        journey: poison.journey.clone(),
        within_ns: poison.within_ns,
        sent: poison.sent,
        contained: poison.contained,
        contained_late: poison.contained_late,
        containment_p50_ns: poison.containment_ns.map(|times| times.p50.unsigned_abs()),
        containment_max_ns: poison.containment_ns.map(|times| times.max.unsigned_abs()),
        completed: poison.completed,
        refused: poison.refused,
        failed: poison.failed,
        lost: poison.lost,
        in_flight_at_cutoff: poison.in_flight_at_cutoff,
        deliveries_per_event: poison.deliveries_per_event,
    }
}
