//! HDR-compatible histograms: three significant digits, stated error at most 0.1 %.
//!
//! Layout: values below 2,048 are counted one by one; above, each octave has 1,024 buckets. Counts
//! live in pages of 1,024 allocated on first use, so a series costs what its spread needs.

mod codec;
mod interval;
mod layout;
mod pages;
mod totals;

pub use interval::IntervalHistogram;
pub use totals::Totals;

use layout::{bounds, locate};
use pages::Pages;

/// A merged distribution with 64-bit counts.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    totals: Totals,
    pages: Pages<u64>,
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records one sample.
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Records `count` samples of one value.
    pub fn record_n(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.totals.record(value, count);
        let (page, slot) = locate(value);
        self.add_to_bucket(page, slot, count);
    }

    /// Adds another's samples.
    pub fn merge(&mut self, other: &Self) {
        self.totals.merge(&other.totals);
        for (page, counts) in other.pages.iter() {
            let own = match self.pages.page_mut(page) {
                Some(own) => own,
                None => self.pages.make(page),
            };
            for (own, &count) in own.iter_mut().zip(counts) {
                *own = own.saturating_add(count);
            }
        }
    }

    /// Adds an interval's samples.
    pub fn merge_interval(&mut self, other: &IntervalHistogram) {
        self.totals.merge(other.totals());
        for (page, counts) in other.used_pages() {
            let own = match self.pages.page_mut(page) {
                Some(own) => own,
                None => self.pages.make(page),
            };
            for (own, &count) in own.iter_mut().zip(counts) {
                *own = own.saturating_add(u64::from(count));
            }
        }
        for (page, slot, count) in other.beside_pages() {
            self.add_to_bucket(page, slot, count);
        }
    }

    /// The exact figures.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.totals.count
    }

    /// Arithmetic mean; `None` without samples.
    pub fn mean(&self) -> Option<f64> {
        self.totals.mean()
    }

    /// Population standard deviation; `None` without samples.
    pub fn stddev(&self) -> Option<f64> {
        self.totals.stddev()
    }

    /// Nearest-rank quantile: the value of sample ⌈q·N⌉ (q in 0..=1), as the greatest value of its
    /// bucket but never above the exact maximum nor below the exact minimum. `None` without
    /// samples.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        self.value_at_rank(nearest_rank(q, self.totals.count))
    }

    /// The value of the sample of this rank, 1-based; as [`Self::quantile`] says.
    pub fn value_at_rank(&self, rank: u64) -> Option<u64> {
        let rank = rank.clamp(1, self.totals.count.max(1));
        let greatest = self.pages.value_at_rank(rank)?;
        Some(greatest.clamp(self.totals.min, self.totals.max))
    }

    /// Non-empty buckets in ascending order: (least value, greatest value, count).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.pages.filled().map(|(page, slot, count)| {
            let (least, greatest) = bounds(page, slot);
            (least, greatest, count)
        })
    }

    /// How many samples are at most this value, with all those of the bucket that holds it: they
    /// are at most 0.1 % above.
    pub fn count_at_most(&self, value: u64) -> u64 {
        let within = self.buckets().take_while(|(least, ..)| *least <= value);
        within.map(|(.., count)| count).sum()
    }

    /// Empties it, keeping its pages.
    pub fn clear(&mut self) {
        if self.totals.count > 0 {
            let (first, last) = (locate(self.totals.min).0, locate(self.totals.max).0);
            self.pages.clear(first, last);
            self.totals = Totals::default();
        }
    }

    /// Sparse encoding, appended to `out`: totals, then (gap, count) pairs as varints.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let numbers = self.pages.filled();
        let buckets: Vec<_> =
            numbers.map(|(page, slot, count)| (page * layout::PAGE + slot, count)).collect();
        codec::encode(&self.totals, buckets.iter().copied(), out);
    }

    /// Reads one encoding from the front of `bytes`; returns it and the rest.
    pub fn decode(mut bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut histogram = Self::new();
        histogram.merge_encoded(&mut bytes)?;
        Some((histogram, bytes))
    }

    /// Takes one encoding from the front of `bytes` and adds its samples, without the pages that a
    /// histogram of its own would need. `None`, and nothing is added, when it is none.
    pub fn merge_encoded(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let mut checked = *bytes;
        let totals = codec::decode(&mut checked, |_, _, _| ())?;
        codec::decode(bytes, |page, slot, count| self.add_to_bucket(page, slot, count))?;
        self.totals.merge(&totals);
        Some(())
    }

    fn add_to_bucket(&mut self, page: usize, slot: usize, count: u64) {
        let counts = match self.pages.page_mut(page) {
            Some(counts) => counts,
            None => self.pages.make(page),
        };
        counts[slot] = counts[slot].saturating_add(count);
    }
}

/// Two histograms are equal when their samples are; pages that are merely allocated do not count.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.totals == other.totals && self.pages.filled().eq(other.pages.filled())
    }
}

/// The rank ⌈q·N⌉ of a quantile among `count` samples, from 1 to `count` (0 when there is none).
///
/// q·N is meant in decimals: 0.07·100 is 7 and not the 7.000000000000001 of binary floating point,
/// which would be rounded up to the eighth sample. A product within a few units in the last place
/// of a whole number is that number.
pub fn nearest_rank(q: f64, count: u64) -> u64 {
    let product = q * count as f64;
    let whole = product.round();
    let rank = if (product - whole).abs() <= whole * 1e-15 { whole } else { product.ceil() };
    // The cast turns NaN and negative numbers into zero and saturates above.
    (rank as u64).clamp(count.min(1), count)
}

#[cfg(test)]
mod tests;
