//! What a caller is told each second.

use sojourn_metrics::Store;

/// Where the run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// Taps opening, setup steps.
    Preparing,
    /// Real load, counted apart.
    WarmUp,
    /// What is reported.
    Steady,
    /// No new arrivals; waiting for what is in flight.
    Drain,
}

/// A second of the run, in figures.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Where the run stands.
    pub stretch: Stretch,
    /// Since the run's start, nanoseconds.
    pub elapsed_ns: u64,
    /// Planned length without drain, nanoseconds.
    pub planned_ns: u64,
    /// Journeys started so far.
    pub started: u64,
    /// Journeys completed so far, late ones included.
    pub completed: u64,
    /// Journeys in flight now.
    pub in_flight: u64,
    /// Journeys lost, failed or with a failed root so far.
    pub failed: u64,
    /// Started within the last second.
    pub rate_per_s: f64,
    /// Generator lag at p99 so far, nanoseconds.
    pub lag_p99_ns: u64,
    /// Every figure so far.
    pub store: &'a Store,
}
