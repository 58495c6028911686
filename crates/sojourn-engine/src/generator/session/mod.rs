//! A generator of sessions: clients that walk through a program, each with connections of its own.
//!
//! It keeps the same accounts as a generator of journeys, under the same names: a session is a
//! journey without stages, a client is one such journey, its requests are steps. It makes the
//! entries itself that the ledger would make, as a generator of an attack does.

mod accounts;
mod awaiting;
mod cookies;
mod ending;
mod events;
mod ids;
mod inbox;
mod origins;
mod redirect;
mod requests;
mod seat;
mod tracing;

use std::sync::Arc;

use crossbeam_channel::TryRecvError;
use slab::Slab;
use sojourn_clock::SECOND_NS;
use sojourn_http::{Completion, Response};
use sojourn_ledger::SourceId;
use sojourn_metrics::{Recorder, Snapshot};
use sojourn_pace::{Share, random_unit};
use sojourn_session::{Action, Answer, Client as Walker, Ended, Input, Memory, Trace};

use super::{
    GeneratorSpec,
    lag_budget::LagBudget,
    open::OpenStream,
    outbox::{Outbox, Rhythm},
    telling::await_start,
    timers::Timers,
    world::World,
};
use crate::{
    health::ThreadHealth,
    last_word::hand_over,
    link::{FromGenerator, ToGenerator},
    sessions::Sessions,
};
use accounts::Accounts;
use events::Events;
pub(crate) use inbox::{Arrived, Inbox, Inboxes, StageFit};
use origins::Origins;
use requests::Moment;
use seat::{Seat, SeatEvents};
use tracing::{refused, tell};

/// Clients started or woken in a row before answers are looked at again.
const STEPS_PER_TURN: usize = 64;
/// Clients at once of one thread; a further arrival is missed.
const CLIENTS_MAX: usize = 2_000_000;
/// Facts that wait for a place in the ledger's channel: journeys of events that have begun.
const FACTS_MAX: usize = 1_000_000;

pub(crate) struct SessionGenerator<W> {
    spec: GeneratorSpec,
    sessions: Arc<Sessions>,
    client: W,
    recorder: Recorder,
    accounts: Accounts,
    outbox: Outbox,
    open: Vec<OpenStream>,
    seats: Slab<Seat>,
    generation: u32,
    timers: Timers,
    memory: Memory,
    origins: Origins,
    /// Where there is anything to publish or to wait for.
    events: Option<Box<Events>>,
    rhythm: Rhythm,
    start_ns: u64,
    /// When the last phase ends: loops that go on until then end too.
    load_end_ns: u64,
    last_t0_ns: u64,
    /// It was said that there are no further arrivals.
    arrivals_done: bool,
    /// It was said that nobody is under way any more.
    idle_told: bool,
    stopped: bool,
    /// A change of rate that could not be followed.
    broken: Option<String>,
    /// Places whose client has been looked at since the last phase ended.
    loops_ended: usize,
    health: ThreadHealth,
    lag_budget: LagBudget,
}

impl<W: World> SessionGenerator<W> {
    pub(crate) fn new(
        mut spec: GeneratorSpec,
        sessions: Arc<Sessions>,
        client: W,
        start_ns: u64,
    ) -> Self {
        let plan = Arc::clone(&spec.plan);
        let share = Share::Stripe { index: spec.index, of: spec.of };
        let mut recorder = Recorder::new(spec.index);
        recorder.start_at(start_ns);
        let health = ThreadHealth::new(&format!("generator {}", spec.index), &mut recorder)
            .watch(plan.health.busy_max, &mut recorder)
            .of_process(spec.process.as_deref(), &mut recorder);
        let steady_ns = plan.load.iter().map(|load| load.steady_ns).max().unwrap_or(0);
        let entries = (0u16..).zip(&plan.load);
        let open = entries
            .filter_map(|(entry, load)| OpenStream::new(entry, load, plan.seed, share, start_ns));
        let publishers = std::mem::take(&mut spec.publishers);
        let events = sessions.events.clone().zip(spec.inbox.take());
        let events = events.map(|(load, inbox)| Box::new(Events::new(load, inbox, publishers)));
        Self {
            rhythm: if events.is_some() { Rhythm::RELAXED } else { Rhythm::FACTLESS },
            events,
            accounts: Accounts::new(&plan, &sessions.program, &mut recorder),
            outbox: Outbox::new(SourceId(spec.index as u16), spec.facts.clone(), FACTS_MAX),
            open: open.collect(),
            seats: Slab::new(),
            generation: 0,
            timers: Timers::default(),
            memory: Memory::new(plan.seed, spec.index, spec.of),
            origins: Origins::default(),
            start_ns,
            load_end_ns: start_ns.saturating_add(steady_ns),
            last_t0_ns: start_ns,
            arrivals_done: false,
            idle_told: false,
            stopped: false,
            broken: None,
            loops_ended: 0,
            health,
            lag_budget: LagBudget::new(spec.options.lag_budget_ns),
            recorder,
            client,
            sessions,
            spec,
        }
    }

