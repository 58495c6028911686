//! The system's own resources, read beside the load.

use sojourn_analysis::{
    conclusion::{Conclusion, conclude_resource},
    resources::{self, ResourceSecond},
};
use sojourn_metrics::names;

use super::lookup::Lookup;
use crate::model::{ResourceReport, Statistic, TimeSeries, Values};

/// How far beyond the steady phase a second may reach: on a busy machine they end a little late.
const SLACK_NS: u64 = 50_000_000;
/// Figures that are drawn.
const DRAWN: [&str; 4] = [names::CORES, names::LIMIT_CORES, names::MEMORY_BYTES, names::VALUE];

/// Every resource: as declared, then others that figures are of. A query with several series has a
/// row for each of them; one without a value has a row that says so.
pub(super) fn reports(lookup: &Lookup<'_>) -> Vec<ResourceReport> {
    let completed = lookup.counted_of_all(&[names::JOURNEYS_COMPLETED, names::JOURNEYS_LATE]);
    named(lookup).iter().map(|(name, what)| report(lookup, name, what, &completed)).collect()
}

/// What is to be said of them.
pub(super) fn conclusions(reports: &[ResourceReport]) -> Vec<Conclusion> {
    let said = reports.iter().filter_map(|report| {
        let (processor, found) = (report.processor.as_ref()?, report.saturated.as_ref()?);
        Some(conclude_resource(&report.name, processor, found))
    });
    said.collect()
}

/// What is drawn of them over time, the same for every journey: (metric, `api: cores`).
pub(super) fn timeline(lookup: &Lookup<'_>) -> Vec<TimeSeries> {
    let drawn = named(lookup).into_iter().flat_map(|(name, _)| {
        DRAWN.map(|figure| TimeSeries {
            metric: names::RESOURCE.to_owned(),
            of: format!("{name}: {figure}"),
            statistic: Statistic::Max,
            values: figures(lookup, &name, figure),
        })
    });
    drawn.collect()
}

/// Names and what they are.
fn named(lookup: &Lookup<'_>) -> Vec<(String, String)> {
    let read = lookup.tag_values(names::RESOURCE, &[], names::RESOURCE_NAME);
    let declared = &lookup.run.identity.resources;
    let mut named: Vec<(String, String)> = Vec::new();
    for (name, what) in declared {
        let is_its_own = |found: &&&str| {
            let rest = found.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('{'))
        };
        let found: Vec<_> = read.iter().filter(is_its_own).collect();
        if found.is_empty() {
            named.push((name.clone(), what.clone()));
        }
        named.extend(found.iter().map(|found| ((**found).to_owned(), what.clone())));
    }
    let others = read.iter().filter(|name| !named.iter().any(|(known, _)| known == *name));
    let others: Vec<_> = others.map(|name| ((*name).to_owned(), String::new())).collect();
    named.extend(others);
    named
}

/// A figure in each second.
fn figures(lookup: &Lookup<'_>, name: &str, figure: &str) -> Vec<Option<f64>> {
    let tags = [(names::RESOURCE_NAME, name), (names::FIGURE, figure)];
    let levels = lookup.levels(names::RESOURCE, &tags);
    levels.into_iter().map(|level| level.map(|[last, _, _]| last)).collect()
}

fn report(lookup: &Lookup<'_>, name: &str, what: &str, completed: &[u64]) -> ResourceReport {
    let of = |figure: &str| figures(lookup, name, figure);
    let is_steady = steady(lookup);
    let within = |values: Vec<Option<f64>>| -> Vec<f64> {
        values.into_iter().zip(&is_steady).filter_map(|(value, is)| value.filter(|_| *is)).collect()
    };
    let most = |figure: &str| within(of(figure)).into_iter().reduce(f64::max);
    let seconds = seconds(lookup, name, completed, &is_steady);
    ResourceReport {
        name: name.to_owned(),
        what: what.to_owned(),
        processor: resources::processor(&seconds),
        memory: resources::memory(&seconds),
        descriptors_max: most(names::DESCRIPTORS),
        threads_max: most(names::THREADS),
        value: values(&within(of(names::VALUE))),
        saturated: resources::saturated(&seconds),
    }
}

fn values(values: &[f64]) -> Option<Values> {
    let last = *values.last()?;
    Some(Values {
        seconds: values.len(),
        mean: values.iter().sum::<f64>() / values.len() as f64,
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        last,
    })
}

/// Which intervals lie within the steady phase.
fn steady(lookup: &Lookup<'_>) -> Vec<bool> {
    let from_ns = lookup.steady_start_ns();
    let to_ns = from_ns.saturating_add(lookup.steady_ns()).saturating_add(SLACK_NS);
    let intervals = lookup.run.intervals.iter();
    intervals
        .map(|it| it.start_ns.saturating_add(SLACK_NS) >= from_ns && it.end_ns <= to_ns)
        .collect()
}

fn seconds(
    lookup: &Lookup<'_>,
    name: &str,
    completed: &[u64],
    is_steady: &[bool],
) -> Vec<ResourceSecond> {
    let of = |figure: &str| figures(lookup, name, figure);
    let cores = of(names::CORES);
    let busiest = of(names::BUSIEST_THREAD_CORES);
    let (limit, machine) = (of(names::LIMIT_CORES), of(names::MACHINE_CORES));
    let (throttled_share, throttled_s) = (of(names::THROTTLED_SHARE), of(names::THROTTLED_S));
    let memory = of(names::MEMORY_BYTES);
    let intervals = lookup.run.intervals.iter().enumerate().zip(is_steady);
    intervals
        .filter(|(_, is_steady)| **is_steady)
        .map(|((at, interval), _)| ResourceSecond {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            cores: cores[at],
            busiest_thread_cores: busiest[at],
            limit_cores: limit[at],
            machine_cores: machine[at],
            throttled_share: throttled_share[at],
            throttled_s: throttled_s[at],
            memory_bytes: memory[at],
            completed: completed[at],
        })
        .collect()
}
