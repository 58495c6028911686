//! Polled stages: asking for a state until it holds.
//!
//! One thread of its own with its own client, so that polls are neither load nor lag. A stage's
//! instant is the moment its answer was read; it may have held for up to one interval before, and
//! the report says so.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    sync::Arc,
};

use crossbeam_channel::{Receiver, Sender, TryRecvError};
use slab::Slab;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, Completion, Exchange, Origin, OriginId};
use sojourn_ledger::{Batch, Fact, JourneyId, SourceId};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, Snapshot, names};
use sojourn_plan::{Plan, Poll, RenderContext, StageSource};

use crate::{
    generator::{Answer, Arrival, Outbox},
    health::ThreadHealth,
    options::RunOptions,
};

/// Journeys polled at once; further ones are refused, counted, and the run is void.
const TASKS_MAX: usize = 100_000;

/// Where generators hand journeys over for polling.
#[derive(Clone, Debug)]
pub(crate) struct PollSender(Option<Sender<Task>>);

/// One journey's polled stage.
#[derive(Debug)]
pub(crate) struct Task {
    journey: JourneyId,
    kind: u16,
    stage: u8,
    /// When to give up: the end of the journey's observation, nanoseconds.
    until_ns: u64,
    /// The request, rendered.
    message: Vec<u8>,
}

/// What the poller thread is made with.
pub(crate) struct PollerSpec {
    pub(crate) plan: Arc<Plan>,
    pub(crate) options: RunOptions,
    pub(crate) source: SourceId,
    pub(crate) facts: Sender<Batch>,
    pub(crate) snapshots: Sender<Box<Snapshot>>,
    pub(crate) tasks: Receiver<Task>,
    /// The run's start, sent once; closed: end.
    pub(crate) start: Receiver<u64>,
    pub(crate) stop: Arc<std::sync::atomic::AtomicBool>,
}

/// The two ends of the hand-over; no channel when the plan polls nothing.
pub(crate) fn channel(plan: &Plan) -> (PollSender, Option<Receiver<Task>>) {
    let is_polled = |journey: &sojourn_plan::Journey| {
        journey.stages.iter().any(|stage| matches!(stage.source, StageSource::Poll(_)))
    };
    if !plan.journeys.iter().any(is_polled) {
        return (PollSender(None), None);
    }
    let (sender, receiver) = crossbeam_channel::bounded(10_000);
    (PollSender(Some(sender)), Some(receiver))
}

impl PollSender {
    /// Begins to poll a journey's stage; false when the bounded hand-over is full, which the caller
    /// counts as refused.
    #[must_use]
    pub(crate) fn start(
        &self,
        plan: &Plan,
        arrival: &Arrival,
        stage: usize,
        values: &RenderContext<'_>,
    ) -> bool {
        let journey = &plan.journeys[usize::from(arrival.kind)];
        let (Some(sender), StageSource::Poll(poll)) = (&self.0, &journey.stages[stage].source)
        else {
            return true;
        };
        let Some(message) = render(poll, values) else {
            return false;
        };
        let task = Task {
            journey: arrival.journey,
            kind: arrival.kind,
            stage: stage as u8,
            until_ns: arrival.t0_ns + journey.within_ns + journey.linger_ns,
            message,
        };
        sender.try_send(task).is_ok()
    }
}

/// The thread's body.
pub(crate) fn run(spec: PollerSpec) -> Result<(), String> {
    let client = Client::new(spec.options.client.clone())
        .map_err(|error| format!("cannot make an HTTP client for polled stages: {error}"))?;
    let Ok(start_ns) = spec.start.recv() else {
        return Ok(());
    };
    Poller::new(spec, client, start_ns).run()
}

struct Poller {
    spec: PollerSpec,
    client: Client,
    outbox: Outbox,
    recorder: Recorder,
    health: ThreadHealth,
    tasks: Slab<Task>,
    due: BinaryHeap<Reverse<(u64, usize)>>,
    stages: Vec<PolledStage>,
    snapshot_ns: u64,
    refused: u64,
}

/// A polled stage's origin, series and budget.
struct PolledStage {
    kind: u16,
    stage: u8,
    origin: OriginId,
    requests: SeriesId,
    /// The earliest instant of the next request under the budget.
    free_ns: u64,
    gap_ns: u64,
    /// Tasks that are due and wait for the budget, first come first served: each is polled before
    /// any is polled again. Holds a task at most once, so the bound on tasks is its own.
    waiting: VecDeque<usize>,
}

impl Poller {
    fn new(spec: PollerSpec, mut client: Client, start_ns: u64) -> Self {
        // Poller's snapshots carry a number no generator has.
        let mut recorder = Recorder::new(u32::from(spec.source.0));
        recorder.start_at(start_ns);
        let plan = Arc::clone(&spec.plan);
        let mut stages = Vec::new();
        for (kind, journey) in (0u16..).zip(&plan.journeys) {
            for (stage, shape) in (0u8..).zip(&journey.stages) {
                let StageSource::Poll(poll) = &shape.source else {
                    continue;
                };
                let tags = [("journey", journey.name.as_str()), ("stage", shape.name.as_str())];
                let key = SeriesKey::new(names::POLL_REQUESTS, &tags, SeriesPhase::Any);
                stages.push(PolledStage {
                    kind,
                    stage,
                    origin: client.origin(&origin_of(poll)),
                    requests: recorder.series(Kind::Counter, key),
                    free_ns: 0,
                    gap_ns: (SECOND_NS as f64 / poll.budget_per_s.max(1e-3)) as u64,
                    waiting: VecDeque::new(),
                });
            }
        }
        Self {
            outbox: Outbox::new(spec.source, spec.facts.clone(), TASKS_MAX),
            health: ThreadHealth::new("poller", &mut recorder),
            recorder,
            tasks: Slab::new(),
            due: BinaryHeap::new(),
            stages,
            snapshot_ns: start_ns + SECOND_NS,
            refused: 0,
            client,
            spec,
        }
    }

