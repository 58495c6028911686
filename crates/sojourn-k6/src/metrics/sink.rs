//! What a metric's samples add up to.

use serde::{Deserialize, Serialize};

use super::kind::MetricKind;
use super::trend::Trend;

/// The account of one metric or submetric.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Sink {
    /// A sum.
    Counter(Counter),
    /// The last value.
    Gauge(Gauge),
    /// A share.
    Rate(Rate),
    /// A distribution.
    Trend(Trend),
}

/// A sum of values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// Of all values.
    pub sum: f64,
    /// How many values.
    pub count: u64,
}

impl Counter {
    /// The sum per second of a test that has taken so long; 0 for one that took no time.
    pub fn per_second(&self, elapsed_ns: u64) -> f64 {
        if elapsed_ns == 0 { 0.0 } else { self.sum / (elapsed_ns as f64 / 1e9) }
    }
}

/// The last of some values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    /// That of the latest instant.
    pub last: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// When the last was sampled.
    pub last_at_ns: u64,
    /// How many values.
    pub count: u64,
}

/// How many of some values were not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Those that were not zero.
    pub trues: u64,
    /// All of them.
    pub total: u64,
}

impl Rate {
    /// Their share; 0 without values.
    pub fn share(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.trues as f64 / self.total as f64 }
    }
}

impl Sink {
    /// Without samples; `is_exact` makes a trend keep them all.
    pub fn new(kind: MetricKind, is_exact: bool) -> Self {
        match kind {
            MetricKind::Counter => Self::Counter(Counter::default()),
            MetricKind::Gauge => Self::Gauge(Gauge::default()),
            MetricKind::Rate => Self::Rate(Rate::default()),
            MetricKind::Trend => Self::Trend(Trend::new(is_exact)),
        }
    }

    /// One more sample.
    pub fn add(&mut self, at_ns: u64, value: f64) {
        match self {
            Self::Counter(counter) => {
                counter.sum += value;
                counter.count += 1;
            }
            Self::Gauge(gauge) => gauge.merge(Gauge {
                last: value,
                min: value,
                max: value,
                last_at_ns: at_ns,
                count: 1,
            }),
            Self::Rate(rate) => {
                rate.trues += u64::from(value != 0.0);
                rate.total += 1;
            }
            Self::Trend(trend) => trend.add(value),
        }
    }

    /// All samples of `other` as well; one of another kind is passed over, which ids rule out.
    pub fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Counter(own), Self::Counter(other)) => {
                own.sum += other.sum;
                own.count += other.count;
            }
            (Self::Gauge(own), Self::Gauge(other)) => own.merge(other),
            (Self::Rate(own), Self::Rate(other)) => {
                own.trues += other.trues;
                own.total += other.total;
            }
            (Self::Trend(own), Self::Trend(other)) => own.merge(other),
            _ => debug_assert!(false, "sinks of two kinds under one id"),
        }
    }

    /// How its values add up.
    pub(super) fn kind(&self) -> MetricKind {
        match self {
            Self::Counter(_) => MetricKind::Counter,
            Self::Gauge(_) => MetricKind::Gauge,
            Self::Rate(_) => MetricKind::Rate,
            Self::Trend(_) => MetricKind::Trend,
        }
    }

    /// Whether it has no sample.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Counter(counter) => counter.count == 0,
            Self::Gauge(gauge) => gauge.count == 0,
            Self::Rate(rate) => rate.total == 0,
            Self::Trend(trend) => trend.count() == 0,
        }
    }
}

impl Gauge {
    /// Of two values of one instant the later merged is the last.
    fn merge(&mut self, other: Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other;
            return;
        }
        if other.last_at_ns >= self.last_at_ns {
            self.last = other.last;
            self.last_at_ns = other.last_at_ns;
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.count += other.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_is_the_last_by_time_however_merged() {
        let mut early = Sink::new(MetricKind::Gauge, false);
        early.add(5, -1.0);
        early.add(3, 9.0);
        let mut late = Sink::new(MetricKind::Gauge, false);
        late.add(7, 2.0);
        let expected = Gauge { last: 2.0, min: -1.0, max: 9.0, last_at_ns: 7, count: 3 };
        for (mut one, two) in [(early.clone(), late.clone()), (late, early)] {
            one.merge(two);
            one.merge(Sink::new(MetricKind::Gauge, false));
            assert!(matches!(one, Sink::Gauge(gauge) if gauge == expected), "{one:?}");
        }
    }

    #[test]
    fn whatever_is_not_zero_counts_for_a_rate() {
        let mut sink = Sink::new(MetricKind::Rate, false);
        for value in [0.0, 1.0, -3.0, 0.5, -0.0] {
            sink.add(0, value);
        }
        assert!(matches!(sink, Sink::Rate(Rate { trues: 3, total: 5 })));
    }
}
