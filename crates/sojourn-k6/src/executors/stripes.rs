//! How work is dealt out to the segments of a load: without talking to each other, and so that
//! all of it is done once.
//!
//! Work is numbered 0, 1, 2 …: users, iterations, arrivals. With the segments' lengths as whole
//! numbers n₁, n₂ … of a common denominator L, every L numbers are dealt out alike. The longest
//! segment picks first (of equal ones, the earlier). It would have the numbers ⌈i·L/n⌉ for
//! i = 0 … n − 1, evenly spread; where one is taken, it takes the next that is not.

use crate::options::{Fraction, Segment, SegmentSequence};

/// Largest common denominator, which bounds the tables.
const DENOMINATOR_MAX: u64 = 1_000_000;

/// Which numbers are a segment's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripes {
    /// L.
    period: u64,
    /// Its numbers of the first L, ascending.
    own: Vec<u64>,
}

impl Default for Stripes {
    /// Everything.
    fn default() -> Self {
        Self { period: 1, own: vec![0] }
    }
}

impl Stripes {
    /// How many of the numbers below `count` are its own.
    pub fn scale(&self, count: u64) -> u64 {
        let Some(rounds) = count.checked_div(self.period) else { return 0 };
        let within = self.own.partition_point(|number| *number < count % self.period);
        rounds.saturating_mul(self.own.len() as u64).saturating_add(within as u64)
    }

    /// Its `k`-th number, from 0; `None` when it has none, or none so large.
    pub fn number(&self, k: u64) -> Option<u64> {
        let rounds = k.checked_div(self.own.len() as u64)?;
        let place = usize::try_from(k % self.own.len() as u64).ok()?;
        rounds.checked_mul(self.period)?.checked_add(*self.own.get(place)?)
    }

    /// How much of the whole it is.
    pub fn share(&self) -> f64 {
        self.own.len() as f64 / self.period.max(1) as f64
    }

    /// What each of several segments gets, given their lengths.
    fn deal(lengths: &[u64]) -> Vec<Self> {
        let period: u64 = lengths.iter().sum();
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(lengths[*at]));
        let mut left: Vec<u64> = (0..period).collect();
        let mut dealt = vec![Self { period, own: Vec::new() }; lengths.len()];
        for at in order {
            let length = lengths[at];
            let mut wishes = (0..length).map(|i| (i * period).div_ceil(length)).peekable();
            left.retain(|number| {
                let is_own = wishes.next_if(|wish| wish <= number).is_some();
                if is_own {
                    dealt[at].own.push(*number);
                }
                !is_own
            });
            // Every wish has a number that is not below it, in all that was tried; were it not so,
            // the last ones would do.
            let rest = left.len().saturating_sub(wishes.count());
            dealt[at].own.extend(left.drain(rest..));
        }
        dealt
    }
}

/// All segments of a load, and which one this process makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    all: Vec<Stripes>,
    own: usize,
}

impl Segments {
    /// A segment of a sequence; without a sequence, of what is before it, itself and what is after
    /// it. `None` when the segment is not in the sequence, or the denominators are too large.
    pub(crate) fn new(segment: Segment, sequence: Option<&SegmentSequence>) -> Option<Self> {
        let mut points = vec![Fraction::ZERO];
        match sequence {
            Some(sequence) => {
                let own = sequence.0.contains(&segment);
                points.extend(sequence.0.iter().flat_map(|part| [part.from, part.to]));
                own.then_some(())?;
            }
            None => points.extend([segment.from, segment.to]),
        }
        points.push(Fraction::ONE);
        points.dedup();
        let common = points.iter().try_fold(1_u64, |common, point| {
            let divisor = crate::options::greatest_common_divisor(common, point.denominator);
            let common = (common / divisor).checked_mul(point.denominator)?;
            (common <= DENOMINATOR_MAX).then_some(common)
        })?;
        let place = |point: &Fraction| point.numerator * (common / point.denominator);
        let lengths: Vec<_> =
            points.windows(2).map(|pair| place(&pair[1]) - place(&pair[0])).collect();
        let own = points.iter().position(|point| *point == segment.from)?;
        (own < lengths.len()).then(|| Self { all: Stripes::deal(&lengths), own })
    }

    pub(crate) fn own(&self) -> &Stripes {
        &self.all[self.own]
    }

    /// Stripes of work that is done by `users`, of whom every segment has its own: in proportion to
    /// how many each has. Whoever has none does nothing.
    pub(crate) fn by_users(&self, users: u64) -> Stripes {
        let lengths: Vec<_> = self.all.iter().map(|stripes| stripes.scale(users)).collect();
        Stripes::deal(&lengths).swap_remove(self.own)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ten_numbers_are_dealt_as_k6_deals_them() {
        let dealt = Stripes::deal(&[1, 3, 6]);
        let own: Vec<_> = dealt.iter().map(|stripes| stripes.own.clone()).collect();
        assert_eq!(own, [vec![3], vec![1, 6, 8], vec![0, 2, 4, 5, 7, 9]]);
    }

    proptest! {
        #[test]
        fn every_number_has_one_owner(
            lengths in prop::collection::vec(0_u64..20, 1..6),
            number in 0_u64..10_000,
        ) {
            prop_assume!(lengths.iter().sum::<u64>() > 0);
            let dealt = Stripes::deal(&lengths);
            let owners: u64 = dealt.iter().map(|s| s.scale(number + 1) - s.scale(number)).sum();
            prop_assert_eq!(owners, 1);
            for stripes in &dealt {
                if let Some(found) = stripes.number(number) {
                    prop_assert_eq!(stripes.scale(found), number);
                    prop_assert_eq!(stripes.scale(found + 1), number + 1);
                } else {
                    prop_assert!(stripes.own.is_empty());
                }
            }
        }
    }
}
