//! A search for the capacity, for a terminal.

use sojourn_analysis::{
    capacity::{End, Judgement},
    words,
};

use super::{
    WIDTH, heading, line,
    paint::{Paint, clean, wrap},
    resource::side_by_side,
    sweep::{level, time},
    table::Table,
};
use crate::capacity::{
    CapacityReport, CapacityStep, CurvePoint,
    resources::{cores, shown},
};

pub(in crate::render) fn report(report: &CapacityReport, colour: bool) -> String {
    let paint = Paint { colour };
    let mut out = String::new();
    head(&mut out, report, &paint);
    curve(&mut out, report, &paint);
    limit(&mut out, report, &paint);
    resources(&mut out, report, &paint);
    steps(&mut out, report, &paint);
    left_out(&mut out, report, &paint);
    out
}

fn head(out: &mut String, report: &CapacityReport, paint: &Paint) {
    let (mark, word) = match report.end {
        End::Found { .. } | End::AtLeast { .. } => ("✓", "CAPACITY"),
        End::NeverHeld { .. } => ("✗", "NO RATE HELD"),
        End::Void { .. } => ("∅", "VOID"),
        End::Nothing => ("…", "NOTHING KNOWN"),
    };
    let title = format!("{mark} {word}");
    let title = if mark == "✓" { paint.green(&title) } else { paint.red(&title) };
    let interrupted = if report.interrupted { " (interrupted)" } else { "" };
    line(out, &format!("{}  {title}{interrupted}", paint.bold(&clean(&report.name))));
    line(out, &wrap(&clean(&report.sentence), "", 0, WIDTH));
    for unit in &report.per_unit {
        let (per, name) = (words::number(unit.per_s), clean(&unit.unit));
        let amount = words::number(unit.amount);
        line(out, &format!("{per}/s per {name} (of {amount})"));
    }
}

fn curve(out: &mut String, report: &CapacityReport, paint: &Paint) {
    if report.curve.is_empty() {
        return;
    }
    heading(out, "CURVE", paint);
    let limiting = report.limiting_resource.as_ref();
    let shown = shown(&report.curve, &report.steps, limiting);
    let mut headings = vec!["rate", "completed", "p50", "p95", "p99", "in flight", "backlog"];
    headings.extend(shown.map(|_| "cores"));
    headings.push("");
    let mut table = Table::new(&headings);
    for point in &report.curve {
        let step = &report.steps[point.step];
        let figures = [
            per_s(step.run.completed_per_s),
            time(step.run.p50_ns),
            time(step.run.p95_ns),
            time(step.run.p99_ns),
            level(step.run.in_flight_max),
            growth(step),
        ];
        let cores = shown.map(|name| level(cores(&step.run.resources, name)));
        table
            .row(&per_s(point.rate_per_s), figures.into_iter().chain(cores).chain([remark(point)]));
    }
    table.render(out, WIDTH);
    if let Some(point) = report.curve.iter().find(|point| point.knee) {
        let text = format!(
            "knee at {}: of the rates that were tried the one with the greatest throughput for \
             its mean duration",
            per_s(point.rate_per_s)
        );
        line(out, &paint.dim(&wrap(&text, "  ", 2, WIDTH)));
    }
}

fn remark(point: &CurvePoint) -> String {
    let held = if point.held { "held" } else { "failed" };
    if point.knee { format!("{held}, knee") } else { held.to_owned() }
}

/// How fast the backlog grew, as a share of the arrivals.
fn growth(step: &CapacityStep) -> String {
    step.tried.growth.map_or_else(
        || "–".to_owned(),
        |growth| {
            let tenths = (growth.share * 1_000.0).round() / 10.0;
            let sign = match tenths {
                0.0 => "",
                tenths if tenths < 0.0 => "−",
                _ => "+",
            };
            format!("{sign}{:.1} % ± {:.1}", tenths.abs(), growth.half_width * 100.0)
        },
    )
}

fn limit(out: &mut String, report: &CapacityReport, paint: &Paint) {
    let Some(limit) = report.end.limit() else {
        return;
    };
    heading(out, "LIMIT", paint);
    line(out, &wrap(&clean(&limit.in_words()), "  ", 2, WIDTH));
    // The step that failed lowest says where its time went.
    let failed = report.curve.iter().find(|point| !point.held);
    if let Some(text) = failed.and_then(|point| report.steps[point.step].run.bottleneck.as_ref()) {
        line(out, &wrap(&format!("there {}", clean(text)), "  ", 2, WIDTH));
    }
    if let Some(found) = &report.limiting_resource {
        line(out, &wrap(&clean(&found.in_words()), "  ", 2, WIDTH));
    }
}

/// Every resource at every rate of the curve.
fn resources(out: &mut String, report: &CapacityReport, paint: &Paint) {
    let runs = report.curve.iter().map(|point| (point, &report.steps[point.step].run));
    let named = runs.map(|(point, run)| (per_s(point.rate_per_s), run));
    side_by_side(out, "rate", &named.collect::<Vec<_>>(), paint);
}

fn steps(out: &mut String, report: &CapacityReport, paint: &Paint) {
    heading(out, "STEPS", paint);
    let mut table = Table::new(&["rate", "for", "steady", "started", "says"]);
    for step in &report.steps {
        let tried = &step.tried;
        table.row(
            &per_s(tried.step.rate_per_s),
            [
                tried.step.purpose.word().to_owned(),
                words::duration(step.run.steady_ns as f64),
                words::count(step.run.started),
                tried.judgement.word().to_owned(),
            ],
        );
    }
    table.render(out, WIDTH);
    for (number, step) in (1..).zip(&report.steps) {
        if let Some(why) = why(&step.tried.judgement) {
            let rate = per_s(step.tried.step.rate_per_s);
            let text = format!("step {number} at {rate}: {}", clean(&why));
            line(out, &paint.dim(&wrap(&text, "  · ", 4, WIDTH)));
        }
        if let Some(file) = &step.run.run_file {
            line(out, &paint.dim(&format!("    step {number}: {}", clean(file))));
        }
    }
}

/// Why a step says what it says, where that is not plain.
pub(in crate::render) fn why(judgement: &Judgement) -> Option<String> {
    match judgement {
        Judgement::Held { likely: false } => None,
        Judgement::Held { likely: true } => {
            Some("more likely than not, as far as a step of this length can tell".to_owned())
        }
        Judgement::Failed { limit } => Some(limit.in_words()),
        Judgement::Undecided { reason, .. } => Some(reason.clone()),
        Judgement::Void { cause, .. } => Some(cause.clone()),
    }
}

fn left_out(out: &mut String, report: &CapacityReport, paint: &Paint) {
    if report.left_out.is_empty() && report.notes.is_empty() {
        return;
    }
    heading(out, "NOTES", paint);
    for (text, why) in &report.left_out {
        let text = format!("threshold {} did not decide: {}", clean(text), clean(why));
        line(out, &wrap(&text, "  · ", 4, WIDTH));
    }
    for note in &report.notes {
        line(out, &wrap(&clean(note), "  · ", 4, WIDTH));
    }
}

fn per_s(rate: f64) -> String {
    format!("{}/s", words::number(rate))
}
