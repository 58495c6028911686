//! Sentences about whether the system carried the load, and where the time went.

use super::{Conclusion, Facts, Weight, conclusion};
use crate::{
    backlog::{Backlog, MATERIAL, Slope},
    share, words,
};

pub(super) fn growth(facts: &Facts) -> Option<Conclusion> {
    match facts.backlog.as_ref()? {
        Backlog::Growing { slope } => {
            let text = format!(
                "growing by {}/s: percentiles of a growing queue describe the length of the run, \
                 not the system",
                words::number(slope.per_s)
            );
            let evidence = slope_evidence(facts, slope);
            Some(conclusion(facts, Weight::Grave, text, evidence, "backlog-slope"))
        }
        Backlog::Sustainable { slope } => {
            let text = sustainable(facts, slope);
            let evidence = slope_evidence(facts, slope);
            Some(conclusion(facts, Weight::Finding, text, evidence, "backlog-slope"))
        }
        Backlog::Undecided { reason, slope } => {
            let text = format!("whether the backlog grows can't be told: {reason}");
            let evidence =
                slope.as_ref().map_or_else(Vec::new, |slope| slope_evidence(facts, slope));
            Some(conclusion(facts, Weight::Caution, text, evidence, "backlog-slope"))
        }
    }
}

/// No growth was found. Where the interval is too wide to rule out a growth that would matter, the
/// sentence says how much.
fn sustainable(facts: &Facts, slope: &Slope) -> String {
    let rate = facts.arrivals_per_s.unwrap_or(0.0);
    let at = format!("sustainable at {} arrivals/s", words::number(rate));
    let most_per_s = slope.per_s + slope.half_width_per_s;
    if most_per_s > MATERIAL * rate {
        let most = words::number(most_per_s);
        format!("{at} as far as this run can tell: growth of up to {most}/s is not ruled out")
    } else {
        format!("{at}: what is in flight does not grow")
    }
}

fn slope_evidence(facts: &Facts, slope: &Slope) -> Vec<String> {
    let mut evidence = vec![format!(
        "in flight changed by {}/s ± {}/s (95 % confidence, {})",
        words::number(slope.per_s),
        words::number(slope.half_width_per_s),
        words::plural(slope.points as u64, "second", "seconds"),
    )];
    if let Some(rate) = facts.arrivals_per_s {
        evidence.push(format!("{} arrivals/s", words::number(rate)));
    }
    evidence
}

pub(super) fn bottleneck(facts: &Facts) -> Option<Conclusion> {
    let journey_p50_ns = facts.p50_ns?;
    let text = share::sentence(&facts.shares, journey_p50_ns)?;
    let evidence = facts
        .shares
        .iter()
        .filter_map(|share| {
            Some(format!(
                "{} {} ({})",
                share.name,
                words::duration(share.p50_ns as f64),
                words::percent(share.p50_share?)
            ))
        })
        .collect();
    Some(conclusion(facts, Weight::Finding, text, evidence, "share"))
}

pub(super) fn drained(facts: &Facts) -> Option<Conclusion> {
    let drain = facts.drain.as_ref()?;
    let observed = words::duration(drain.observed_ns as f64);
    let (weight, text) = match drain.drain_ns {
        // A drain shorter than a second says nothing about the system.
        Some(drain_ns) if drain_ns < 1_000_000_000 => return None,
        Some(drain_ns) => (
            Weight::Finding,
            format!("the last arrivals took {} to drain", words::duration(drain_ns as f64)),
        ),
        None => (Weight::Caution, format!("not drained {observed} after the last arrival")),
    };
    let mut evidence = vec![format!(
        "{} completed after the last arrival",
        words::plural(drain.completed, "journey", "journeys")
    )];
    if let Some(rate) = drain.completed_per_s {
        evidence.push(format!("{}/s", words::number(rate)));
    }
    Some(conclusion(facts, weight, text, evidence, "drain"))
}
