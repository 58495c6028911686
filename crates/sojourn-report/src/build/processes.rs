//! What the processes of a run took: of one alone, or with those of `--generators`.

use sojourn_analysis::generator::Level;
use sojourn_metrics::{names, own_limits::least_left};

use super::{health::gauge_mean, lookup::Lookup};
use crate::model::ProcessHealth;

/// What the process without a name is called.
const COORDINATOR: &str = "coordinator";

/// Each process, the one that coordinates first; none where it is the only one.
pub(super) fn processes(lookup: &Lookup<'_>) -> Vec<ProcessHealth> {
    let all = named(lookup);
    if all.len() < 2 { Vec::new() } else { all.into_iter().map(|name| of(lookup, name)).collect() }
}

/// The sum of each process's most memory: an upper bound when there are several.
pub(super) fn memory_bytes_max(lookup: &Lookup<'_>) -> Option<f64> {
    let most = named(lookup).into_iter().filter_map(|name| of(lookup, name).memory_bytes_max);
    most.reduce(|sum, most| sum + most)
}

/// The least that any process had left.
pub(super) fn descriptors_left_min(lookup: &Lookup<'_>) -> Option<f64> {
    least_left(&lookup.run.store, names::HEALTH_DESCRIPTORS_LEFT)
}

/// Ports left for one target, had every descriptor of any process been a connection to it. Those of
/// several machines are not known here.
pub(super) fn ports_left_min(lookup: &Lookup<'_>) -> Option<f64> {
    if lookup.run.summary.as_ref().is_some_and(|summary| summary.fleet.is_some()) {
        return None;
    }
    let all = processes(lookup);
    if all.is_empty() {
        return least_left(&lookup.run.store, names::HEALTH_PORTS_LEFT);
    }
    let ports = lookup.run.identity.generator_limits?.ports as f64;
    let open: Option<f64> = all.iter().map(|process| process.descriptors_max).sum();
    open.map(|open| (ports - open).max(0.0))
}

/// Descriptors of each process beside those that it might have opened.
pub(super) fn descriptors(lookup: &Lookup<'_>) -> Vec<Level> {
    let all = named(lookup);
    let is_one = all.len() < 2;
    let level = |name: Option<&str>| {
        let process = of(lookup, name);
        Some(Level {
            subject: if is_one { String::new() } else { format!("of {}", process.process) },
            used: process.descriptors_max?,
            limit: process.descriptors_limit?,
        })
    };
    all.into_iter().filter_map(level).collect()
}

/// Names of the processes; `None` is the one that coordinates.
fn named<'a>(lookup: &Lookup<'a>) -> Vec<Option<&'a str>> {
    let mut named = vec![None];
    let mut others = lookup.tag_values(names::HEALTH_DESCRIPTORS, &[], names::PROCESS);
    // `process 10` behind `process 9`.
    others.sort_by_key(|name| (name.len(), *name));
    named.extend(others.into_iter().map(Some));
    named
}

/// A process's tags.
fn tags(name: Option<&str>) -> Vec<(&str, &str)> {
    name.map(|name| (names::PROCESS, name)).into_iter().collect()
}

fn of(lookup: &Lookup<'_>, name: Option<&str>) -> ProcessHealth {
    let tags = tags(name);
    let gauge = |metric: &str| lookup.gauge(metric, &tags);
    let most = |metric: &str| gauge(metric).map(|(_, _, most)| most);
    // Files of before the limit was told have it in the run's identity.
    let limit = most(names::HEALTH_DESCRIPTORS)
        .or_else(|| lookup.run.identity.generator_limits.map(|limits| limits.descriptors as f64));
    let left = gauge(names::HEALTH_DESCRIPTORS_LEFT).map(|(_, least, _)| least);
    ProcessHealth {
        process: name.unwrap_or(COORDINATOR).to_owned(),
        memory_bytes_max: most(names::HEALTH_MEMORY_BYTES),
        descriptors_max: limit.zip(left).map(|(limit, left)| (limit - left).max(0.0)),
        descriptors_limit: limit,
        cpu_mean: gauge_mean(lookup, names::HEALTH_PROCESS_CPU, &tags),
        cpu_max: most(names::HEALTH_PROCESS_CPU),
    }
}
