//! Numbers of a run: histograms, series, snapshots, merging, thresholds.
//!
//! A [`Recorder`] belongs to one thread and is written without locks or allocation; once a second
//! it yields a [`Snapshot`]. Snapshots add up in a [`Store`] without loss. Percentiles exist only
//! there, after merging: nearest rank on merged histograms, never averaged. What the series are
//! called stands in [`names`].
//!
//! No I/O, no clock: instants are handed in.

mod apdex;
mod distribution;
mod figure;
mod histogram;
pub mod names;
pub mod own_limits;
mod recorder;
mod series;
mod snapshot;
mod store;
mod tally;
mod threshold;
pub mod varint;

pub use apdex::apdex;
pub use distribution::Distribution;
pub use figure::{Figure, Levels};
pub use histogram::{Histogram, IntervalHistogram, Totals, nearest_rank};
pub use recorder::{MOST_SERIES, Recorder};
pub use series::{JointId, Kind, SeriesId, SeriesKey, SeriesPhase};
pub use snapshot::{Snapshot, Value};
pub use store::Store;
pub use threshold::{
    Comparison, Statistic, Threshold, ThresholdContext, ThresholdError, ThresholdOutcome,
};
