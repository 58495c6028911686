//! Batches: what became of requests with several events, and of the events.

use sojourn_analysis::words;

use super::{
    WIDTH, line,
    paint::{clean, wrap},
};
use crate::model::BatchReport;

pub(super) fn batch(out: &mut String, batch: &BatchReport) {
    let text = format!(
        "{}: {} accepted whole, {} in part, {} not at all",
        words::plural(batch.batches, "request", "requests"),
        words::count(batch.whole),
        words::count(batch.part),
        words::count(batch.refused)
    );
    line(out, &wrap(&text, "  batches   ", 12, WIDTH));
    let accept = batch.event_accept_ns.as_ref().map_or_else(String::new, |accept| {
        let [p50, p99, max] = [accept.p50, accept.p99, accept.max];
        let [p50, p99, max] = [p50, p99, max].map(|ns| words::duration(ns as f64));
        format!(" (from the scheduled instant p50 {p50} · p99 {p99} · max {max})")
    });
    let text = format!(
        "{} events: {} accepted{accept}, {} not",
        words::count(batch.events),
        words::count(batch.events_accepted),
        words::count(batch.events_refused)
    );
    line(out, &wrap(&text, "  events    ", 12, WIDTH));
    for row in &batch.reasons {
        let text = format!("{} not accepted: {}", words::count(row.count), clean(&row.reason));
        line(out, &wrap(&text, "            ", 12, WIDTH));
    }
}
