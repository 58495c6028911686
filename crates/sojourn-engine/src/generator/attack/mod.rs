//! A generator of an attack: requests to targets, without journeys' events.
//!
//! It keeps the same accounts as a generator of journeys, under the same names, and makes the
//! entries itself that the ledger would make: nothing can happen to a hit after its answer, so
//! there is nothing to correlate. The coordinator checks that both sides agree.

mod accounts;
mod answers;
mod hit;
mod results;
mod scripted;
mod targets;
mod turns;
mod words;

use std::sync::Arc;

use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, Completion, Table};
use sojourn_ledger::{Phase, SourceId};
use sojourn_metrics::{Recorder, SeriesId, Snapshot};
use sojourn_pace::Share;

use super::{
    GeneratorSpec,
    closed::ClosedStream,
    lag_budget::LagBudget,
    open::OpenStream,
    outbox::{Outbox, Rhythm},
    series::Series,
};
use crate::{
    attack::{Attack, Framing, Targets},
    health::{Connections, ThreadHealth},
    last_word::hand_over,
    link::FromGenerator,
};
use accounts::Ends;
use answers::Answers;
use hit::{Hit, send};
use results::Results;
use scripted::{Made, Scripted, made_elsewhere};
use targets::{Magazine, Next};

/// Hits started in a row before completions are looked at again.
const STARTS_PER_TURN: usize = 64;
/// How soon a stream of targets that had nothing is asked again.
const STREAM_WAIT_NS: u64 = MILLISECOND_NS / 10;
/// Facts are none; the outbox only carries how far this source has seen.
const FACTS_MAX: usize = 1;

/// Attacks have one journey and no warm-up.
const KIND: u16 = 0;
const PHASE: Phase = Phase::Steady;

pub(crate) struct AttackGenerator {
    spec: GeneratorSpec,
    attack: Arc<Attack>,
    client: Client,
    recorder: Recorder,
    series: Series,
    ends: Ends,
    /// Counters of bodies and their bytes, by step.
    bodies: Vec<[SeriesId; 3]>,
    outbox: Outbox,
    open: Option<OpenStream>,
    closed: Option<ClosedStream>,
    magazine: Magazine,
    hits: Table<Hit>,
    workers_max: usize,
    results: Option<Results>,
    /// What a message is that is made elsewhere.
    framing: Option<Framing>,
    scripted: Option<Scripted>,
    /// Kept where the attack is patient.
    answers: Option<Answers>,
    /// What is kept of answers.
    body: BodyPolicy,
    /// Hosts that a redirect may go to.
    hosts: Vec<String>,
    timeout_ns: u64,
    message: Vec<u8>,
    start_ns: u64,
    load_end_ns: u64,
    last_t0_ns: u64,
    /// It was said that there are no further arrivals.
    arrivals_done: bool,
    /// It was said that nothing is under way any more.
    idle_told: bool,
    stopped: bool,
    /// Why the attack cannot go on.
    broken: Option<String>,
    health: ThreadHealth,
    lag_budget: LagBudget,
}

