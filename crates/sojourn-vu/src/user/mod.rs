//! A virtual user: what it is doing, what it waits for, and its tags.
//!
//! `life` is what runs on its fiber, `top_level` its first part, `iteration` one run of a
//! scenario's function.

mod iteration;
mod life;
mod timers;
mod top_level;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use sojourn_http::Completion;
use sojourn_k6::metrics::{MetricId, TagSet};
use sojourn_script::js::{self, Ctx, Exception};
use sojourn_script::{ScriptError, suspend};

use self::timers::Timers;
use crate::host::{Host, OperationId, UserIndex};
use crate::journeys::{Answer, JourneyState, Memberships};
use crate::modules::http::HttpState;
use crate::run::Exports;
use crate::sockets::{Arrival, Links};

pub(crate) use life::{UNFIT_SUMMARY, UNMARSHALLED, spawn};

/// What an operation has come to.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The timer's instant has come.
    Timer,
    /// The request has ended.
    Http(Box<Completion>),
    /// A socket has something to say; it may say more.
    Socket(Box<Arrival>),
    /// Another thread has answered.
    Answer(Answer),
}

/// What is called with an operation's outcome, from the user's event loop.
pub(crate) type Callback = Box<dyn for<'js> FnOnce(&Ctx<'js>, Outcome) -> js::Result<()>>;

/// What a user is told to do next.
#[derive(Debug)]
pub(crate) enum Job {
    /// One iteration.
    Iterate(Iteration),
    /// Calls an exported function, without accounting for an iteration.
    Call {
        /// `setup`, `teardown` or `handleSummary`.
        function: &'static str,
        /// Its argument, JSON; `None` for undefined.
        argument: Option<String>,
    },
    /// Ends the user.
    End,
}

/// One run of a scenario's function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Iteration {
    /// Which scenario.
    pub(crate) scenario: usize,
    /// When it was due, ns.
    pub(crate) due_ns: u64,
    /// How many this scenario began before it, in the whole test.
    pub(crate) in_test: u64,
}

/// How a job ended.
#[derive(Debug)]
pub(crate) struct JobEnd {
    pub(crate) error: Option<ScriptError>,
    /// What the function returned, JSON; only of calls.
    pub(crate) value: Option<String>,
}

/// What the user does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Runs the script's top level.
    Init,
    /// Waits for a job.
    Idle,
    /// Runs `setup`, `teardown` or `handleSummary`.
    Call,
    /// Runs an iteration.
    Iteration,
    /// Is gone: its top level failed, or it was told to end.
    Ended,
}

/// Numbers that scripts ask for.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Its number in this process, from 1; 0 where the user only collects or calls.
    pub(crate) id: Cell<u64>,
    /// Iterations begun, of all scenarios.
    pub(crate) iterations: Cell<u64>,
    /// Of each scenario.
    pub(crate) in_scenario: RefCell<HashMap<usize, u64>>,
}

/// See the module's page.
pub(crate) struct User {
    pub(crate) host: Rc<Host>,
    pub(crate) index: UserIndex,
    pub(crate) counts: Counts,
    pub(crate) phase: Cell<Phase>,
    /// Whatever runs is to end now.
    pub(crate) cancelled: Cell<bool>,
    pub(crate) iteration: Cell<Iteration>,
    /// The scenario that `__ENV` is of, once there was an iteration.
    pub(crate) environment_of: Cell<Option<usize>>,
    /// By how much the iteration under way began late, ns.
    pub(crate) lag_ns: Cell<u64>,
    /// What samples are tagged with just now.
    pub(crate) tags: RefCell<Arc<TagSet>>,
    /// The path of groups that the script is in.
    pub(crate) group: RefCell<String>,
    pub(crate) http: HttpState,
    pub(crate) links: Links,
    pub(crate) timers: Timers,
    pub(crate) journeys: JourneyState,
    /// Kept from one iteration to the next.
    pub(crate) memberships: Memberships,
    /// Bytes since the last iteration's end.
    pub(crate) bytes_out: Cell<u64>,
    pub(crate) bytes_in: Cell<u64>,
    pub(crate) job: RefCell<Option<Job>>,
    pub(crate) ended: RefCell<Option<JobEnd>>,
    /// What the script exports; only of the user that collects.
    pub(crate) exports: RefCell<Option<Exports>>,
    results: RefCell<VecDeque<(OperationId, Outcome)>>,
    callbacks: RefCell<HashMap<OperationId, Callback>>,
    next_operation: Cell<OperationId>,
}

impl User {
    pub(crate) fn new(host: Rc<Host>, index: UserIndex, id: u64) -> Rc<Self> {
        let tags = Arc::clone(host.tag_sets.borrow().empty());
        let counts = Counts::default();
        counts.id.set(id);
        let http = HttpState::new(&host.settings);
        Rc::new(Self {
            host,
            index,
            counts,
            phase: Cell::new(Phase::Init),
            cancelled: Cell::new(false),
            iteration: Cell::default(),
            environment_of: Cell::new(None),
            lag_ns: Cell::new(0),
            tags: RefCell::new(tags),
            group: RefCell::default(),
            http,
            links: Links::default(),
            timers: Timers::default(),
            journeys: JourneyState::default(),
            memberships: Memberships::default(),
            bytes_out: Cell::new(0),
            bytes_in: Cell::new(0),
            job: RefCell::default(),
            ended: RefCell::default(),
            exports: RefCell::default(),
            results: RefCell::default(),
            callbacks: RefCell::default(),
            next_operation: Cell::new(0),
        })
    }

