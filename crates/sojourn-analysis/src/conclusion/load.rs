//! Sentences about whether the system carried the load, and where the time went.

use super::{Conclusion, Facts, Weight, conclusion};
use crate::{
    backlog::{Backlog, MATERIAL, Slope},
    saturation::{Exhausted, Saturation},
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
            let mut evidence = slope_evidence(facts, slope);
            evidence.extend(facts.growths.iter().filter_map(|growth| match &growth.backlog {
                Backlog::Growing { slope } => Some(waiting(&growth.stage, slope)),
                _ => None,
            }));
            evidence.extend(facts.oldest_age_ns_max.map(|age_ns| {
                format!("the oldest in flight was {} old", words::duration(age_ns as f64))
            }));
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

fn waiting(stage: &str, slope: &Slope) -> String {
    format!(
        "waiting for {stage} grew by {}/s ± {}/s",
        words::number(slope.per_s),
        words::number(slope.half_width_per_s)
    )
}

/// The stage whose backlog grows first, and that its capacity is exhausted where that shows.
pub(super) fn saturation(facts: &Facts) -> Option<Conclusion> {
    let found = facts.saturation.as_ref()?;
    let text = exhausted_sentence(found).unwrap_or_else(|| {
        format!(
            "the backlog grows first at {}, from {} into the run on",
            found.growing,
            words::duration(found.began_ns as f64)
        )
    });
    let mut evidence = vec![waiting(&found.growing, &found.slope)];
    match &found.exhausted {
        Some(Exhausted::Throughput { hop_min_ns, hop_rose_ns: [early_ns, late_ns], at_once }) => {
            evidence.push(format!(
                "its median hop rose from {} to {}",
                words::duration(*early_ns),
                words::duration(*late_ns)
            ));
            if at_once.is_some() {
                evidence.push(format!(
                    "{}/s × {}, its shortest hop",
                    words::number(found.left_per_s),
                    words::duration(*hop_min_ns)
                ));
            }
        }
        Some(Exhausted::Level { at_once, share }) => evidence.push(format!(
            "{} between {} and {} in {} of the seconds",
            words::count(*at_once),
            found.growing,
            found.stage,
            words::percent(*share)
        )),
        None => evidence.push(format!(
            "{}/s come, {}/s leave",
            words::number(found.entered_per_s),
            words::number(found.left_per_s)
        )),
    }
    evidence.push(match found.others.as_slice() {
        [] => "no other stage's backlog grows".to_owned(),
        others => format!("later also {}", words::list(others)),
    });
    let weight = if found.exhausted.is_some() { Weight::Grave } else { Weight::Caution };
    Some(conclusion(facts, weight, text, evidence, "exhausted-stage"))
}

/// The sentence that names the stage whose capacity is exhausted; `None` where none is shown to be.
pub fn exhausted_sentence(found: &Saturation) -> Option<String> {
    let [come, leave] = [found.entered_per_s, found.left_per_s].map(words::number);
    match found.exhausted.as_ref()? {
        Exhausted::Throughput { at_once, .. } => {
            let at_once = at_once.map_or_else(String::new, |at_once| {
                format!(": it works on about {} at once", words::number(at_once.round()))
            });
            Some(format!(
                "the concurrency of {} is exhausted, the bottleneck: {come}/s come and {leave}/s \
                 leave, however many wait{at_once}",
                found.stage
            ))
        }
        Exhausted::Level { at_once, .. } => Some(format!(
            "the concurrency of {} is exhausted, the bottleneck: it works on {} at once and no \
             more, while those who wait for {} grow",
            found.stage,
            words::count(*at_once),
            found.growing
        )),
    }
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
