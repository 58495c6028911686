//! The sentences that a report draws from a run, each with the figures it rests on.
//!
//! A sentence is drawn only from figures that exist, and says no more than they do: lost journeys
//! are "not seen complete", a bottleneck is a share at a stated quantile, and percentiles of a
//! growing queue are said to describe the length of the run.

use serde::Serialize;

use crate::{
    backlog::{Backlog, Slope},
    drain::Drain,
    share::{self, Share},
    words,
};

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conclusion {
    /// How much it matters.
    pub weight: Weight,
    /// The journey it is about.
    pub journey: String,
    /// The sentence, without a full stop.
    pub text: String,
    /// The figures it rests on, as fragments.
    pub evidence: Vec<String>,
    /// The anchor in docs/definitions.md of what it speaks of.
    pub definition: &'static str,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Something was lost, failed, or grew without end.
    Grave,
    /// Something that the reader should know before using a figure.
    Caution,
    /// What the run showed.
    Finding,
}

/// What is known of one journey. Counts and quantiles are those of the steady phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Journey's name.
    pub journey: String,
    /// Deadline from t0, nanoseconds.
    pub within_ns: u64,
    /// Started.
    pub started: u64,
    /// Completed in time.
    pub completed: u64,
    /// Completed after the deadline.
    pub late: u64,
    /// Not seen complete when observation ended.
    pub lost: u64,
    /// Reached a failure stage.
    pub failed: u64,
    /// Root refused or unanswered.
    pub root_failed: u64,
    /// Not yet overdue when observation ended.
    pub in_flight_at_cutoff: u64,
    /// Journey's median, nanoseconds; `None` when there is none or it falls among the lost.
    pub p50_ns: Option<u64>,
    /// Arrivals per second in the steady phase.
    pub arrivals_per_s: Option<f64>,
    /// Each hop's share.
    pub shares: Vec<Share>,
    /// What the in-flight slope says.
    pub backlog: Option<Backlog>,
    /// What happened after the last arrival.
    pub drain: Option<Drain>,
    /// Of the lost journeys that were kept: the last stage seen, and how many.
    pub lost_last_seen: Vec<(String, u64)>,
    /// Stages seen before the point they follow: (stage, how many, of how many hops).
    pub order_violations: Vec<(String, u64, u64)>,
    /// The same event again: (kind, how many).
    pub duplicates: Vec<(String, u64)>,
    /// Polled stages: (stage, interval in nanoseconds).
    pub polls_ns: Vec<(String, u64)>,
}

/// Everything that may be said of these journeys, the gravest first, else in order.
pub fn conclude(facts: &[Facts]) -> Vec<Conclusion> {
    let mut conclusions: Vec<Conclusion> = facts.iter().flat_map(of_journey).collect();
    conclusions.sort_by_key(|conclusion| conclusion.weight);
    conclusions
}

fn of_journey(facts: &Facts) -> Vec<Conclusion> {
    [
        lost(facts),
        failed(facts),
        growth(facts),
        in_flight(facts),
        late(facts),
        order(facts),
        duplicates(facts),
        bottleneck(facts),
        drained(facts),
    ]
    .into_iter()
    .flatten()
    .chain(facts.polls_ns.iter().map(|poll| polled(facts, poll)))
    .collect()
}

fn lost(facts: &Facts) -> Option<Conclusion> {
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
    let stages: Vec<String> = facts
        .lost_last_seen
        .iter()
        .map(|(stage, n)| format!("{stage} ({})", words::count(*n)))
        .collect();
    if !stages.is_empty() {
        let pronoun = if facts.lost == 1 { "its" } else { "their" };
        text.push_str(&format!(
            "; {pronoun} last seen stage was {}",
            words::list(&stages)
        ));
        let kept: u64 = facts.lost_last_seen.iter().map(|(_, n)| n).sum();
        if kept < facts.lost {
            evidence.push(format!(
                "last stages known of the {} that were kept",
                words::count(kept)
            ));
        }
    }
    Some(conclusion(facts, Weight::Grave, text, evidence, "lost"))
}

