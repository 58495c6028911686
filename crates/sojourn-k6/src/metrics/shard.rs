//! One thread's account of its samples.

use std::sync::Arc;

use super::builtin;
use super::checks::Checks;
use super::metric::MetricId;
use super::sample::Sample;
use super::sink::Sink;
use super::tag_set::TagSet;

/// How a thread accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShardOptions {
    /// Whether trends keep every sample (`--exact-percentiles`).
    pub is_exact: bool,
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

/// What a thread has accounted for between two instants.
#[derive(Debug, Clone, Default)]
pub struct Delta {
    /// By [`MetricId::index`]; none where there was no sample.
    pub(super) sinks: Vec<Option<(MetricId, Sink)>>,
    pub(super) checks: Checks,
    pub(super) samples_refused: u64,
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
        self.account(metric, at_ns, value);
        for found in tags.matches() {
            if found.parent == metric {
                self.account(found.submetric, at_ns, value);
            }
        }
        if self.options.samples_max > 0 {
            self.keep(Sample { metric, tags: Arc::clone(tags), at_ns, value });
        }
    }

    /// A check was made in a group: a sample of `checks` with these tags, which name it where
    /// system tags have it so, and an entry in the account by name.
    pub fn check(
        &mut self,
        group: &str,
        name: &str,
        tags: &Arc<TagSet>,
        at_ns: u64,
        has_passed: bool,
    ) {
        let (passes, fails) = if has_passed { (1, 0) } else { (0, 1) };
        self.delta.checks.add(group, name, at_ns, passes, fails);
        self.add(builtin::CHECKS, tags, at_ns, f64::from(u8::from(has_passed)));
    }

    /// A group was entered, so that summaries have it even if nothing is checked in it.
    pub fn enter_group(&mut self, path: &str, at_ns: u64) {
        self.delta.checks.group(path, at_ns);
    }

    /// Everything since the last time, for [`Totals::merge`](super::Totals::merge).
    pub fn take(&mut self) -> Delta {
        let sinks = Vec::with_capacity(self.delta.sinks.len());
        std::mem::replace(&mut self.delta, Delta { sinks, ..Delta::default() })
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

    fn account(&mut self, metric: MetricId, at_ns: u64, value: f64) {
        let at = metric.index();
        let sinks = &mut self.delta.sinks;
        if at >= sinks.len() {
            sinks.resize_with(at + 1, || None);
        }
        let is_exact = self.options.is_exact;
        let (_, sink) =
            sinks[at].get_or_insert_with(|| (metric, Sink::new(metric.kind(), is_exact)));
        sink.add(at_ns, value);
    }

    fn keep(&mut self, sample: Sample) {
        if self.samples.len() < self.options.samples_max {
            self.samples.push(sample);
        } else {
            self.delta.samples_refused += 1;
        }
    }
}
