//! Whether the generator kept up.

use schemars::JsonSchema;
use serde::Serialize;
use sojourn_analysis::generator::GeneratorVerdict;

use super::Distribution;

/// The generator's own figures. Counts and lag are those of the steady phase, levels those of the
/// whole run.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Health {
    /// What limited the generator if anything did; `None` where the run file does not tell.
    pub verdict: Option<GeneratorVerdict>,
    /// Arrivals scheduled.
    pub scheduled: u64,
    /// Arrivals that started.
    pub started: u64,
    /// Arrivals that could not be started.
    pub missed: u64,
    /// Started over scheduled; `None` without arrivals.
    pub delivered: Option<f64>,
    /// Sent − scheduled, nanoseconds.
    pub lag_ns: Option<Distribution>,
    /// How late arrivals were let begin at most, so that several do at one wake-up, nanoseconds.
    pub lag_budget_ns: Option<f64>,
    /// CPU of each of our threads.
    pub threads: Vec<ThreadHealth>,
    /// Delay of each tap.
    pub taps: Vec<TapHealth>,
    /// Entries that a full queue or table refused, by its name.
    pub refused: Vec<Refusal>,
    /// Most connections open at once, all generators together.
    pub connections_max: Option<f64>,
    /// Most memory resident at once, bytes, all processes together.
    pub memory_bytes_max: Option<f64>,
    /// Fewest descriptors that any process had left.
    pub descriptors_left_min: Option<f64>,
    /// Fewest ports left for one target.
    pub ports_left_min: Option<f64>,
    /// Each process of the run, the one that coordinates first; empty where there is only one.
    pub processes: Vec<ProcessHealth>,
    /// The limits that make a run void, as applied.
    pub limits: Vec<Limit>,
}

/// A thread's load, as fractions of one core.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ThreadHealth {
    /// Thread's name.
    pub thread: String,
    /// CPU used, mean over the intervals.
    pub cpu_mean: Option<f64>,
    /// CPU used in the busiest interval.
    pub cpu_max: Option<f64>,
    /// Waiting to be run, in the worst interval.
    pub run_queue_max: Option<f64>,
    /// Longest turn of its event loop, milliseconds; generators only.
    pub stall_ms_max: Option<f64>,
    /// Longest time in a row that it was busier than the limit, seconds.
    pub busy_s_max: Option<f64>,
}

/// What a process of the run took.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ProcessHealth {
    /// `coordinator`, or the name of a process of generators.
    pub process: String,
    /// Most memory resident at once, bytes.
    pub memory_bytes_max: Option<f64>,
    /// Most descriptors open at once.
    pub descriptors_max: Option<f64>,
    /// Descriptors that it might have opened.
    pub descriptors_limit: Option<f64>,
    /// Processor time of all its threads, as processors; mean over the intervals.
    pub cpu_mean: Option<f64>,
    /// In the busiest interval.
    pub cpu_max: Option<f64>,
}

/// A tap's delay.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct TapHealth {
    /// Channel.
    pub channel: String,
    /// Behind the channel's end when the run ended, milliseconds.
    pub behind_ms_last: f64,
    /// At the worst moment.
    pub behind_ms_max: f64,
}

/// What a bound refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Refusal {
    /// Queue or table.
    pub queue: String,
    /// Entries refused.
    pub count: u64,
}

/// A limit that makes a run void.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Limit {
    /// What is limited.
    pub name: String,
    /// The limit in words.
    pub limit: String,
}