fn failed(facts: &Facts) -> Option<Conclusion> {
    let parts: Vec<String> = [
        (facts.root_failed, "at the root"),
        (facts.failed, "at a failure stage"),
    ]
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

fn growth(facts: &Facts) -> Option<Conclusion> {
    match facts.backlog.as_ref()? {
        Backlog::Growing { slope } => {
            let text = format!(
                "growing by {}/s: percentiles of a growing queue describe the length of the run, not \
                 the system",
                words::number(slope.per_s)
            );
            let evidence = slope_evidence(facts, slope);
            Some(conclusion(
                facts,
                Weight::Grave,
                text,
                evidence,
                "backlog-slope",
            ))
        }
        Backlog::Sustainable { slope } => {
            let text = match facts.arrivals_per_s {
                Some(rate) => format!(
                    "sustainable at {} arrivals/s: what is in flight does not grow",
                    words::number(rate)
                ),
                None => "sustainable: what is in flight does not grow".to_owned(),
            };
            let evidence = slope_evidence(facts, slope);
            Some(conclusion(
                facts,
                Weight::Finding,
                text,
                evidence,
                "backlog-slope",
            ))
        }
        Backlog::Undecided { reason, slope } => {
            let text = format!("whether the backlog grows can't be told: {reason}");
            let evidence = slope
                .as_ref()
                .map_or_else(Vec::new, |slope| slope_evidence(facts, slope));
            Some(conclusion(
                facts,
                Weight::Caution,
                text,
                evidence,
                "backlog-slope",
            ))
        }
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

fn in_flight(facts: &Facts) -> Option<Conclusion> {
    if facts.in_flight_at_cutoff == 0 {
        return None;
    }
    let n = facts.in_flight_at_cutoff;
    let text = format!(
        "{} still in flight when observation ended: neither completed nor lost, and in no percentile",
        words::plural(n, "journey was", "journeys were"),
    );
    let evidence = vec![format!(
        "{} of the journeys started",
        words::percent(n as f64 / facts.started.max(1) as f64)
    )];
    Some(conclusion(
        facts,
        Weight::Caution,
        text,
        evidence,
        "in-flight-at-cutoff",
    ))
}

fn late(facts: &Facts) -> Option<Conclusion> {
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

fn order(facts: &Facts) -> Option<Conclusion> {
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
    Some(conclusion(
        facts,
        Weight::Caution,
        text,
        evidence,
        "order-violations",
    ))
}

fn duplicates(facts: &Facts) -> Option<Conclusion> {
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
    let text = format!(
        "{} came again: {}",
        words::plural(all, "event", "events"),
        words::list(&kinds)
    );
    let evidence = vec![format!(
        "{} per journey started",
        words::number(all as f64 / facts.started.max(1) as f64)
    )];
    Some(conclusion(
        facts,
        Weight::Caution,
        text,
        evidence,
        "duplicates",
    ))
}

fn bottleneck(facts: &Facts) -> Option<Conclusion> {
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

fn drained(facts: &Facts) -> Option<Conclusion> {
    let drain = facts.drain.as_ref()?;
    let observed = words::duration(drain.observed_ns as f64);
    let (weight, text) = match drain.drain_ns {
        // A drain shorter than a second says nothing about the system.
        Some(drain_ns) if drain_ns < 1_000_000_000 => return None,
        Some(drain_ns) => (
            Weight::Finding,
            format!(
                "the last arrivals took {} to drain",
                words::duration(drain_ns as f64)
            ),
        ),
        None => (
            Weight::Caution,
            format!("not drained {observed} after the last arrival"),
        ),
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

fn polled(facts: &Facts, (stage, poll_ns): &(String, u64)) -> Conclusion {
    let interval = words::duration(*poll_ns as f64);
    let text = format!("{stage} is polled: it was reached up to {interval} before it was seen");
    let evidence = vec![format!("polled every {interval}")];
    conclusion(facts, Weight::Caution, text, evidence, "polled-stage")
}

fn conclusion(
    facts: &Facts,
    weight: Weight,
    text: String,
    evidence: Vec<String>,
    definition: &'static str,
) -> Conclusion {
    Conclusion {
        weight,
        journey: facts.journey.clone(),
        text,
        evidence,
        definition,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::{Hop, shares};

    fn payment() -> Facts {
        Facts {
            journey: "payment".into(),
            within_ns: 30_000_000_000,
            started: 6_000,
            completed: 6_000,
            ..Facts::default()
        }
    }

    fn texts(facts: Facts) -> Vec<String> {
        conclude(&[facts])
            .into_iter()
            .map(|conclusion| conclusion.text)
            .collect()
    }

    #[test]
    fn a_clean_run_without_figures_says_nothing() {
        assert!(texts(payment()).is_empty());
    }

    #[test]
    fn lost_journeys_name_their_last_stages() {
        let said = texts(Facts {
            lost: 3,
            lost_last_seen: vec![("settled".into(), 2), ("created".into(), 1)],
            ..payment()
        });
        assert_eq!(
            said,
            [
                "3 of 6,000 journeys were lost; their last seen stage was settled (2) and created (1)"
            ]
        );
    }

    #[test]
    fn lost_journeys_that_were_not_all_kept_say_so() {
        let conclusions = conclude(&[Facts {
            lost: 10,
            lost_last_seen: vec![("settled".into(), 4)],
            ..payment()
        }]);
        assert!(conclusions[0].evidence[1].contains("the 4 that were kept"));
    }

    #[test]
    fn a_growing_queue_warns_about_its_percentiles() {
        let slope = Slope {
            per_s: 12.3,
            half_width_per_s: 0.4,
            points: 30,
        };
        let conclusions = conclude(&[Facts {
            backlog: Some(Backlog::Growing { slope }),
            arrivals_per_s: Some(50.0),
            ..payment()
        }]);
        assert!(
            conclusions[0]
                .text
                .starts_with("growing by 12.3/s: percentiles of a growing queue")
        );
        assert_eq!(conclusions[0].weight, Weight::Grave);
        assert_eq!(
            conclusions[0].evidence,
            [
                "in flight changed by 12.3/s ± 0.400/s (95 % confidence, 30 seconds)",
                "50 arrivals/s"
            ]
        );
    }

    #[test]
    fn the_gravest_comes_first() {
        let hops =
            [("created", 5_000_000_000), ("completed", 10_100_000_000)].map(|(name, p50_ns)| Hop {
                name: name.into(),
                p50_ns,
                p95_ns: p50_ns,
            });
        let conclusions = conclude(&[Facts {
            late: 2,
            lost: 1,
            p50_ns: Some(23_100_000_000),
            shares: shares(&hops, Some(23_100_000_000), None),
            ..payment()
        }]);
        let weights: Vec<_> = conclusions
            .iter()
            .map(|conclusion| conclusion.weight)
            .collect();
        assert_eq!(weights, [Weight::Grave, Weight::Caution, Weight::Finding]);
        assert!(
            conclusions[2]
                .text
                .ends_with("44 % of the journey's 23.1 s: the bottleneck")
        );
    }

    #[test]
    fn every_sentence_has_evidence() {
        let conclusions = conclude(&[Facts {
            late: 1,
            lost: 1,
            failed: 1,
            root_failed: 2,
            in_flight_at_cutoff: 3,
            order_violations: vec![("created".into(), 4, 6_000)],
            duplicates: vec![("redelivery".into(), 1), ("unknown".into(), 2)],
            polls_ns: vec![("status".into(), 100_000_000)],
            drain: Some(Drain {
                drain_ns: None,
                observed_ns: 30_000_000_000,
                completed: 40,
                completed_per_s: Some(1.3),
            }),
            ..payment()
        }]);
        assert_eq!(conclusions.len(), 8);
        for conclusion in &conclusions {
            assert!(!conclusion.evidence.is_empty(), "{}", conclusion.text);
            assert!(
                conclusion.text.chars().any(|c| c.is_ascii_digit()),
                "{}",
                conclusion.text
            );
        }
    }
}