impl AttackGenerator {
    pub(crate) fn new(
        spec: GeneratorSpec,
        attack: Arc<Attack>,
        mut client: Client,
        start_ns: u64,
    ) -> Result<Self, String> {
        let plan = Arc::clone(&spec.plan);
        let share = Share::Stripe { index: spec.index, of: spec.of };
        let mut recorder = Recorder::new(spec.index);
        recorder.start_at(start_ns);
        let load = &plan.load[0];
        let mut hosts = attack.allowed_hosts.clone();
        if let Targets::Listed(targets) = &attack.targets {
            hosts.extend(targets.iter().map(|target| target.host.clone()));
            hosts.sort();
            hosts.dedup();
        }
        let workers_max = (u64::from(attack.workers_max) + u64::from(spec.of - 1 - spec.index))
            / u64::from(spec.of);
        let Made { message, framing, scripted } = made_elsewhere(&attack, spec.index)?;
        let load_end_ns = start_ns.saturating_add(load.steady_ns);
        let timeout_ns = plan.journeys[0].within_ns;
        let health = ThreadHealth::new(&format!("generator {}", spec.index), &mut recorder)
            .watch(plan.health.busy_max, &mut recorder)
            .of_process(spec.process.as_deref(), &mut recorder);
        let series = Series::new(&plan, &mut recorder);
        Ok(Self {
            magazine: Magazine::new(&attack, &plan, message, &mut client)?,
            body: results::body_policy(&attack, scripted.as_ref()),
            answers: attack.patient.then(|| {
                Answers::new(spec.index, start_ns, load_end_ns, timeout_ns, &mut recorder)
            }),
            framing,
            scripted,
            health,
            ends: Ends::new(&plan, &series, &mut recorder),
            series,
            bodies: accounts::bodies(&plan, &attack, &mut recorder),
            outbox: Outbox::new(SourceId(spec.index as u16), spec.facts.clone(), FACTS_MAX),
            open: OpenStream::new(0, load, plan.seed, share, start_ns),
            closed: ClosedStream::new(0, load, plan.seed, share, start_ns),
            hits: Table::default(),
            workers_max: usize::try_from(workers_max).unwrap_or(usize::MAX),
            results: attack.results.clone().map(|sink| Results::new(sink, &spec)),
            hosts,
            timeout_ns,
            message: Vec::new(),
            start_ns,
            load_end_ns,
            last_t0_ns: start_ns,
            arrivals_done: false,
            idle_told: false,
            stopped: false,
            broken: None,
            lag_budget: LagBudget::new(spec.options.lag_budget_ns),
            recorder,
            client,
            attack,
            spec,
        })
    }

    /// No further arrivals; those that are due already and found no worker are missed.
    fn stop(&mut self) {
        let now = now_ns();
        self.stopped = !self.arrivals_done;
        self.miss_due(now);
        if let Some(answers) = &mut self.answers {
            answers.load_ends(now, &mut self.recorder);
        }
        self.open = None;
        self.closed = None;
    }

    /// Starts what is due, a bounded number at a time; says when to look again. `now`: a reading of
    /// the clock just taken, which the first start has for its t1; each further one takes its own,
    /// and the last stays there.
    fn start_due(&mut self, now: &mut u64) -> u64 {
        for place in 0..STARTS_PER_TURN {
            if self.client.is_behind() {
                return *now;
            }
            let next = self.next_due();
            if place > 0 && next.is_some_and(|(_, t0_ns)| t0_ns <= *now) {
                *now = now_ns();
            }
            match next {
                Some((_, t0_ns)) if t0_ns > *now => {
                    return self.lag_budget.wake_ns(t0_ns);
                }
                Some(_) if self.hits.len() >= self.workers_max => {
                    if *now < self.load_end_ns {
                        // An answer wakes us.
                        return u64::MAX;
                    }
                    self.miss_due(self.load_end_ns);
                }
                Some(_) if self.puts_off() => {}
                Some((k, t0_ns)) => match self.magazine_next(k) {
                    Next::Target(target) => {
                        let worker = self.advance(*now);
                        self.start(Hit::new(k, t0_ns, *now, worker, target));
                    }
                    Next::NotYet => return *now + STREAM_WAIT_NS,
                    Next::End => (self.open, self.closed, self.stopped) = (None, None, true),
                    Next::Unusable(why) => {
                        self.broken = Some(why);
                        return *now;
                    }
                },
                None => {
                    self.tell_when_done(*now);
                    return u64::MAX;
                }
            }
        }
        *now
    }

    fn magazine_next(&mut self, k: u64) -> Next {
        self.magazine.next(k, &self.attack, &self.spec.plan, &mut self.client)
    }

    /// The next arrival: (k, scheduled instant).
    fn next_due(&self) -> Option<(u64, u64)> {
        match (&self.open, &self.closed) {
            (Some(open), _) => open.peek(),
            (None, Some(closed)) => closed.peek().map(|(_, t0_ns)| (closed.next_k(), t0_ns)),
            (None, None) => None,
        }
    }

