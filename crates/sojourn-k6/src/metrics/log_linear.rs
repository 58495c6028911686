//! A histogram over all of f64: its buckets are the top bits of the number itself.

use serde::{Deserialize, Serialize};

/// Of the 52 bits of a number's fraction, how many tell buckets apart.
const FRACTION_BITS: u32 = 10;
const DROPPED_BITS: u32 = 52 - FRACTION_BITS;
/// Buckets of a page; a quarter of an octave.
const PAGE_BITS: u32 = 8;
const PAGE_LENGTH: usize = 1 << PAGE_BITS;

/// The greatest relative error of a value that is read back: half a bucket's width.
pub const RELATIVE_ERROR_MAX: f64 = 1.0 / (1 << (FRACTION_BITS + 1)) as f64;

/// Counts of values by the sign, the exponent and the first ten bits of the fraction, in pages
/// that are made when a value falls on them.
///
/// A value read back is the middle of its bucket: off by 2^-11 of itself at most, or, for numbers
/// below 2^-1022, by 2^-1033. Zero and the infinities are exact. The whole range has 16,384 pages
/// of 2 KiB; real durations need some forty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Filled", try_from = "Filled")]
pub(crate) struct LogLinear {
    /// Sorted by number.
    pages: Vec<Page>,
    /// Where the last value was found.
    last: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Page {
    number: u32,
    /// Sum of `counts`.
    total: u64,
    counts: Box<[u64; PAGE_LENGTH]>,
}

/// What a histogram holds: buckets that are not empty, and their counts.
#[derive(Serialize, Deserialize)]
struct Filled(Vec<(u32, u64)>);

impl From<LogLinear> for Filled {
    fn from(histogram: LogLinear) -> Self {
        let of_page = |page: &Page| {
            let first = page.number << PAGE_BITS;
            let counts = (first..).zip(page.counts.iter().copied());
            counts.filter(|(_, count)| *count > 0).collect::<Vec<_>>()
        };
        Self(histogram.pages.iter().flat_map(of_page).collect())
    }
}

impl TryFrom<Filled> for LogLinear {
    type Error = String;

    fn try_from(Filled(buckets): Filled) -> Result<Self, String> {
        let mut histogram = Self::default();
        for (bucket, count) in buckets {
            if u64::from(bucket) > u64::MAX >> DROPPED_BITS {
                return Err(format!("there is no bucket {bucket}"));
            }
            let page = histogram.page(bucket >> PAGE_BITS);
            let own = &mut page.counts[bucket as usize & (PAGE_LENGTH - 1)];
            *own = own.saturating_add(count);
            page.total = page.total.saturating_add(count);
        }
        Ok(histogram)
    }
}

impl LogLinear {
    pub(crate) fn add(&mut self, value: f64) {
        let bucket = bucket(value);
        let page = self.page(bucket >> PAGE_BITS);
        page.total += 1;
        page.counts[bucket as usize & (PAGE_LENGTH - 1)] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for theirs in &other.pages {
            let ours = self.page(theirs.number);
            ours.total += theirs.total;
            for (own, more) in ours.counts.iter_mut().zip(theirs.counts.iter()) {
                *own += more;
            }
        }
    }

    /// The value with `rank` values before it; none if there are not so many.
    pub(crate) fn at_rank(&self, rank: u64) -> Option<f64> {
        let mut before = 0;
        for page in &self.pages {
            if before + page.total <= rank {
                before += page.total;
                continue;
            }
            for (at, count) in (0..).zip(page.counts.iter()) {
                before += count;
                if before > rank {
                    return Some(middle((page.number << PAGE_BITS) | at));
                }
            }
        }
        None
    }

    fn page(&mut self, number: u32) -> &mut Page {
        if self.pages.get(self.last).is_none_or(|page| page.number != number) {
            let found = self.pages.binary_search_by_key(&number, |page| page.number);
            self.last = found.unwrap_or_else(|at| {
                let counts = Box::new([0; PAGE_LENGTH]);
                self.pages.insert(at, Page { number, total: 0, counts });
                at
            });
        }
        &mut self.pages[self.last]
    }
}

/// The bucket's number; greater values have greater ones.
fn bucket(value: f64) -> u32 {
    // Adding 0 makes -0 the zero that it is.
    let bits = (value + 0.0).to_bits();
    let ordered = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    (ordered >> DROPPED_BITS) as u32
}

fn middle(bucket: u32) -> f64 {
    let ordered = u64::from(bucket) << DROPPED_BITS;
    let is_positive = ordered >> 63 == 1;
    // The end of the bucket that is nearest to zero.
    let near = if is_positive { ordered & !(1 << 63) } else { !ordered & !(1 << 63) };
    let near = near >> DROPPED_BITS << DROPPED_BITS;
    let size = if near == 0 || near == f64::INFINITY.to_bits() {
        f64::from_bits(near)
    } else {
        f64::from_bits(near | 1 << (DROPPED_BITS - 1))
    };
    if is_positive { size } else { -size }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_back(value: f64) -> f64 {
        let mut histogram = LogLinear::default();
        histogram.add(value);
        histogram.at_rank(0).unwrap()
    }

    #[test]
    fn special_values_are_exact() {
        for value in [0.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(read_back(value), value);
        }
        assert_eq!(read_back(-0.0), 0.0);
        assert_eq!(LogLinear::default().at_rank(0), None);
    }

    proptest! {
        #[test]
        fn a_value_is_read_back_within_the_error(value in proptest::num::f64::NORMAL) {
            let off = (read_back(value) - value).abs();
            prop_assert!(off <= value.abs() * RELATIVE_ERROR_MAX, "{value} {off}");
        }

        #[test]
        fn ranks_are_those_of_sorted_values(
            values in prop::collection::vec(-1e3..1e3, 1..300),
            cut in 0_usize..300,
        ) {
            let cut = cut.min(values.len());
            let (mut one, mut two) = (LogLinear::default(), LogLinear::default());
            values[..cut].iter().for_each(|value| one.add(*value));
            values[cut..].iter().for_each(|value| two.add(*value));
            one.merge(&two);
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            for (rank, value) in sorted.iter().enumerate() {
                let found = one.at_rank(rank as u64).unwrap();
                prop_assert!((found - value).abs() <= value.abs() * RELATIVE_ERROR_MAX);
            }
        }
    }
}
