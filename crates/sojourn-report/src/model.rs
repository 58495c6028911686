//! The one thing that every renderer reads; its serialisation is the JSON report.
//!
//! Shape version [`SCHEMA`]: fields may be added within a version; one that is removed, renamed or
//! changes its meaning raises it. Times are nanoseconds (`*_ns`), instants are relative to the
//! run's start, fractions are of one. A figure that could not be measured is `null`, never 0.
//! Figures are those of the steady phase unless their name says otherwise.

mod backlog;
mod batch;
mod check;
mod clock;
mod figure;
mod fleet;
mod health;
mod journey;
mod kept;
mod label;
mod ledger;
mod limit;
mod poison;
mod requirement;
mod resource;
mod step;
mod timeline;
mod traffic;

pub use backlog::BacklogRow;
pub use batch::BatchReport;
pub use check::CheckRow;
pub use clock::{Between, ClockDuration, ClockReport, Contradiction};
pub use figure::{Bin, Distribution, Quantile};
pub use fleet::{FleetMember, FleetReport};
pub use health::{Health, Limit, ProcessHealth, Refusal, TapHealth, ThreadHealth};
pub use journey::{BranchRow, Duplicates, FailureRow, JourneyReport, StageRow, TraceCounts};
pub use kept::{
    Duplicate, KeptClass, KeptCounts, KeptJourney, KeptMessage, OrderViolation, Span, SpanKind,
};
pub use label::{LabelReport, LabelRow};
pub use ledger::{EventCounts, EventLine, JourneyCounts, JourneyLine, Ledger};
pub use limit::LimitRow;
pub use poison::PoisonReport;
pub use requirement::{RequirementOutcome, RequirementRow, requirements_met};
pub use resource::{ResourceReport, Values};
pub use step::{AttemptRow, ByOutcome, ErrorRow, PhaseRow, StatusRow, StepRow};
pub use timeline::{POINTS_MAX, Statistic, TimeSeries, Timeline};
pub use traffic::{TagRow, TrafficReport};

use schemars::JsonSchema;
use serde::Serialize;
use sojourn_analysis::{conclusion::Conclusion, words};

/// Version of the serialised shape.
pub const SCHEMA: u32 = 1;

/// A whole report.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ReportModel {
    /// Version of this shape: [`SCHEMA`].
    pub schema: u32,
    /// Which run.
    pub identity: RunIdentity,
    /// Pass, fail or void, and why.
    pub verdict: VerdictReport,
    /// Thresholds and what became of them, in the order of the plan.
    pub thresholds: Vec<ThresholdRow>,
    /// Requirements of a file that the run was held against, in the file's order.
    pub requirements: Vec<RequirementRow>,
    /// Whether the generator kept up: read this before anything else.
    pub health: Health,
    /// The book of journeys and events.
    pub ledger: Ledger,
    /// What waited in the brokers for the system's own consumers.
    pub backlogs: Vec<BacklogRow>,
    /// The system's own resources, as they were read beside the load.
    pub resources: Vec<ResourceReport>,
    /// Limits that the system is said to keep, and what came of them.
    pub limits: Vec<LimitRow>,
    /// Checks and assertions of sessions, and how often they held.
    pub checks: Vec<CheckRow>,
    /// Clients, connections and requests of all journeys together; `None` without requests.
    pub traffic: Option<TrafficReport>,
    /// Clocks of the system's own, as its identifiers show them.
    pub clocks: Vec<ClockReport>,
    /// Sentences drawn from the figures, the gravest first.
    pub conclusions: Vec<Conclusion>,
    /// Each journey's figures, in the order of the plan.
    pub journeys: Vec<JourneyReport>,
    /// What became of the poisoned ones of journeys, which are in no other figure of them.
    pub poison: Vec<PoisonReport>,
    /// How many journeys of each class the run file keeps whole.
    pub kept: KeptCounts,
    /// How generators that had dialled in kept together; `None` where the load came from one
    /// machine.
    pub fleet: Option<FleetReport>,
    /// Remarks of the run itself: residual backlog, what could not be measured.
    pub notes: Vec<String>,
}