    /// Goes to the arrival after the next one; the worker that takes it up, in a closed loop.
    fn advance(&mut self, now: u64) -> Option<u32> {
        if let Some(open) = &mut self.open {
            if let Some((_, t0_ns)) = open.peek() {
                self.lag_budget.begins(t0_ns, now);
            }
            open.advance();
            return None;
        }
        let closed = self.closed.as_mut()?;
        let worker = closed.peek().map(|(worker, _)| worker);
        closed.take();
        worker
    }

    /// Whether a script puts off the next arrival, a worker's first.
    fn puts_off(&mut self) -> bool {
        let (Some(scripted), Some(closed)) = (&mut self.scripted, &mut self.closed) else {
            return false;
        };
        let Some((worker, _)) = closed.peek() else {
            return false;
        };
        match scripted.first_delay_ns(worker) {
            Ok(Some(delay_ns)) => closed.put_off(delay_ns),
            Ok(None) => return false,
            Err(why) => self.broken = Some(why),
        }
        true
    }

    fn start(&mut self, mut hit: Hit) {
        self.message.clear();
        let mut framing = self.framing;
        if let Some(scripted) = &mut self.scripted {
            match scripted.message(&mut self.message) {
                Ok(made) => framing = made.or(framing),
                Err(why) => {
                    self.broken = Some(why);
                    return;
                }
            }
        }
        let mut request = match self.message.is_empty() {
            true => hit.first(&mut self.message),
            false => hit.made(),
        };
        if let Some(Framing { requests, head_only }) = framing {
            (request.requests, request.head_only) = (requests, head_only);
        }
        hit.holds(&request, self.message.len());
        for _ in 1..request.requests {
            if let Some(open) = &mut self.open {
                open.advance();
            }
        }
        self.account_begun(&hit, u64::from(request.requests));
        let now_ns = hit.began_ns;
        let timeout_ns = match &self.answers {
            Some(answers) => answers.patience_ns(now_ns),
            None => self.timeout_ns,
        };
        let token = self.hits.insert(hit) as u64;
        send(&mut self.client, now_ns, token, &request, &self.message, timeout_ns, self.body);
        self.stop_if_told();
    }

    /// Accounts for a completion, seen at `now`.
    fn complete(&mut self, completion: &Completion, now: u64) {
        let slot = completion.token as usize;
        let is_full = self.open.is_some() && self.hits.len() >= self.workers_max;
        let Some(hit) = self.hits.get_mut(slot) else {
            return;
        };
        if let Ok(response) = &completion.outcome
            && (300..400).contains(&response.status)
        {
            self.message.clear();
            let request = hit.follow(
                completion,
                response,
                &self.attack,
                &self.hosts,
                &mut self.client,
                &mut self.message,
            );
            if let Some(request) = request {
                let now = now_ns();
                let left_ns = (hit.began_ns.saturating_add(self.timeout_ns)).saturating_sub(now);
                let token = completion.token;
                let body = self.body;
                send(&mut self.client, now, token, &request, &self.message, left_ns, body);
                return;
            }
        }
        hit.requests_left = hit.requests_left.saturating_sub(1);
        let is_last = hit.requests_left == 0;
        let hit = if is_last { self.hits.remove(slot) } else { hit.one_of_several() };
        self.account_ended(&hit, completion);
        if let Some(results) = &mut self.results
            && !results.add(&self.attack.name, &hit, completion)
        {
            self.broken = Some(results.why());
        }
        if let Err(why) = self.go_on(&hit, completion, is_last, now) {
            self.broken = Some(why);
        }
        if let (true, true, Some(answers)) = (is_full, is_last, &mut self.answers) {
            answers.freed(now_ns());
        }
    }

