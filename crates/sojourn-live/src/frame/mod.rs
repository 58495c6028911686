//! One second of a run as plain data: what displays draw and pages are told. [`Frames`] makes them
//! of what the coordinator says each second; a [`Frame`] knows nothing of the engine and needs
//! nothing else to be drawn.
//!
//! Counts cover the whole run so far, warm-up included, so that they balance with what is in
//! flight. Figures "so far" are of the steady phase, or of the warm-up while that goes on. Figures
//! of the interval are of all samples since the frame before, merged over generators before any
//! quantile is read. All terms as in docs/definitions.md.

mod channels;
mod frames;
mod health;
mod journeys;
mod lookup;
mod news;
mod steps;
mod thresholds;

use serde::{Deserialize, Serialize};

pub use frames::{Frames, Second};

/// One second of a run. Times in nanoseconds, instants since the run's start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Number of this frame, from 0.
    pub number: u64,
    /// The plan's name.
    pub name: String,
    /// Which of several runs it is, such as `run 2 of 6: RATE=50/s`; empty where it is the only
    /// one.
    pub of: String,
    /// Where the run stands.
    pub stretch: FrameStretch,
    /// Since the run's start.
    pub elapsed_ns: u64,
    /// Planned length without drain; 0 where somebody has to end it.
    pub planned_ns: u64,
    /// Length of the warm-up.
    pub warmup_ns: u64,
    /// Arrivals per second that were due in the interval.
    pub asked_per_s: f64,
    /// Journeys per second that were started in the interval.
    pub delivered_per_s: f64,
    /// Times the plan's rate that is in force.
    pub rate_factor: f64,
    /// Of all journeys together but the poisoned ones.
    pub counts: Counts,
    /// Journeys in flight now.
    pub in_flight: u64,
    /// Clients of sessions now.
    pub clients: Option<f64>,
    /// How the generator is.
    pub health: Health,
    /// The plan's journeys in declared order, then those that came up while the run went on.
    pub journeys: Vec<JourneyFrame>,
    /// Channels with what their taps saw, by name.
    pub channels: Vec<ChannelFrame>,
    /// Checks of sessions by name.
    pub checks: Vec<CheckFrame>,
    /// The plan's thresholds in declared order.
    pub thresholds: Vec<ThresholdFrame>,
    /// What has befallen the run lately, the oldest first: a ring of the last
    /// [`NEWS_MAX`](Frame::NEWS_MAX). Numbers tell what is new.
    pub news: Vec<News>,
    /// How much of it there was that is in no ring any more, or never was.
    pub news_beyond: u64,
}

impl Frame {
    /// Most news that a frame has.
    pub const NEWS_MAX: usize = 100;
    /// Most journeys that a frame tells apart.
    pub const JOURNEYS_MAX: usize = 100;
    /// Most steps of a journey that a frame tells apart.
    pub const STEPS_MAX: usize = 200;
    /// Most statuses, and most reasons, of a step that a frame tells apart.
    pub const REASONS_MAX: usize = 20;
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameStretch {
    /// Taps opening, setup steps.
    #[default]
    Preparing,
    /// Real load, counted apart.
    WarmUp,
    /// What is reported.
    Steady,
    /// No new arrivals; waiting for what is in flight.
    Drain,
    /// All has ended.
    Over,
}

/// Journeys so far, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named for the figure; defined in docs/definitions.md")]
pub struct Counts {
    pub scheduled: u64,
    pub missed: u64,
    pub started: u64,
    pub completed: u64,
    pub late: u64,
    pub lost: u64,
    pub failed: u64,
    pub root_failed: u64,
    pub in_flight_at_cutoff: u64,
}

/// Quantiles of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// What is ranked.
    pub count: u64,
    /// Median; `None` when there is none, or when it falls among lost journeys.
    pub p50_ns: Option<f64>,
    /// 99th percentile, likewise.
    pub p99_ns: Option<f64>,
    /// Whether the median falls among lost journeys: it is beyond the deadline.
    pub p50_is_lost: bool,
    /// The same of the 99th percentile.
    pub p99_is_lost: bool,
}

/// How the generator is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Its lag at p99 in the interval.
    pub lag_p99_ns: Option<u64>,
    /// Its lag at p99 so far.
    pub lag_p99_so_far_ns: Option<u64>,
    /// The lag at which the run becomes void.
    pub lag_max_ns: u64,
    /// Its threads and ours, by name.
    pub threads: Vec<ThreadUse>,
    /// Entries that bounded queues and tables refused.
    pub refused: u64,
    /// The limit that it is nearest to, over the last seconds.
    pub nearest: Option<Nearest>,
    /// What has made the run void so far.
    pub defects: Vec<String>,
}

