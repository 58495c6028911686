//! Batches: what became of requests with several events, and of the events.

use sojourn_analysis::words;

use super::{
    WIDTH, line,
    paint::{clean, wrap},
};
use crate::model::BatchReport;

/// Those of the first step, and of the steps that send the same events again.
pub(super) fn batches(out: &mut String, first: Option<&BatchReport>, again: &[BatchReport]) {
    for (place, batches) in first.into_iter().chain(again).enumerate() {
        let step = match place {
            0 => String::new(),
            _ => format!("again by {}, ", clean(&batches.step)),
        };
        batch(out, batches, &step);
    }
}

fn batch(out: &mut String, batch: &BatchReport, step: &str) {
    let text = format!(
        "{step}{}: {} accepted whole, {} in part, {} not at all",
        words::plural(batch.batches, "request", "requests"),
        words::count(batch.whole),
        words::count(batch.part),
        words::count(batch.refused)
    );
    line(out, &wrap(&text, "  batches   ", 12, WIDTH));
    let from = if step.is_empty() { "scheduled" } else { "due" };
    let accept = batch.event_accept_ns.as_ref().map_or_else(String::new, |accept| {
        let [p50, p99, max] = [accept.p50, accept.p99, accept.max];
        let [p50, p99, max] = [p50, p99, max].map(|ns| words::duration(ns as f64));
        format!(" (from the {from} instant p50 {p50} · p99 {p99} · max {max})")
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
