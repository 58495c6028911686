//! Figures over time, thinned to a bounded number of points.

use schemars::JsonSchema;
use serde::Serialize;

/// Most points of a timeline.
pub const POINTS_MAX: usize = 600;

/// Several series over the same points.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Timeline {
    /// Start of each point's interval, relative to the run's start.
    pub starts_ns: Vec<u64>,
    /// End of the last one.
    pub end_ns: u64,
    /// Seconds of the run that one point stands for.
    pub seconds_per_point: u64,
    /// The series.
    pub series: Vec<TimeSeries>,
}

/// One figure over time.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TimeSeries {
    /// Metric as in docs/definitions.md: `stage.hop`, `stage.in_flight`, `journeys.started` ….
    pub metric: String,
    /// Stage or step; empty for the journey itself.
    pub of: String,
    /// Which figure of the metric.
    pub statistic: Statistic,
    /// One value per point; `None` where there was none.
    pub values: Vec<Option<f64>>,
}

/// Which figure of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Median of the second's samples; a thinned point keeps the highest.
    P50,
    /// 95th percentile; likewise.
    P95,
    /// 99th percentile; likewise.
    P99,
    /// Highest level; likewise.
    Max,
    /// Per second; a thinned point keeps the mean.
    PerSecond,
}

impl Statistic {
    /// As it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::Max => "max",
            Self::PerSecond => "per second",
        }
    }
}

impl Timeline {
    /// A series by name.
    pub fn find(&self, metric: &str, of: &str, statistic: Statistic) -> Option<&TimeSeries> {
        self.series.iter().find(|series| {
            series.metric == metric && series.of == of && series.statistic == statistic
        })
    }

    /// Joins neighbouring points until at most `points_max` are left. Peaks survive: a joined point
    /// keeps the highest of its values, a rate the mean.
    pub fn thin(mut self, points_max: usize) -> Self {
        let group = self.starts_ns.len().div_ceil(points_max.max(1));
        if group <= 1 {
            return self;
        }
        self.starts_ns = self.starts_ns.iter().step_by(group).copied().collect();
        self.seconds_per_point *= group as u64;
        for series in &mut self.series {
            let join = match series.statistic {
                Statistic::PerSecond => mean,
                _ => highest,
            };
            series.values = series.values.chunks(group).map(join).collect();
        }
        self
    }
}

fn highest(values: &[Option<f64>]) -> Option<f64> {
    values.iter().flatten().copied().reduce(f64::max)
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let known = values.iter().flatten().count();
    (known > 0).then(|| values.iter().flatten().sum::<f64>() / known as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(points: usize, statistic: Statistic) -> Timeline {
        Timeline {
            starts_ns: (0..points as u64).map(|second| second * 1_000_000_000).collect(),
            end_ns: points as u64 * 1_000_000_000,
            seconds_per_point: 1,
            series: vec![TimeSeries {
                metric: "stage.hop".into(),
                of: "created".into(),
                statistic,
                values: (0..points).map(|point| (point % 7 != 3).then_some(point as f64)).collect(),
            }],
        }
    }

    #[test]
    fn an_hour_becomes_six_hundred_points_and_keeps_its_peak() {
        let mut hour = timeline(3_600, Statistic::P99);
        hour.series[0].values[1_234] = Some(1e9);
        let thin = hour.thin(POINTS_MAX);
        assert_eq!(thin.starts_ns.len(), 600);
        assert_eq!(thin.series[0].values.len(), 600);
        assert_eq!(thin.seconds_per_point, 6);
        assert_eq!(highest(&thin.series[0].values), Some(1e9));
    }

    #[test]
    fn a_rate_keeps_its_mean_and_gaps_are_not_zeros() {
        let thin = timeline(4, Statistic::PerSecond).thin(1);
        assert_eq!(thin.series[0].values, [Some(1.0)]);
    }

    #[test]
    fn short_timelines_stay_as_they_are() {
        let short = timeline(10, Statistic::Max);
        assert_eq!(short.clone().thin(600), short);
    }
}
