//! A generator: one thread that makes load.

mod acting;
mod actor;
mod answer;
mod attack;
mod batch;
mod carried_trace;
mod choice;
mod clock;
mod closed;
mod journey;
mod lag_budget;
mod numbers;
mod open;
mod outbox;
mod prepared;
mod publishers;
mod redirect;
mod series;
mod session;
mod spec;
mod telling;
#[cfg(test)]
mod tests;
mod thread;
mod timers;
mod turn;
mod world;

use std::{collections::HashMap, sync::Arc};

use crossbeam_channel::{Sender, TryRecvError};
use slab::Slab;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{Client, Completion, Io, Waker};
use sojourn_ledger::{Fact, JourneyId, Phase, SourceId};
use sojourn_metrics::Recorder;
use sojourn_pace::{Amendment, Share};

use crate::{
    health::ThreadHealth,
    link::{FromGenerator, ToActor, ToGenerator},
    work::Work,
};
use acting::Acting;
pub(crate) use actor::Scratch;
use actor::{Actor, Context, Step, Wake};
pub(crate) use answer::{Answer, key_of};
use attack::AttackGenerator;
use batch::BatchActor;
use choice::pick_journey;
pub(crate) use choice::waits_for_journey;
use closed::ClosedStream;
pub(crate) use journey::{Arrival, JourneyActor};
use lag_budget::LagBudget;
use numbers::Numbers;
use open::OpenStream;
pub(crate) use outbox::{Outbox, Rhythm};
pub(crate) use prepared::{PreparedPlan, PreparedRequest, hears_of_end, origin_of};
pub(crate) use publishers::{Message, Publishers, known_topics};
pub(crate) use redirect::{hosts, is_secret_header, next_action};
use series::Series;
pub(crate) use session::{Arrived, Inbox, Inboxes, SessionGenerator, StageFit};
pub(crate) use spec::GeneratorSpec;
use telling::await_start;
pub(crate) use thread::{GeneratorThread, Shared, WAKE_UPS_MAX, WORDS_MAX};
use timers::Timers;
use turn::vouched_ns;
pub(crate) use world::World;

/// Journeys with a request under way at once; a further arrival is missed. What a generator can
/// have open is bounded by descriptors long before.
const ACTORS_MAX: usize = 200_000;
/// Facts that wait for a place in the ledger's channel.
const FACTS_MAX: usize = 1_000_000;
/// How long to wait for the ledger's channel while facts crowd the outbox.
const CROWDED_NS: u64 = MILLISECOND_NS;
/// Arrivals started in a row before completions are looked at again.
const STARTS_PER_TURN: usize = 64;

/// The thread's body. `ready` gets the waker once the client stands, and what it waits with.
pub(crate) fn run(spec: GeneratorSpec, ready: &Sender<std::io::Result<(Waker, Io)>>) {
    let reports = spec.reports.clone();
    let index = spec.index;
    let client = match Client::new(spec.client()) {
        Ok(client) => client,
        Err(error) => {
            // Whoever made this thread waits for exactly one answer.
            let _ignored = ready.send(Err(error));
            return;
        }
    };
    sojourn_clock::request_short_slice();
    // Set once, here.
    let _first = spec.waker.set(client.waker());
    let _ignored = ready.send(Ok((client.waker(), client.io())));
    let results = spec.work.attack().and_then(|attack| attack.results.clone());
    let ended = match spec.control.recv() {
        Ok(ToGenerator::Start { at_ns }) => match spec.work.clone() {
            Work::Journeys => Generator::new(spec, client, at_ns).run(),
            Work::Attack(attack) => {
                AttackGenerator::new(spec, attack, client, at_ns).and_then(AttackGenerator::run)
            }
            Work::Sessions(sessions) => SessionGenerator::new(spec, sessions, client, at_ns).run(),
        },
        _ => Ok(()),
    };
    // Whoever puts results in order waits for this one's no longer.
    results.into_iter().for_each(|sink| sink.end(index));
    // The coordinator may be gone already after an abort.
    let _ignored = reports.send((index, FromGenerator::Ended(ended)));
}

