//! How the generator is, and which of its limits it is nearest to just now.

use std::collections::{BTreeMap, VecDeque};

use sojourn_analysis::generator::{self, Facts, Level, Thread, ThreadSecond};
use sojourn_metrics::{
    names,
    own_limits::{FailedHere, lag_limit_ns},
};
use sojourn_plan::HealthLimits;

use super::{Health, Nearest, ThreadUse, lookup::Lookup};

const SECOND_NS: u64 = 1_000_000_000;
/// Most threads that are followed: far more than a run has.
const THREADS_MAX: usize = 1_000;

/// The last seconds of each thread.
#[derive(Debug, Default)]
pub(super) struct HealthSeconds {
    threads: BTreeMap<String, VecDeque<ThreadSecond>>,
}

impl HealthSeconds {
    /// The health of this second.
    pub(super) fn health(
        &mut self,
        lookup: &Lookup<'_>,
        limits: &HealthLimits,
        defects: &[String],
    ) -> Health {
        let threads = threads(lookup);
        let busy_for_s = (limits.busy_for_ns / SECOND_NS).max(1) as usize;
        self.keep(&threads, busy_for_s);
        let so_far = lookup.store.merged(names::LAG, &[], lookup.phase);
        let lag_p99_so_far_ns = so_far.quantile(0.99);
        let (least_ns, share) = (limits.lag_p99_max_ns, limits.lag_share_max);
        let lag_max_ns = lag_limit_ns(lookup.store, lookup.phase, least_ns, share);
        let refused = refused(lookup);
        let facts = Facts {
            threads: self.facts(),
            busy_max: limits.busy_max,
            busy_for_s,
            lag_p99_ns: lag_p99_so_far_ns.map(|ns| Level {
                subject: String::new(),
                used: ns as f64,
                limit: lag_max_ns as f64,
            }),
            lag_ns_max: (so_far.count() > 0).then(|| so_far.totals().max as f64),
            descriptors: Vec::new(),
            ports: None,
            taps_ms: taps_ms(lookup, limits),
            failed_here: FailedHere::of(lookup.store).total(),
            refused: refused.clone(),
        };
        let nearest = generator::verdict(&facts).and_then(|verdict| {
            let margin = verdict.margins.into_iter().next()?;
            Some(Nearest { share: margin.share, text: margin.text })
        });
        Health {
            lag_p99_ns: lookup.recent_trend(names::LAG).quantile(0.99),
            lag_p99_so_far_ns,
            lag_max_ns,
            threads,
            refused: refused.iter().map(|(_, count)| count).sum(),
            nearest,
            defects: defects.to_vec(),
        }
    }

    fn keep(&mut self, threads: &[ThreadUse], seconds_max: usize) {
        for thread in threads {
            if self.threads.len() >= THREADS_MAX && !self.threads.contains_key(&thread.name) {
                continue;
            }
            let seconds = self.threads.entry(thread.name.clone()).or_default();
            seconds.push_back(ThreadSecond { cpu: thread.cpu, run_queue: thread.waiting });
            while seconds.len() > seconds_max {
                seconds.pop_front();
            }
        }
    }

    fn facts(&self) -> Vec<Thread> {
        let thread = |(name, seconds): (&String, &VecDeque<ThreadSecond>)| Thread {
            name: name.clone(),
            makes_load: name.starts_with(names::GENERATOR),
            seconds: seconds.iter().copied().collect(),
            turn_ns_max: None,
        };
        self.threads.iter().map(thread).collect()
    }
}

fn threads(lookup: &Lookup<'_>) -> Vec<ThreadUse> {
    let named = lookup.values(names::HEALTH_CPU, names::THREAD, &[]);
    let used = |name: String| {
        let tags = [(names::THREAD, name.as_str())];
        let cpu = lookup.level(names::HEALTH_CPU, &tags)?;
        let waiting = lookup.level(names::HEALTH_RUN_QUEUE, &tags);
        Some(ThreadUse { cpu, waiting, name })
    };
    named.into_iter().filter_map(used).collect()
}

fn taps_ms(lookup: &Lookup<'_>, limits: &HealthLimits) -> Vec<Level> {
    let named = lookup.values(names::HEALTH_TAP_BEHIND_MS, names::CHANNEL, &[]);
    let level = |channel: String| {
        let tags = [(names::CHANNEL, channel.as_str())];
        let used = lookup.level(names::HEALTH_TAP_BEHIND_MS, &tags)?;
        let limit = limits.tap_behind_max_ns as f64 / 1e6;
        Some(Level { subject: channel, used, limit })
    };
    named.into_iter().filter_map(level).collect()
}

fn refused(lookup: &Lookup<'_>) -> Vec<(String, u64)> {
    let queues = lookup.by(names::HEALTH_REFUSED, names::QUEUE, &[]);
    queues.into_iter().map(|counted| (counted.name, counted.count)).collect()
}
