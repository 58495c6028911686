//! The report for a terminal.

pub(crate) mod audit;
mod backlog;
mod batch;
pub(super) mod capacity;
mod check;
mod clock;
mod details;
pub(super) mod doctor;
mod health;
mod journey;
mod label;
mod ledger;
mod limit;
pub(crate) mod paint;
mod plan;
mod poison;
mod requirement;
pub(super) mod resource;
pub(super) mod sweep;
pub(crate) mod table;
mod traffic;

use sojourn_analysis::{conclusion::Weight, words};

use crate::{
    ReportModel,
    model::{Outcome, RunIdentity, ThresholdRow},
};
use paint::{Paint, clean, wrap};

/// Columns that a line may have.
const WIDTH: usize = 100;

pub(super) fn report(model: &ReportModel, colour: bool) -> String {
    let paint = Paint { colour };
    let mut out = String::new();
    head(&mut out, model, &paint);
    health::health(&mut out, &model.health, &paint);
    ledger::ledger(&mut out, &model.ledger, &paint);
    backlog::backlog(&mut out, &model.backlogs, &paint);
    resource::resources(&mut out, &model.resources, &paint);
    limit::limits(&mut out, &model.limits, &paint);
    check::checks(&mut out, &model.checks, &paint);
    traffic::traffic(&mut out, model.traffic.as_ref(), &paint);
    clock::clocks(&mut out, &model.clocks, &paint);
    for journey in &model.journeys {
        journey::journey(&mut out, journey, &paint);
    }
    for poison in &model.poison {
        poison::poison(&mut out, poison, &paint);
    }
    audit::summary(&mut out, &model.kept, &paint);
    thresholds(&mut out, &model.thresholds, &paint);
    requirement::requirements(&mut out, &model.requirements, &paint);
    conclusions(&mut out, model, &paint);
    plan::plan(&mut out, &model.identity.plan, &paint);
    out
}

pub(super) fn journeys(model: &ReportModel, colour: bool) -> String {
    let paint = Paint { colour };
    let mut out = String::new();
    heading(&mut out, "JOURNEYS", &paint);
    head(&mut out, model, &paint);
    health::health(&mut out, &model.health, &paint);
    ledger::ledger(&mut out, &model.ledger, &paint);
    backlog::backlog(&mut out, &model.backlogs, &paint);
    for journey in &model.journeys {
        journey::journey(&mut out, journey, &paint);
    }
    audit::summary(&mut out, &model.kept, &paint);
    conclusions(&mut out, model, &paint);
    out
}