    /// `__VU`.
    pub(crate) fn number(&self) -> u64 {
        self.host.settings.user_number(self.counts.id.get())
    }

    /// A number for a new operation.
    pub(crate) fn operation(&self) -> OperationId {
        let next = self.next_operation.get().wrapping_add(1).max(1);
        self.next_operation.set(next);
        next
    }

    /// The thread has what an operation waits for.
    pub(crate) fn complete(&self, operation: OperationId, outcome: Outcome) {
        self.results.borrow_mut().push_back((operation, outcome));
        self.host.make_ready(self.index);
    }

    /// Suspends the user until the operation has its outcome; `None` if it is to end first.
    pub(crate) fn wait(&self, operation: OperationId) -> Option<Outcome> {
        self.wait_any(|known| known == operation).map(|(_, outcome)| outcome)
    }

    /// Suspends the user until one of the operations meant has its outcome; `None` if it is to end
    /// first.
    pub(crate) fn wait_any(
        &self,
        is_meant: impl Fn(OperationId) -> bool,
    ) -> Option<(OperationId, Outcome)> {
        loop {
            if self.cancelled.get() {
                return None;
            }
            let mut results = self.results.borrow_mut();
            if let Some(at) = results.iter().position(|(known, _)| is_meant(*known)) {
                return results.remove(at);
            }
            drop(results);
            suspend();
        }
    }

    /// Suspends the user until a socket has said what `look` is after, which also says whether that
    /// is taken; `None` if the user is to end first. Whatever stays is for the socket's callback,
    /// and keeps the socket from nothing meanwhile.
    #[cfg(feature = "mqtt")]
    pub(crate) fn wait_said<T>(
        &self,
        operation: OperationId,
        look: impl Fn(&Arrival) -> Option<(T, bool)>,
    ) -> Option<T> {
        loop {
            if self.cancelled.get() {
                return None;
            }
            let mut results = self.results.borrow_mut();
            let mut found = None;
            // What was looked at before has given its place back, and so has all before that.
            for (at, (known, outcome)) in results.iter_mut().enumerate().rev() {
                let Outcome::Socket(arrival) = outcome else { continue };
                if *known != operation {
                    continue;
                }
                if !arrival.give_place_back() {
                    break;
                }
                found = look(arrival).map(|found| (at, found)).or(found);
            }
            if let Some((at, (value, is_taken))) = found {
                if is_taken {
                    results.remove(at);
                }
                return Some(value);
            }
            drop(results);
            suspend();
        }
    }

    /// `callback` is called from the event loop, after what has come already.
    #[cfg(feature = "mqtt")]
    pub(crate) fn call_soon(&self, callback: Callback) {
        let operation = self.operation();
        self.when_done(operation, callback);
        self.complete(operation, Outcome::Timer);
    }

    /// Like [`Self::wait`], for functions that scripts call.
    pub(crate) fn wait_or_throw(
        &self,
        ctx: &Ctx<'_>,
        operation: OperationId,
    ) -> js::Result<Outcome> {
        self.wait(operation).ok_or_else(|| Exception::throw_internal(ctx, "interrupted"))
    }

    /// The outcome goes to `callback`, once the script has nothing else to do.
    pub(crate) fn when_done(&self, operation: OperationId, callback: Callback) {
        self.callbacks.borrow_mut().insert(operation, callback);
    }

    /// The operation's outcome is of no interest any more.
    pub(crate) fn forget(&self, operation: OperationId) -> bool {
        self.callbacks.borrow_mut().remove(&operation).is_some()
    }

    /// Whether anything is to be called later.
    pub(crate) fn has_callbacks(&self) -> bool {
        !self.callbacks.borrow().is_empty()
    }

    /// The first outcome that somebody waits for, with who does.
    pub(crate) fn next_callback(&self) -> Option<(Callback, Outcome)> {
        loop {
            let (operation, outcome) = self.results.borrow_mut().pop_front()?;
            if let Some(callback) = self.callbacks.borrow_mut().remove(&operation) {
                return Some((callback, outcome));
            }
        }
    }

    /// Forgets all operations; what comes of them later goes nowhere.
    pub(crate) fn forget_all(&self) {
        if self.phase.get() != Phase::Init {
            self.timers.stop(&self.host.settings.console);
        }
        self.callbacks.borrow_mut().clear();
        self.results.borrow_mut().clear();
        self.links.end_all();
    }

    /// Accounts for a sample of an instant.
    pub(crate) fn add_tagged(
        &self,
        metric: MetricId,
        tags: &Arc<TagSet>,
        instant_ns: u64,
        value: f64,
    ) {
        let at_ns = self.host.unix_ns(instant_ns);
        self.host.shard.borrow_mut().add(metric, tags, at_ns, value);
    }

    /// Throws unless an iteration, `setup` or the like is under way.
    pub(crate) fn not_at_init(&self, ctx: &Ctx<'_>, what: &str) -> js::Result<()> {
        if self.phase.get() == Phase::Init {
            return Err(Exception::throw_message(
                ctx,
                &format!("{what} in the init context is not supported"),
            ));
        }
        Ok(())
    }

    /// Throws unless the script's top level runs.
    pub(crate) fn only_at_init(&self, ctx: &Ctx<'_>, what: &str) -> js::Result<()> {
        if self.phase.get() == Phase::Init {
            return Ok(());
        }
        Err(Exception::throw_message(ctx, &format!("{what} must be called in the init context")))
    }
}
