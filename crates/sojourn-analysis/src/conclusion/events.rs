//! Sentences about events: their order, their repetition, and how they were seen.

use super::{Conclusion, Facts, Polled, Weight, conclusion};
use crate::words;

pub(super) fn order(facts: &Facts) -> Option<Conclusion> {
    let stages: Vec<String> = facts
        .order_violations
        .iter()
        .filter(|(_, n, _)| *n > 0)
        .map(|(stage, n, hops)| {
            format!("{stage} ({} of {})", words::count(*n), words::count(*hops))
        })
        .collect();
    if stages.is_empty() {
        return None;
    }
    let text = format!(
        "seen before the point it follows: {}; such hops are negative and ranked as such",
        words::list(&stages)
    );
    let all: u64 = facts.order_violations.iter().map(|(_, n, _)| n).sum();
    let evidence = vec![words::plural(all, "negative hop", "negative hops")];
    Some(conclusion(facts, Weight::Caution, text, evidence, "order-violations"))
}

pub(super) fn duplicates(facts: &Facts) -> Option<Conclusion> {
    let all: u64 = facts.duplicates.iter().map(|(_, n)| n).sum();
    if all == 0 {
        return None;
    }
    let kinds: Vec<String> = facts
        .duplicates
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(kind, n)| match kind.as_str() {
            "redelivery" => words::plural(*n, "redelivery", "redeliveries"),
            "republication" => words::plural(*n, "republication", "republications"),
            _ => format!("{} of unknown kind", words::count(*n)),
        })
        .collect();
    let text =
        format!("{} came again: {}", words::plural(all, "event", "events"), words::list(&kinds));
    let evidence = vec![format!(
        "{} per journey started",
        words::number(all as f64 / facts.started.max(1) as f64)
    )];
    Some(conclusion(facts, Weight::Caution, text, evidence, "duplicates"))
}

pub(super) fn polled(facts: &Facts, polled: &Polled) -> Conclusion {
    let interval = words::duration(polled.every_ns as f64);
    let error = words::duration(polled.every_ns as f64 + polled.waited_ns_max as f64);
    let stage = &polled.stage;
    let text = format!("{stage} is polled: it was reached up to {error} before it was seen");
    let mut evidence = vec![format!("polled every {interval}")];
    if polled.waited > 0 {
        evidence.push(format!(
            "{} waited for the budget, up to {}",
            words::plural(polled.waited, "poll", "polls"),
            words::duration(polled.waited_ns_max as f64)
        ));
    }
    conclusion(facts, Weight::Caution, text, evidence, "polled-stage")
}
