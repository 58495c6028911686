//! What is asked of a test from outside while it runs, and what it answers.

use crossbeam_channel::Sender;
use sojourn_k6::metrics::{Registry, Totals};
use sojourn_k6::thresholds::Thresholds;

/// Something asked, which the test answers once, some 20 ms later at most.
#[derive(Debug)]
pub struct Ask {
    /// What.
    pub what: Wish,
    /// Where the answer goes, with room for it.
    pub answer: Sender<Answer>,
}

/// What may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// How it goes.
    Status,
    /// Change it, and say how it goes then.
    Change(Change),
    /// All metrics and checks so far.
    Figures,
    /// What `setup` returned.
    SetupData,
    /// Take this JSON for what `setup` returned; only before the scenarios.
    SetSetupData(Option<String>),
    /// Call `setup` now; only while the test waits for its beginning.
    CallSetup,
    /// Call `teardown` now; only while the test waits for its beginning or lingers.
    CallTeardown,
}

/// Changes that are asked for; what is `None` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Whether nothing begins.
    pub paused: Option<bool>,
    /// Users that loop, of the externally controlled scenario.
    pub vus: Option<u64>,
    /// Most users that it may have.
    pub vus_max: Option<u64>,
    /// Whether the test ends.
    pub stopped: Option<bool>,
}

/// What the test answers.
#[derive(Debug)]
pub enum Answer {
    /// How it goes.
    Status(Status),
    /// What it came to so far.
    Figures(Box<Figures>),
    /// JSON; `None` where nothing was returned.
    SetupData(Option<String>),
    /// It is done.
    Done,
    /// It can't be: why.
    Refused(String),
}

/// How a test goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Where it is.
    pub stage: Stage,
    /// Whether it waits to be resumed.
    pub is_paused: bool,
    /// Users that run iterations.
    pub vus: u64,
    /// Users that there are, or may be where somebody outside decides.
    pub vus_max: u64,
    /// Whether its end was asked for.
    pub is_stopped: bool,
    /// Whether a threshold fails.
    pub is_tainted: bool,
}

/// Where a test is, with k6's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Users run the script's top level.
    Initialising = 1,
    /// It waits for its beginning.
    PausedBeforeRun = 4,
    /// `setup` is called.
    Setup = 6,
    /// Scenarios run.
    Running = 7,
    /// `teardown` is called.
    Teardown = 8,
    /// All has ended.
    Ended = 9,
}

/// What a test came to so far.
#[derive(Debug)]
pub struct Figures {
    /// All metrics.
    pub registry: Registry,
    /// What they came to.
    pub totals: Totals,
    /// Thresholds, as they were last looked at.
    pub thresholds: Thresholds,
    /// Since the scenarios' start, ns.
    pub elapsed_ns: u64,
}
