//! A generator of an attack: requests to targets, without journeys' events.
//!
//! It keeps the same accounts as a generator of journeys, under the same names, and makes the
//! entries itself that the ledger would make: nothing can happen to a hit after its answer, so
//! there is nothing to correlate. The coordinator checks that both sides agree.

mod hit;
mod results;
mod targets;
mod words;

use std::sync::Arc;

use crossbeam_channel::TryRecvError;
use slab::Slab;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, Completion};
use sojourn_ledger::{Phase, SourceId};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_pace::Share;

use super::{
    GeneratorSpec,
    closed::ClosedStream,
    open::OpenStream,
    outbox::{Outbox, Rhythm},
    series::Series,
};
use crate::{
    attack::Attack,
    health::ThreadHealth,
    link::{FromGenerator, ToGenerator},
};
use hit::{Hit, send};
use results::Results;
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
    outbox: Outbox,
    open: Option<OpenStream>,
    closed: Option<ClosedStream>,
    magazine: Magazine,
    hits: Slab<Hit>,
    workers_max: usize,
    results: Option<Results>,
    /// Hosts that a redirect may go to.
    hosts: Vec<String>,
    timeout_ns: u64,
    message: Vec<u8>,
    start_ns: u64,
    load_end_ns: u64,
    last_t0_ns: u64,
    /// When it was said that there are no further arrivals.
    arrivals_done_ns: Option<u64>,
    stopped: bool,
    /// Why the attack cannot go on.
    broken: Option<String>,
    health: ThreadHealth,
}

