//! Poisoned journeys: what became of them, apart from the others.

use sojourn_analysis::words;

use super::{
    details, entry, heading, journey,
    paint::{Paint, clean},
};
use crate::model::PoisonReport;

pub(super) fn poison(out: &mut String, poison: &PoisonReport, paint: &Paint) {
    heading(out, &format!("POISON {}", clean(&poison.journey)), paint);
    let sent = poison.sent_fraction.map_or_else(String::new, |fraction| {
        format!(", {} of the journeys started", words::percent(fraction))
    });
    let declared = words::percent(poison.share);
    // Which arrivals are poisoned is drawn: of a batch all events are, or none.
    let of = if poison.batch.is_some() { "requests" } else { "journeys" };
    let sent = format!("{}{sent} (declared {declared} of the {of})", words::count(poison.sent));
    entry(out, "sent", &sent);
    let times = poison.containment_ns.as_ref().map_or_else(String::new, |times| {
        let time = |ns: i64| words::duration(ns as f64);
        let (p50, p95) = (time(times.p50), time(times.p95));
        let (p99, max) = (time(times.p99), time(times.max));
        format!(" at a failure stage: p50 {p50} · p95 {p95} · p99 {p99} · max {max} since start")
    });
    entry(out, "contained", &format!("{}{times}", words::count(poison.contained)));
    if poison.contained_late > 0 {
        let within = words::duration(poison.within_ns as f64);
        let late = words::count(poison.contained_late);
        entry(out, "", &format!("{late} of them late, after {within}"));
    }
    for (label, n, text) in [
        ("completed", poison.completed, "in spite of the poison"),
        ("refused", poison.refused, "at the root"),
        ("failed", poison.failed, "otherwise than at a failure stage"),
        ("lost", poison.lost, "neither complete nor at a failure stage"),
        ("in flight", poison.in_flight_at_cutoff, "when observation ended"),
    ] {
        // The two that say whether poison gets through are told even at zero.
        if n > 0 || matches!(label, "completed" | "lost") {
            entry(out, label, &format!("{} {text}", words::count(n)));
        }
    }
    let deliveries = poison.deliveries_per_event.map_or_else(|| "–".to_owned(), words::number);
    let after = words::plural(poison.events_after, "event", "events");
    entry(out, "delivered", &format!("{deliveries} per event; {after} after the journey's end"));
    journey::stages(out, &poison.stages, &[]);
    details::failures(out, &poison.failures);
    super::batch::batches(out, poison.batch.as_ref(), &poison.batches_again);
    let lost: Vec<_> = poison.kept.iter().filter(|kept| kept.role == "lost").cloned().collect();
    journey::kept(out, &lost, paint);
}
