//! The ledger's lines.

use super::lookup::Lookup;
use crate::model::{EventCounts, EventLine, JourneyCounts, JourneyLine, Ledger};
use sojourn_metrics::names;

pub(super) fn ledger(lookup: &Lookup<'_>) -> Ledger {
    let shapes = &lookup.run.identity.journeys;
    let lines = |poisoned: bool| -> Vec<JourneyLine> {
        let shapes = shapes.iter().filter(|shape| shape.poison.is_some() == poisoned);
        shapes.map(|shape| journey_line(lookup, &shape.name)).collect()
    };
    let (journeys, poisoned) = (lines(false), lines(true));
    let mut journeys_total = JourneyLine { name: "total".to_owned(), ..JourneyLine::default() };
    for line in &journeys {
        journeys_total.steady.add(&line.steady);
        journeys_total.whole_run.add(&line.whole_run);
    }
    let events: Vec<EventLine> = channels(lookup)
        .into_iter()
        .map(|channel| EventLine { whole_run: event_counts(lookup, &channel), channel })
        .collect();
    let mut events_total = EventLine { channel: "total".to_owned(), ..EventLine::default() };
    for line in &events {
        events_total.whole_run.add(&line.whole_run);
    }
    let balanced = journeys
        .iter()
        .chain(&poisoned)
        .all(|line| line.steady.balances() && line.whole_run.balances())
        && events.iter().all(|line| line.whole_run.balances());
    Ledger { journeys, poisoned, journeys_total, events, events_total, balanced }
}

fn journey_line(lookup: &Lookup<'_>, name: &str) -> JourneyLine {
    let tags = [(names::JOURNEY, name)];
    JourneyLine {
        name: name.to_owned(),
        steady: journey_counts(|metric| lookup.steady(metric, &tags)),
        whole_run: journey_counts(|metric| lookup.whole(metric, &tags)),
    }
}

fn journey_counts(counter: impl Fn(&str) -> u64) -> JourneyCounts {
    JourneyCounts {
        scheduled: counter(names::JOURNEYS_SCHEDULED),
        missed: counter(names::JOURNEYS_MISSED),
        started: counter(names::JOURNEYS_STARTED),
        completed: counter(names::JOURNEYS_COMPLETED),
        late: counter(names::JOURNEYS_LATE),
        lost: counter(names::JOURNEYS_LOST),
        failed: counter(names::JOURNEYS_FAILED),
        root_failed: counter(names::JOURNEYS_ROOT_FAILED),
        in_flight_at_cutoff: counter(names::JOURNEYS_IN_FLIGHT_AT_CUTOFF),
        key_reused: counter(names::KEY_REUSED),
        hops_without_predecessor: counter(names::JOURNEYS_HOPS_WITHOUT_PREDECESSOR),
    }
}

/// Declared channels first, in their order, then any other that events were counted for.
fn channels(lookup: &Lookup<'_>) -> Vec<String> {
    let declared = &lookup.run.identity.channels;
    let mut names: Vec<String> = declared.iter().map(|(name, _)| name.clone()).collect();
    for name in lookup.tag_values(names::EVENTS_SEEN, &[], names::CHANNEL) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn event_counts(lookup: &Lookup<'_>, channel: &str) -> EventCounts {
    let counter = |metric: &str| lookup.whole(metric, &[(names::CHANNEL, channel)]);
    let again = |kind: &str| {
        lookup.whole(names::EVENTS_DUPLICATE, &[(names::CHANNEL, channel), (names::KIND, kind)])
    };
    EventCounts {
        seen: counter(names::EVENTS_SEEN),
        matched: counter(names::EVENTS_MATCHED),
        redelivery: again("redelivery"),
        republication: again("republication"),
        duplicate_unknown: again("unknown"),
        after_failure: counter(names::EVENTS_AFTER_FAILURE),
        orphan: counter(names::EVENTS_ORPHAN),
        foreign: counter(names::EVENTS_FOREIGN),
        unattributed: counter(names::EVENTS_UNATTRIBUTED),
        undecodable: counter(names::EVENTS_UNDECODABLE),
        reread: counter(names::EVENTS_REREAD),
    }
}
