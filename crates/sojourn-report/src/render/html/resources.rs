//! The system's own resources: rows of the table, and charts over time.

use serde::Serialize;
use sojourn_metrics::names;

use super::axis::Unit;
use crate::{
    model::{ReportModel, ResourceReport, TimeSeries, Timeline},
    render::text::resource::{is_observed, remarks},
};

/// A resource's row.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    report: &'a ResourceReport,
    remarks: Vec<String>,
    is_observed: bool,
}

pub(super) fn rows(model: &ReportModel) -> Vec<Row<'_>> {
    let row = |report| Row { report, remarks: remarks(report), is_observed: is_observed(report) };
    model.resources.iter().map(row).collect()
}

/// A chart's lines, before they are drawn.
pub(super) struct Drawing<'a> {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) definition: &'static str,
    pub(super) unit: Unit,
    pub(super) series: Vec<(String, &'a TimeSeries)>,
}

/// Cores, memory, and a chart for each query: their units differ.
pub(super) fn drawings<'a>(timeline: &'a Timeline) -> Vec<Drawing<'a>> {
    let all = || timeline.series.iter().filter(|series| series.metric == names::RESOURCE);
    let of = |figure: &str, shown: &str| -> Vec<(String, &'a TimeSeries)> {
        let suffix = format!(": {figure}");
        let named = all().filter_map(|series| Some((series.of.strip_suffix(&suffix)?, series)));
        named.map(|(name, series)| (format!("{name}{shown}"), series)).collect()
    };
    let mut cores = of(names::CORES, "");
    cores.extend(of(names::LIMIT_CORES, ", limit"));
    let memory = of(names::MEMORY_BYTES, "");
    let drawing = |id: &str, title: &str, definition, unit, series| Drawing {
        id: id.to_owned(),
        title: title.to_owned(),
        definition,
        unit,
        series,
    };
    let mut drawings = vec![
        drawing("cores", "Cores in use", "cores-in-use", Unit::Count, cores),
        drawing("memory", "Memory of resources", "resource-memory", Unit::Bytes, memory),
    ];
    for (name, series) in of(names::VALUE, "") {
        let query = name.split('{').next().unwrap_or_default().to_owned();
        match drawings.iter_mut().skip(2).find(|known| known.title == query) {
            Some(known) => known.series.push((name, series)),
            None => drawings.push(drawing(
                &format!("observed-{}", drawings.len()),
                &query,
                "observed-value",
                Unit::Count,
                vec![(name.clone(), series)],
            )),
        }
    }
    drawings
}
