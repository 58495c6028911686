//! Scenarios whose iterations begin at instants, whatever became of those before.

use std::collections::HashMap;

use sojourn_k6::executors::{Scenario, Starts};

use super::Place;
use super::player::share;
use super::seats::Seats;
use crate::host::UserIndex;
use crate::user::{Iteration, Job};

/// Turns for which an iteration waits for an idle user: one in which answers are looked at that had
/// come when it was due, and one in which their users go on. A thread that was held up would
/// otherwise drop what it is only late with.
const LOOKS: u8 = 2;

/// See the module's page. An iteration that finds no idle user is dropped and counted.
pub(super) struct Arrivals {
    scenario: usize,
    start_time_ns: u64,
    /// When the scenario begins, ns; 0 before that is known.
    start_ns: u64,
    starts: Starts,
    place: Place,
    /// The next iteration of this thread and when it is due, from the scenario's start.
    next: Option<(u64, u64)>,
    duration_ns: u64,
    cut_ns: u64,
    /// Users from the start, and most.
    users_planned: u64,
    users_max: u64,
    idle: Vec<UserIndex>,
    /// How often no user was idle for the next iteration, which is due.
    looks: u8,
    /// A user was missing, and is being made.
    is_growing: bool,
    /// Users that run an iteration; true once it is cut.
    busy: HashMap<UserIndex, bool>,
    stage: Stage,
    has_warned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Running,
    /// No iteration begins any more.
    Ending,
    Done,
}

impl Arrivals {
    pub(super) fn new(
        number: usize,
        scenario: &Scenario,
        mut starts: Starts,
        place: Place,
    ) -> Self {
        let first = place.thread;
        let next = starts.at(first).map(|at_ns| (first, at_ns));
        Self {
            scenario: number,
            start_time_ns: scenario.start_time_ns,
            start_ns: 0,
            users_planned: share(starts.pre_allocated_vus, place),
            users_max: share(starts.max_vus, place),
            starts,
            place,
            next,
            duration_ns: scenario.duration_ns(),
            cut_ns: scenario.cut_ns(),
            idle: Vec::new(),
            looks: 0,
            is_growing: false,
            busy: HashMap::new(),
            stage: Stage::Waiting,
            has_warned: false,
        }
    }

    pub(super) fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns + self.start_time_ns;
    }

    pub(super) fn tick(&mut self, now_ns: u64, seats: &mut Seats) {
        if self.stage == Stage::Waiting && now_ns >= self.start_ns {
            self.stage = Stage::Running;
            self.borrow(self.users_planned, seats);
        }
        let Some(since_ns) = now_ns.checked_sub(self.start_ns) else { return };
        if self.stage == Stage::Running {
            self.begin_due(since_ns, seats);
            if since_ns >= self.duration_ns && self.looks == 0 {
                self.stage = Stage::Ending;
                for user in self.idle.drain(..) {
                    seats.give_back(user);
                }
            }
        }
        if self.stage == Stage::Ending {
            if since_ns >= self.cut_ns {
                self.cut(seats);
            }
            if self.busy.is_empty() {
                self.stage = Stage::Done;
            }
        }
    }

    fn begin_due(&mut self, since_ns: u64, seats: &mut Seats) {
        while let Some((number, at_ns)) = self.next
            && at_ns <= since_ns
        {
            self.take_grown(seats);
            let user = self.idle.pop();
            if user.is_none() && self.looks < LOOKS {
                self.looks += 1;
                return;
            }
            self.looks = 0;
            let following = number + self.place.of;
            self.next = self.starts.at(following).map(|at_ns| (following, at_ns));
            let settings = &seats.host().settings;
            let Some(user) = user else {
                seats.host().drop_iterations(self.scenario, 1);
                self.grow(seats);
                continue;
            };
            settings.next_iteration(self.scenario);
            let due_ns = self.start_ns + at_ns;
            self.busy.insert(user, false);
            let iteration = Iteration { scenario: self.scenario, due_ns, in_test: number };
            seats.give(user, Job::Iterate(iteration));
        }
    }

    /// One more user, where there may be; as its top level takes a while, for a later iteration.
    fn grow(&mut self, seats: &mut Seats) {
        let users = (self.idle.len() + self.busy.len()) as u64;
        if users < self.users_max {
            self.is_growing = true;
            self.take_grown(seats);
            if self.is_growing && !seats.is_initialising() {
                // Without memory for another one the next attempt may have it.
                seats.add().ok();
            }
        } else if !self.has_warned {
            self.has_warned = true;
            seats.host().settings.console.warn(&format!(
                "Insufficient VUs, reached {users} active VUs and cannot initialize more"
            ));
        }
    }

    /// Takes the user that was missing, if it is there by now.
    fn take_grown(&mut self, seats: &mut Seats) {
        if self.is_growing
            && let Some(user) = seats.borrow()
        {
            self.is_growing = false;
            self.idle.push(user);
        }
    }

    /// Takes idle users; where there are too few, others are made for the next attempt.
    fn borrow(&mut self, wanted: u64, seats: &mut Seats) {
        for _ in 0..wanted {
            match seats.borrow() {
                Some(user) => self.idle.push(user),
                None if seats.is_initialising() => return,
                None => {
                    seats.add().ok();
                    return;
                }
            }
        }
    }

    pub(super) fn is_of(&self, user: UserIndex) -> bool {
        self.busy.contains_key(&user)
    }

    pub(super) fn on_idle(&mut self, user: UserIndex, seats: &mut Seats) {
        self.busy.remove(&user);
        if self.stage == Stage::Running {
            self.idle.push(user);
        } else {
            seats.give_back(user);
        }
    }

    pub(super) fn next_ns(&self) -> Option<u64> {
        let since_ns = match self.stage {
            Stage::Waiting => 0,
            Stage::Running => self.next.map_or(self.duration_ns, |(_, at_ns)| at_ns),
            Stage::Ending => self.cut_ns,
            Stage::Done => return None,
        };
        Some(self.start_ns.saturating_add(since_ns.min(self.end_ns())))
    }

    /// What comes next at the latest.
    fn end_ns(&self) -> u64 {
        if self.stage == Stage::Ending { self.cut_ns } else { self.duration_ns }
    }

    fn cut(&mut self, seats: &mut Seats) {
        for (user, is_cut) in &mut self.busy {
            if !std::mem::replace(is_cut, true) {
                seats.cancel(*user);
            }
        }
    }

    pub(super) fn stop(&mut self, seats: &mut Seats) {
        self.next = None;
        for user in self.idle.drain(..) {
            seats.give_back(user);
        }
        self.cut(seats);
        self.stage = if self.busy.is_empty() { Stage::Done } else { Stage::Ending };
        self.cut_ns = self.cut_ns.min(self.duration_ns);
    }

    pub(super) fn is_done(&self) -> bool {
        self.stage == Stage::Done || self.stage == Stage::Ending && self.busy.is_empty()
    }
}
