//! The actor seam: whatever makes load as a state machine.
//!
//! A plan's journey is an actor; a session or a script's fiber are too. An actor never waits: it is
//! stepped with what woke it and says whether it is done.

use crossbeam_channel::Sender;
use sojourn_broker::Outcome;
use sojourn_http::{Client, Completion};
use sojourn_metrics::Recorder;
use sojourn_plan::Plan;

use super::{
    outbox::Outbox, prepared::PreparedPlan, publishers::Publishers, series::Series, timers::Timers,
};

/// Why an actor is stepped.
#[derive(Debug)]
pub(crate) enum Wake {
    /// It begins.
    Start,
    /// Its request is done.
    Completion(Completion),
    /// Its message was acknowledged, refused or given up.
    Published(Outcome),
    /// A stage it waits for was reached.
    Reached(u8),
    /// The instant that it waited for has come.
    Timer,
}

/// What an actor says after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A request or message is under way, or will be after a pause.
    Requesting,
    /// The root is done as expected and nothing is under way; a stage may wake it again.
    Idle,
    /// Nothing further will come of it.
    Done,
}

/// What an actor may touch, lent for one step.
pub(crate) struct Context<'a> {
    /// The present instant, nanoseconds.
    pub(crate) now_ns: u64,
    /// Comes back in completions of requests sent in this step.
    pub(crate) token: u64,
    pub(crate) plan: &'a Plan,
    pub(crate) prepared: &'a PreparedPlan,
    pub(crate) client: &'a mut Client,
    pub(crate) publishers: &'a mut Publishers,
    pub(crate) recorder: &'a mut Recorder,
    pub(crate) series: &'a mut Series,
    pub(crate) outbox: &'a mut Outbox,
    /// Where it asks to be woken at an instant, by its token.
    pub(crate) timers: &'a mut Timers,
    pub(crate) polls: &'a crate::poller::PollSender,
    pub(crate) run_id: &'a str,
    pub(crate) narrator: Option<&'a Sender<String>>,
    pub(crate) scratch: &'a mut Scratch,
    /// Variables that setup and refresh steps set.
    pub(crate) variables: &'a [Option<Box<str>>],
}

/// Buffers used again by every step.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) path: Vec<u8>,
    pub(crate) body: Vec<u8>,
    pub(crate) value: Vec<u8>,
    pub(crate) message: Vec<u8>,
}

/// A state machine that makes load.
pub(crate) trait Actor {
    /// Goes on after `wake`.
    fn step(&mut self, context: &mut Context<'_>, wake: Wake) -> Step;
}
