//! The system's own resources: one line for each, with what its processor time is worth.

use sojourn_analysis::words;

use super::{
    WIDTH, heading, line,
    paint::{Paint, clean, wrap},
    table::Table,
};
use crate::{RunLine, model::ResourceReport};

pub(super) fn resources(out: &mut String, reports: &[ResourceReport], paint: &Paint) {
    if reports.is_empty() {
        return;
    }
    heading(out, "RESOURCES", paint);
    let (observed, measured): (Vec<_>, Vec<_>) =
        reports.iter().partition(|report| is_observed(report));
    if !measured.is_empty() {
        table(out, &measured);
    }
    if !observed.is_empty() {
        values(out, &observed);
    }
    for report in reports.iter().filter(|report| !report.what.is_empty()) {
        details(out, report, paint);
    }
}

/// Whether it is a query; one of a merged run's other files is known by its values alone.
pub(in crate::render) fn is_observed(report: &ResourceReport) -> bool {
    report.value.is_some() || report.what.starts_with("query ")
}

fn table(out: &mut String, reports: &[&ResourceReport]) {
    let mut table = Table::new(&[
        "resource",
        "cores",
        "max",
        "of",
        "CPU/journey",
        "memory",
        "max",
        "descriptors",
        "threads",
    ]);
    for report in reports {
        let processor = report.processor.as_ref();
        let memory = report.memory.as_ref();
        table.row(
            &report.name,
            [
                dash(processor.map(|it| it.cores_mean), words::number),
                dash(processor.map(|it| it.cores_max), words::number),
                dash(processor.and_then(|it| it.limit_cores), words::number),
                dash(processor.and_then(|it| it.cpu_ns_per_journey), words::duration),
                dash(memory.map(|it| it.mean_bytes), words::bytes),
                dash(memory.map(|it| it.max_bytes), words::bytes),
                dash(report.descriptors_max, words::number),
                dash(report.threads_max, words::number),
            ],
        );
    }
    table.render(out, WIDTH);
}

fn values(out: &mut String, reports: &[&ResourceReport]) {
    let mut table = Table::new(&["observed", "mean", "min", "max", "at the end", "seconds"]);
    for report in reports {
        let value = report.value.as_ref();
        table.row(
            &report.name,
            [
                dash(value.map(|it| it.mean), words::number),
                dash(value.map(|it| it.min), words::number),
                dash(value.map(|it| it.max), words::number),
                dash(value.map(|it| it.last), words::number),
                words::count(value.map_or(0, |it| it.seconds as u64)),
            ],
        );
    }
    table.render(out, WIDTH);
}

/// The resources of several runs, each run by its name.
pub(super) fn side_by_side(out: &mut String, of: &str, runs: &[(String, &RunLine)], paint: &Paint) {
    if runs.iter().all(|(_, run)| run.resources.is_empty()) {
        return;
    }
    heading(out, "RESOURCES", paint);
    let mut table = Table::new(&[
        of,
        "resource",
        "cores",
        "max",
        "of",
        "CPU/journey",
        "memory",
        "observed",
        "",
    ]);
    for (name, run) in runs {
        for report in &run.resources {
            let processor = report.processor.as_ref();
            let is_used_up = if report.saturated.is_some() { "used up" } else { "" };
            table.row(
                name,
                [
                    super::table::fit(&clean(&report.name), 24).trim_end().to_owned(),
                    dash(processor.map(|it| it.cores_mean), words::number),
                    dash(processor.map(|it| it.cores_max), words::number),
                    dash(processor.and_then(|it| it.limit_cores), words::number),
                    dash(processor.and_then(|it| it.cpu_ns_per_journey), words::duration),
                    dash(report.memory.as_ref().map(|it| it.mean_bytes), words::bytes),
                    dash(report.value.as_ref().map(|it| it.mean), words::number),
                    is_used_up.to_owned(),
                ],
            );
        }
    }
    table.render(out, WIDTH);
}

/// What it is, and what the table has no room for.
fn details(out: &mut String, report: &ResourceReport, paint: &Paint) {
    let mut parts = vec![clean(&report.what)];
    parts.extend(remarks(report));
    let text = format!("{}: {}", clean(&report.name), parts.join("; "));
    line(out, &paint.dim(&wrap(&text, "  · ", 4, WIDTH)));
}

/// Figures in words that are not everybody's.
pub(in crate::render) fn remarks(report: &ResourceReport) -> Vec<String> {
    let processor = report.processor.as_ref();
    let mut remarks: Vec<String> = Vec::new();
    let per_core = processor.and_then(|it| it.journeys_per_core_s);
    remarks.extend(per_core.map(|per_s| format!("1 core per {}/s", words::number(per_s))));
    let is_machine = processor.is_some_and(|it| it.is_machine_limit);
    let limit_share = processor.and_then(|it| it.limit_share);
    remarks.extend(limit_share.map(|share| {
        let of = if is_machine { "the machine's cores" } else { "its limit" };
        format!("{} of {of} on average", words::percent(share))
    }));
    let throttled = processor.and_then(|it| it.throttled_share.zip(it.throttled_ns));
    remarks.extend(throttled.map(|(share, ns)| {
        format!("throttled in {} of its periods, {}", words::percent(share), words::duration(ns))
    }));
    let growth = report.memory.as_ref().and_then(|memory| memory.growth);
    remarks.extend(growth.map(|growth| {
        let sign = if growth.bytes_per_min < 0.0 { "−" } else { "+" };
        let [rise, half] = [growth.bytes_per_min.abs(), growth.half_width_bytes_per_min];
        let each = growth.bytes_per_journey.map_or_else(String::new, |each| {
            format!(", {sign}{} a journey", words::bytes(each.abs()))
        });
        format!("memory {sign}{}/min ± {}{each}", words::bytes(rise), words::bytes(half))
    }));
    remarks
}

fn dash(value: Option<f64>, print: fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), print)
}
