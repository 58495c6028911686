//! Limits that the system is said to keep, to be verified.

/// What a run verifies: how many journeys are between two stages at once, or how fast they reach
/// one.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Name, in reports and thresholds.
    pub name: String,
    /// The limit.
    pub kind: LimitKind,
    /// In words, for reports.
    pub declared: String,
}

/// A limit's figures. Stages are given as (journey, stage), both by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// So many journeys between two stages.
    AtOnce {
        /// First and last stage of each journey that counts.
        between: Vec<((usize, usize), usize)>,
        /// Most at once.
        most: u64,
        /// How much later than an entry a departure that came before it may be seen, nanoseconds:
        /// the time from the system to our stamp varies.
        tolerance_ns: u64,
    },
    /// So many journeys per time at a stage, by the generic cell rate algorithm.
    Rate {
        /// The stage of each journey that counts.
        at: Vec<(usize, usize)>,
        /// Most in a period.
        most: u64,
        /// The period, nanoseconds.
        per_ns: u64,
        /// How many may come at once; at least 1.
        burst: u64,
        /// How much earlier one may be seen than the rule allows, nanoseconds: the time from the
        /// system's decision to our stamp varies.
        tolerance_ns: u64,
    },
}
