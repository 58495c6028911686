//! A scenario whose users are as many as somebody outside says: externally-controlled.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use sojourn_clock::MILLISECOND_NS;
use sojourn_k6::executors::{Executor, Scenario};

use super::Place;
use super::seats::Seats;
use crate::host::UserIndex;
use crate::user::{Iteration, Job};

/// What somebody outside says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Steer {
    /// Users that loop.
    pub(crate) vus: u64,
    /// Most that may.
    pub(crate) vus_max: u64,
    /// None begins an iteration.
    pub(crate) is_paused: bool,
}

/// See the module's page. Users have numbers from 0; those below [`Steer::vus`] loop. Who is not
/// wanted any more finishes its iteration, but for the scenario's end, which cuts.
pub(super) struct Steered {
    scenario: usize,
    place: Place,
    /// From the test's start, ns.
    start_time_ns: u64,
    end_ns: u64,
    /// When the scenario begins, ns; 0 before that is known.
    start_ns: u64,
    steer: Steer,
    /// Users of this thread that loop, and their numbers.
    users: HashMap<UserIndex, u64>,
    /// Numbers that have a user.
    taken: BTreeSet<u64>,
    /// When a user is looked for again that was not there, ns.
    again_ns: Option<u64>,
    is_over: bool,
}

impl Steered {
    /// Of an externally controlled scenario; others have no users here.
    pub(super) fn new(number: usize, scenario: &Scenario, place: Place) -> Self {
        let (vus, vus_max) = match scenario.executor {
            Executor::ExternallyControlled { vus, max_vus, .. } => (vus, max_vus),
            _ => (0, 0),
        };
        Self {
            scenario: number,
            place,
            start_time_ns: scenario.start_time_ns,
            end_ns: scenario.duration_ns(),
            start_ns: 0,
            steer: Steer { vus, vus_max, is_paused: false },
            users: HashMap::new(),
            taken: BTreeSet::new(),
            again_ns: None,
            is_over: false,
        }
    }

    pub(super) fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns + self.start_time_ns;
        self.end_ns = self.start_ns.saturating_add(self.end_ns);
        self.again_ns = Some(self.start_ns);
    }

    /// Takes what somebody outside says, from now on.
    pub(super) fn steer(&mut self, steer: Steer, now_ns: u64) {
        self.steer = steer;
        if self.start_ns > 0 && !self.is_over {
            self.again_ns = Some(now_ns.max(self.start_ns));
        }
    }

    pub(super) fn tick(&mut self, now_ns: u64, seats: &mut Seats) {
        if self.start_ns == 0 || self.is_over {
            return;
        }
        if now_ns >= self.end_ns {
            self.stop(seats);
        } else if self.again_ns.is_some_and(|again_ns| again_ns <= now_ns) {
            self.again_ns = None;
            self.fill(now_ns, seats);
        }
    }

    /// Lets every number that is wanted and has no user have one.
    fn fill(&mut self, now_ns: u64, seats: &mut Seats) {
        let place = self.place;
        let mine = (place.thread..self.steer.vus).step_by(place.of as usize);
        for number in mine.filter(|_| !self.steer.is_paused) {
            if self.taken.contains(&number) {
                continue;
            }
            let Some(user) = seats.borrow() else {
                // There are too few, or another scenario has not given its users back yet.
                if !seats.is_initialising() {
                    seats.add().ok();
                }
                self.again_ns = Some(now_ns + MILLISECOND_NS);
                return;
            };
            self.users.insert(user, number);
            self.taken.insert(number);
            self.iterate(user, now_ns, seats);
        }
    }

    fn iterate(&self, user: UserIndex, due_ns: u64, seats: &mut Seats) {
        let in_test = seats.host().settings.next_iteration(self.scenario);
        seats.give(user, Job::Iterate(Iteration { scenario: self.scenario, due_ns, in_test }));
    }

    pub(super) fn is_of(&self, user: UserIndex) -> bool {
        self.users.contains_key(&user)
    }

    pub(super) fn on_idle(&mut self, user: UserIndex, now_ns: u64, seats: &mut Seats) {
        let Some(&number) = self.users.get(&user) else { return };
        if self.is_over || self.steer.is_paused || number >= self.steer.vus {
            self.users.remove(&user);
            self.taken.remove(&number);
            seats.give_back(user);
        } else {
            self.iterate(user, now_ns, seats);
        }
    }

    pub(super) fn next_ns(&self) -> Option<u64> {
        match self.is_over || self.start_ns == 0 {
            true => None,
            false => Some(self.again_ns.unwrap_or(u64::MAX).min(self.end_ns)),
        }
    }

    pub(super) fn stop(&mut self, seats: &mut Seats) {
        self.is_over = true;
        for user in self.users.keys() {
            seats.cancel(*user);
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_over && self.users.is_empty()
    }
}
