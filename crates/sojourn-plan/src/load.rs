//! How much, when.

use sojourn_pace::{Arrivals, Profile};

/// One stream of arrivals or one group of users.
#[derive(Clone, Debug)]
pub struct Load {
    /// Which journeys: (index, weight), weights above zero. Arrival k's is drawn by (seed, k).
    pub journeys: Vec<(usize, f64)>,
    /// Open or closed.
    pub model: Model,
    /// Counted apart, nanoseconds.
    pub warmup_ns: u64,
    /// Reported, nanoseconds.
    pub steady_ns: u64,
    /// Longest wait for what is in flight afterwards, nanoseconds.
    pub drain_ns: u64,
    /// As declared, in one line, for reports.
    pub declared: String,
}

/// Who decides when the next journey starts.
#[derive(Clone, Debug)]
pub enum Model {
    /// The schedule: arrivals come whatever the system does.
    Open {
        /// Intensity over warm-up and steady together.
        profile: Profile,
        /// Placement.
        arrivals: Arrivals,
        /// Most arrivals.
        limit: Option<u64>,
    },
    /// The users: each starts its next journey after its last one's end and a think time.
    Closed {
        /// How many users, over time.
        stages: Vec<UserStage>,
        /// Pause between a user's journeys.
        think: Think,
        /// What a user waits for.
        until: Until,
        /// Most journeys of all users together.
        iterations: Option<u64>,
    },
}

/// A stretch of a closed load: users go in a straight line from the previous number to this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserStage {
    /// Users at the stretch's end.
    pub to: u32,
    /// Length, nanoseconds; zero: at once.
    pub over_ns: u64,
}

/// A user's pause, drawn by (seed, journey number).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Think {
    /// None.
    None,
    /// Always so long, nanoseconds.
    Fixed(u64),
    /// Uniform between the two, nanoseconds.
    Uniform(u64, u64),
    /// Exponential with this mean, nanoseconds.
    Exponential(u64),
}

/// What a user of a closed load waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// The journey's end (or its deadline).
    #[default]
    Journey,
    /// The root's completion.
    Root,
}
