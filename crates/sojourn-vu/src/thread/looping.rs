//! Scenarios whose users loop: one iteration after the other while their slot is wanted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use sojourn_k6::executors::{Executor, Scenario, Span};

use super::Place;
use super::seats::Seats;
use crate::host::UserIndex;
use crate::user::{Iteration, Job};

/// See the module's page.
pub(super) struct Looping {
    scenario: usize,
    start_time_ns: u64,
    /// When the scenario begins, ns; 0 before that is known.
    start_ns: u64,
    slots: Vec<Slot>,
    /// What is due when, from the scenario's start: (instant, slot, what).
    due: BinaryHeap<Reverse<(u64, usize, Due)>>,
    users: HashMap<UserIndex, usize>,
    /// Iterations of each user.
    each: Option<u64>,
    /// Iterations of all users of all threads.
    shared: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Begin,
    End,
    Cut,
}

struct Slot {
    spans: Vec<Span>,
    /// The span under way or next.
    at: usize,
    user: Option<UserIndex>,
    /// An iteration is under way, begun in this span.
    running: Option<usize>,
    is_wanted: bool,
    has_begun: bool,
    done: u64,
}

impl Looping {
    pub(super) fn new(number: usize, scenario: &Scenario, place: Place) -> Self {
        let mine = (0..scenario.slots()).filter(|slot| slot % place.of == place.thread);
        let slot = |slot| Slot {
            spans: scenario.spans(slot),
            at: 0,
            user: None,
            running: None,
            is_wanted: false,
            has_begun: false,
            done: 0,
        };
        let slots: Vec<_> = mine.map(slot).collect();
        let mut due = BinaryHeap::new();
        for (at, slot) in slots.iter().enumerate() {
            if let Some(span) = slot.spans.first() {
                due.push(Reverse((span.start_ns, at, Due::Begin)));
            }
        }
        let (each, shared) = match scenario.executor {
            Executor::PerVuIterations { iterations, .. } => (Some(iterations), None),
            Executor::SharedIterations { iterations, .. } => (None, Some(iterations)),
            _ => (None, None),
        };
        let users = HashMap::new();
        let start_time_ns = scenario.start_time_ns;
        Self { scenario: number, start_time_ns, start_ns: 0, slots, due, users, each, shared }
    }