    /// Shows the script the answer, and lets the worker go on.
    fn go_on(
        &mut self,
        hit: &Hit,
        completion: &Completion,
        is_last: bool,
        now: u64,
    ) -> Result<(), String> {
        let mut delay_ns = None;
        if let Some(scripted) = &mut self.scripted {
            if let Ok(response) = &completion.outcome {
                scripted.response(response)?;
            }
            let goes_on = is_last && self.closed.is_some();
            delay_ns = if goes_on { Some(scripted.delay_ns()?) } else { None };
        }
        if let (Some(worker), true, Some(closed)) = (hit.worker, is_last, &mut self.closed) {
            match delay_ns {
                Some(delay_ns) => closed.ended_thinking(worker, now, delay_ns),
                None => closed.ended(worker, now, hit.k),
            }
        }
        self.stop_if_told();
        Ok(())
    }

    /// Ends the arrivals when the script wants no more.
    fn stop_if_told(&mut self) {
        if !self.stopped && self.scripted.as_ref().is_some_and(Scripted::is_stopped) {
            self.stop();
        }
    }

    fn tell_when_done(&mut self, now: u64) {
        let goes_on = self.closed.as_ref().is_some_and(|closed| !closed.is_over(now))
            || self.open.as_ref().is_some_and(|open| !open.is_over(now));
        if self.arrivals_done || goes_on {
            return;
        }
        let of_open = self.open.as_ref().and_then(OpenStream::end_ns);
        let ends_ns = of_open.or_else(|| self.closed.as_ref().and_then(ClosedStream::end_ns));
        let ends_ns = ends_ns.unwrap_or(0).max(self.last_t0_ns);
        let message = FromGenerator::ArrivalsDone {
            last_t0_ns: self.last_t0_ns,
            load_end_ns: if self.stopped { now } else { ends_ns },
            at_ns: now,
        };
        // When the channel is full: tried again at the next turn.
        self.arrivals_done = self.spec.reports.try_send((self.spec.index, message)).is_ok();
    }

    /// Says how far this source has seen, and once that the last hit has ended: the coordinator
    /// waits for that. Hits that ended by `seen_ns` are told of. Returns when to say it again.
    fn flush(&mut self, now: u64, seen_ns: u64) -> u64 {
        if self.arrivals_done && self.hits.is_empty() && !self.idle_told {
            let idle = (self.spec.index, FromGenerator::Idle);
            self.idle_told = self.spec.reports.try_send(idle).is_ok();
        }
        if let Some(results) = &mut self.results
            && !results.flush(now, seen_ns)
        {
            self.broken = Some(results.why());
        }
        self.outbox.flush_in(Rhythm::FACTLESS, now, now)
    }

    /// Hands over this second's figures.
    fn report(&mut self, now: u64) {
        let snapshot = self.snapshot(now);
        // A lost one shows as a gap in their numbers, which makes the run void.
        let _ignored =
            self.spec.reports.try_send((self.spec.index, FromGenerator::Snapshot(snapshot)));
    }

    fn snapshot(&mut self, now: u64) -> Box<Snapshot> {
        self.recorder.set(self.ends.in_flight, self.hits.len() as f64);
        if let Some(answers) = &mut self.answers {
            answers.roll(now, &mut self.recorder);
        }
        self.health.measure(now, &mut self.recorder);
        let connections = Connections::of(&self.client);
        self.health.levels(connections, self.lag_budget.ns(), &mut self.recorder);
        let spare = self.spec.spares.try_recv().ok().map(|spare| *spare);
        Box::new(self.recorder.take(now, spare))
    }

    /// Hands over everything that is left.
    fn finish(mut self) -> Result<(), String> {
        let in_flight = self.hits.iter().map(|hit| u64::from(hit.requests_left)).sum();
        self.recorder.add(self.ends.cut_off, in_flight);
        if let Some(answers) = &mut self.answers {
            answers.finish(&mut self.recorder);
        }
        if let Some(results) = &mut self.results
            && !results.flush(u64::MAX, u64::MAX)
        {
            self.broken.get_or_insert_with(|| results.why());
        }
        self.outbox.finish(now_ns());
        let last = FromGenerator::Snapshot(self.snapshot(now_ns()));
        let handed_over = hand_over(&self.spec.reports, (self.spec.index, last));
        self.broken.map_or(handed_over, Err)
    }
}
