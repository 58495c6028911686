//! The page of a sweep: its runs side by side.

use minijinja::context;
use serde::Serialize;

use super::{
    curve::{Across, Curve, curves},
    page::{Frame, framed},
    serialised,
};
use crate::{RunLine, model::ResourceReport, render::RenderError, sweep::SweepReport};

/// A run's row.
#[derive(Serialize)]
struct Row<'a> {
    name: String,
    run: &'a RunLine,
    mark: &'static str,
}

pub(in crate::render) fn report(report: &SweepReport) -> Result<String, RenderError> {
    let rows: Vec<Row<'_>> = report
        .rows
        .iter()
        .map(|row| Row { name: row.name(), run: &row.run, mark: row.run.outcome.mark() })
        .collect();
    let frame = Frame {
        title: format!("{}: sweep of {}", report.name, report.variables.join(", ")),
        class: "pass",
        version: &report.version,
    };
    let figures = context! {
        report => serialised(report),
        sentence => report.sentence(),
        of => report.variables.join(", "),
        charts => serialised(charts(report)),
        rows => serialised(&rows),
        resources => serialised(resources(report)),
    };
    framed(include_str!("../../../assets/sweep.html"), &frame, figures)
}

/// A resource in a run, with the run's name.
fn resources(report: &SweepReport) -> Vec<(String, &ResourceReport)> {
    let rows = report.rows.iter();
    rows.flat_map(|row| row.run.resources.iter().map(|it| (row.name(), it))).collect()
}

fn charts(report: &SweepReport) -> Vec<Curve> {
    let names: Vec<String> = report.rows.iter().map(|row| row.name()).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let across = Across::names(&names);
    let runs: Vec<&RunLine> = report.rows.iter().map(|row| &row.run).collect();
    curves(&runs, &report.variables.join(", "), &across)
}