    pub(super) fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns + self.start_time_ns;
    }

    pub(super) fn tick(&mut self, now_ns: u64, seats: &mut Seats) {
        while self.next_ns().is_some_and(|at_ns| at_ns <= now_ns) {
            let Some(Reverse((at_ns, slot, what))) = self.due.pop() else { return };
            match what {
                Due::Begin => self.begin(slot, self.start_ns + at_ns, seats),
                Due::End => self.end(slot, seats),
                Due::Cut => self.cut(slot, at_ns, seats),
            }
        }
    }

    pub(super) fn is_of(&self, user: UserIndex) -> bool {
        self.users.contains_key(&user)
    }

    pub(super) fn on_idle(&mut self, user: UserIndex, now_ns: u64, seats: &mut Seats) {
        let Some(&at) = self.users.get(&user) else { return };
        let slot = &mut self.slots[at];
        slot.running = None;
        slot.done += 1;
        self.iterate(at, now_ns, seats);
    }

    pub(super) fn next_ns(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((at_ns, ..))| self.start_ns.saturating_add(*at_ns))
    }

    pub(super) fn stop(&mut self, _now_ns: u64, seats: &mut Seats) {
        self.due.clear();
        for at in 0..self.slots.len() {
            self.slots[at].is_wanted = false;
            self.slots[at].at = usize::MAX;
            match (self.slots[at].user, self.slots[at].running) {
                (Some(user), Some(_)) => seats.cancel(user),
                (Some(_), None) => self.release(at, seats),
                _ => {}
            }
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.start_ns > 0 && self.users.is_empty() && self.due.is_empty()
    }

    /// A slot's span begins.
    fn begin(&mut self, at: usize, due_ns: u64, seats: &mut Seats) {
        let slot = &mut self.slots[at];
        let Some(span) = slot.spans.get(slot.at).copied() else { return };
        if slot.user.is_none() {
            let Some(user) = seats.borrow() else {
                // Another scenario has not given its users back yet, or there were too few.
                if !seats.is_initialising() {
                    seats.add().ok();
                }
                let soon_ns = due_ns - self.start_ns + sojourn_clock::MILLISECOND_NS;
                self.due.push(Reverse((soon_ns, at, Due::Begin)));
                return;
            };
            slot.user = Some(user);
            self.users.insert(user, at);
        }
        slot.is_wanted = true;
        slot.has_begun = true;
        if span.end_ns < u64::MAX {
            self.due.push(Reverse((span.end_ns, at, Due::End)));
        }
        if slot.running.is_none() {
            self.iterate(at, due_ns, seats);
        }
    }

    /// The slot's next iteration, if there is to be one.
    fn iterate(&mut self, at: usize, due_ns: u64, seats: &mut Seats) {
        let slot = &mut self.slots[at];
        let Some(user) = slot.user else { return };
        let has_all = self.each.is_some_and(|each| slot.done >= each);
        if has_all || !slot.is_wanted || !self.take(seats) {
            self.slots[at].is_wanted = false;
            self.release(at, seats);
            return;
        }
        let slot = &mut self.slots[at];
        slot.running = Some(slot.at);
        let in_test = seats.host().settings.next_iteration(self.scenario);
        // A user of a closed loop is never late: it begins when it can.
        seats.give(user, Job::Iterate(Iteration { scenario: self.scenario, due_ns, in_test }));
    }

    /// Whether another iteration is left of those that all share.
    fn take(&self, seats: &Seats) -> bool {
        self.shared.is_none_or(|shared| seats.host().settings.taken(self.scenario) < shared)
    }

    /// A slot's span ends: what runs may go on until it is cut.
    fn end(&mut self, at: usize, seats: &mut Seats) {
        let slot = &mut self.slots[at];
        let Some(span) = slot.spans.get(slot.at).copied() else { return };
        slot.is_wanted = false;
        slot.at += 1;
        if slot.running.is_some() {
            self.due.push(Reverse((span.cut_ns, at, Due::Cut)));
        } else if slot.user.is_some() {
            self.release(at, seats);
        }
        let slot = &self.slots[at];
        if let Some(next) = slot.spans.get(slot.at) {
            self.due.push(Reverse((next.start_ns, at, Due::Begin)));
        }
        self.drop_rest(at, seats);
    }

    /// What a user has not begun in time is dropped.
    fn drop_rest(&mut self, at: usize, seats: &Seats) {
        let slot = &self.slots[at];
        let Some(each) = self.each else { return };
        let begun = slot.done + u64::from(slot.running.is_some());
        if begun < each {
            seats.host().drop_iterations(self.scenario, each - begun);
        }
    }

    /// Grace is over.
    fn cut(&mut self, at: usize, cut_ns: u64, seats: &mut Seats) {
        let slot = &self.slots[at];
        let (Some(user), Some(begun)) = (slot.user, slot.running) else { return };
        let is_its = slot.spans.get(begun).is_some_and(|span| span.cut_ns == cut_ns);
        if is_its {
            seats.cancel(user);
        }
    }

    fn release(&mut self, at: usize, seats: &mut Seats) {
        if let Some(user) = self.slots[at].user.take() {
            self.users.remove(&user);
            seats.give_back(user);
        }
        if !self.users.is_empty() {
            return;
        }
        // Nobody is left to be cut. And where iterations are counted, all may be done long before
        // the time is over.
        let is_counted = self.each.is_some() || self.shared.is_some();
        let is_over = |slot: &Slot| slot.has_begun && !slot.is_wanted;
        let only_cuts = self.due.iter().all(|Reverse((.., what))| *what == Due::Cut);
        if only_cuts || is_counted && self.slots.iter().all(is_over) {
            self.due.clear();
        }
    }
}
