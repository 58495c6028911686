//! The histogram of one interval, as a generator writes it.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    Totals, codec,
    layout::{PAGE, locate},
    pages::Pages,
};

/// Most buckets of one that was read and is kept as a list: the pages that so many samples are
/// spread over take tens of kilobytes, and a coordinator has those of every generator at once.
const LISTED_MAX: usize = 128;

/// One interval's distribution with 32-bit counts: what a [`crate::Recorder`] writes to.
///
/// Half the memory and cache lines of 64-bit counts. A bucket that is full (2³² − 1 samples in one
/// interval) moves what it holds to a wide list and starts again at one, so no count ever wraps or
/// saturates; the price is one well-predicted branch per sample.
#[derive(Clone, Debug, Default)]
pub struct IntervalHistogram {
    totals: Totals,
    pages: Pages<u32>,
    /// (page, slot, count) of buckets that were full, in the order of their first filling.
    spilled: Vec<(usize, usize, u64)>,
    /// All buckets of one that was read and not written to since, where they are few: ascending,
    /// as in `spilled`. Then there is nothing in `pages` and `spilled`.
    listed: Vec<(usize, usize, u64)>,
}

impl IntervalHistogram {
    /// Records one sample.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.totals.record(value, 1);
        let (page, slot) = locate(value);
        let counts = match self.pages.page_mut(page) {
            Some(counts) => counts,
            None => self.page(page),
        };
        match counts[slot].checked_add(1) {
            Some(count) => counts[slot] = count,
            None => self.spill(page, slot, u64::from(u32::MAX) + 1),
        }
    }

    /// Records `count` samples of one value.
    pub fn record_n(&mut self, value: u64, count: u64) {
        if count > 0 {
            self.totals.record(value, count);
            let (page, slot) = locate(value);
            self.add_to_bucket(page, slot, count);
        }
    }

    /// Adds another's samples.
    pub fn merge(&mut self, other: &Self) {
        // Where all samples together fit one bucket, none can be full: nothing to look out for.
        let fits = self.totals.count.saturating_add(other.totals.count) <= u64::from(u32::MAX);
        self.totals.merge(&other.totals);
        for (page, counts) in other.used_pages() {
            let own = match self.pages.page_mut(page) {
                Some(own) => own,
                None => self.page(page),
            };
            if fits {
                own.iter_mut().zip(counts).for_each(|(own, count)| *own += count);
                continue;
            }
            for (slot, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                self.add_to_bucket(page, slot, u64::from(count));
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

    /// Empties it, keeping its pages.
    pub fn clear(&mut self) {
        if !self.listed.is_empty() {
            self.listed.clear();
            self.totals = Totals::default();
        } else if self.totals.count > 0 {
            let (first, last) = (locate(self.totals.min).0, locate(self.totals.max).0);
            self.pages.clear(first, last);
            self.spilled.clear();
            self.totals = Totals::default();
        }
    }

    /// The encoding of [`super::Histogram::encode`], which reads it back.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let buckets: Vec<_> = self.filled().collect();
        codec::encode(&self.totals, buckets.iter().copied(), out);
    }

    /// Reads what [`Self::encode`] wrote, all of it; `None` for anything else.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut histogram = Self::default();
        let mut rest = bytes;
        let mut is_list = true;
        histogram.totals = codec::decode(&mut rest, |page, slot, count| {
            is_list = is_list && histogram.listed.len() < LISTED_MAX;
            match is_list {
                true => histogram.listed.push((page, slot, count)),
                false => histogram.add_to_bucket(page, slot, count),
            }
        })?;
        rest.is_empty().then_some(histogram)
    }

    /// Pages that hold samples.
    pub(super) fn used_pages(&self) -> impl Iterator<Item = (usize, &[u32; PAGE])> {
        let (first, last) = (locate(self.totals.min).0, locate(self.totals.max).0);
        self.pages
            .iter()
            .filter(move |(number, _)| self.totals.count > 0 && (first..=last).contains(number))
    }

    /// What the buckets of [`Self::used_pages`] do not hold: (page, slot, count).
    pub(super) fn beside_pages(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        self.listed.iter().chain(&self.spilled).copied()
    }

    /// Non-empty buckets by number, ascending, with what was spilled from them.
    fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let listed = self.listed.iter().map(|&(page, slot, count)| (page * PAGE + slot, count));
        let in_pages = self.pages.filled().map(|(page, slot, count)| {
            let spilled = self
                .spilled
                .iter()
                .find(|&&(p, s, _)| (p, s) == (page, slot))
                .map_or(0, |&(_, _, count)| count);
            (page * PAGE + slot, u64::from(count) + spilled)
        });
        listed.chain(in_pages)
    }

    /// A page to be written to.
    #[cold]
    fn page(&mut self, page: usize) -> &mut [u32; PAGE] {
        for (page, slot, count) in std::mem::take(&mut self.listed) {
            self.add_to_bucket(page, slot, count);
        }
        self.pages.make(page)
    }

    fn add_to_bucket(&mut self, page: usize, slot: usize, count: u64) {
        let counts = match self.pages.page_mut(page) {
            Some(counts) => counts,
            None => self.page(page),
        };
        let sum = u64::from(counts[slot]).saturating_add(count);
        match u32::try_from(sum) {
            Ok(sum) => counts[slot] = sum,
            Err(_) => self.spill(page, slot, sum),
        }
    }

    /// A bucket would hold `sum`, more than it can.
    #[cold]
    fn spill(&mut self, page: usize, slot: usize, sum: u64) {
        // One stays: the bucket is never empty, so `filled` finds it.
        let rest = sum - 1;
        let known = self.spilled.iter_mut().find(|&&mut (p, s, _)| (p, s) == (page, slot));
        match known {
            Some((_, _, count)) => *count = count.saturating_add(rest),
            None => self.spilled.push((page, slot, rest)),
        }
        self.pages.make(page)[slot] = 1;
    }

    /// Puts a bucket at the brink of spilling, which no test could reach by recording.
    #[cfg(test)]
    pub(super) fn record_full(&mut self, value: u64) {
        let count = u64::from(u32::MAX);
        self.totals.record(value, count);
        let (page, slot) = locate(value);
        self.pages.make(page)[slot] = u32::MAX;
    }
}

/// As the bytes of its encoding: small, and nothing is lost.
impl Serialize for IntervalHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for IntervalHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(Encoding)
    }
}

/// Reads the bytes of an encoding; formats without bytes have them as a list of numbers.
struct Encoding;

impl<'de> Visitor<'de> for Encoding {
    type Value = IntervalHistogram;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the bytes of a histogram")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        IntervalHistogram::decode(bytes).ok_or_else(|| E::custom("these bytes are no histogram"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

/// Two histograms are equal when their samples are; pages that are merely allocated do not count.
impl PartialEq for IntervalHistogram {
    fn eq(&self, other: &Self) -> bool {
        self.totals == other.totals && self.filled().eq(other.filled())
    }
}
