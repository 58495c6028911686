//! The whole test's account.

use super::account::Account;
use super::checks::Checks;
use super::metric::MetricId;
use super::scopes::Scopes;
use super::shard::Delta;
use super::sink::Sink;

/// What all threads have accounted for so far.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    account: Account,
    scopes: Scopes,
    samples_refused: u64,
}

impl Totals {
    /// Adds what a thread has accounted for. In which order threads are merged changes nothing but
    /// the last bits of sums.
    pub fn merge(&mut self, delta: Delta) {
        self.account.merge(delta.account);
        self.scopes.merge(delta.scopes);
        self.samples_refused += delta.samples_refused;
    }

    /// The account of a metric or submetric; none before its first sample.
    pub fn sink(&self, metric: MetricId) -> Option<&Sink> {
        self.account.sink(metric)
    }

    /// Groups and checks by name.
    pub fn checks(&self) -> &Checks {
        self.account.checks()
    }

    /// All of it.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// That of scenarios and groups; empty unless [`ShardOptions::is_full`].
    ///
    /// [`ShardOptions::is_full`]: super::ShardOptions::is_full
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// How many samples the outputs did not get because they were too slow.
    pub fn samples_refused(&self) -> u64 {
        self.samples_refused
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::{Contains, MetricKind, Registry, Shard, ShardOptions, TagSets, builtin};

    #[test]
    fn submetrics_count_the_samples_that_have_their_tags() {
        let mut registry = Registry::new();
        let own = registry.declare("own", MetricKind::Counter, Contains::Default).unwrap();
        let red = registry.resolve("own{color:red}").unwrap();
        let both = registry.resolve("own{size:5, color:red}").unwrap();
        assert_eq!(registry.resolve("own{color:red,size:5}").unwrap(), both);
        let mut sets = TagSets::new(registry.matcher());
        let base = Arc::clone(sets.empty());
        let tagged = sets.with(&base, &[("color", "red")]);
        let more = sets.with(&tagged, &[("size", "5")]);
        let mut one = Shard::new(ShardOptions::default());
        let mut two = Shard::new(ShardOptions::default());
        one.add(own, &base, 1, 1.0);
        one.add(own, &tagged, 1, 10.0);
        two.add(own, &more, 1, 100.0);
        two.add(own, &more, 1, f64::NAN);
        two.add(builtin::HTTP_REQS, &more, 1, 1.0);
        let mut totals = Totals::default();
        totals.merge(one.take());
        totals.merge(two.take());
        totals.merge(one.take());
        let sum = |id| match totals.sink(id) {
            Some(Sink::Counter(counter)) => counter.sum,
            _ => 0.0,
        };
        assert_eq!([sum(own), sum(red), sum(both)], [111.0, 110.0, 100.0]);
        assert_eq!(sum(builtin::HTTP_REQS), 1.0);
    }

    /// Threads of this process, or of others whose accounts come as bytes.
    #[test]
    fn accounts_of_other_processes_merge_like_those_of_threads() {
        let mut registry = Registry::new();
        let own = registry.declare("own", MetricKind::Trend, Contains::Time).unwrap();
        let rate = registry.declare("rate", MetricKind::Rate, Contains::Default).unwrap();
        let large = registry.resolve("own{size:large}").unwrap();
        let options = ShardOptions { is_full: true, ..ShardOptions::default() };
        let (mut threads, mut processes) = (Totals::default(), Totals::default());
        for part in 0..3_u32 {
            let mut sets = TagSets::new(registry.matcher());
            let base = Arc::clone(sets.empty());
            let base = sets.with(&base, &[("scenario", "shop"), ("group", "::g")]);
            let tagged = sets.with(&base, &[("size", "large")]);
            let mut shard = Shard::new(options);
            // Beyond what is kept as it is, and below.
            for k in 0..if part == 2 { 40 } else { 12_000 } {
                let value = f64::from(k * 3 + part) * 0.7 - 100.0;
                let at_ns = u64::from(k);
                shard.add(own, if k % 3 == 0 { &tagged } else { &base }, at_ns, value);
                shard.add(rate, &base, at_ns, f64::from(k % 2));
                shard.add(builtin::VUS, &base, at_ns, value);
                shard.add(builtin::ITERATIONS, &base, at_ns, 1.0);
            }
            shard.check("::g", &format!("held {}", part % 2), &base, u64::from(part), part > 0);
            shard.enter_group("::empty", 7);
            let delta = shard.take();
            let bytes = postcard::to_allocvec(&delta).unwrap();
            let came: Delta = postcard::from_bytes(&bytes).unwrap();
            assert!(came.is_of(&registry) && !came.is_of(&Registry::new()));
            threads.merge(delta);
            processes.merge(came);
        }
        let bytes = |totals: &Totals| {
            postcard::to_allocvec(&(totals.account.clone(), totals.scopes.clone())).unwrap()
        };
        assert_eq!(bytes(&threads), bytes(&processes));
        for metric in [own, large] {
            let [one, other] = [&threads, &processes].map(|totals| match totals.sink(metric) {
                Some(Sink::Trend(trend)) => trend.percentiles().at(99.0),
                other => panic!("{other:?}"),
            });
            assert_eq!(one, other);
        }
    }

    #[test]
    fn samples_beyond_the_bound_are_refused_and_counted() {
        let sets = TagSets::new(Registry::new().matcher());
        let options = ShardOptions { samples_max: 2, ..ShardOptions::default() };
        let mut shard = Shard::new(options);
        for value in [1.0, 2.0, 3.0] {
            shard.add(builtin::VUS, sets.empty(), 7, value);
        }
        assert_eq!(shard.samples_waiting(), 2);
        let taken = shard.take_samples(Vec::new());
        assert_eq!(taken.iter().map(|sample| sample.value).collect::<Vec<_>>(), [1.0, 2.0]);
        let mut totals = Totals::default();
        totals.merge(shard.take());
        assert_eq!(totals.samples_refused(), 1);
        assert!(matches!(totals.sink(builtin::VUS), Some(Sink::Gauge(g)) if g.count == 3));
    }
}