struct Generator {
    spec: GeneratorSpec,
    client: Client,
    publishers: Publishers,
    prepared: PreparedPlan,
    recorder: Recorder,
    series: Series,
    outbox: Outbox,
    open: Vec<OpenStream>,
    closed: Vec<ClosedStream>,
    slots: Slab<Slot>,
    generation: u32,
    /// Journeys that the ledger may wake, by number.
    waiting: HashMap<u64, usize>,
    /// Journeys whose end a user waits for.
    users: HashMap<u64, Arrival>,
    journeys_started: u64,
    start_ns: u64,
    last_t0_ns: u64,
    arrivals_done: bool,
    /// The load was ended before its time.
    stopped: bool,
    health: ThreadHealth,
    scratch: Scratch,
    timers: Timers,
    /// Of each load entry's journeys.
    numbers: Vec<Numbers>,
    lag_budget: LagBudget,
    /// Why it cannot go on.
    broken: Option<String>,
}

struct Slot {
    actor: Acting,
    /// Tells completions of this actor from those of the slot's earlier ones.
    generation: u32,
}

impl Generator {
    fn new(mut spec: GeneratorSpec, mut client: Client, start_ns: u64) -> Self {
        let plan = Arc::clone(&spec.plan);
        let share = Share::Stripe { index: spec.index, of: spec.of };
        let mut recorder = Recorder::new(spec.index);
        recorder.start_at(start_ns);
        let entries = || (0u16..).zip(&plan.load);
        Self {
            prepared: PreparedPlan::new(&plan, &mut client),
            health: ThreadHealth::new(&format!("generator {}", spec.index), &mut recorder)
                .watch(plan.health.busy_max, &mut recorder)
                .of_process(spec.process.as_deref(), &mut recorder),
            series: Series::new(&plan, &mut recorder),
            outbox: Outbox::new(SourceId(spec.index as u16), spec.facts.clone(), FACTS_MAX),
            open: entries()
                .filter_map(|(entry, load)| {
                    OpenStream::new(entry, load, plan.seed, share, start_ns)
                })
                .collect(),
            closed: entries()
                .filter_map(|(entry, load)| {
                    ClosedStream::new(entry, load, plan.seed, share, start_ns)
                })
                .collect(),
            recorder,
            slots: Slab::new(),
            generation: 0,
            waiting: HashMap::new(),
            users: HashMap::new(),
            journeys_started: 0,
            start_ns,
            last_t0_ns: start_ns,
            arrivals_done: false,
            stopped: false,
            scratch: Scratch::default(),
            timers: Timers::default(),
            numbers: Numbers::of(&plan),
            lag_budget: LagBudget::new(spec.options.lag_budget_ns),
            broken: None,
            publishers: std::mem::take(&mut spec.publishers),
            client,
            spec,
        }
    }

    fn run(mut self) -> Result<(), String> {
        let mut completions: Vec<Completion> = Vec::with_capacity(1024);
        let mut outcomes = Vec::new();
        await_start(&mut self.client, &self.spec, self.start_ns)?;
        let mut snapshot_ns = self.start_ns + SECOND_NS;
        let mut turn_ns = now_ns();
        let rhythm = Rhythm::of(&self.spec.plan);
        loop {
            if !self.obey() || self.broken.is_some() {
                break;
            }
            self.hear_ledger();
            self.wake_due();
            let more = self.start_due();
            let now = now_ns();
            if now >= snapshot_ns {
                self.report(now);
                snapshot_ns += SECOND_NS * (1 + (now - snapshot_ns) / SECOND_NS);
            }
            let now = now_ns();
            self.health.turn(now.saturating_sub(turn_ns));
            let flush_ns = self.outbox.flush_in(rhythm, now, vouched_ns(now, &completions));
            let deadline_ns = if self.outbox.is_crowded() {
                now + CROWDED_NS
            } else if more || !completions.is_empty() {
                now
            } else {
                let due_ns = self.lag_budget.wake_ns(self.next_due_ns());
                due_ns.min(snapshot_ns).min(flush_ns).min(self.publishers.next_ns())
            };
            self.client
                .wait_until(deadline_ns, &mut completions)
                .map_err(|error| format!("event loop failed: {error}"))?;
            turn_ns = now_ns();
            self.publishers.outcomes(turn_ns, &mut outcomes);
            for outcome in outcomes.drain(..) {
                self.wake(outcome.token, Wake::Published(outcome));
            }
            self.complete(&mut completions);
        }
        let broken = self.broken.take();
        let finished = self.finish(vouched_ns(now_ns(), &completions));
        broken.map_or(finished, Err)
    }

