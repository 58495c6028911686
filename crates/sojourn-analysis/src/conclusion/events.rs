//! Sentences about events: their order, their repetition, and how they were seen.

use super::{Conclusion, Facts, Polled, Traced, Weight, conclusion};
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

pub(super) fn second_branches(facts: &Facts) -> Option<Conclusion> {
    let reached = facts.second_branches.iter().filter(|(_, n)| *n > 0);
    let stages: Vec<String> =
        reached.map(|(stage, n)| format!("{stage} ({})", words::count(*n))).collect();
    let all: u64 = facts.second_branches.iter().map(|(_, n)| n).sum();
    if all == 0 {
        return None;
    }
    let text = format!(
        "{} reached an alternative after another one: {}",
        words::plural(all, "journey", "journeys"),
        words::list(&stages)
    );
    let fraction = words::percent(all as f64 / facts.started.max(1) as f64);
    let evidence = vec![format!("{fraction} of the journeys started")];
    Some(conclusion(facts, Weight::Grave, text, evidence, "branch"))
}

/// Where fewer events carry the journey's trace than at the point before.
pub(super) fn trace(facts: &Facts, traced: &Traced) -> Option<Conclusion> {
    let (own, all) = traced.carrying;
    let (own_before, all_before) = traced.before.unwrap_or((1, 1));
    let is_fewer =
        u128::from(own) * u128::from(all_before) < u128::from(own_before) * u128::from(all);
    if all == 0 || all_before == 0 || !is_fewer {
        return None;
    }
    let how = if own == 0 { "lost" } else { "lost in part" };
    let carrying = format!("{} of {} events carry it", words::count(own), words::count(all));
    let text =
        format!("trace context is {how} at hop {} → {} ({carrying})", traced.from, traced.to);
    Some(conclusion(facts, Weight::Caution, text, Vec::new(), "trace-context"))
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
