//! Merged series: the only place where percentiles exist.

use crate::{Histogram, Kind, SeriesKey, Snapshot};

/// All series of a run, merged over sources and time.
#[derive(Clone, Debug, Default)]
pub struct Store {}

impl Store {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a snapshot. Errs when its number is not the next one of its source: a snapshot was lost,
    /// the run is void.
    pub fn apply(&mut self, _snapshot: &Snapshot) -> Result<(), String> {
        Ok(())
    }

    /// Adds another store's series (another generator's, another run's).
    pub fn merge(&mut self, _other: &Self) {}

    /// A counter's sum; 0 when there is no such series.
    pub fn counter(&self, _key: &SeriesKey) -> u64 {
        0
    }

    /// A gauge's (last, min, max), values of several sources added.
    pub fn gauge(&self, _key: &SeriesKey) -> Option<(f64, f64, f64)> {
        None
    }

    /// A rate's (yes, no).
    pub fn rate(&self, _key: &SeriesKey) -> (u64, u64) {
        (0, 0)
    }

    /// A trend's distribution.
    pub fn trend(&self, _key: &SeriesKey) -> Option<&Histogram> {
        None
    }

    /// Every series, ordered by key.
    pub fn series(&self) -> impl Iterator<Item = (&SeriesKey, Kind)> {
        std::iter::empty()
    }
}
