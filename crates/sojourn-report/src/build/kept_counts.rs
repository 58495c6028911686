//! How many journeys of each class the file keeps.

use sojourn_metrics::names;
use sojourn_record::KeptAs;

use super::lookup::Lookup;
use crate::model::{KeptClass, KeptCounts};

/// As the run noted it. A file without that (it was cut off, or is older) has its journeys counted;
/// how many it lacks is known of the classes that the ledger counts.
pub(super) fn counts(lookup: &Lookup<'_>) -> KeptCounts {
    if let Some(kept) = &lookup.run.kept {
        let class = |count: &sojourn_record::KeptCount| KeptClass {
            class: count.class.clone(),
            kept: count.kept,
            not_kept: Some(count.not_kept),
        };
        return KeptCounts {
            classes: kept.classes.iter().map(class).collect(),
            each_max: Some(kept.each_max),
            duplicates_beyond: kept.duplicates_beyond,
        };
    }
    let class = |role: KeptAs| {
        let is_of = |record: &&sojourn_record::JourneyRecord| {
            record.class == role.name() || record.is_kept_as(role.name())
        };
        let kept = lookup.run.journeys.iter().filter(is_of).count() as u64;
        let all = counter(role).map(|metric| whole(lookup, metric));
        let not_kept = all.map(|all| all.saturating_sub(kept));
        KeptClass { class: role.name().to_owned(), kept, not_kept }
    };
    KeptCounts { classes: KeptAs::ALL.map(class).to_vec(), each_max: None, duplicates_beyond: 0 }
}

/// The ledger's counter of a class, where it has one.
fn counter(role: KeptAs) -> Option<&'static str> {
    match role {
        KeptAs::Lost => Some(names::JOURNEYS_LOST),
        KeptAs::Failed => Some(names::JOURNEYS_FAILED),
        KeptAs::RootFailed => Some(names::JOURNEYS_ROOT_FAILED),
        KeptAs::Late => Some(names::JOURNEYS_LATE),
        KeptAs::InFlight => Some(names::JOURNEYS_IN_FLIGHT_AT_CUTOFF),
        KeptAs::Duplicated | KeptAs::OutOfOrder | KeptAs::Slowest | KeptAs::Sample => None,
    }
}

/// Over all journeys and phases.
fn whole(lookup: &Lookup<'_>, metric: &str) -> u64 {
    let journeys = lookup.run.identity.journeys.iter();
    journeys.map(|shape| lookup.whole(metric, &[(names::JOURNEY, &shape.name)])).sum()
}
