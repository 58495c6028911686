//! A source's numbers of one interval.

use crate::{IntervalHistogram, Kind, SeriesId, SeriesKey};

/// One interval of one source. Snapshots add without loss, in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The recorder's number.
    pub source: u32,
    /// Number of this snapshot of its source, from 0, without gaps.
    pub sequence: u64,
    /// Interval's start, CLOCK_MONOTONIC nanoseconds.
    pub start_ns: u64,
    /// Interval's end.
    pub end_ns: u64,
    /// Series first seen in this snapshot.
    pub new_series: Vec<(SeriesId, Kind, SeriesKey)>,
    /// Series written to in the interval.
    pub values: Vec<(SeriesId, Value)>,
}

impl Snapshot {
    /// Empties its histograms, keeping their pages: call it once the snapshot is merged, on the
    /// merging side, so that [`crate::Recorder::take`] finds the pages ready and the recording
    /// thread does not pay for it.
    pub fn recycle(&mut self) {
        for (_, value) in &mut self.values {
            if let Value::Trend(histogram) = value {
                histogram.clear();
            }
        }
    }
}

impl Value {
    /// The kind of series it can be written to.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Counter(_) => Kind::Counter,
            Self::Gauge { .. } => Kind::Gauge,
            Self::Rate { .. } => Kind::Rate,
            Self::Trend(_) => Kind::Trend,
        }
    }
}

/// What was written to a series in an interval.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Added.
    Counter(u64),
    /// Last, least and greatest value set.
    Gauge {
        /// Last value set.
        last: f64,
        /// Least.
        min: f64,
        /// Greatest.
        max: f64,
    },
    /// Counts of yes and no.
    Rate {
        /// How many yes.
        yes: u64,
        /// How many no.
        no: u64,
    },
    /// Samples.
    Trend(IntervalHistogram),
}