    pub(crate) fn run(mut self) -> Result<(), String> {
        let mut completions: Vec<Completion> = Vec::with_capacity(1024);
        await_start(&mut self.client, &self.spec, self.start_ns)?;
        let mut snapshot_ns = self.start_ns + SECOND_NS;
        let mut turn_ns = self.client.now_ns();
        while self.obey() {
            let wake_ns = self.start_due().min(self.wake_due()).min(self.hear_events());
            let now = self.client.now_ns();
            let wake_ns = wake_ns.min(self.end_loops(now));
            if now >= snapshot_ns {
                self.report(now);
                snapshot_ns += SECOND_NS * (1 + (now - snapshot_ns) / SECOND_NS);
            }
            let flush_ns = self.flush(now);
            self.health.turn(now.saturating_sub(turn_ns));
            let deadline_ns = wake_ns.min(snapshot_ns).min(flush_ns);
            self.client
                .wait_until(deadline_ns, &mut completions)
                .map_err(|error| format!("event loop failed: {error}"))?;
            turn_ns = self.client.now_ns();
            for completion in completions.drain(..) {
                self.complete(&completion);
            }
        }
        self.finish()
    }

    /// Takes the coordinator's messages; false: end now.
    fn obey(&mut self) -> bool {
        loop {
            match self.spec.control.try_recv() {
                Ok(ToGenerator::StopArrivals) => {
                    self.stopped = !self.arrivals_done;
                    self.open.clear();
                }
                Ok(ToGenerator::Amend(amendment)) => {
                    let now = self.client.now_ns();
                    let amended = self.open.iter_mut().try_for_each(|it| it.amend(amendment, now));
                    let goes_on = self.open.iter().any(|stream| stream.peek().is_some());
                    if let Err(why) = amended {
                        self.broken = Some(why);
                        return false;
                    }
                    if self.arrivals_done && goes_on {
                        let why = "a change of rate came after the last arrival";
                        self.broken = Some(why.to_owned());
                        return false;
                    }
                }
                Ok(ToGenerator::Abort) | Err(TryRecvError::Disconnected) => return false,
                Ok(ToGenerator::Start { .. } | ToGenerator::SetVariable { .. }) => {}
                Err(TryRecvError::Empty) => return true,
            }
        }
    }

    /// Lets in the clients that are due, a bounded number at a time; says when to look again.
    fn start_due(&mut self) -> u64 {
        for _ in 0..STEPS_PER_TURN {
            let next = self
                .open
                .iter()
                .enumerate()
                .filter_map(|(at, open)| open.peek().map(|(k, t0_ns)| (t0_ns, at, k)));
            let Some((t0_ns, at, k)) = next.min() else {
                return self.tell_when_done(self.client.now_ns());
            };
            let now = self.client.now_ns();
            if t0_ns > now {
                return self.lag_budget.wake_ns(t0_ns);
            }
            if self.client.is_behind() {
                return now;
            }
            let entry = self.open[at].entry;
            self.lag_budget.begins(t0_ns, now);
            self.open[at].advance();
            self.let_in(entry, k, t0_ns, now);
        }
        self.client.now_ns()
    }

    fn let_in(&mut self, entry: u16, k: u64, t0_ns: u64, now: u64) {
        let number = u64::from(entry) << 48 | k;
        let unit = random_unit(self.spec.plan.seed, u64::from_be_bytes(*b"sessions"), number);
        let session = self.sessions.mixes.get(usize::from(entry)).map_or(0, |mix| mix.pick(unit));
        // The plan has as many journeys as the program has sessions: at most as many as numbers.
        let kind = session as u16;
        self.last_t0_ns = self.last_t0_ns.max(t0_ns);
        if self.seats.len() == CLIENTS_MAX {
            self.accounts.missed(kind, &mut self.recorder);
            return;
        }
        self.generation = self.generation.wrapping_add(1);
        let walker = Walker::new(&self.sessions.program, session, number);
        let mut seat = Seat::new(walker, kind, number, t0_ns, self.generation);
        seat.events = self.events.is_some().then(Box::<SeatEvents>::default);
        self.accounts.arrived(&seat, now, &mut self.recorder);
        let slot = self.seats.insert(seat);
        self.go(slot, Input::Go, now);
    }

