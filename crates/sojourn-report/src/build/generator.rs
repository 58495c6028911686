//! What the run file tells of the generator's limits, for the verdict on it.

use sojourn_analysis::generator::{self, Facts, GeneratorVerdict, Level, Thread, ThreadSecond};
use sojourn_metrics::{
    SeriesPhase, names,
    own_limits::{self, FailedHere},
};
use sojourn_record::GeneratorLimits;

use super::{health::connections_max, lookup::Lookup, processes};
use crate::model::Refusal;

/// `None` for files of before the limits were noted.
pub(super) fn verdict(lookup: &Lookup<'_>, refused: &[Refusal]) -> Option<GeneratorVerdict> {
    let limits = lookup.run.identity.generator_limits?;
    let lag = lookup.trend(names::LAG, &[]);
    let lag_p99_ns = lag.and_then(|lag| lag.quantile(0.99));
    let store = &lookup.run.store;
    let (least_ns, share) = (limits.lag_p99_max_ns, limits.lag_share_max);
    let lag_limit_ns = own_limits::lag_limit_ns(store, SeriesPhase::Steady, least_ns, share);
    let level = |used: f64, limit: f64| Level { subject: String::new(), used, limit };
    generator::verdict(&Facts {
        threads: threads(lookup),
        busy_max: limits.busy_max,
        busy_for_s: (limits.busy_for_ns / 1_000_000_000) as usize,
        lag_p99_ns: lag_p99_ns.map(|p99_ns| level(p99_ns as f64, lag_limit_ns as f64)),
        lag_ns_max: lag.and_then(|lag| lag.quantile(1.0)).map(|ns| ns as f64),
        descriptors: processes::descriptors(lookup),
        // All connections go to one target at worst, as far as that has so many ports.
        ports: connections_max(lookup)
            .map(|taken| level(taken, limits.ports as f64))
            .filter(|level| level.used <= level.limit),
        taps_ms: taps_ms(lookup, &limits),
        refused: refused.iter().map(|refusal| (refusal.queue.clone(), refusal.count)).collect(),
        failed_here: FailedHere::of(store).total(),
    })
}

/// Every thread of ours that is measured: each does work that no other can take over.
fn threads(lookup: &Lookup<'_>) -> Vec<Thread> {
    let names = lookup.tag_values(names::HEALTH_CPU, &[], names::THREAD);
    names
        .into_iter()
        .map(|name| {
            let tags = [(names::THREAD, name)];
            let cpu = lookup.levels(names::HEALTH_CPU, &tags);
            let waits = lookup.levels(names::HEALTH_RUN_QUEUE, &tags);
            let second = |(cpu, wait): (Option<[f64; 3]>, Option<[f64; 3]>)| {
                let run_queue = wait.map(|[last, _, _]| last);
                cpu.map(|[last, _, _]| ThreadSecond { cpu: last, run_queue })
            };
            let stall_ms = lookup.gauge(names::HEALTH_STALL_MS, &tags);
            Thread {
                name: name.to_owned(),
                makes_load: name.starts_with(names::GENERATOR),
                seconds: cpu.into_iter().zip(waits).filter_map(second).collect(),
                turn_ns_max: stall_ms.map(|(_, _, most_ms)| most_ms * 1e6),
            }
        })
        .collect()
}

fn taps_ms(lookup: &Lookup<'_>, limits: &GeneratorLimits) -> Vec<Level> {
    let channels = lookup.tag_values(names::HEALTH_TAP_BEHIND_MS, &[], names::CHANNEL);
    let level = |channel: &str| {
        let tags = [(names::CHANNEL, channel)];
        let (_, _, most_ms) = lookup.gauge(names::HEALTH_TAP_BEHIND_MS, &tags)?;
        let limit = limits.tap_behind_max_ns as f64 / 1e6;
        Some(Level { subject: channel.to_owned(), used: most_ms, limit })
    };
    channels.into_iter().filter_map(level).collect()
}
