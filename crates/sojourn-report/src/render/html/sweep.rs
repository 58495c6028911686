//! The page of a sweep: its runs side by side.

use minijinja::{Value, context};
use serde::Serialize;

use super::{
    curve::{Across, Curve, curves},
    definitions, environment, serialised,
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
    let mut environment = environment()?;
    environment.add_template("sweep.html", include_str!("../../../assets/sweep.html"))?;
    environment.add_template("macros.html", include_str!("../../../assets/macros.html"))?;
    environment.add_template("curve.html", include_str!("../../../assets/curve.html"))?;
    let rows: Vec<Row<'_>> = report
        .rows
        .iter()
        .map(|row| Row { name: row.name(), run: &row.run, mark: row.run.outcome.mark() })
        .collect();
    Ok(environment.get_template("sweep.html")?.render(context! {
        report => serialised(report),
        sentence => report.sentence(),
        of => report.variables.join(", "),
        charts => serialised(charts(report)),
        rows => serialised(&rows),
        resources => serialised(resources(report)),
        style => Value::from_safe_string(include_str!("../../../assets/style.css").to_owned()),
        definitions => Value::from_safe_string(definitions::html()),
    })?)
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