    /// Takes the coordinator's messages; false: end now.
    fn obey(&mut self) -> bool {
        loop {
            match self.spec.control.try_recv() {
                Ok(ToGenerator::StopArrivals) => {
                    self.stopped = !self.arrivals_done;
                    self.open.clear();
                    self.closed.clear();
                }
                Ok(ToGenerator::SetVariable { variable, value }) => {
                    if let Some(slot) = self.spec.variables.get_mut(usize::from(variable)) {
                        *slot = Some(value.into());
                    }
                }
                Ok(ToGenerator::Amend(amendment)) => self.amend(amendment),
                Ok(ToGenerator::Start { .. }) => {}
                Ok(ToGenerator::Abort) | Err(TryRecvError::Disconnected) => return false,
                Err(TryRecvError::Empty) => return true,
            }
        }
    }

    /// Changes the rate of open loads; users keep their own pace.
    fn amend(&mut self, amendment: Amendment) {
        let now = now_ns();
        let amended = self.open.iter_mut().try_for_each(|stream| stream.amend(amendment, now));
        let goes_on = self.open.iter().any(|stream| stream.peek().is_some());
        if let Err(why) = amended {
            self.broken = Some(why);
        } else if self.arrivals_done && goes_on {
            self.broken = Some("a change of rate came after the last arrival".to_owned());
        }
    }

    /// Wakes what the ledger's decisions concern.
    fn hear_ledger(&mut self) {
        while let Ok(message) = self.spec.actors.try_recv() {
            match message {
                ToActor::Reached { journey, stage } => {
                    if let Some(&slot) = self.waiting.get(&journey) {
                        self.step(slot, Wake::Reached(stage));
                    }
                }
                ToActor::Overdue { journey } => self.release_user(journey),
                ToActor::Ended { journey } => {
                    self.release_user(journey);
                    if let Some(slot) = self.waiting.remove(&journey) {
                        self.end_actor(slot);
                    }
                }
            }
        }
    }

    fn release_user(&mut self, journey: u64) {
        if let Some(arrival) = self.users.remove(&journey) {
            self.user_goes_on(arrival);
        }
    }

    /// The journey has ended. A request under way is still awaited: it is a sample.
    fn end_actor(&mut self, slot: usize) {
        let is_idle = self.slots.get_mut(slot).is_some_and(|slot| slot.actor.end());
        if is_idle {
            self.slots.remove(slot);
        }
    }

    /// Starts what is due, a bounded number at a time; true: there is more.
    fn start_due(&mut self) -> bool {
        for _ in 0..STARTS_PER_TURN {
            if self.client.is_behind() || !self.has_room() {
                return true;
            }
            let now = now_ns();
            let open = self
                .open
                .iter()
                .enumerate()
                .filter_map(|(index, stream)| stream.peek().map(|(k, t0)| (t0, index, k)))
                .min();
            let closed = self
                .closed
                .iter()
                .enumerate()
                .filter_map(|(index, stream)| stream.peek().map(|(user, t0)| (t0, index, user)))
                .min();
            match (open, closed) {
                (Some((t0, index, k)), other)
                    if t0 <= now && other.is_none_or(|(closed_t0, ..)| t0 <= closed_t0) =>
                {
                    self.open[index].advance();
                    self.lag_budget.begins(t0, now);
                    let entry = self.open[index].entry;
                    self.start(entry, k, t0, None);
                }
                (_, Some((t0, index, user))) if t0 <= now => {
                    let k = self.closed[index].take();
                    let entry = self.closed[index].entry;
                    self.start(entry, k, t0, Some((entry, user)));
                }
                _ => {
                    self.tell_when_done(now);
                    return false;
                }
            }
        }
        true
    }

