//! A thread's users: made, resumed, borrowed by scenarios and given back.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use slab::Slab;
use sojourn_script::{Fiber, Stacks};

use super::Place;
use crate::host::{Host, OperationId, UserIndex};
use crate::user::{Job, JobEnd, Outcome, Phase, User, spawn};

/// See the module's page.
pub(super) struct Seats {
    host: Rc<Host>,
    place: Place,
    stacks: Stacks,
    seats: Slab<Seat>,
    /// Idle users of no scenario; the last given back is taken next.
    free: Vec<UserIndex>,
    /// Users ever made, for their numbers.
    made: u64,
    /// Users that still run the script's top level.
    initialising: usize,
}

struct Seat {
    user: Rc<User>,
    fiber: Fiber,
    /// It has run the script's top level.
    is_initialised: bool,
    /// Runs `setup` and the like only.
    is_caller: bool,
}

impl Seats {
    pub(super) fn new(host: &Rc<Host>, place: Place) -> Self {
        Self {
            host: Rc::clone(host),
            place,
            stacks: Stacks::new(host.settings.stack_bytes),
            seats: Slab::new(),
            free: Vec::new(),
            made: 0,
            initialising: 0,
        }
    }

    /// Makes a user; it is free once it has run the script's top level.
    pub(super) fn add(&mut self) -> Result<(), String> {
        let id = self.made * self.place.of + self.place.thread + 1;
        self.made += 1;
        self.seat(id, false).map(|_| ())
    }

    /// Makes a user that belongs to no scenario.
    pub(super) fn add_caller(&mut self) -> Result<UserIndex, String> {
        self.seat(0, true)
    }

    fn seat(&mut self, id: u64, is_caller: bool) -> Result<UserIndex, String> {
        let index = self.seats.vacant_key() as UserIndex;
        let (user, fiber) = spawn(&self.host, index, id, &self.stacks)
            .map_err(|error| format!("no memory for another user's stack: {error}"))?;
        self.seats.insert(Seat { user, fiber, is_initialised: false, is_caller });
        self.initialising += 1;
        self.host.make_ready(index);
        Ok(index)
    }

    /// Lets a user go on; how its job ended, if it has just done so.
    pub(super) fn resume(&mut self, index: UserIndex) -> Option<JobEnd> {
        let seat = self.seats.get_mut(index as usize)?;
        if seat.fiber.is_done() {
            return None;
        }
        seat.fiber.resume();
        if !seat.is_initialised && seat.user.phase.get() != Phase::Init {
            seat.is_initialised = true;
            self.initialising -= 1;
            if !seat.is_caller && seat.user.phase.get() == Phase::Idle {
                self.free.push(index);
                self.host.settings.progress.initialised.fetch_add(1, Ordering::Relaxed);
            }
        }
        seat.user.ended.borrow_mut().take()
    }

    /// A free user, for a scenario.
    pub(super) fn borrow(&mut self) -> Option<UserIndex> {
        let user = self.free.pop()?;
        self.host.settings.progress.active.fetch_add(1, Ordering::Relaxed);
        Some(user)
    }

    /// Gives a user back. Its shares of groups are for those who go on.
    pub(super) fn give_back(&mut self, user: UserIndex) {
        if let Some(seat) = self.seats.get(user as usize) {
            seat.user.memberships.end_all();
        }
        self.free.push(user);
        self.host.settings.progress.active.fetch_sub(1, Ordering::Relaxed);
    }

    /// Gives an idle user something to do.
    pub(super) fn give(&mut self, user: UserIndex, job: Job) {
        if let Some(seat) = self.seats.get(user as usize) {
            // Here and not when the user begins: a cut that comes between the two counts.
            seat.user.cancelled.set(false);
            *seat.user.job.borrow_mut() = Some(job);
            self.host.make_ready(user);
        }
    }

    /// Ends what a user does.
    pub(super) fn cancel(&mut self, user: UserIndex) {
        if let Some(seat) = self.seats.get(user as usize) {
            seat.user.cancelled.set(true);
            self.host.make_ready(user);
        }
    }

    pub(super) fn complete(&mut self, user: UserIndex, operation: OperationId, outcome: Outcome) {
        if let Some(seat) = self.seats.get(user as usize) {
            seat.user.complete(operation, outcome);
        }
    }

    pub(super) fn phase(&self, user: UserIndex) -> Phase {
        self.seats.get(user as usize).map_or(Phase::Ended, |seat| seat.user.phase.get())
    }

    /// Takes a user away that will not be resumed again.
    pub(super) fn remove(&mut self, user: UserIndex) {
        self.end(user);
        self.seats.try_remove(user as usize);
    }

    /// Whether all have run the script's top level.
    pub(super) fn all_idle(&self) -> bool {
        self.initialising == 0
    }

    pub(super) fn is_initialising(&self) -> bool {
        self.initialising > 0
    }

    pub(super) fn count_ready(&self) -> usize {
        self.host.count_ready()
    }

    pub(super) fn host(&self) -> &Rc<Host> {
        &self.host
    }

    /// Whether samples for outputs should be handed over soon.
    pub(super) fn samples_are_many(&self) -> bool {
        self.host.shard.borrow().samples_waiting() > crate::run::SAMPLES_MAX / 2
    }

    /// Leaves all users as they are: the process ends with the test, and freeing thousands of
    /// engines block by block would only keep people waiting.
    pub(super) fn abandon(&mut self) {
        std::mem::forget(std::mem::take(&mut self.seats));
    }

    /// Lets a user's fiber run to its end, so that its engine is freed where it was made.
    fn end(&mut self, user: UserIndex) {
        let Some(seat) = self.seats.get_mut(user as usize) else { return };
        // Each resumption takes it one wait further: a script that catches what ends it gets a few.
        for _ in 0..1_000 {
            if seat.fiber.is_done() {
                return;
            }
            seat.user.cancelled.set(true);
            *seat.user.job.borrow_mut() = Some(Job::End);
            seat.fiber.resume();
        }
    }
}