/// A section's heading.
fn heading(out: &mut String, text: &str, paint: &Paint) {
    out.push('\n');
    line(out, &paint.bold(text));
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// A labelled line of a section, wrapped under itself.
fn entry(out: &mut String, label: &str, text: &str) {
    let label = format!("  {label:<10}");
    line(out, &wrap(text, &label, 12, WIDTH));
}

fn head(out: &mut String, model: &ReportModel, paint: &Paint) {
    let identity = &model.identity;
    let verdict = &model.verdict;
    let word = format!("{} {}", verdict.outcome.mark(), verdict.outcome.word().to_uppercase());
    let word = match verdict.outcome {
        Outcome::Pass => paint.green(&word),
        Outcome::Fail | Outcome::Void => paint.red(&word),
        Outcome::Unfinished => paint.yellow(&word),
    };
    let interrupted = if verdict.interrupted { " (interrupted)" } else { "" };
    line(out, &format!("{}  {word}{interrupted}", paint.bold(&clean(&identity.name))));
    if let Some(warning) = &verdict.warning {
        line(out, &paint.red(&wrap(&clean(warning), "! ", 2, WIDTH)));
    }
    line(out, &wrap(&clean(&verdict.headline), "", 0, WIDTH));
    if let Some(cut_off) = &verdict.cut_off {
        let text =
            format!("THE RUN FILE WAS CUT OFF: {}. What follows is what it holds.", clean(cut_off));
        line(out, &paint.yellow(&wrap(&text, "", 0, WIDTH)));
    }
    for cause in &verdict.causes {
        let text = format!("{}: {}", clean(&cause.name), clean(&cause.detail));
        line(out, &wrap(&text, "  - ", 4, WIDTH));
    }
    let mut facts = vec![
        format!("run {}", clean(&identity.run_id)),
        identity.start.clone(),
        clean(&identity.host),
        format!("sojourn {}", clean(&identity.version)),
    ];
    if !identity.io.is_empty() {
        facts.push(format!("io: {}", clean(&identity.io)));
    }
    facts.extend(identity.suite.iter().map(|suite| format!("suite {}", clean(suite))));
    facts.extend(
        identity.labels.iter().map(|(name, value)| format!("{}={}", clean(name), clean(value))),
    );
    line(out, &paint.dim(&wrap(&facts.join(" · "), "", 0, WIDTH)));
    for load in &identity.load {
        line(out, &paint.dim(&wrap(&format!("load {}", clean(load)), "", 2, WIDTH)));
    }
    for amendment in &identity.amendments {
        let text = format!("load {}", clean(&amendment.in_words()));
        line(out, &paint.yellow(&wrap(&text, "", 2, WIDTH)));
    }
    if identity.end_ns > 0 {
        line(out, &paint.dim(&format!("ran {}", ran(identity))));
    }
}

/// How long the run was. A load whose last request is due before its end may be over sooner.
pub(super) fn ran(identity: &RunIdentity) -> String {
    let whole = words::duration(identity.end_ns as f64);
    let steady = words::duration(identity.steady_ns as f64);
    match identity.steady_ns > identity.end_ns {
        true => format!("{whole}, within a steady phase of {steady}"),
        false => format!("{whole}, of which {steady} were the steady phase"),
    }
}

fn thresholds(out: &mut String, thresholds: &[ThresholdRow], paint: &Paint) {
    heading(out, "THRESHOLDS", paint);
    if thresholds.is_empty() {
        line(out, "  none were set");
    }
    for row in thresholds {
        let text = format!("{}  (measured {})", clean(&row.text), clean(&row.measured_text));
        let text = if row.held {
            wrap(&text, "  ✓ held    ", 12, WIDTH)
        } else {
            wrap(&text, "  ✗ failed  ", 12, WIDTH)
        };
        line(out, &if row.held { text } else { paint.red(&text) });
    }
}

fn conclusions(out: &mut String, model: &ReportModel, paint: &Paint) {
    if !model.conclusions.is_empty() {
        heading(out, "CONCLUSIONS", paint);
    }
    for conclusion in &model.conclusions {
        let mark = match conclusion.weight {
            Weight::Grave => "  ! ",
            Weight::Caution => "  ~ ",
            Weight::Finding => "  · ",
        };
        let text = match conclusion.journey.as_str() {
            "" => clean(&conclusion.text),
            journey => format!("{}: {}", clean(journey), clean(&conclusion.text)),
        };
        line(out, &wrap(&text, mark, 4, WIDTH));
        let evidence = clean(&conclusion.evidence.join("; "));
        line(out, &paint.dim(&wrap(&evidence, "    ", 4, WIDTH)));
    }
    if !model.notes.is_empty() {
        heading(out, "NOTES", paint);
    }
    for note in &model.notes {
        line(out, &wrap(&clean(note), "  · ", 4, WIDTH));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_never_said_to_be_shorter_than_its_part() {
        let identity = |end_ns, steady_ns| RunIdentity { end_ns, steady_ns, ..Default::default() };
        let second = 1_000_000_000;
        assert_eq!(
            ran(&identity(3 * second, 2 * second)),
            "3.00 s, of which 2.00 s were the steady phase"
        );
        assert_eq!(ran(&identity(753_000_000, second)), "753 ms, within a steady phase of 1.00 s");
    }
}
