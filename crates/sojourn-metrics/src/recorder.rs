//! What one thread writes to.

use crate::{Kind, SeriesId, SeriesKey, Snapshot};

/// Series of one thread. Interning a series allocates; writing to one does not.
#[derive(Debug)]
pub struct Recorder {
    _source: u32,
}

impl Recorder {
    /// A recorder of the source with this number.
    pub fn new(source: u32) -> Self {
        Self { _source: source }
    }

    /// The series of this name, made if new. Beyond 2,000 series the name's metric folds into one
    /// whose tags are all `other`, and [`Self::folded`] counts it.
    pub fn series(&mut self, _kind: Kind, _key: SeriesKey) -> SeriesId {
        SeriesId(0)
    }

    /// How many names were folded into `other`.
    pub fn folded(&self) -> u64 {
        0
    }

    /// Adds to a counter.
    #[inline]
    pub fn add(&mut self, _series: SeriesId, _n: u64) {}

    /// Sets a gauge.
    #[inline]
    pub fn set(&mut self, _series: SeriesId, _value: f64) {}

    /// Counts a yes or a no.
    #[inline]
    pub fn rate(&mut self, _series: SeriesId, _yes: bool) {}

    /// Records a sample of a trend (nanoseconds, or whatever unit the metric's definition says).
    #[inline]
    pub fn record(&mut self, _series: SeriesId, _value: u64) {}

    /// Hands over what was written since the last call and starts the next interval. `spare` is a
    /// snapshot already merged elsewhere, whose pages are used again; a first call passes `None`.
    pub fn take(&mut self, _now_ns: u64, _spare: Option<Snapshot>) -> Snapshot {
        Snapshot::default()
    }
}