    /// One arrival has been reached.
    fn start(&mut self, entry: u16, k: u64, t0_ns: u64, user: Option<(u16, u32)>) {
        let plan = Arc::clone(&self.spec.plan);
        let load = &plan.load[usize::from(entry)];
        let kind = pick_journey(load, plan.seed, entry, k);
        let is_warm_up = t0_ns < self.start_ns + load.warmup_ns;
        let phase = if is_warm_up { Phase::WarmUp } else { Phase::Steady };
        self.last_t0_ns = self.last_t0_ns.max(t0_ns);
        let series = self.series.journey(kind, phase);
        let journeys = u64::from(plan.journeys[usize::from(kind)].per_arrival());
        self.recorder.add(series.scheduled, journeys);
        if self.slots.len() >= ACTORS_MAX {
            self.recorder.add(series.missed, journeys);
            for _ in 0..journeys {
                self.outbox.push(now_ns(), Fact::Missed { kind, phase });
            }
            return;
        }
        self.recorder.add(series.started, journeys);
        let journey = JourneyId(u64::from(self.spec.index) << 48 | self.journeys_started);
        self.journeys_started += journeys;
        let number = self.numbers[usize::from(entry)].first_of(&plan, entry, k);
        let k = (u64::from(entry) << 40) + number;
        let arrival = Arrival { journey, kind, phase, t0_ns, k, user };
        self.generation = self.generation.wrapping_add(1);
        let generation = self.generation;
        let actor = match plan.journeys[usize::from(kind)].batch() {
            Some(batch) => Acting::Batch(Box::new(BatchActor::new(arrival, batch.size))),
            None => Acting::Journey(JourneyActor::new(arrival)),
        };
        let slot = self.slots.insert(Slot { actor, generation });
        if self.prepared.journeys[usize::from(kind)].hears_of_end {
            self.waiting.insert(journey.0, slot);
        }
        if user.is_some() && waits_for_journey(&plan, load, kind) {
            self.users.insert(journey.0, arrival);
        }
        self.step(slot, Wake::Start);
    }

    /// Steps the actor of a token, unless it is gone.
    fn wake(&mut self, token: u64, wake: Wake) {
        let slot = (token & 0xFFFF_FFFF) as usize;
        let generation = (token >> 32) as u32;
        if self.slots.get(slot).is_some_and(|slot| slot.generation == generation) {
            self.step(slot, wake);
        }
    }

    /// Steps an actor and does what follows.
    fn step(&mut self, index: usize, wake: Wake) {
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        let mut context = Context {
            now_ns: now_ns(),
            token: u64::from(slot.generation) << 32 | index as u64,
            plan: &self.spec.plan,
            prepared: &self.prepared,
            client: &mut self.client,
            publishers: &mut self.publishers,
            recorder: &mut self.recorder,
            series: &mut self.series,
            outbox: &mut self.outbox,
            timers: &mut self.timers,
            polls: &self.spec.polls,
            run_id: &self.spec.options.run_id,
            narrator: self.spec.options.narrator.as_ref(),
            scratch: &mut self.scratch,
            variables: &self.spec.variables,
        };
        let step = slot.actor.step(&mut context, wake);
        let arrival = slot.actor.arrival();
        let roots = self.prepared.journeys[usize::from(arrival.kind)].root.len();
        let root_over = step == Step::Done || slot.actor.root_done() >= roots;
        if step == Step::Done {
            self.slots.remove(index);
            self.waiting.remove(&arrival.journey.0);
        }
        if root_over && arrival.user.is_some() && !self.users.contains_key(&arrival.journey.0) {
            let plan = Arc::clone(&self.spec.plan);
            let entry = arrival.user.map_or(0, |(entry, _)| entry);
            if !waits_for_journey(&plan, &plan.load[usize::from(entry)], arrival.kind) {
                if let Some(slot) = self.slots.get_mut(index) {
                    // The user is gone: the steps that follow must not let it go on again.
                    slot.actor.forget_user();
                }
                self.user_goes_on(arrival);
            }
        }
    }

    fn user_goes_on(&mut self, arrival: Arrival) {
        let Some((entry, user)) = arrival.user else {
            return;
        };
        let now = now_ns();
        if let Some(stream) = self.closed.iter_mut().find(|stream| stream.entry == entry) {
            stream.ended(user, now, arrival.k);
        }
    }

    fn next_due_ns(&self) -> u64 {
        let open = self.open.iter().filter_map(|stream| stream.peek().map(|(_, t0)| t0));
        let closed = self.closed.iter().filter_map(|stream| stream.peek().map(|(_, t0)| t0));
        open.chain(closed).min().unwrap_or(u64::MAX).min(self.timers.next_ns())
    }
}