    /// Wakes the clients whose pause is over, a bounded number at a time; says when to look again.
    fn wake_due(&mut self) -> u64 {
        for _ in 0..STEPS_PER_TURN {
            let now = self.client.now_ns();
            let Some(token) = self.timers.pop_due(now) else { return self.timers.next_ns() };
            if let Some(slot) = self.slot_of(token) {
                self.go(slot, Input::Go, now);
            }
        }
        self.client.now_ns()
    }

    fn slot_of(&self, token: u64) -> Option<usize> {
        let (slot, generation) = (token as u32 as usize, (token >> 32) as u32);
        self.seats.get(slot).filter(|seat| seat.generation == generation).map(|_| slot)
    }

    /// What sending takes of this instant.
    fn moment(&self, now_ns: u64) -> Moment {
        Moment {
            seed: self.spec.plan.seed,
            unix_ms: self.spec.anchor.unix_ns_at(now_ns) / 1_000_000,
            at_ns: now_ns.saturating_sub(self.start_ns),
            now_ns,
        }
    }

    /// Lets a client go on until it waits for something or ends.
    fn go(&mut self, slot: usize, input: Input<'_>, now: u64) {
        let mut next = self.act(slot, input, now);
        while let Some(input) = next {
            next = self.act(slot, input, self.client.now_ns());
        }
    }

