//! What a server's threads count, for readers on other threads: no lock, one writer each.

use std::sync::atomic::{AtomicU64, Ordering};

use sojourn_metrics::Histogram;

/// A number that one thread writes and others read.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Adds; only the owning thread may, or counts are lost.
    #[inline]
    pub(crate) fn add(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts of one thread.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) accepted: Count,
    pub(crate) open: Count,
    pub(crate) connections_refused: Count,
    pub(crate) requests: Count,
    pub(crate) requests_bad: Count,
    pub(crate) abandoned: Count,
    pub(crate) answered: Count,
    pub(crate) held: Count,
    pub(crate) bytes_in: Count,
    pub(crate) bytes_out: Count,
    pub(crate) statuses: Statuses,
    pub(crate) hold: Scale,
    pub(crate) overshoot: Scale,
}

/// Answers by status.
#[derive(Debug)]
pub(crate) struct Statuses([Count; 1000]);

impl Default for Statuses {
    fn default() -> Self {
        Self([const { Count(AtomicU64::new(0)) }; 1000])
    }
}

impl Statuses {
    #[inline]
    pub(crate) fn add(&self, status: u16) {
        if let Some(count) = self.0.get(usize::from(status)) {
            count.add(1);
        }
    }
}

/// Sub-buckets of an octave, as a power of two: buckets are at most 3.1 % wide.
const SUB_LOG2: u32 = 5;
/// Up to 2^41 ns, 36 minutes; longer ones are counted there.
const OCTAVES: usize = 36;
const BUCKETS: usize = OCTAVES << SUB_LOG2;

/// Times in nanoseconds, counted by size.
#[derive(Debug)]
pub(crate) struct Scale {
    buckets: [Count; BUCKETS],
    sum: Count,
    max: Count,
}

impl Default for Scale {
    fn default() -> Self {
        let buckets = [const { Count(AtomicU64::new(0)) }; BUCKETS];
        Self { buckets, sum: Count::default(), max: Count::default() }
    }
}

impl Scale {
    #[inline]
    pub(crate) fn record(&self, ns: u64) {
        self.buckets[bucket(ns)].add(1);
        self.sum.add(ns);
        if ns > self.max.get() {
            self.max.set(ns);
        }
    }

    fn add_to(&self, times: &mut HoldTimes) {
        for (at, count) in self.buckets.iter().enumerate() {
            times.histogram.record_n(greatest(at).min(self.max.get()), count.get());
        }
        times.sum_ns += self.sum.get();
        times.max_ns = times.max_ns.max(self.max.get());
    }
}

/// Octave 0 holds values below 32 one by one; octave n from 2^(n+4) on, in 32 parts.
#[inline]
fn bucket(ns: u64) -> usize {
    let bits = (u64::BITS - (ns | ((1 << SUB_LOG2) - 1)).leading_zeros()) - SUB_LOG2;
    let shift = bits.saturating_sub(1);
    let sub = (ns >> shift) & ((1 << SUB_LOG2) - 1);
    (((bits as usize) << SUB_LOG2) + sub as usize).min(BUCKETS - 1)
}

fn greatest(bucket: usize) -> u64 {
    let (octave, sub) = (bucket >> SUB_LOG2, (bucket & ((1 << SUB_LOG2) - 1)) as u64);
    match octave {
        0 => sub,
        octave => {
            let shift = octave as u32 - 1;
            (((1 << SUB_LOG2) + sub + 1) << shift) - 1
        }
    }
}

/// What a server has counted since it began. Counts of different kinds are read one after the
/// other, so they may differ by what happened in between.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Connections accepted.
    pub accepted: u64,
    /// Connections open now.
    pub open: u64,
    /// Connections closed at once: too many, or no descriptor left.
    pub connections_refused: u64,
    /// Whole, well-formed requests.
    pub requests: u64,
    /// What was not HTTP, too long or too slow: answered 4xx or 5xx and closed, never shown to the
    /// responder.
    pub requests_bad: u64,
    /// Requests whose client left before the answer.
    pub abandoned: u64,
    /// Requests that are done with: answered, or failed on purpose.
    pub answered: u64,
    /// Requests held now.
    pub held: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Answers by status, for those that have one: (status, count), in order.
    pub statuses: Vec<(u16, u64)>,
    /// How long answers were really held.
    pub hold: HoldTimes,
    /// By how much longer than intended.
    pub overshoot: HoldTimes,
}

