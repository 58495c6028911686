//! What a thread offers to its users: time, requests, an account.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sojourn_engine::FollowSource;
use sojourn_http::{Client, Exchange};
use sojourn_k6::metrics::{Shard, SystemTag, TagSet, TagSets, builtin};

use crate::health::Watch;
use crate::journeys::Answers;
use crate::settings::Settings;
use crate::sockets::Inbox;

/// A user's place on its thread.
pub(crate) type UserIndex = u32;
/// An operation of a user, never zero.
pub(crate) type OperationId = u32;

/// A thread's own; users reach it through an `Rc`. No borrow is held while a user is suspended.
pub(crate) struct Host {
    pub(crate) settings: Arc<Settings>,
    pub(crate) client: RefCell<Client>,
    /// What has come of sockets that are not the client's.
    pub(crate) inbox: Inbox,
    /// What other threads have answered.
    pub(crate) answers: Answers,
    /// Where journeys are handed over that are to be followed.
    pub(crate) follow: RefCell<Option<FollowSource>>,
    pub(crate) shard: RefCell<Shard>,
    /// Whether the thread keeps up.
    pub(crate) watch: RefCell<Watch>,
    pub(crate) tag_sets: RefCell<TagSets>,
    timers: RefCell<BinaryHeap<Reverse<(u64, UserIndex, OperationId)>>>,
    /// Users that can go on, in order.
    ready: RefCell<VecDeque<UserIndex>>,
    /// Instant of the turn under way, ns: when the thread last woke.
    pub(crate) turn_ns: Cell<u64>,
}

impl Host {
    pub(crate) fn new(
        settings: Arc<Settings>,
        client: Client,
        shard: Shard,
        sets: TagSets,
    ) -> Self {
        Self {
            settings,
            inbox: Inbox::new(client.waker()),
            answers: Answers::new(client.waker()),
            follow: RefCell::default(),
            client: RefCell::new(client),
            shard: RefCell::new(shard),
            watch: RefCell::new(Watch::new()),
            tag_sets: RefCell::new(sets),
            timers: RefCell::default(),
            ready: RefCell::default(),
            turn_ns: Cell::new(sojourn_clock::now_ns()),
        }
    }

    /// An instant as samples carry it: nanoseconds since 1970.
    pub(crate) fn unix_ns(&self, instant_ns: u64) -> u64 {
        self.settings.anchor.unix_ns_at(instant_ns)
    }

    /// A result for the operation will come at this instant.
    pub(crate) fn set_timer(&self, at_ns: u64, user: UserIndex, operation: OperationId) {
        self.timers.borrow_mut().push(Reverse((at_ns, user, operation)));
    }

    /// When the next timer is due.
    pub(crate) fn next_timer_ns(&self) -> Option<u64> {
        self.timers.borrow().peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// A timer that is due, taken off.
    pub(crate) fn take_timer(&self, now_ns: u64) -> Option<(UserIndex, OperationId)> {
        let mut timers = self.timers.borrow_mut();
        let due = timers.peek().is_some_and(|Reverse((at_ns, ..))| *at_ns <= now_ns);
        let Reverse((_, user, operation)) = due.then(|| timers.pop()).flatten()?;
        Some((user, operation))
    }

    /// The user can go on.
    pub(crate) fn make_ready(&self, user: UserIndex) {
        self.ready.borrow_mut().push_back(user);
    }

    pub(crate) fn take_ready(&self) -> Option<UserIndex> {
        self.ready.borrow_mut().pop_front()
    }

    pub(crate) fn count_ready(&self) -> usize {
        self.ready.borrow().len()
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.borrow().is_empty()
    }

    /// Sends a request; its completion is the operation's result.
    pub(crate) fn send(&self, now_ns: u64, exchange: Exchange<'_>) {
        self.client.borrow_mut().send(now_ns, exchange);
    }

    /// Iterations of a scenario were due and did not begin.
    pub(crate) fn drop_iterations(&self, scenario: usize, count: u64) {
        let settings = &self.settings;
        settings.progress.dropped.fetch_add(count, Ordering::Relaxed);
        let Some(known) = settings.scenarios.get(scenario) else { return };
        let mut sets = self.tag_sets.borrow_mut();
        let empty = Arc::clone(sets.empty());
        let mut pairs = settings.run_tags();
        pairs.extend(known.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        if settings.system_tags.has(SystemTag::Scenario) {
            pairs.push(("scenario", &known.name));
        }
        let tags = sets.with(&empty, &pairs);
        let at_ns = self.unix_ns(sojourn_clock::now_ns());
        self.shard.borrow_mut().add(builtin::DROPPED_ITERATIONS, &tags, at_ns, count as f64);
    }

    /// The set of tags that is `base` with more.
    pub(crate) fn tags(&self, base: &Arc<TagSet>, more: &[(&str, &str)]) -> Arc<TagSet> {
        self.tag_sets.borrow_mut().with(base, more)
    }
}

/// The token under which the client carries an operation.
pub(crate) fn token(user: UserIndex, operation: OperationId) -> u64 {
    u64::from(user) << 32 | u64::from(operation)
}

/// User and operation of a token.
pub(crate) fn of_token(token: u64) -> (UserIndex, OperationId) {
    ((token >> 32) as u32, token as u32)
}