    fn run(mut self) -> Result<(), String> {
        let mut completions = Vec::new();
        while !self.spec.stop.load(std::sync::atomic::Ordering::Relaxed) {
            self.take_tasks();
            self.send_due();
            let now = now_ns();
            if now >= self.snapshot_ns {
                self.report(now);
                self.snapshot_ns = now + SECOND_NS;
            }
            let watermark_ns = now_ns();
            self.outbox.flush(watermark_ns);
            let deadline_ns = self.next_due_ns().min(watermark_ns + 2 * MILLISECOND_NS);
            self.client
                .wait_until(deadline_ns, &mut completions)
                .map_err(|error| format!("event loop of polled stages failed: {error}"))?;
            for completion in completions.drain(..) {
                self.complete(completion);
            }
        }
        self.outbox.flush(u64::MAX);
        self.report(now_ns());
        Ok(())
    }

    fn take_tasks(&mut self) {
        loop {
            match self.spec.tasks.try_recv() {
                Ok(task) if self.tasks.len() < TASKS_MAX => {
                    let index = self.tasks.insert(task);
                    self.due.push(Reverse((now_ns(), index)));
                }
                Ok(_) => self.refused += 1,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    /// Queues what is due, and sends what the budgets allow.
    fn send_due(&mut self) {
        let now = now_ns();
        while let Some(&Reverse((at_ns, index))) = self.due.peek()
            && at_ns <= now
        {
            self.due.pop();
            let Some(task) = self.tasks.get(index) else {
                continue;
            };
            let same =
                |stage: &&mut PolledStage| stage.kind == task.kind && stage.stage == task.stage;
            if let Some(stage) = self.stages.iter_mut().find(same) {
                stage.waiting.push_back(index);
            }
        }
        for stage in 0..self.stages.len() {
            while self.stages[stage].free_ns <= now
                && let Some(index) = self.stages[stage].waiting.pop_front()
            {
                self.send(stage, index, now);
            }
        }
    }

    /// Sends one request of a stage, unless its journey is observed no more: that costs nothing.
    fn send(&mut self, stage: usize, index: usize, now: u64) {
        let Some(task) = self.tasks.get(index) else {
            return;
        };
        if now >= task.until_ns {
            self.tasks.remove(index);
            return;
        }
        let StageSource::Poll(poll) =
            &self.spec.plan.journeys[usize::from(task.kind)].stages[usize::from(task.stage)].source
        else {
            return;
        };
        let stage = &mut self.stages[stage];
        stage.free_ns = now + stage.gap_ns;
        self.recorder.add(stage.requests, 1);
        self.client.send(
            now,
            Exchange {
                token: index as u64,
                origin: stage.origin,
                bytes: &task.message,
                head_only: false,
                timeout_ns: poll.action.timeout_ns,
                body: BodyPolicy::Keep { bytes_max: poll.action.body_max },
            },
        );
    }

    /// When there is something to send next.
    fn next_due_ns(&self) -> u64 {
        let due_ns = self.due.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns);
        let waiting = self.stages.iter().filter(|stage| !stage.waiting.is_empty());
        waiting.map(|stage| stage.free_ns).fold(due_ns, u64::min)
    }

    fn complete(&mut self, completion: Completion) {
        let index = completion.token as usize;
        let Some(task) = self.tasks.get(index) else {
            return;
        };
        let source =
            &self.spec.plan.journeys[usize::from(task.kind)].stages[usize::from(task.stage)].source;
        let StageSource::Poll(poll) = source else {
            return;
        };
        let holds = completion
            .outcome
            .as_ref()
            .is_ok_and(|response| Answer::new(response).unexpected(&poll.until).is_none());
        if holds {
            let fact = Fact::Polled { journey: task.journey, stage: task.stage };
            self.outbox.push(completion.ended_ns, fact);
            self.tasks.remove(index);
        } else {
            let next_ns = (completion.began_ns + poll.every_ns).max(now_ns());
            self.due.push(Reverse((next_ns, index)));
        }
    }

    fn report(&mut self, now: u64) {
        self.health.measure(now, &mut self.recorder);
        let refused = std::mem::take(&mut self.refused) + self.outbox.take_refused();
        self.health.refused("journeys to poll", refused, &mut self.recorder);
        // A lost snapshot shows as a gap in their numbers.
        let _ignored = self.spec.snapshots.try_send(Box::new(self.recorder.take(now, None)));
    }
}

fn origin_of(poll: &Poll) -> Origin {
    Origin { tls: poll.action.tls, host: poll.action.host.clone(), port: poll.action.port }
}

fn render(poll: &Poll, values: &RenderContext<'_>) -> Option<Vec<u8>> {
    let mut path = Vec::new();
    poll.action.path.render(values, &mut path).ok()?;
    let mut headers = Vec::new();
    for (name, template) in &poll.action.headers {
        let mut value = Vec::new();
        template.render(values, &mut value).ok()?;
        headers.push((name.as_str(), value));
    }
    let headers: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (*name, value.as_slice())).collect();
    let mut body = Vec::new();
    if let Some(template) = &poll.action.body {
        template.render(values, &mut body).ok()?;
    }
    let mut message = Vec::new();
    let host = sojourn_http::origin_host_header(&origin_of(poll));
    let path = std::str::from_utf8(&path).ok()?;
    sojourn_http::write_request(&poll.action.method, path, &host, &headers, &body, &mut message)
        .ok()?;
    Some(message)
}