/// A distribution of times, in buckets at most 3.1 % wide.
#[derive(Clone, Debug, Default)]
pub struct HoldTimes {
    /// The times, each as the greatest value of its bucket.
    pub histogram: Histogram,
    /// Exact sum, nanoseconds.
    pub sum_ns: u64,
    /// Exact maximum, nanoseconds.
    pub max_ns: u64,
}

impl HoldTimes {
    /// The times since an earlier look at the same server; the maximum is that of their bucket.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut before = earlier.histogram.buckets().peekable();
        let mut histogram = Histogram::new();
        for (least, greatest, count) in self.histogram.buckets() {
            // Several may have become one: the greatest value of a bucket grows with the maximum.
            let mut count = count;
            while let Some((_, _, known)) = before.next_if(|(known, _, _)| *known <= least) {
                count = count.saturating_sub(known);
            }
            histogram.record_n(greatest, count);
        }
        let sum_ns = self.sum_ns.saturating_sub(earlier.sum_ns);
        let max_ns = histogram.quantile(1.0).unwrap_or(0);
        Self { histogram, sum_ns, max_ns }
    }
}

impl Counters {
    pub(crate) fn add_to(&self, figures: &mut Figures) {
        figures.accepted += self.accepted.get();
        figures.open += self.open.get();
        figures.connections_refused += self.connections_refused.get();
        figures.requests += self.requests.get();
        figures.requests_bad += self.requests_bad.get();
        figures.abandoned += self.abandoned.get();
        figures.answered += self.answered.get();
        figures.held += self.held.get();
        figures.bytes_in += self.bytes_in.get();
        figures.bytes_out += self.bytes_out.get();
        for (status, count) in self.statuses.0.iter().enumerate() {
            let (status, count) = (status as u16, count.get());
            if count == 0 {
                continue;
            }
            match figures.statuses.binary_search_by_key(&status, |(known, _)| *known) {
                Ok(at) => figures.statuses[at].1 += count,
                Err(at) => figures.statuses.insert(at, (status, count)),
            }
        }
        self.hold.add_to(&mut figures.hold);
        self.overshoot.add_to(&mut figures.overshoot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket() {
        let mut before = None;
        for at in 0..BUCKETS {
            let least = before.map_or(0, |greatest| greatest + 1);
            let greatest = greatest(at);
            assert_eq!((bucket(least), bucket(greatest)), (at, at), "{least} to {greatest}");
            assert!(greatest - least <= least / 31, "{at} is too wide");
            before = Some(greatest);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn what_was_counted_since_is_counted_once() {
        let threads = [Scale::default(), Scale::default()];
        let look = || {
            let mut times = HoldTimes::default();
            threads.iter().for_each(|scale| scale.add_to(&mut times));
            times
        };
        // Both in one bucket; one thread knows nothing greater.
        threads[0].record(1_000_000);
        threads[1].record(1_000_100);
        threads[1].record(9_000_000);
        let before = look();
        threads[0].record(9_000_000);
        let since = look().since(&before);
        assert_eq!((since.histogram.count(), since.sum_ns), (1, 9_000_000));
        assert_eq!(look().since(&look()).histogram.count(), 0);
    }

    #[test]
    fn sums_and_the_greatest_are_exact() {
        let scale = Scale::default();
        for ns in [700_000_001, 3, 700_000_002] {
            scale.record(ns);
        }
        let mut times = HoldTimes::default();
        scale.add_to(&mut times);
        assert_eq!((times.sum_ns, times.max_ns), (1_400_000_006, 700_000_002));
        assert_eq!(times.histogram.count(), 3);
        assert_eq!(times.histogram.quantile(1.0), Some(700_000_002));
    }
}
