//! Polled stages: asking for a state until it holds.
//!
//! One thread of its own with its own client, so that polls are neither load nor lag. A stage's
//! instant is the moment its answer was read; it may have held for up to one interval before, and
//! the report says so. Polls that had to wait for the stage's budget are counted apart: they make
//! the interval longer.

mod hand_over;

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, VecDeque},
    sync::Arc,
};

use crossbeam_channel::{Receiver, Sender, TryRecvError};
use slab::Slab;
use smallvec::SmallVec;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, Completion, Exchange};
use sojourn_ledger::{Batch, Fact, SourceId};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, Snapshot, names};
use sojourn_plan::{Plan, Poll, RenderContext, StageKind, StageSource};

use crate::{
    generator::{Answer, Outbox, PreparedRequest, Scratch},
    health::ThreadHealth,
    last_word::hand_over,
    options::RunOptions,
    steps::Latest,
};
pub(crate) use hand_over::{Ended, HandOver, PollSender, Task, channel, is_polled};

/// Journeys polled at once; further ones are refused, counted, and the run is void.
const TASKS_MAX: usize = 100_000;

/// What the poller thread is made with.
pub(crate) struct PollerSpec {
    pub(crate) plan: Arc<Plan>,
    pub(crate) options: RunOptions,
    pub(crate) variables: Latest,
    pub(crate) source: SourceId,
    pub(crate) facts: Sender<Batch>,
    pub(crate) snapshots: Sender<Box<Snapshot>>,
    /// Remarks for the report.
    pub(crate) notes: Sender<String>,
    pub(crate) hand_over: HandOver,
    /// The run's start, sent once; closed: end.
    pub(crate) start: Receiver<u64>,
    pub(crate) stop: Arc<std::sync::atomic::AtomicBool>,
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
    scratch: Scratch,
    /// Variables that setup and refresh steps set, as of `variables_version`.
    variables: Vec<Option<Box<str>>>,
    variables_version: u64,
    tasks: Slab<(u32, Task)>,
    /// Tells a task from those that had its place before.
    generation: u32,
    of_journey: HashMap<u64, SmallVec<[Token; 2]>>,
    due: BinaryHeap<Reverse<(u64, Token)>>,
    stages: Vec<PolledStage>,
    budgets: Vec<Budget>,
    /// Used again by each look at what has ended.
    ends: Vec<Ended>,
    snapshot_ns: u64,
    refused: u64,
}

/// A task's place, with its generation in the upper half: stale once the task is gone.
type Token = u64;

/// A polled stage's request and series.
struct PolledStage {
    kind: u16,
    stage: u8,
    poll: Poll,
    request: PreparedRequest,
    requests: SeriesId,
    waited: SeriesId,
    /// Place of its budget.
    budget: usize,
    /// That its request can't be written has been said.
    told: bool,
}

/// How often a stage is asked for, of a journey and of its poisoned ones together.
struct Budget {
    /// The earliest instant of the next request.
    free_ns: u64,
    gap_ns: u64,
    /// Tasks that wait since they were due, first come first served: each is polled before any is
    /// polled again. Holds a task at most once; those that have gone are passed over without cost.
    waiting: VecDeque<(u64, Token)>,
}

impl Budget {
    fn new(per_s: f64) -> Self {
        let gap_ns = (SECOND_NS as f64 / per_s.max(1e-3)) as u64;
        Self { free_ns: 0, gap_ns, waiting: VecDeque::new() }
    }
}

/// The budget of a poisoned journey's stage: that of the journey which it is of.
fn shared(stages: &[PolledStage], journey: &sojourn_plan::Journey, stage: u8) -> Option<usize> {
    let of = journey.poison.as_ref()?.of;
    let is_its = |it: &&PolledStage| usize::from(it.kind) == of && it.stage == stage;
    stages.iter().find(is_its).map(|it| it.budget)
}

impl PolledStage {
    /// `None`: it is not polled. One without a budget yet is given its own.
    fn new(
        (kind, journey): (u16, &sojourn_plan::Journey),
        (stage, shape): (u8, &sojourn_plan::Stage),
        (budgets, known): (&mut Vec<Budget>, Option<usize>),
        client: &mut Client,
        recorder: &mut Recorder,
    ) -> Option<Self> {
        let StageSource::Poll(poll) = &shape.source else {
            return None;
        };
        let budget = known.unwrap_or_else(|| {
            budgets.push(Budget::new(poll.budget_per_s));
            budgets.len() - 1
        });
        let tags = [("journey", journey.name.as_str()), ("stage", shape.name.as_str())];
        let key = |metric: &str| SeriesKey::new(metric, &tags, SeriesPhase::Any);
        Some(Self {
            kind,
            stage,
            request: PreparedRequest::of_action(&poll.action, true, client),
            poll: poll.clone(),
            requests: recorder.series(Kind::Counter, key(names::POLL_REQUESTS)),
            waited: recorder.series(Kind::Trend, key(names::POLL_WAITED)),
            budget,
            told: false,
        })
    }
}

