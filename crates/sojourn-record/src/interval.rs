//! One second of a run, as figures.

use sojourn_metrics::{Figure, Histogram, SeriesKey, Store};

/// One second of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Start, nanoseconds since the run's start.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Rows of the series active in it.
    pub rows: Vec<(SeriesKey, IntervalRow)>,
}

/// A series' figures within one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntervalRow {
    /// Added in the interval.
    Counter(u64),
    /// Last, least, greatest.
    Gauge([f64; 3]),
    /// Yes and no.
    Rate(u64, u64),
    /// Of the interval's merged histogram.
    Trend {
        /// Samples.
        count: u64,
        /// Least, nanoseconds.
        min: u64,
        /// Median.
        p50: u64,
        /// 95th percentile.
        p95: u64,
        /// 99th percentile.
        p99: u64,
        /// Greatest.
        max: u64,
        /// Sum.
        sum: u128,
    },
}

impl Interval {
    /// The interval whose samples are `delta`: percentiles of the merged histograms.
    pub(crate) fn of(start_ns: u64, end_ns: u64, delta: &Store) -> Self {
        let row =
            |(key, figure): (&SeriesKey, &Figure)| Some((key.clone(), IntervalRow::of(figure)?));
        Self { start_ns, end_ns, rows: delta.figures().filter_map(row).collect() }
    }
}

impl IntervalRow {
    /// The row of one interval's figure; `None` when nothing was written to it.
    pub(crate) fn of(figure: &Figure) -> Option<Self> {
        if figure.is_empty() {
            return None;
        }
        match figure {
            Figure::Counter(n) => Some(Self::Counter(*n)),
            Figure::Gauge(levels) => {
                let (last, min, max) = levels.total()?;
                Some(Self::Gauge([last, min, max]))
            }
            Figure::Rate { yes, no } => Some(Self::Rate(*yes, *no)),
            Figure::Trend(histogram) => Self::of_trend(histogram),
        }
    }

    fn of_trend(histogram: &Histogram) -> Option<Self> {
        let totals = histogram.totals();
        Some(Self::Trend {
            count: totals.count,
            min: totals.min,
            p50: histogram.quantile(0.5)?,
            p95: histogram.quantile(0.95)?,
            p99: histogram.quantile(0.99)?,
            max: totals.max,
            sum: totals.sum,
        })
    }
}