/// Series that a ledger would keep.
struct Ends {
    completed: SeriesId,
    failed: SeriesId,
    cut_off: SeriesId,
    duration: SeriesId,
    in_flight: SeriesId,
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
        if let crate::attack::Targets::Listed(targets) = &attack.targets {
            hosts.extend(targets.iter().map(|target| target.host.clone()));
            hosts.sort();
            hosts.dedup();
        }
        let workers_max = (u64::from(attack.workers_max) + u64::from(spec.of - 1 - spec.index))
            / u64::from(spec.of);
        let anchor = spec.anchor;
        Ok(Self {
            magazine: Magazine::new(&attack, &plan, &mut client)?,
            series: Series::new(&plan, &mut recorder),
            ends: Ends::new(&plan.journeys[0].name, &mut recorder),
            outbox: Outbox::new(SourceId(spec.index as u16), spec.facts.clone(), FACTS_MAX),
            open: OpenStream::new(0, load, plan.seed, share, start_ns),
            closed: ClosedStream::new(0, load, plan.seed, share, start_ns),
            hits: Slab::new(),
            workers_max: usize::try_from(workers_max).unwrap_or(usize::MAX),
            results: attack.results.clone().map(|sink| Results::new(sink, anchor)),
            hosts,
            timeout_ns: plan.journeys[0].within_ns,
            message: Vec::new(),
            start_ns,
            load_end_ns: start_ns.saturating_add(load.steady_ns),
            last_t0_ns: start_ns,
            arrivals_done_ns: None,
            stopped: false,
            broken: None,
            health: ThreadHealth::new(&format!("generator {}", spec.index), &mut recorder)
                .watch(plan.health.busy_max, &mut recorder),
            recorder,
            client,
            attack,
            spec,
        })
    }

    pub(crate) fn run(mut self) -> Result<(), String> {
        let mut completions: Vec<Completion> = Vec::with_capacity(1024);
        let mut snapshot_ns = self.start_ns + SECOND_NS;
        let mut turn_ns = now_ns();
        while self.obey() && self.broken.is_none() {
            let wake_ns = self.start_due();
            let now = now_ns();
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
            turn_ns = now_ns();
            for completion in completions.drain(..) {
                self.complete(&completion);
                if self.closed.is_some() {
                    // A worker goes on before the rest of the batch is looked at: it would
                    // otherwise count the batch as its own lag.
                    self.start_due();
                }
            }
        }
        self.finish()
    }

    /// Takes the coordinator's messages; false: end now.
    fn obey(&mut self) -> bool {
        loop {
            match self.spec.control.try_recv() {
                Ok(ToGenerator::StopArrivals) => self.stop(),
                Ok(ToGenerator::Abort) | Err(TryRecvError::Disconnected) => return false,
                Ok(ToGenerator::Start { .. } | ToGenerator::SetVariable { .. }) => {}
                Err(TryRecvError::Empty) => return true,
            }
        }
    }

    /// No further arrivals; those that are due already and found no worker are missed.
    fn stop(&mut self) {
        self.stopped = self.arrivals_done_ns.is_none();
        self.miss_due(now_ns());
        self.open = None;
        self.closed = None;
    }

    /// Starts what is due, a bounded number at a time; says when to look again.
    fn start_due(&mut self) -> u64 {
        for _ in 0..STARTS_PER_TURN {
            let now = now_ns();
            match self.next_due() {
                Some((_, t0_ns)) if t0_ns > now => {
                    return t0_ns.saturating_add(self.spec.options.lag_budget_ns);
                }
                Some(_) if self.hits.len() >= self.workers_max => {
                    if now < self.load_end_ns {
                        // An answer wakes us.
                        return u64::MAX;
                    }
                    self.miss_due(self.load_end_ns);
                }
                Some((k, t0_ns)) => match self.magazine_next(k) {
                    Next::Target(target) => {
                        let worker = self.advance();
                        self.start(Hit::new(k, t0_ns, now, worker, target));
                    }
                    Next::NotYet => return now + STREAM_WAIT_NS,
                    Next::End => (self.open, self.closed, self.stopped) = (None, None, true),
                    Next::Unusable(why) => {
                        self.broken = Some(why);
                        return now;
                    }
                },
                None => {
                    self.tell_when_done(now);
                    return u64::MAX;
                }
            }
        }
        now_ns()
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
    fn advance(&mut self) -> Option<u32> {
        if let Some(open) = &mut self.open {
            open.advance();
            return None;
        }
        let closed = self.closed.as_mut()?;
        let worker = closed.peek().map(|(worker, _)| worker);
        closed.take();
        worker
    }

    fn start(&mut self, hit: Hit) {
        let series = self.series.journey(KIND, PHASE);
        self.recorder.add(series.scheduled, 1);
        self.recorder.add(series.started, 1);
        self.recorder.record(self.series.lag(PHASE), hit.began_ns.saturating_sub(hit.t0_ns));
        self.last_t0_ns = self.last_t0_ns.max(hit.t0_ns);
        self.message.clear();
        let request = hit.first(&mut self.message);
        let now_ns = hit.began_ns;
        let token = self.hits.insert(hit) as u64;
        let body = self.body_policy();
        send(&mut self.client, now_ns, token, &request, &self.message, self.timeout_ns, body);
    }

    fn body_policy(&self) -> BodyPolicy {
        match &self.results {
            None => BodyPolicy::Discard,
            Some(_) => {
                BodyPolicy::Truncate { bytes_max: self.attack.body_max.unwrap_or(usize::MAX) }
            }
        }
    }

    fn complete(&mut self, completion: &Completion) {
        let slot = completion.token as usize;
        let body = self.body_policy();
        let Some(hit) = self.hits.get_mut(slot) else {
            return;
        };
        if let Ok(response) = &completion.outcome
            && (300..400).contains(&response.status)
        {
            self.message.clear();
            let request = hit.follow(
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
                send(&mut self.client, now, token, &request, &self.message, left_ns, body);
                return;
            }
        }
        let hit = self.hits.remove(slot);
        self.account(&hit, completion);
        if let Some(results) = &mut self.results
            && !results.add(&self.attack.name, &hit, completion)
        {
            self.broken = Some("results could not be written".to_owned());
        }
        if let (Some(worker), Some(closed)) = (hit.worker, &mut self.closed) {
            closed.ended(worker, now_ns(), hit.k);
        }
    }

    fn account(&mut self, hit: &Hit, completion: &Completion) {
        let step = usize::from(hit.target.step);
        let response_ns = completion.ended_ns.saturating_sub(hit.t0_ns);
        let series = self.series.step(KIND, step, PHASE);
        series.completed(&mut self.recorder, completion, hit.t0_ns, hit.began_ns);
        self.recorder.record(series.bytes_in, completion.bytes_in);
        self.recorder.record(series.bytes_out, completion.bytes_out);
        self.recorder.record(self.ends.duration, response_ns);
        let (of_status, reason) = match &completion.outcome {
            Ok(response) => {
                let status = response.status;
                let reason = (!hit.is_success(response)).then(|| hit.refusal(response));
                (self.series.status(&mut self.recorder, KIND, step, PHASE, status), reason)
            }
            Err(failure) => {
                let kind = failure.kind;
                let series =
                    self.series.transport_failure(&mut self.recorder, KIND, step, PHASE, kind);
                (series, Some(kind.name().to_owned()))
            }
        };
        self.recorder.add(of_status, 1);
        let series = self.series.step(KIND, step, PHASE);
        match reason {
            None => {
                self.recorder.record(series.response_ok, response_ns);
                self.recorder.add(self.ends.completed, 1);
            }
            Some(reason) => {
                self.recorder.record(series.response_failed, response_ns);
                let of_reason = self.series.reason(&mut self.recorder, KIND, step, PHASE, &reason);
                self.recorder.add(of_reason, 1);
                self.recorder.add(self.ends.failed, 1);
            }
        }
    }

    /// Counts arrivals that are due by `end_ns` and found no worker as missed.
    fn miss_due(&mut self, end_ns: u64) {
        if self.hits.len() < self.workers_max {
            return;
        }
        let series = self.series.journey(KIND, PHASE);
        if let Some(open) = &mut self.open {
            while open.peek().is_some_and(|(_, t0_ns)| t0_ns <= end_ns) {
                open.advance();
                self.recorder.add(series.scheduled, 1);
                self.recorder.add(series.missed, 1);
            }
        }
    }

    fn tell_when_done(&mut self, now: u64) {
        let goes_on = self.closed.as_ref().is_some_and(|closed| !closed.is_over(now));
        if self.arrivals_done_ns.is_some() || goes_on {
            return;
        }
        let of_open = self.open.as_ref().and_then(OpenStream::end_ns);
        let ends_ns = of_open.or_else(|| self.closed.as_ref().and_then(ClosedStream::end_ns));
        let message = FromGenerator::ArrivalsDone {
            last_t0_ns: self.last_t0_ns,
            load_end_ns: match self.stopped {
                true => now,
                false => ends_ns.unwrap_or(0).max(self.last_t0_ns),
            },
            at_ns: now,
        };
        // Tried again at the next turn when the channel is full.
        if self.spec.reports.try_send((self.spec.index, message)).is_ok() {
            self.arrivals_done_ns = Some(now);
        }
    }

    /// Says how far this source has seen: not past the end of the arrivals while hits are under
    /// way, which is what the coordinator waits for. Returns when to say it again.
    fn flush(&mut self, now: u64) -> u64 {
        let watermark_ns = match self.arrivals_done_ns {
            Some(done_ns) if !self.hits.is_empty() => done_ns,
            _ => now,
        };
        if let Some(results) = &mut self.results
            && !results.flush(now)
        {
            self.broken = Some("results could not be written".to_owned());
        }
        self.outbox.flush_in(Rhythm::RELAXED, now, watermark_ns)
    }

    /// Hands over this second's figures.
    fn report(&mut self, now: u64) {
        self.recorder.set(self.ends.in_flight, self.hits.len() as f64);
        self.health.measure(now, &mut self.recorder);
        self.health.connections(self.client.connections(), &mut self.recorder);
        let spare = self.spec.spares.try_recv().ok().map(|spare| *spare);
        let snapshot = Box::new(self.recorder.take(now, spare));
        // A lost one shows as a gap in their numbers, which makes the run void.
        let _ignored =
            self.spec.reports.try_send((self.spec.index, FromGenerator::Snapshot(snapshot)));
    }

    /// Hands over everything that is left.
    fn finish(mut self) -> Result<(), String> {
        self.recorder.add(self.ends.cut_off, self.hits.len() as u64);
        if let Some(results) = &mut self.results
            && !results.flush(u64::MAX)
            && self.broken.is_none()
        {
            self.broken = Some("results could not be written".to_owned());
        }
        self.outbox.finish();
        self.report(now_ns());
        self.broken.map_or(Ok(()), Err)
    }
}

impl Ends {
    fn new(journey: &str, recorder: &mut Recorder) -> Self {
        let mut series = |kind, metric: &str, phase| {
            recorder.series(kind, SeriesKey::new(metric, &[(names::JOURNEY, journey)], phase))
        };
        let (steady, any) = (SeriesPhase::Steady, SeriesPhase::Any);
        Self {
            completed: series(Kind::Counter, names::JOURNEYS_COMPLETED, steady),
            failed: series(Kind::Counter, names::JOURNEYS_ROOT_FAILED, steady),
            cut_off: series(Kind::Counter, names::JOURNEYS_IN_FLIGHT_AT_CUTOFF, steady),
            duration: series(Kind::Trend, names::JOURNEY_DURATION, steady),
            in_flight: series(Kind::Gauge, names::JOURNEYS_IN_FLIGHT, any),
        }
    }
}
