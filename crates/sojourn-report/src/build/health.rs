//! The generator's own figures.

use sojourn_metrics::names;

use super::{
    figures::distribution,
    generator,
    lookup::{Lookup, Tags},
    processes,
};
use crate::model::{Health, Limit, Refusal, TapHealth, ThreadHealth};

pub(super) fn health(lookup: &Lookup<'_>) -> Health {
    let sum = |metric: &str| -> u64 {
        let journeys = &lookup.run.identity.journeys;
        journeys.iter().map(|shape| lookup.steady(metric, &[(names::JOURNEY, &shape.name)])).sum()
    };
    let (scheduled, started) = (sum(names::JOURNEYS_SCHEDULED), sum(names::JOURNEYS_STARTED));
    let refused = refused(lookup);
    Health {
        verdict: generator::verdict(lookup, &refused),
        scheduled,
        started,
        missed: sum(names::JOURNEYS_MISSED),
        delivered: (scheduled > 0).then(|| started as f64 / scheduled as f64),
        lag_ns: distribution(lookup.trend(names::LAG, &[])),
        lag_budget_ns: lag_budget_ns(lookup),
        threads: threads(lookup),
        taps: taps(lookup),
        refused,
        connections_max: connections_max(lookup),
        memory_bytes_max: processes::memory_bytes_max(lookup),
        descriptors_left_min: processes::descriptors_left_min(lookup),
        ports_left_min: processes::ports_left_min(lookup),
        processes: processes::processes(lookup),
        limits: lookup
            .run
            .identity
            .health_limits
            .iter()
            .map(|(name, limit)| Limit { name: name.clone(), limit: limit.clone() })
            .collect(),
    }
}

fn threads(lookup: &Lookup<'_>) -> Vec<ThreadHealth> {
    let mut threads = lookup.tag_values(names::HEALTH_CPU, &[], names::THREAD);
    threads.extend(lookup.tag_values(names::HEALTH_RUN_QUEUE, &[], names::THREAD));
    threads.sort_unstable();
    threads.dedup();
    threads
        .into_iter()
        .map(|thread| {
            let tags = [(names::THREAD, thread)];
            let max = |metric: &str| lookup.gauge(metric, &tags).map(|(_, _, max)| max);
            ThreadHealth {
                thread: thread.to_owned(),
                cpu_mean: gauge_mean(lookup, names::HEALTH_CPU, &tags),
                cpu_max: max(names::HEALTH_CPU),
                run_queue_max: max(names::HEALTH_RUN_QUEUE),
                stall_ms_max: max(names::HEALTH_STALL_MS),
                busy_s_max: max(names::HEALTH_BUSY_S),
            }
        })
        .collect()
}

/// The mean of a gauge's last values over the intervals in which it was set.
pub(super) fn gauge_mean(lookup: &Lookup<'_>, metric: &str, tags: Tags<'_>) -> Option<f64> {
    let set: Vec<f64> =
        lookup.levels(metric, tags).into_iter().flatten().map(|[last, _, _]| last).collect();
    (!set.is_empty()).then(|| set.iter().sum::<f64>() / set.len() as f64)
}

fn taps(lookup: &Lookup<'_>) -> Vec<TapHealth> {
    lookup
        .tag_values(names::HEALTH_TAP_BEHIND_MS, &[], names::CHANNEL)
        .into_iter()
        .filter_map(|channel| {
            let (last, _, max) =
                lookup.gauge(names::HEALTH_TAP_BEHIND_MS, &[(names::CHANNEL, channel)])?;
            Some(TapHealth {
                channel: channel.to_owned(),
                behind_ms_last: last,
                behind_ms_max: max,
            })
        })
        .collect()
}

fn refused(lookup: &Lookup<'_>) -> Vec<Refusal> {
    lookup
        .tag_values(names::HEALTH_REFUSED, &[], names::QUEUE)
        .into_iter()
        .map(|queue| Refusal {
            queue: queue.to_owned(),
            count: lookup.whole(names::HEALTH_REFUSED, &[(names::QUEUE, queue)]),
        })
        .filter(|refusal| refusal.count > 0)
        .collect()
}

fn lag_budget_ns(lookup: &Lookup<'_>) -> Option<f64> {
    let generators = lookup.tag_values(names::HEALTH_LAG_BUDGET_MS, &[], names::GENERATOR);
    let most = generators.into_iter().filter_map(|generator| {
        lookup.gauge(names::HEALTH_LAG_BUDGET_MS, &[(names::GENERATOR, generator)])
    });
    most.map(|(_, _, max_ms)| max_ms * 1e6).reduce(f64::max)
}

/// The sum of each generator's maximum: an upper bound when there are several.
pub(super) fn connections_max(lookup: &Lookup<'_>) -> Option<f64> {
    lookup
        .tag_values(names::HEALTH_CONNECTIONS, &[], names::GENERATOR)
        .into_iter()
        .filter_map(|generator| {
            lookup.gauge(names::HEALTH_CONNECTIONS, &[(names::GENERATOR, generator)])
        })
        .map(|(_, _, max)| max)
        .reduce(|sum, max| sum + max)
}