impl Poller {
    fn new(spec: PollerSpec, mut client: Client, start_ns: u64) -> Self {
        // Poller's snapshots carry a number no generator has.
        let mut recorder = Recorder::new(u32::from(spec.source.0));
        recorder.start_at(start_ns);
        let plan = Arc::clone(&spec.plan);
        let (mut stages, mut budgets) = (Vec::new(), Vec::new());
        for (kind, journey) in (0u16..).zip(&plan.journeys) {
            for stage in (0u8..).zip(&journey.stages) {
                let own = (&mut budgets, shared(&stages, journey, stage.0));
                stages.extend(PolledStage::new(
                    (kind, journey),
                    stage,
                    own,
                    &mut client,
                    &mut recorder,
                ));
            }
        }
        Self {
            outbox: Outbox::new(spec.source, spec.facts.clone(), TASKS_MAX),
            health: ThreadHealth::new("poller", &mut recorder),
            recorder,
            scratch: Scratch::default(),
            variables: Vec::new(),
            variables_version: 0,
            tasks: Slab::new(),
            generation: 0,
            of_journey: HashMap::new(),
            due: BinaryHeap::new(),
            stages,
            budgets,
            ends: Vec::new(),
            snapshot_ns: start_ns + SECOND_NS,
            refused: 0,
            client,
            spec,
        }
    }