/// A thread's use of processors in its last second, as fractions of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Its name.
    pub name: String,
    /// On a processor.
    pub cpu: f64,
    /// Ready to run, and waiting for one; `None` where the kernel does not tell.
    pub waiting: Option<f64>,
}

/// How near a limit is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    /// Used over allowed: 1 and above means that the figures describe the generator.
    pub share: f64,
    /// The same in words.
    pub text: String,
}

/// A journey's figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JourneyFrame {
    /// Its name.
    pub name: String,
    /// Its deadline; `None` where the plan does not say.
    pub within_ns: Option<u64>,
    /// So far.
    pub counts: Counts,
    /// Started per second in the interval.
    pub started_per_s: f64,
    /// Completed per second in the interval, late ones too.
    pub completed_per_s: f64,
    /// In flight now.
    pub in_flight: u64,
    /// Its duration, of those that ended in the interval.
    pub duration: Spread,
    /// Its duration so far.
    pub duration_so_far: Spread,
    /// Its stages in declared order.
    pub stages: Vec<StageFrame>,
    /// Its steps in declared order, then others by name.
    pub steps: Vec<StepFrame>,
    /// Steps that had no room here.
    pub steps_beyond: u64,
}

/// A stage's figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageFrame {
    /// Its name.
    pub name: String,
    /// The channel that it is seen on; `None` where it is polled, or not known.
    pub channel: Option<String>,
    /// The stage that it follows; `None`: a step.
    pub after: Option<String>,
    /// Whether a journey can't be complete without it, or without one of its alternatives.
    pub is_required: bool,
    /// Reached so far.
    pub reached: u64,
    /// Reached per second in the interval.
    pub reached_per_s: f64,
    /// Journeys that wait for it now.
    pub waiting: u64,
    /// Hops in the interval.
    pub hop: Spread,
    /// Hops so far.
    pub hop_so_far: Spread,
    /// Events that repeated one, so far.
    pub duplicates: u64,
}

/// A step's requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepFrame {
    /// Its name; of attacks the target, of sessions the request's.
    pub name: String,
    /// Ended so far.
    pub requests: u64,
    /// Ended per second in the interval.
    pub requests_per_s: f64,
    /// Response time in the interval.
    pub response: Spread,
    /// Response time so far.
    pub response_so_far: Spread,
    /// By status, the most frequent first; those beyond the bound as `others`.
    pub statuses: Vec<Counted>,
    /// Failed ones by reason, likewise.
    pub errors: Vec<Counted>,
    /// Failed so far.
    pub failed: u64,
}

/// How often something was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// What.
    pub name: String,
    /// How often so far.
    pub count: u64,
}

/// What a channel's tap saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChannelFrame {
    /// Its name.
    pub name: String,
    /// Events so far.
    pub seen: u64,
    /// Events per second in the interval.
    pub seen_per_s: f64,
    /// Of those so far: repeated ones.
    pub duplicates: u64,
    /// Of those so far: of no journey, though with this run's marker, or without any.
    pub unmatched: u64,
    /// How far its tap is behind, milliseconds.
    pub behind_ms: Option<f64>,
}

/// A check of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFrame {
    /// Its name.
    pub name: String,
    /// How often it held.
    pub held: u64,
    /// How often it did not.
    pub failed: u64,
}

/// A threshold so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThresholdFrame {
    /// As written.
    pub text: String,
    /// Whether it holds.
    pub state: ThresholdState,
    /// What was measured, in the bound's unit: nanoseconds, a fraction, or the number itself.
    /// `None` where nothing was, or where a quantile falls among lost journeys.
    pub measured: Option<f64>,
    /// The same in words.
    pub measured_text: String,
}

/// Whether a threshold holds so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdState {
    /// Nothing is measured yet.
    #[default]
    NoneYet,
    /// It holds.
    Holds,
    /// It does not.
    Fails,
}

/// Something that has befallen the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// Its number, from 0, in the order in which it came.
    pub number: u64,
    /// When: of a journey its end, else the second's end.
    pub at_ns: u64,
    /// What kind of thing.
    pub kind: NewsKind,
    /// Whose: a journey's name; empty where it is nobody's.
    pub journey: String,
    /// In words.
    pub text: String,
    /// How often in that second.
    pub count: u64,
}

/// What kind of thing has befallen a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewsKind {
    /// A request failed.
    #[default]
    Error,
    /// A journey was lost.
    Lost,
    /// A journey failed.
    Failed,
    /// A check of a session did not hold.
    Check,
    /// A limit that the system is said to keep was not kept.
    Limit,
    /// Something that makes the run void.
    Defect,
}
