//! The generator's own figures.

use sojourn_metrics::{SeriesKey, SeriesPhase};
use sojourn_record::IntervalRow;

use super::{figures::distribution, lookup::Lookup};
use crate::model::{Health, Limit, Refusal, TapHealth, ThreadHealth};

pub(super) fn health(lookup: &Lookup<'_>) -> Health {
    let sum = |metric: &str| -> u64 {
        let journeys = &lookup.run.identity.journeys;
        journeys.iter().map(|shape| lookup.steady(metric, &[("journey", &shape.name)])).sum()
    };
    let (scheduled, started) = (sum("journeys.scheduled"), sum("journeys.started"));
    Health {
        scheduled,
        started,
        missed: sum("journeys.missed"),
        delivered: (scheduled > 0).then(|| started as f64 / scheduled as f64),
        lag_ns: distribution(lookup.trend("lag", &[])),
        threads: threads(lookup),
        taps: taps(lookup),
        refused: refused(lookup),
        connections_max: connections_max(lookup),
        memory_bytes_max: lookup.gauge("health.memory_bytes", &[]).map(|(_, _, max)| max),
        descriptors_left_min: lookup.gauge("health.descriptors_left", &[]).map(|(_, min, _)| min),
        ports_left_min: lookup.gauge("health.ports_left", &[]).map(|(_, min, _)| min),
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
    let mut names = lookup.tag_values("health.cpu", &[], "thread");
    names.extend(lookup.tag_values("health.run_queue", &[], "thread"));
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .map(|thread| {
            let tags = [("thread", thread)];
            let max = |metric: &str| lookup.gauge(metric, &tags).map(|(_, _, max)| max);
            ThreadHealth {
                thread: thread.to_owned(),
                cpu_mean: gauge_mean(
                    lookup,
                    &SeriesKey::new("health.cpu", &tags, SeriesPhase::Any),
                ),
                cpu_max: max("health.cpu"),
                run_queue_max: max("health.run_queue"),
                stall_ms_max: max("health.stall_ms"),
                busy_s_max: max("health.busy_s"),
            }
        })
        .collect()
}

/// The mean of a gauge's last values over the intervals in which it was set.
fn gauge_mean(lookup: &Lookup<'_>, key: &SeriesKey) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0u64);
    for interval in &lookup.run.intervals {
        for (row_key, row) in &interval.rows {
            if let IntervalRow::Gauge([last, _, _]) = row
                && row_key == key
            {
                sum += last;
                n += 1;
            }
        }
    }
    (n > 0).then(|| sum / n as f64)
}

fn taps(lookup: &Lookup<'_>) -> Vec<TapHealth> {
    lookup
        .tag_values("health.tap_behind_ms", &[], "channel")
        .into_iter()
        .filter_map(|channel| {
            let (last, _, max) = lookup.gauge("health.tap_behind_ms", &[("channel", channel)])?;
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
        .tag_values("health.refused", &[], "queue")
        .into_iter()
        .map(|queue| Refusal {
            queue: queue.to_owned(),
            count: lookup.whole("health.refused", &[("queue", queue)]),
        })
        .filter(|refusal| refusal.count > 0)
        .collect()
}

/// The sum of each generator's maximum: an upper bound when there are several.
fn connections_max(lookup: &Lookup<'_>) -> Option<f64> {
    lookup
        .tag_values("health.connections", &[], "generator")
        .into_iter()
        .filter_map(|generator| lookup.gauge("health.connections", &[("generator", generator)]))
        .map(|(_, _, max)| max)
        .reduce(|sum, max| sum + max)
}
