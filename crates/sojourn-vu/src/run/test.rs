//! What goes into a test, and what comes out of it.

use crossbeam_channel::Receiver;
use sojourn_clock::SECOND_NS;
use sojourn_engine::Processes;
use sojourn_k6::executors::Scenario;
use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::metrics::{Registry, SystemTags, Totals};
use sojourn_k6::options::Consolidated;
use sojourn_k6::summary::Generator;
use sojourn_k6::thresholds::Thresholds;
use sojourn_script::ScriptError;

use super::ask::Ask;
use super::collect::Collected;
use super::outputs::Output;
use crate::journeys::Journeys;
use crate::user::{UNFIT_SUMMARY, UNMARSHALLED};

/// A test, everything decided.
pub struct Plan {
    /// What the script's first run found.
    pub collected: Collected,
    /// Its options and scenarios.
    pub consolidated: Consolidated,
    /// Which tags are set.
    pub system_tags: SystemTags,
    /// Thresholds are left out.
    pub no_thresholds: bool,
    /// A threshold without samples fails.
    pub strict: bool,
    /// Percentiles of all samples, whatever the memory.
    pub exact: bool,
    /// Scenarios and groups have accounts of their own, for the full summary.
    pub is_full: bool,
    /// How many threads.
    pub threads: usize,
    /// Processes that have the users; `None`: this one has them.
    pub processes: Option<Processes>,
    /// Where samples go.
    pub outputs: Vec<Output>,
    /// Whether `handleSummary` is called.
    pub has_summary: bool,
    /// What journeys are followed with; needed by scripts that declare taps.
    pub journeys: Option<Journeys>,
    /// Where somebody outside asks for things while it runs.
    pub asks: Option<Receiver<Ask>>,
    /// Whether the test stays after its end, until it is asked to stop.
    pub lingers: bool,
}

/// How the test goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Since the scenarios began, ns.
    pub elapsed_ns: u64,
    /// Users that run scenarios.
    pub vus: u64,
    /// Users made.
    pub vus_max: u64,
    /// Iterations that have begun.
    pub begun: u64,
    /// Iterations that ended.
    pub completed: u64,
    /// Iterations that were cut.
    pub interrupted: u64,
    /// Iterations that never began.
    pub dropped: u64,
    /// Iterations that threw.
    pub exceptions: u64,
}

impl View {
    /// Iterations under way: users may also wait for the next one.
    pub fn in_flight(&self) -> u64 {
        self.begun.saturating_sub(self.completed + self.interrupted)
    }
}

/// What is to be seen of a test that goes on.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Iterations and users, of this instant.
    pub view: View,
    /// What samples come to, as of when threads were last asked: every two seconds.
    pub totals: &'a Totals,
    /// Whether thresholds held then.
    pub thresholds: &'a Thresholds,
}

/// What a test came to.
pub struct Ended {
    /// What the process ends with.
    pub exit: ExitCode,
    /// What to say about that.
    pub reason: Option<String>,
    /// What else is known of it, as fields of the log line.
    pub reason_fields: Vec<(&'static str, &'static str)>,
    /// All metrics.
    pub registry: Registry,
    /// What they came to.
    pub totals: Totals,
    /// Thresholds, as they were at the end.
    pub thresholds: Thresholds,
    /// From the scenarios' start to their end, ns.
    pub elapsed_ns: u64,
    /// Iterations and users.
    pub view: View,
    /// Whether those who made the load kept up.
    pub generator: Generator,
    /// Scenarios as they were planned.
    pub scenarios: Vec<Scenario>,
    /// What `setup` returned, JSON.
    pub setup_data: Option<String>,
    /// What `handleSummary` returned: (name, content); `None` where it is to be the usual one.
    pub summary: Option<Vec<(String, Vec<u8>)>>,
    /// How the journeys went, where the script declares taps; or why that is not known.
    pub journeys: Option<Result<sojourn_engine::Ended, String>>,
    /// What outputs could not write or send, a text each.
    pub outputs_failed: Vec<String>,
}

/// A test that could not be conducted.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    /// What the process ends with.
    pub exit: ExitCode,
    /// Why.
    pub message: String,
    /// What else is known of it, as fields of the log line.
    pub fields: Vec<(&'static str, &'static str)>,
}

impl RunError {
    pub(super) fn new(exit: ExitCode, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), fields: Vec::new() }
    }

    /// What the script has thrown outside iterations.
    pub fn exception(error: &ScriptError) -> Self {
        if [UNMARSHALLED, UNFIT_SUMMARY].iter().any(|start| error.message.starts_with(start)) {
            return Self::new(ExitCode::Unspecified, &error.message);
        }
        let text = format!("{}\n", error.with_stack());
        if error.is_rejection {
            let text = format!("Uncaught (in promise) {text}");
            return Self::new(ExitCode::ScriptException, text);
        }
        let fields = vec![("hint", "script exception"), ("source", "stacktrace")];
        Self { exit: ExitCode::ScriptException, message: text, fields }
    }

    pub(super) fn timeout(exit: ExitCode, function: &str, limit_ns: u64) -> Self {
        let told =
            format!("{function}() execution timed out after {} seconds", limit_ns / SECOND_NS);
        let hint = match exit {
            ExitCode::SetupTimeout => "You can increase the time limit via the setupTimeout option",
            ExitCode::TeardownTimeout => {
                "You can increase the time limit via the teardownTimeout option"
            }
            _ => "You can increase the time limit via the handleSummaryTimeout option",
        };
        Self { exit, message: told, fields: vec![("hint", hint)] }
    }
}

/// Makes the data that `handleSummary` gets, as JSON.
pub type SummaryData<'a> = &'a dyn Fn(&Ended) -> String;