    /// Lets a client take a step; what it is told next, unless it waits for something or has ended.
    fn act(&mut self, slot: usize, input: Input<'_>, now: u64) -> Option<Input<'static>> {
        let sessions = Arc::clone(&self.sessions);
        let program = &*sessions.program;
        let moment = self.moment(now);
        let is_over = self.is_over(now);
        let seat = self.seats.get_mut(slot)?;
        if is_over && seat.walker.is_in_endless_loop(program) {
            self.leave(slot, Ended::Completed, now);
            return None;
        }
        self.memory.set_unix_ms(moment.unix_ms);
        let token = u64::from(seat.generation) << 32 | slot as u64;
        let books = (&mut self.accounts, &mut self.recorder);
        match seat.walker.step(program, &mut self.memory, input) {
            Action::Request(outgoing) => {
                let mut tools = requests::Tools {
                    client: &mut self.client,
                    origins: &mut self.origins,
                    sessions: &sessions,
                    moment,
                    token,
                };
                (!tools.ask(seat, &outgoing, books)).then_some(Input::Failed)
            }
            Action::Denied { number, url, .. } => {
                let step = sessions.steps.get(number).copied().unwrap_or(0);
                books.0.denied(seat.kind, step, books.1);
                tell(&sessions, seat, moment.at_ns, |_| refused(url, "its host is no target"));
                Some(Input::Failed)
            }
            // It may have come into the loop only now.
            Action::Wait { .. } if is_over && seat.walker.is_in_endless_loop(program) => {
                self.leave(slot, Ended::Completed, now);
                None
            }
            Action::Wait { ns } => {
                tell(&sessions, seat, moment.at_ns, |_| Trace::Waits { ns });
                seat.pauses(ns);
                self.timers.push(seat.due_ns, token);
                None
            }
            Action::Check { check, is_ok } => {
                books.0.check(check, is_ok, books.1);
                tell(&sessions, seat, moment.at_ns, |_| Trace::Checked { check, is_ok });
                Some(Input::Go)
            }
            Action::Log(line) => {
                let has_room = tracing::log(&sessions, seat, moment.at_ns, line);
                books.0.logged(has_room, books.1);
                Some(Input::Go)
            }
            Action::Publish(outgoing) => {
                let how = (token, self.spec.options.run_id.as_str(), now);
                let is_sent = self.events.as_mut()?.publish(seat, &outgoing, how, books);
                (!is_sent).then_some(Input::Go)
            }
            Action::Expect { number, key, within_ns, count, .. } => {
                let what = (number, key, count, within_ns);
                let how = (token, self.spec.index, now);
                let events = self.events.as_mut()?;
                let waits = events.expect(seat, what, how, (books.0, books.1, &mut self.outbox));
                (!waits).then_some(Input::Missed)
            }
            Action::Done(ended) => {
                self.leave(slot, ended, now);
                None
            }
        }
    }

    fn leave(&mut self, slot: usize, ended: Ended, now: u64) {
        let mut seat = self.seats.remove(slot);
        let at_ns = now.saturating_sub(self.start_ns);
        tell(&self.sessions, &mut seat, at_ns, |_| Trace::Ended(ended));
        seat.leave(&mut self.origins, &mut self.client);
        let tools = (&*self.sessions.program, &mut self.recorder);
        self.accounts.ended(&seat, ended, now, tools);
    }

    /// An answer has come, or none will.
    fn complete(&mut self, completion: &Completion) {
        let Some(slot) = self.slot_of(completion.token) else { return };
        let moment = self.moment(self.client.now_ns());
        let seat = &mut self.seats[slot];
        let Some(asked) = seat.asked else { return };
        let at_ns = completion.ended_ns.saturating_sub(self.start_ns);
        tell(&self.sessions, seat, at_ns, |_| tracing::of_completion(completion));
        let mut denied = None;
        let sets_cookies =
            |response: &Response| self.sessions.cookies && response.header("set-cookie").is_some();
        if let Ok(response) = &completion.outcome
            && ((300..400).contains(&response.status) || sets_cookies(response))
        {
            let mut tools = requests::Tools {
                client: &mut self.client,
                origins: &mut self.origins,
                sessions: &self.sessions,
                moment,
                token: completion.token,
            };
            if self.sessions.cookies {
                tools.take_cookies(seat, &asked, response);
            }
            match tools.follow(seat, asked, completion, response) {
                Ok(true) => return,
                Ok(false) => {}
                Err(why) => {
                    let location = response.header("location").unwrap_or_default();
                    let url = String::from_utf8_lossy(location);
                    tell(&self.sessions, seat, at_ns, |_| refused(&url, &why));
                    denied = Some(why);
                }
            }
        }
        let recorder = &mut self.recorder;
        let of = (seat.kind, seat.due_ns);
        self.accounts.answered(of, &asked, completion, denied.as_deref(), recorder);
        seat.answered();
        // What comes next is due from here on.
        seat.due_ns = completion.ended_ns;
        match &completion.outcome {
            Ok(response) => {
                let headers = requests::headers(response);
                let answer =
                    Answer { status: response.status, headers: &headers, body: &response.body };
                self.go(slot, Input::Answer(answer), self.client.now_ns());
            }
            Err(_) => self.go(slot, Input::Failed, self.client.now_ns()),
        }
    }

    /// Says once that there are no further arrivals, when the last phase is over; returns when to
    /// look again.
    fn tell_when_done(&mut self, now: u64) -> u64 {
        if self.arrivals_done {
            return u64::MAX;
        }
        if now < self.load_end_ns && !self.stopped {
            return self.load_end_ns;
        }
        let message = FromGenerator::ArrivalsDone {
            last_t0_ns: self.last_t0_ns,
            load_end_ns: if self.stopped { now } else { self.load_end_ns },
            at_ns: now,
        };
        // Tried again at the next turn when the channel is full.
        self.arrivals_done = self.spec.reports.try_send((self.spec.index, message)).is_ok();
        u64::MAX
    }

    /// Says how far this source has seen, and once that the last client has ended, which is what
    /// the coordinator waits for. Returns when to say it again.
    fn flush(&mut self, now: u64) -> u64 {
        if self.arrivals_done && self.seats.is_empty() && !self.idle_told {
            let reports = &self.spec.reports;
            self.idle_told = reports.try_send((self.spec.index, FromGenerator::Idle)).is_ok();
        }
        self.outbox.flush_in(self.rhythm, now, now)
    }

    /// Hands over this second's figures.
    fn report(&mut self, now: u64) {
        let snapshot = self.snapshot(now);
        // A lost one shows as a gap in their numbers, which makes the run void.
        let _ignored =
            self.spec.reports.try_send((self.spec.index, FromGenerator::Snapshot(snapshot)));
    }

    fn snapshot(&mut self, now: u64) -> Box<Snapshot> {
        self.accounts.levels(&mut self.recorder);
        self.health.measure(now, &mut self.recorder);
        let connections = self.client.connections();
        self.health.levels(connections, self.lag_budget.ns(), &mut self.recorder);
        let refused = self.outbox.take_refused();
        self.health.refused("facts to the ledger", refused, &mut self.recorder);
        if let Some(events) = &self.events {
            let refused = events.take_refused();
            self.health.refused("events for clients", refused, &mut self.recorder);
        }
        let spare = self.spec.spares.try_recv().ok().map(|spare| *spare);
        Box::new(self.recorder.take(now, spare))
    }

    /// Hands over everything that is left.
    fn finish(mut self) -> Result<(), String> {
        self.accounts.finish(&mut self.recorder);
        self.outbox.finish(self.client.now_ns());
        let last = FromGenerator::Snapshot(self.snapshot(self.client.now_ns()));
        let handed = hand_over(&self.spec.reports, (self.spec.index, last));
        self.broken.map_or(handed, Err)
    }
}