    fn run(mut self) -> Result<(), String> {
        let mut completions = Vec::new();
        while !self.spec.stop.load(std::sync::atomic::Ordering::Relaxed) {
            self.hear_ends();
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
        self.outbox.finish(now_ns());
        let last = self.snapshot(now_ns());
        hand_over(&self.spec.snapshots, last).map_err(|why| format!("poller: {why}"))
    }

    fn take_tasks(&mut self) {
        loop {
            match self.spec.hand_over.tasks.try_recv() {
                Ok(task) if self.tasks.len() < TASKS_MAX => {
                    let journey = task.journey.0;
                    self.generation = self.generation.wrapping_add(1);
                    let place = self.tasks.insert((self.generation, task));
                    let token = u64::from(self.generation) << 32 | place as u64;
                    self.of_journey.entry(journey).or_default().push(token);
                    self.due.push(Reverse((now_ns(), token)));
                }
                Ok(_) => self.refused += 1,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    /// Asks no further for journeys that have ended, but for what a completed one may still reach.
    fn hear_ends(&mut self) {
        self.ends.extend(self.spec.hand_over.ended.try_iter());
        // A journey is handed over before its end can be told: now it has been taken up.
        self.take_tasks();
        let mut ends = std::mem::take(&mut self.ends);
        for Ended { journey, complete } in ends.drain(..) {
            for token in self.of_journey.get(&journey.0).cloned().unwrap_or_default() {
                let stays = self.task(token).is_some_and(|task| {
                    let stages = &self.spec.plan.journeys[usize::from(task.kind)].stages;
                    complete && stages[usize::from(task.stage)].kind == StageKind::Optional
                });
                if !stays {
                    self.remove(token);
                }
            }
        }
        self.ends = ends;
    }

    fn task(&self, token: Token) -> Option<&Task> {
        let (generation, task) = self.tasks.get((token & 0xFFFF_FFFF) as usize)?;
        (u64::from(*generation) == token >> 32).then_some(task)
    }

    fn remove(&mut self, token: Token) {
        let Some(journey) = self.task(token).map(|task| task.journey.0) else {
            return;
        };
        self.tasks.remove((token & 0xFFFF_FFFF) as usize);
        if let Some(tokens) = self.of_journey.get_mut(&journey) {
            tokens.retain(|own| *own != token);
            if tokens.is_empty() {
                self.of_journey.remove(&journey);
            }
        }
    }

    fn stage_of(&self, task: &Task) -> Option<usize> {
        let is_its = |stage: &PolledStage| stage.kind == task.kind && stage.stage == task.stage;
        self.stages.iter().position(is_its)
    }

    /// Queues what is due, and sends what the budgets allow.
    fn send_due(&mut self) {
        let now = now_ns();
        while let Some(&Reverse((due_ns, token))) = self.due.peek()
            && due_ns <= now
        {
            self.due.pop();
            if let Some(stage) = self.task(token).and_then(|task| self.stage_of(task)) {
                let budget = self.stages[stage].budget;
                self.budgets[budget].waiting.push_back((due_ns, token));
            }
        }
        if self.variables_version != self.spec.variables.version() {
            self.variables_version = self.spec.variables.version();
            self.variables = self.spec.variables.values();
        }
        for budget in 0..self.budgets.len() {
            while self.budgets[budget].free_ns <= now
                && let Some((due_ns, token)) = self.budgets[budget].waiting.pop_front()
            {
                self.send(due_ns, token, now);
            }
        }
    }

    /// Sends one request of a stage, unless its journey is observed no more: that costs nothing.
    fn send(&mut self, due_ns: u64, token: Token, now: u64) {
        let Some(stage) = self.task(token).and_then(|task| self.stage_of(task)) else {
            return;
        };
        // Not by `task`, which would lend all of it.
        let Some((_, task)) = self.tasks.get((token & 0xFFFF_FFFF) as usize) else {
            return;
        };
        if now >= task.until_ns {
            self.remove(token);
            return;
        }
        let stage = &mut self.stages[stage];
        let budget = &mut self.budgets[stage.budget];
        let action = &stage.poll.action;
        let values = RenderContext {
            seed: self.spec.plan.seed,
            k: task.k,
            run_id: &self.spec.options.run_id,
            key: &task.key,
            variables: &self.variables,
            own: &task.own,
            data: &self.spec.plan.data,
        };
        if let Err(error) = stage.request.render(action, &values, &mut self.scratch) {
            if !std::mem::replace(&mut stage.told, true) {
                let journey = &self.spec.plan.journeys[usize::from(task.kind)];
                let name = &journey.stages[usize::from(task.stage)].name;
                let why = error.in_words(&self.spec.plan);
                // There is room for a remark per stage, or more important ones were made.
                let _ignored = self.spec.notes.try_send(format!(
                    "stage {name} of {} could not be polled (at least once): {why}",
                    journey.name
                ));
            }
            // The value may come with the next refresh.
            self.due.push(Reverse((now.saturating_add(stage.poll.every_ns), token)));
            return;
        }
        // Not what the event loop took: what the budget made of it.
        let waited_ns = budget.free_ns.saturating_sub(due_ns);
        if waited_ns > 0 {
            self.recorder.record(stage.waited, waited_ns);
        }
        budget.free_ns = now + budget.gap_ns;
        self.recorder.add(stage.requests, 1);
        self.client.send(
            now,
            Exchange {
                token,
                origin: stage.request.origin,
                bytes: &self.scratch.message,
                head_only: false,
                timeout_ns: action.timeout_ns,
                body: BodyPolicy::Keep { bytes_max: action.body_max },
            },
        );
    }

    /// When there is something to send next.
    fn next_due_ns(&self) -> u64 {
        let due_ns = self.due.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns);
        let waiting = self.budgets.iter().filter(|budget| !budget.waiting.is_empty());
        waiting.map(|budget| budget.free_ns).fold(due_ns, u64::min)
    }

    fn complete(&mut self, completion: Completion) {
        let token = completion.token;
        // The journey may have ended while the answer was awaited.
        let Some(task) = self.task(token) else {
            return;
        };
        let Some(poll) = self.stage_of(task).map(|stage| &self.stages[stage].poll) else {
            return;
        };
        let holds = completion
            .outcome
            .as_ref()
            .is_ok_and(|response| Answer::new(response).unexpected(&poll.until).is_none());
        if holds {
            let fact = Fact::Polled { journey: task.journey, stage: task.stage };
            self.outbox.push(completion.ended_ns.max(task.handed_ns), fact);
            self.remove(token);
        } else {
            let next_ns = (completion.began_ns + poll.every_ns).max(now_ns());
            self.due.push(Reverse((next_ns, token)));
        }
    }

    fn report(&mut self, now: u64) {
        let snapshot = self.snapshot(now);
        // A lost snapshot shows as a gap in their numbers.
        let _ignored = self.spec.snapshots.try_send(snapshot);
    }

    fn snapshot(&mut self, now: u64) -> Box<Snapshot> {
        self.health.measure(now, &mut self.recorder);
        let refused = std::mem::take(&mut self.refused) + self.outbox.take_refused();
        self.health.refused("journeys to poll", refused, &mut self.recorder);
        Box::new(self.recorder.take(now, None))
    }
}
