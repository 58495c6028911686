//! Sentences about what became of the journeys.

use super::{Conclusion, Facts, Weight, conclusion};
use crate::words;

pub(super) fn lost(facts: &Facts) -> Option<Conclusion> {
    if facts.lost == 0 {
        return None;
    }
    let mut text = format!(
        "{} of {} {} lost",
        words::count(facts.lost),
        words::plural(facts.started, "journey", "journeys"),
        if facts.lost == 1 { "was" } else { "were" },
    );
    let mut evidence = vec![format!(
        "not seen complete when observation ended, {} or more after their scheduled instant",
        words::duration(facts.within_ns as f64)
    )];
    text.push_str(&last_seen(facts));
    let kept: u64 = facts.lost_last_seen.iter().map(|(_, n)| n).sum();
    if kept > 0 && kept < facts.lost {
        evidence.push(format!("last stages known of the {} that were kept", words::count(kept)));
    }
    Some(conclusion(facts, Weight::Grave, text, evidence, "lost"))
}

/// Where lost journeys were seen last, as the end of a sentence.
fn last_seen(facts: &Facts) -> String {
    let mut stages = Vec::new();
    let mut unseen = 0;
    for (stage, n) in &facts.lost_last_seen {
        match stage {
            Some(stage) => stages.push(format!("{stage} ({})", words::count(*n))),
            None => unseen += n,
        }
    }
    let pronoun = if facts.lost == 1 { "its" } else { "their" };
    match (stages.is_empty(), unseen) {
        (true, 0) => String::new(),
        (true, _) => "; none was seen at any stage".to_owned(),
        (false, 0) => format!("; {pronoun} last seen stage was {}", words::list(&stages)),
        (false, unseen) => format!(
            "; {pronoun} last seen stage was {}, and {} {} seen at none",
            words::list(&stages),
            words::count(unseen),
            if unseen == 1 { "was" } else { "were" },
        ),
    }
}

pub(super) fn failed(facts: &Facts) -> Option<Conclusion> {
    let parts: Vec<String> =
        [(facts.root_failed, "at the root"), (facts.failed, "at a failure stage")]
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, place)| format!("{} {place}", words::count(*n)))
            .collect();
    if parts.is_empty() {
        return None;
    }
    let all = facts.failed + facts.root_failed;
    let text = format!(
        "{} of {} failed: {}",
        words::count(all),
        words::plural(facts.started, "journey", "journeys"),
        words::list(&parts)
    );
    let fraction = words::percent(all as f64 / facts.started.max(1) as f64);
    let evidence = vec![format!("{fraction} of the journeys started")];
    Some(conclusion(facts, Weight::Grave, text, evidence, "failed"))
}

pub(super) fn in_flight(facts: &Facts) -> Option<Conclusion> {
    if facts.in_flight_at_cutoff == 0 {
        return None;
    }
    let n = facts.in_flight_at_cutoff;
    let text = format!(
        "{} still in flight when observation ended: neither completed nor lost, and in no \
         percentile",
        words::plural(n, "journey was", "journeys were"),
    );
    let evidence = vec![format!(
        "{} of the journeys started",
        words::percent(n as f64 / facts.started.max(1) as f64)
    )];
    Some(conclusion(facts, Weight::Caution, text, evidence, "in-flight-at-cutoff"))
}

pub(super) fn late(facts: &Facts) -> Option<Conclusion> {
    if facts.late == 0 {
        return None;
    }
    let text = format!(
        "{} of {} completed late, after {}",
        words::count(facts.late),
        words::plural(facts.started, "journey", "journeys"),
        words::duration(facts.within_ns as f64)
    );
    let evidence = vec![format!(
        "{} of the journeys started; their durations are in the percentiles",
        words::percent(facts.late as f64 / facts.started.max(1) as f64)
    )];
    Some(conclusion(facts, Weight::Caution, text, evidence, "late"))
}