impl ReportModel {
    /// Journeys whose backlog grew: their percentiles describe the length of the run.
    pub fn growing(&self) -> impl Iterator<Item = &str> {
        let growing = self.journeys.iter().filter(|journey| journey.is_of_growing_queue);
        growing.map(|journey| journey.name.as_str())
    }
}

/// Which run this was.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct RunIdentity {
    /// The plan's name.
    pub name: String,
    /// Suite, where given.
    pub suite: Option<String>,
    /// Run id.
    pub run_id: String,
    /// Labels, in the order given.
    pub labels: Vec<(String, String)>,
    /// Start, nanoseconds since the Unix epoch.
    pub start_unix_ns: u64,
    /// Start in words: `2026-11-21 03:15:11 UTC`.
    pub start: String,
    /// Host that ran the coordinator.
    pub host: String,
    /// Sojourn's version.
    pub version: String,
    /// What the generators waited and moved bytes with: `ring` (io_uring), `epoll`, or both. Empty
    /// when the run file does not say.
    pub io: String,
    /// The load as declared, one line per entry.
    pub load: Vec<String>,
    /// Changes of the rate while the run went on, in order.
    pub amendments: Vec<AmendmentRow>,
    /// Warm-up as declared.
    pub warm_up_ns: u64,
    /// Steady phase as it was: shorter than declared in a run that was stopped.
    pub steady_ns: u64,
    /// Instant of the last arrival; `None` when the file was cut off before it.
    pub arrivals_end_ns: Option<u64>,
    /// Instant at which the run, or what is known of it, ended.
    pub end_ns: u64,
    /// Channels and what they listen to.
    pub channels: Vec<(String, String)>,
    /// The plan as it was run, secrets replaced.
    pub plan: String,
}

/// A change of the load's rate.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct AmendmentRow {
    /// From when, relative to the run's start.
    pub from_ns: u64,
    /// How many times the rate that the plan declares.
    pub rate_factor: f64,
    /// Who asked. Foreign input.
    pub by: String,
}

impl AmendmentRow {
    /// In words, without a full stop.
    pub fn in_words(&self) -> String {
        let what = match self.rate_factor {
            0.0 => "paused".to_owned(),
            factor => format!("{} × the declared rate", words::number(factor)),
        };
        format!("{what} from {} on, asked by {}", words::duration(self.from_ns as f64), self.by)
    }
}

/// How the run ended.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct VerdictReport {
    /// The verdict.
    pub outcome: Outcome,
    /// What nobody should overlook, whatever the verdict: that nothing at all worked.
    pub warning: Option<String>,
    /// One sentence that sums the run up, without a full stop.
    pub headline: String,
    /// Why it is not a plain pass: (name, figures), the gravest first.
    pub causes: Vec<Cause>,
    /// Stopped before its end by the user or an aborting threshold.
    pub interrupted: bool,
    /// What the run file lacks, in words, when it was cut off.
    pub cut_off: Option<String>,
}

/// A verdict, or the lack of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Every threshold held, every requirement was met.
    Pass,
    /// A threshold failed, or a requirement was not met.
    Fail,
    /// The numbers may not be believed.
    Void,
    /// The run file ends before the run did.
    Unfinished,
}

impl Outcome {
    /// The word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Void => "void",
            Self::Unfinished => "unfinished",
        }
    }

    /// A mark that tells it without colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Pass => "✓",
            Self::Fail => "✗",
            Self::Void => "∅",
            Self::Unfinished => "…",
        }
    }
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Cause {
    /// Short name.
    pub name: String,
    /// What was measured, and the limit.
    pub detail: String,
}

/// A threshold and its outcome.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ThresholdRow {
    /// As written in the plan.
    pub text: String,
    /// The figure in the bound's unit; `None` when there was none or it is beyond every number (a
    /// quantile among lost journeys), which `measured_text` tells apart.
    pub measured: Option<f64>,
    /// The figure in words.
    pub measured_text: String,
    /// Whether it held.
    pub held: bool,
    /// Whether its failure stops the run.
    pub abort: bool,
}
