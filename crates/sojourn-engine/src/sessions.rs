//! Sessions beside their plan: the program that clients walk through.

use std::sync::Arc;

use crossbeam_channel::Sender;
use sojourn_session::{EventLoad, LogLine, Mix, Program, Traced};

/// What the generators of sessions need besides their plan. In the plan every session is a journey
/// without stages, whose steps are its requests, messages and expectations by their names; behind
/// them come journeys of events, which clients begin by expecting them.
#[derive(Clone, Debug)]
pub struct Sessions {
    /// What clients do.
    pub program: Arc<Program>,
    /// Of each of the plan's load entries: which sessions its clients take.
    pub mixes: Vec<Mix>,
    /// Of each of the program's requests: its step in its session's journey.
    pub steps: Vec<usize>,
    /// What they publish and wait for, where there is anything.
    pub events: Option<EventLoad>,
    /// Longest time from a request's beginning to its answer's end, nanoseconds.
    pub timeout_ns: u64,
    /// Most redirects followed; those to hosts that are no targets are not.
    pub redirects_max: u32,
    /// What requests call themselves where the script does not say.
    pub user_agent: String,
    /// Whether clients keep cookies.
    pub cookies: bool,
    /// Where clients' own log goes; `None`: nowhere. Lines that find it full are counted.
    pub log: Option<Sender<LogLine>>,
    /// Who looks on at all that clients do; `None`: nobody, as it should be under load.
    pub trace: Option<Sender<Traced>>,
}
