//! The verdict and the one sentence that sums a run up.

use sojourn_analysis::{conclusion, share, words};
use sojourn_record::{RunFile, Verdict};

use crate::model::{
    Cause, JourneyCounts, JourneyReport, Ledger, Outcome, PoisonReport, Quantile, RequirementRow,
    ThresholdRow, TrafficReport, VerdictReport, requirements_met,
};

use super::nothing_worked;

/// What a run was to reach.
type Wanted<'a> = (&'a [ThresholdRow], &'a [RequirementRow]);

pub(super) fn report(
    run: &RunFile,
    wanted: Wanted<'_>,
    ledger: &Ledger,
    (journeys, poison): (&[JourneyReport], &[PoisonReport]),
    traffic: Option<&TrafficReport>,
) -> VerdictReport {
    let outcome = match run.summary.as_ref().map(|summary| summary.verdict) {
        Some(Verdict::Pass) if wanted.1.iter().any(|row| row.failed) => Outcome::Fail,
        Some(Verdict::Pass) => Outcome::Pass,
        Some(Verdict::Fail) => Outcome::Fail,
        Some(Verdict::Void) => Outcome::Void,
        None => Outcome::Unfinished,
    };
    let causes: Vec<Cause> = run
        .summary
        .iter()
        .flat_map(|summary| &summary.causes)
        .map(|cause| Cause { name: cause.name.clone(), detail: cause.detail.clone() })
        .collect();
    let cut_off = run
        .cut_off
        .clone()
        .or_else(|| run.summary.is_none().then(|| "the file has no summary".to_owned()));
    VerdictReport {
        outcome,
        warning: nothing_worked::warning(&ledger.journeys_total.steady, traffic),
        headline: headline(outcome, &causes, wanted, ledger, (journeys, poison)),
        causes,
        interrupted: run.summary.as_ref().is_some_and(|summary| summary.interrupted),
        cut_off,
    }
}

fn headline(
    outcome: Outcome,
    causes: &[Cause],
    wanted: Wanted<'_>,
    ledger: &Ledger,
    (journeys, poison): (&[JourneyReport], &[PoisonReport]),
) -> String {
    let verdict = match outcome {
        Outcome::Pass => held(wanted),
        Outcome::Fail => failed(wanted),
        Outcome::Void => match causes.first() {
            Some(cause) => {
                format!("these numbers may not be believed: {} ({})", cause.name, cause.detail)
            }
            None => "these numbers may not be believed".to_owned(),
        },
        Outcome::Unfinished => "the run file ends before the run did".to_owned(),
    };
    let mut parts = vec![capitalised(&verdict)];
    parts.push(counts(&ledger.journeys_total.steady));
    parts.extend(poisoned(poison));
    if let [only] = journeys {
        let queue = if only.is_of_growing_queue { " (of a queue that grew)" } else { "" };
        parts.extend(durations(&only.quantiles).map(|durations| format!("{durations}{queue}")));
        parts.extend(bottleneck(only));
    }
    parts.join("; ")
}

/// The stage that is exhausted, else the hop that takes most.
fn bottleneck(journey: &JourneyReport) -> Option<String> {
    let exhausted = journey.saturation.as_ref().and_then(conclusion::exhausted_sentence);
    let p50 = journey.quantiles.first().filter(|first| !first.beyond);
    exhausted.or_else(|| share::sentence(&journey.shares, p50?.ns))
}

fn held((thresholds, requirements): Wanted<'_>) -> String {
    let all = match (thresholds.len(), requirements.len()) {
        (0, 0) => return "no thresholds were set".to_owned(),
        (0, _) => return requirements_met(requirements),
        (1, _) => "the threshold held".to_owned(),
        (n, _) => format!("all {n} thresholds held"),
    };
    if requirements.is_empty() {
        return all;
    }
    format!("{all}, {}", requirements_met(requirements))
}

fn failed((thresholds, requirements): Wanted<'_>) -> String {
    let broken: Vec<String> = thresholds
        .iter()
        .filter(|row| !row.held)
        .map(|row| format!("{} (measured {})", row.text, row.measured_text))
        .collect();
    let missed: Vec<String> =
        requirements.iter().filter(|row| row.failed).map(|row| row.text.clone()).collect();
    let mut parts = Vec::new();
    if !broken.is_empty() {
        let all = words::plural(thresholds.len() as u64, "threshold", "thresholds");
        parts.push(format!("{} of {all} failed: {}", broken.len(), words::list(&broken)));
    }
    if !missed.is_empty() {
        parts.push(format!("{}: {}", requirements_met(requirements), missed.join(" · ")));
    }
    parts.join("; ")
}

fn counts(counts: &JourneyCounts) -> String {
    if counts.started == 0 {
        return "no journey started in the steady phase".to_owned();
    }
    let mut parts = vec![format!("{} completed", words::count(counts.completed))];
    let others = [
        (counts.late, "late"),
        (counts.lost, "lost"),
        (counts.failed + counts.root_failed, "failed"),
        (counts.in_flight_at_cutoff, "still in flight"),
        (counts.missed, "missed"),
    ];
    for (n, word) in others {
        if n > 0 {
            parts.push(format!("{} {word}", words::count(n)));
        }
    }
    let journeys = words::plural(counts.started, "journey", "journeys");
    format!("of {journeys} {}", words::list(&parts))
}

/// What became of the poisoned journeys; nothing where none was sent.
fn poisoned(poison: &[PoisonReport]) -> Option<String> {
    let sum = |of: fn(&PoisonReport) -> u64| poison.iter().map(of).sum::<u64>();
    let sent = sum(|it| it.sent);
    let mut parts = vec![format!("{} contained", words::count(sum(|it| it.contained)))];
    for (n, word) in [
        (sum(|it| it.completed), "completed"),
        (sum(|it| it.refused), "refused"),
        (sum(|it| it.failed), "failed otherwise"),
        (sum(|it| it.lost), "lost"),
        (sum(|it| it.in_flight_at_cutoff), "still in flight"),
    ] {
        if n > 0 {
            parts.push(format!("{} {word}", words::count(n)));
        }
    }
    let journeys = words::plural(sent, "poisoned one", "poisoned ones");
    (sent > 0).then(|| format!("of {journeys} {}", words::list(&parts)))
}

fn durations(quantiles: &[Quantile]) -> Option<String> {
    let figure = |q: f64| {
        let quantile = quantiles.iter().find(|quantile| quantile.q == q)?;
        let beyond = if quantile.beyond { "> " } else { "" };
        Some(format!("{beyond}{}", words::duration(quantile.ns as f64)))
    };
    Some(format!("p50 {}, p99 {}", figure(0.5)?, figure(0.99)?))
}

fn capitalised(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
