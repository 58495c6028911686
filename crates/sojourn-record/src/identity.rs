//! Which run this is.

use serde::{Deserialize, Serialize};

/// A run's identity, written first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The plan's name.
    pub name: String,
    /// Suite, where given.
    pub suite: Option<String>,
    /// Run id, unique.
    pub run_id: String,
    /// Labels (`--label git=…`), in the order given.
    pub labels: Vec<(String, String)>,
    /// Wall time of the run's start, nanoseconds since the Unix epoch.
    pub start_unix_ns: u64,
    /// CLOCK_MONOTONIC at that instant; every instant in the file is relative to it.
    pub start_monotonic_ns: u64,
    /// Host name.
    pub host: String,
    /// Sojourn's version.
    pub version: String,
    /// What the generators waited and moved bytes with: `ring` (io_uring) or `epoll`; both, with a
    /// comma, when they differ. Empty in files of before it was noted.
    #[serde(default)]
    pub io: String,
    /// The load as declared, one line per load entry.
    pub load: Vec<String>,
    /// Warm-up, steady and drain as declared (the longest of the entries), nanoseconds.
    pub phases_ns: [u64; 3],
    /// The plan's text as it was run, secrets replaced.
    pub plan: String,
    /// Journeys with their stages and steps, so that reports know their order.
    pub journeys: Vec<JourneyShape>,
    /// Channels, by name, with what they listen to.
    pub channels: Vec<(String, String)>,
    /// Resources that were read beside the load, by name, with what they are. Absent in files of
    /// before there were any.
    #[serde(default)]
    pub resources: Vec<(String, String)>,
    /// The limits that make a run void, as they were applied: (name, limit in words).
    pub health_limits: Vec<(String, String)>,
    /// What the generator could use, in numbers. Absent in files of before it was noted.
    #[serde(default)]
    pub generator_limits: Option<GeneratorLimits>,
}

/// What a generator may use of its machine before a run is void.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorLimits {
    /// Most of a thread's time on or waiting for a processor, as a fraction…
    pub busy_max: f64,
    /// …for so long, nanoseconds.
    pub busy_for_ns: u64,
    /// Most lag at p99, nanoseconds…
    pub lag_p99_max_ns: u64,
    /// …or this fraction of the response p50, when that is larger.
    pub lag_share_max: f64,
    /// Most a tap may be behind, nanoseconds.
    pub tap_behind_max_ns: u64,
    /// Descriptors that the process may open.
    pub descriptors: u64,
    /// Local ports towards one target.
    pub ports: u64,
}

/// A journey's outline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JourneyShape {
    /// Name.
    pub name: String,
    /// Step names in order; the last of the root is `root_steps - 1`.
    pub steps: Vec<String>,
    /// How many of the steps are the root.
    pub root_steps: usize,
    /// Stages in declared order.
    pub stages: Vec<StageShape>,
    /// Deadline from t0, nanoseconds.
    pub within_ns: u64,
    /// Whose poisoned journeys these are, where they are. Absent in files of before there were any.
    #[serde(default)]
    pub poison: Option<PoisonShape>,
}

/// That a journey is the poisoned ones of another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PoisonShape {
    /// The other's name.
    pub of: String,
    /// Which share of its arrivals they are, as declared.
    pub share: f64,
}

/// A stage's outline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageShape {
    /// Name.
    pub name: String,
    /// Where it is seen, in words: `events (kafka)`, `poll every 100ms`.
    pub on: String,
    /// `required`, `optional`, `never`, `failure`, `branch`.
    pub kind: String,
    /// The point its hop counts from: a stage's or a step's name.
    pub after: String,
    /// For a polled stage: the interval, nanoseconds, which is the reading error.
    pub poll_ns: Option<u64>,
}
