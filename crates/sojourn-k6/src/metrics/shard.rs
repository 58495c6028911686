//! One thread's account of its samples.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::account::Account;
use super::builtin;
use super::metric::MetricId;
use super::registry::Registry;
use super::sample::Sample;
use super::scopes::Scopes;
use super::tag_set::TagSet;

/// How a thread accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShardOptions {
    /// Whether trends keep every sample (`--exact-percentiles`).
    pub is_exact: bool,
    /// Whether scenarios and groups have accounts of their own (`--summary-mode full`): a trend's
    /// samples are then kept three times.
    pub is_full: bool,
    /// How many samples wait for the outputs at most; 0 where there is no output.
    pub samples_max: usize,
}

/// What one thread has accounted for since it was last asked. It takes no lock: the thread owns it
/// and hands over what it has by [`take`](Self::take).
#[derive(Debug)]
pub struct Shard {
    options: ShardOptions,
    delta: Delta,
    samples: Vec<Sample>,
}

/// What a thread has accounted for between two instants; plain data for who is in another process.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Delta {
    pub(super) account: Account,
    pub(super) scopes: Scopes,
    pub(super) samples_refused: u64,
}

impl Delta {
    /// What another thread has accounted for as well.
    pub fn merge(&mut self, other: Self) {
        self.account.merge(other.account);
        self.scopes.merge(other.scopes);
        self.samples_refused += other.samples_refused;
    }

    /// Whether all its metrics are those of a registry: what comes from another process is asked.
    pub fn is_of(&self, registry: &Registry) -> bool {
        self.account.is_of(registry) && self.scopes.are_of(registry)
    }
}

impl Shard {
    /// Empty.
    pub fn new(options: ShardOptions) -> Self {
        let samples = Vec::with_capacity(options.samples_max);
        Self { options, delta: Delta::default(), samples }
    }

    /// A sample of `metric`, and of those submetrics whose tags it has. `at_ns` counts since 1970.
    ///
    /// What is not a number is no sample: scripts are told so where they add it, and it is passed
    /// over here.
    pub fn add(&mut self, metric: MetricId, tags: &Arc<TagSet>, at_ns: u64, value: f64) {
        if value.is_nan() {
            return;
        }
        let is_exact = self.options.is_exact;
        let Delta { account, scopes, .. } = &mut self.delta;
        account.add(metric, at_ns, value, is_exact);
        for found in tags.matches() {
            if found.parent == metric {
                account.add(found.submetric, at_ns, value, is_exact);
            }
        }
        if self.options.is_full {
            scopes.each(tags, at_ns, |scope| scope.add(metric, at_ns, value, is_exact));
        }
        if self.options.samples_max > 0 {
            self.keep(Sample { metric, tags: Arc::clone(tags), at_ns, value });
        }
    }

    /// A check was made in a group: a sample of `checks` with these tags, and an entry in the
    /// account by name. Where the system tag `check` is off k6 lists no names: there
    /// [`add`](Self::add) to `checks` is all.
    pub fn check(
        &mut self,
        group: &str,
        name: &str,
        tags: &Arc<TagSet>,
        at_ns: u64,
        has_passed: bool,
    ) {
        let (passes, fails) = if has_passed { (1, 0) } else { (0, 1) };
        let Delta { account, scopes, .. } = &mut self.delta;
        account.checks_mut().add(group, name, at_ns, passes, fails);
        if self.options.is_full {
            let add = |scope: &mut Account| scope.checks_mut().add("", name, at_ns, passes, fails);
            scopes.each(tags, at_ns, add);
        }
        self.add(builtin::CHECKS, tags, at_ns, f64::from(u8::from(has_passed)));
    }

    /// A group was entered, so that summaries have it even if nothing is checked in it.
    pub fn enter_group(&mut self, path: &str, at_ns: u64) {
        self.delta.account.checks_mut().group(path, at_ns);
    }

    /// Everything since the last time, for [`Totals::merge`](super::Totals::merge).
    pub fn take(&mut self) -> Delta {
        let account = Account::like(&self.delta.account);
        Delta {
            account: std::mem::replace(&mut self.delta.account, account),
            scopes: self.delta.scopes.take(),
            samples_refused: std::mem::take(&mut self.delta.samples_refused),
        }
    }

    /// How many samples wait for the outputs. Whoever owns the shard hands them over before there
    /// are [`ShardOptions::samples_max`]: what comes then is refused, and counted.
    pub fn samples_waiting(&self) -> usize {
        self.samples.len()
    }

    /// The samples that wait for the outputs, in order; `spare` takes their place.
    pub fn take_samples(&mut self, mut spare: Vec<Sample>) -> Vec<Sample> {
        spare.clear();
        std::mem::replace(&mut self.samples, spare)
    }

    fn keep(&mut self, sample: Sample) {
        if self.samples.len() < self.options.samples_max {
            self.samples.push(sample);
        } else {
            self.delta.samples_refused += 1;
        }
    }
}
