//! The ledger's lines.

use super::lookup::Lookup;
use crate::model::{EventCounts, EventLine, JourneyCounts, JourneyLine, Ledger};

pub(super) fn ledger(lookup: &Lookup<'_>) -> Ledger {
    let journeys: Vec<JourneyLine> = lookup
        .run
        .identity
        .journeys
        .iter()
        .map(|shape| journey_line(lookup, &shape.name))
        .collect();
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
    let balanced = journeys.iter().all(|line| line.steady.balances() && line.whole_run.balances())
        && events.iter().all(|line| line.whole_run.balances());
    Ledger { journeys, journeys_total, events, events_total, balanced }
}

fn journey_line(lookup: &Lookup<'_>, name: &str) -> JourneyLine {
    let tags = [("journey", name)];
    JourneyLine {
        name: name.to_owned(),
        steady: journey_counts(|metric| lookup.steady(metric, &tags)),
        whole_run: journey_counts(|metric| lookup.whole(metric, &tags)),
    }
}

fn journey_counts(counter: impl Fn(&str) -> u64) -> JourneyCounts {
    JourneyCounts {
        scheduled: counter("journeys.scheduled"),
        missed: counter("journeys.missed"),
        started: counter("journeys.started"),
        completed: counter("journeys.completed"),
        late: counter("journeys.late"),
        lost: counter("journeys.lost"),
        failed: counter("journeys.failed"),
        root_failed: counter("journeys.root_failed"),
        in_flight_at_cutoff: counter("journeys.in_flight_at_cutoff"),
        key_reused: counter("key_reused"),
        hops_without_predecessor: counter("journeys.hops_without_predecessor"),
    }
}

/// Declared channels first, in their order, then any other that events were counted for.
fn channels(lookup: &Lookup<'_>) -> Vec<String> {
    let declared = &lookup.run.identity.channels;
    let mut names: Vec<String> = declared.iter().map(|(name, _)| name.clone()).collect();
    for name in lookup.tag_values("events.seen", &[], "channel") {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn event_counts(lookup: &Lookup<'_>, channel: &str) -> EventCounts {
    let counter = |metric: &str| lookup.whole(metric, &[("channel", channel)]);
    let again =
        |kind: &str| lookup.whole("events.duplicate", &[("channel", channel), ("kind", kind)]);
    EventCounts {
        seen: counter("events.seen"),
        matched: counter("events.matched"),
        redelivery: again("redelivery"),
        republication: again("republication"),
        duplicate_unknown: again("unknown"),
        after_failure: counter("events.after_failure"),
        orphan: counter("events.orphan"),
        foreign: counter("events.foreign"),
        unattributed: counter("events.unattributed"),
        undecodable: counter("events.undecodable"),
        reread: counter("events.reread"),
    }
}
