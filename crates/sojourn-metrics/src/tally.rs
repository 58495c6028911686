//! A trend as a recorder writes it: a sample equal to the one before is only counted.
//!
//! Many figures stay the same for long: nothing waited, nothing was late, all answers have as many
//! bytes. Of the eleven samples that an answer in a closed loop is, six are such. Counting those
//! takes the eleven from 69 to 49 ns, measured in a loop of their own.

use crate::IntervalHistogram;

/// Samples of one interval.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    last: u64,
    /// Samples of `last` that the histogram does not have yet.
    repeats: u64,
    /// Boxed: the counters beside it stay close together.
    histogram: Box<IntervalHistogram>,
}

impl Tally {
    /// Records one sample.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        if value == self.last {
            self.repeats += 1;
        } else {
            self.settle();
            self.last = value;
            self.histogram.record(value);
        }
    }

    /// Adds another's samples.
    pub(crate) fn merge(&mut self, other: &IntervalHistogram) {
        self.histogram.merge(other);
    }

    /// All samples, to be read or taken.
    pub(crate) fn settled(&mut self) -> &mut IntervalHistogram {
        self.settle();
        &mut self.histogram
    }

    #[inline]
    fn settle(&mut self) {
        if self.repeats > 0 {
            self.histogram.record_n(self.last, std::mem::take(&mut self.repeats));
        }
    }
}
