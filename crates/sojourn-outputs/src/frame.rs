//! A second of a run, as every output gets it.

use std::sync::Arc;

use sojourn_record::JourneyRecord;

use crate::{account::Counts, names::Exported};

/// The quantiles of a second's samples, as the fields of [`Slice::quantiles`].
pub(crate) const QUANTILES: [(f64, &str); 5] =
    [(0.5, "p50"), (0.75, "p75"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99")];

/// Most samples that stand for all of a second's in [`Slice::even`].
pub(crate) const EVEN_MAX: u64 = 50;

/// A second of the run.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Its number, from 0.
    pub(crate) number: u64,
    /// Whether it is the run's last.
    pub(crate) is_last: bool,
    /// Its end, nanoseconds since the Unix epoch.
    pub(crate) unix_ns: u64,
    /// The run's start, likewise.
    pub(crate) start_unix_ns: u64,
    /// Every series of the run, those of one metric together.
    pub(crate) points: Vec<Point>,
    /// Journeys kept since the last frame.
    pub(crate) journeys: Arc<[JourneyRecord]>,
}

impl Frame {
    /// What it is to an output that carries journeys, or none.
    pub(crate) fn counts(&self, carries_journeys: bool) -> Counts {
        let journeys = if carries_journeys { self.journeys.len() as u64 } else { 0 };
        Counts { frames: 1, points: self.changed().count() as u64, journeys }
    }

    /// The series that were written to in this second.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| point.is_changed)
    }
}

/// A series in a second.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) series: Arc<Series>,
    /// Whether it was written to in this second.
    pub(crate) is_changed: bool,
    pub(crate) value: Value,
}

/// What a point is of.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) exported: Exported,
    /// Tags and phase, names fit for labels.
    pub(crate) labels: Vec<(String, String)>,
}

impl Series {
    /// A value in the exported unit.
    pub(crate) fn scaled(&self, value: f64) -> f64 {
        value / self.exported.per_unit
    }
}

/// A point's value, in the series' own unit.
#[derive(Debug)]
pub(crate) enum Value {
    /// A count: in this second, and since the run's start.
    Count { added: u64, total: u64 },
    /// The latest level.
    Level(f64),
    /// A distribution: of this second, if there was any sample, and since the run's start.
    Spread { second: Option<Box<Slice>>, total: Arc<Sum> },
}

/// A distribution since the run's start.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) count: u64,
    pub(crate) sum: f64,
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// Samples in each bucket of [`crate::bounds`], and beyond the last; not cumulative.
    pub(crate) buckets: Vec<u64>,
}

/// The distribution of a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Slice {
    pub(crate) count: u64,
    pub(crate) sum: f64,
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// Nearest rank, as [`QUANTILES`].
    pub(crate) quantiles: [u64; QUANTILES.len()],
    /// The samples at up to [`EVEN_MAX`] ranks in equal distance: each stands for as many.
    pub(crate) even: Vec<u64>,
}
