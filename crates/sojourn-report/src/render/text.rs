//! The report for a terminal.

mod journey;
mod paint;
mod table;

use sojourn_analysis::{conclusion::Weight, words};

use crate::{
    ReportModel,
    model::{EventLine, Health, JourneyLine, Ledger, Outcome, ThresholdRow},
};
use paint::{Paint, clean, wrap};
use table::Table;

/// Columns that a line may have.
const WIDTH: usize = 100;

pub(super) fn report(model: &ReportModel, colour: bool) -> String {
    let paint = Paint { colour };
    let mut out = String::new();
    head(&mut out, model, &paint);
    health(&mut out, &model.health, &paint);
    ledger(&mut out, &model.ledger, &paint);
    for journey in &model.journeys {
        journey::journey(&mut out, journey, &paint);
    }
    thresholds(&mut out, &model.thresholds, &paint);
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
    let word = format!(
        "{} {}",
        verdict.outcome.mark(),
        verdict.outcome.word().to_uppercase()
    );
    let word = match verdict.outcome {
        Outcome::Pass => paint.green(&word),
        Outcome::Fail | Outcome::Void => paint.red(&word),
        Outcome::Unfinished => paint.yellow(&word),
    };
    let interrupted = if verdict.interrupted {
        " (interrupted)"
    } else {
        ""
    };
    line(
        out,
        &format!(
            "{}  {word}{interrupted}",
            paint.bold(&clean(&identity.name))
        ),
    );
    line(out, &wrap(&clean(&verdict.headline), "", 0, WIDTH));
    if let Some(cut_off) = &verdict.cut_off {
        let text = format!(
            "THE RUN FILE WAS CUT OFF: {}. What follows is what it holds.",
            clean(cut_off)
        );
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
    facts.extend(
        identity
            .suite
            .iter()
            .map(|suite| format!("suite {}", clean(suite))),
    );
    facts.extend(
        identity
            .labels
            .iter()
            .map(|(name, value)| format!("{}={}", clean(name), clean(value))),
    );
    line(out, &paint.dim(&wrap(&facts.join(" · "), "", 0, WIDTH)));
    for load in &identity.load {
        line(
            out,
            &paint.dim(&wrap(&format!("load {}", clean(load)), "", 2, WIDTH)),
        );
    }
}

fn health(out: &mut String, health: &Health, paint: &Paint) {
    heading(out, "GENERATOR", paint);
    let lag = health.lag_ns.as_ref().map_or_else(
        || "not measured".to_owned(),
        |lag_ns| {
            format!(
                "p50 {} · p99 {} · max {}",
                words::duration(lag_ns.p50 as f64),
                words::duration(lag_ns.p99 as f64),
                words::duration(lag_ns.max as f64)
            )
        },
    );
    entry(out, "lag", &lag);
    let delivered = health.delivered.map_or_else(String::new, |delivered| {
        format!(" ({} delivered)", words::percent(delivered))
    });
    let arrivals = format!(
        "{} scheduled, {} started, {} missed{delivered}",
        words::count(health.scheduled),
        words::count(health.started),
        words::count(health.missed)
    );
    entry(out, "arrivals", &arrivals);
    for thread in &health.threads {
        let part = |fraction: Option<f64>| fraction.map_or_else(|| "–".to_owned(), words::percent);
        let text = format!(
            "{}: mean {} · max {} · waiting for a core at most {}",
            clean(&thread.thread),
            part(thread.cpu_mean),
            part(thread.cpu_max),
            part(thread.run_queue_max)
        );
        entry(out, "cpu", &text);
    }
    for tap in &health.taps {
        let text = format!(
            "{}: behind at most {}, {} at the end",
            clean(&tap.channel),
            words::duration(tap.behind_ms_max * 1e6),
            words::duration(tap.behind_ms_last * 1e6)
        );
        entry(out, "tap", &text);
    }
    let refused: Vec<String> = health
        .refused
        .iter()
        .map(|refusal| {
            format!(
                "{} by {}",
                words::count(refusal.count),
                clean(&refusal.queue)
            )
        })
        .collect();
    let refused = match refused.as_slice() {
        [] => "nothing".to_owned(),
        refused => words::list(refused),
    };
    entry(out, "refused", &refused);
    let mut process = Vec::new();
    process.extend(
        health
            .memory_bytes_max
            .map(|max| format!("memory at most {}", words::bytes(max))),
    );
    process.extend(
        health
            .connections_max
            .map(|max| format!("connections at most {}", words::number(max))),
    );
    if !process.is_empty() {
        entry(out, "process", &process.join(", "));
    }
}

fn ledger(out: &mut String, ledger: &Ledger, paint: &Paint) {
    let balance = if ledger.balanced {
        "adds up"
    } else {
        "DOES NOT ADD UP"
    };
    heading(out, &format!("LEDGER ({balance})"), paint);
    let mut table = Table::new(&[
        "journeys",
        "started",
        "missed",
        "completed",
        "late",
        "lost",
        "failed",
        "root failed",
        "in flight",
    ]);
    let mut lines: Vec<&JourneyLine> = ledger.journeys.iter().collect();
    if lines.len() != 1 {
        lines.push(&ledger.journeys_total);
    }
    for journey in lines {
        for (counts, phase) in [
            (&journey.steady, "steady"),
            (&journey.whole_run, "whole run"),
        ] {
            let numbers = [
                counts.started,
                counts.missed,
                counts.completed,
                counts.late,
                counts.lost,
                counts.failed,
                counts.root_failed,
                counts.in_flight_at_cutoff,
            ];
            table.row(
                &format!("{}, {phase}", journey.name),
                numbers.map(words::count),
            );
        }
    }
    table.render(out, WIDTH);
    if ledger.events.is_empty() {
        return;
    }
    out.push('\n');
    let mut table = Table::new(&[
        "events",
        "seen",
        "matched",
        "duplicate",
        "after fail",
        "orphan",
        "foreign",
        "unattrib",
        "undecod",
        "reread",
    ]);
    let mut lines: Vec<&EventLine> = ledger.events.iter().collect();
    if lines.len() != 1 {
        lines.push(&ledger.events_total);
    }
    for event in lines {
        let counts = &event.whole_run;
        let numbers = [
            counts.seen,
            counts.matched,
            counts.duplicates(),
            counts.after_failure,
            counts.orphan,
            counts.foreign,
            counts.unattributed,
            counts.undecodable,
            counts.reread,
        ];
        table.row(&event.channel, numbers.map(words::count));
    }
    table.render(out, WIDTH);
}

fn thresholds(out: &mut String, thresholds: &[ThresholdRow], paint: &Paint) {
    heading(out, "THRESHOLDS", paint);
    if thresholds.is_empty() {
        line(out, "  none were set");
    }
    for row in thresholds {
        let text = format!(
            "{}  (measured {})",
            clean(&row.text),
            clean(&row.measured_text)
        );
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
        let text = format!(
            "{}: {}",
            clean(&conclusion.journey),
            clean(&conclusion.text)
        );
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
