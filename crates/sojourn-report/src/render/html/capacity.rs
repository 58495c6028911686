//! The page of a search: what was found, the curve, the steps.

use minijinja::context;
use serde::Serialize;
use sojourn_analysis::{capacity::End, words};

use super::{
    axis::Unit,
    curve::{Across, Curve, curves},
    page::{Frame, framed},
    serialised,
};
use crate::{
    RunLine,
    capacity::{CapacityReport, CapacityStep, resources},
    model::ResourceReport,
    render::{RenderError, text::capacity::why},
};

/// A step's row.
#[derive(Serialize)]
struct Row<'a> {
    number: usize,
    step: &'a CapacityStep,
    purpose: &'static str,
    word: &'static str,
    says: Option<String>,
    held: bool,
    cores: Option<f64>,
}

pub(in crate::render) fn report(report: &CapacityReport) -> Result<String, RenderError> {
    let (class, word) = match report.end {
        End::Found { .. } | End::AtLeast { .. } => ("pass", "found"),
        End::NeverHeld { .. } => ("fail", "no rate held"),
        End::Void { .. } => ("void", "void"),
        End::Nothing => ("unfinished", "nothing known"),
    };
    let limiting = report.limiting_resource.as_ref();
    let shown = resources::shown(&report.curve, &report.steps, limiting);
    let rows: Vec<Row<'_>> =
        (1..).zip(&report.steps).map(|(number, step)| row(number, step, shown)).collect();
    let failed = report.curve.iter().find(|point| !point.held);
    let frame =
        Frame { title: format!("{}: capacity", report.name), class, version: &report.version };
    let figures = context! {
        report => serialised(report),
        word,
        limit => report.end.limit().map(|limit| limit.in_words()),
        shown,
        limiting => limiting.map(|found| found.in_words()),
        resources => serialised(across_runs(report)),
        bottleneck => failed.and_then(|point| report.steps[point.step].run.bottleneck.clone()),
        knee => report.curve.iter().find(|point| point.knee).map(|point| point.rate_per_s),
        at_least => matches!(report.end, End::AtLeast { .. }),
        charts => serialised(charts(report)),
        rows => serialised(&rows),
    };
    framed(include_str!("../../../assets/capacity.html"), &frame, figures)
}

/// A resource at a rate, with the rate.
fn across_runs(report: &CapacityReport) -> Vec<(f64, &ResourceReport)> {
    let runs = report.curve.iter().map(|point| (point, &report.steps[point.step].run));
    runs.flat_map(|(point, run)| run.resources.iter().map(|it| (point.rate_per_s, it))).collect()
}

fn row<'a>(number: usize, step: &'a CapacityStep, shown: Option<&str>) -> Row<'a> {
    let judgement = &step.tried.judgement;
    Row {
        number,
        step,
        purpose: step.tried.step.purpose.word(),
        word: judgement.word(),
        says: why(judgement),
        held: judgement.word().starts_with("held"),
        cores: shown.and_then(|name| resources::cores(&step.run.resources, name)),
    }
}

fn charts(report: &CapacityReport) -> Vec<Curve> {
    let rates: Vec<f64> = report.curve.iter().map(|point| point.rate_per_s).collect();
    let across = Across::numbers(&rates, Unit::PerSecond);
    let runs: Vec<&RunLine> =
        report.curve.iter().map(|point| &report.steps[point.step].run).collect();
    let charts = curves(&runs, "rate", &across).into_iter();
    charts.map(|chart| marked(chart, report, &across)).collect()
}

/// The chart with the span in which the capacity lies, and the knee.
fn marked(mut chart: Curve, report: &CapacityReport, across: &Across) -> Curve {
    if let Some((middle, half)) = report.capacity_per_s.zip(report.half_width_per_s) {
        let (from, to) = (across.place(middle - half), across.place(middle + half));
        let name = format!("capacity {}/s", words::number(middle));
        chart.band = Some((from, to - from, name));
    }
    let knee = report.curve.iter().filter(|point| point.knee);
    chart.marks = knee
        .map(|point| {
            let name = format!("knee {}/s", words::number(point.rate_per_s));
            (across.place(point.rate_per_s), name)
        })
        .collect();
    chart
}
