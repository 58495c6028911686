//! The thread that carries callbacks out: holds them until they are due, sends webhooks by
//! Sojourn's own HTTP client and messages by the build's connectors.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use slab::Slab;
use sojourn_broker::{Outcome, Publisher};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, ClientConfig, Completion, Exchange, Waker};
use sojourn_plan::KafkaChannel;

use super::{Errand, Job};
use crate::wheel::Wheel;

/// Callbacks that wait to be due or sent; beyond, they are refused and counted.
const JOBS_MAX: usize = 100_000;
/// Brokers that one mock publishes to, at most.
const PUBLISHERS_MAX: usize = 64;
/// With messages unacknowledged, how often their outcomes are looked for.
const OUTCOMES_EVERY_NS: u64 = 10 * MILLISECOND_NS;

/// Makes the publisher of a broker; errs in words.
pub type PublisherMaker =
    Arc<dyn Fn(&KafkaChannel) -> Result<Box<dyn Publisher>, String> + Send + Sync>;

/// Takes callbacks in from the server's threads.
pub(crate) struct Courier {
    jobs: Sender<Job>,
    waker: Waker,
    counts: Arc<Counts>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Counts {
    accepted: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
}

/// What became of callbacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallbackFigures {
    /// Taken in.
    pub accepted: u64,
    /// Answered 2xx, or acknowledged by the broker.
    pub done: u64,
    /// Not.
    pub failed: u64,
    /// Not taken in: too many waited, or a template made something that cannot be sent.
    pub refused: u64,
}

impl Courier {
    /// Starts the thread.
    ///
    /// # Errors
    /// No descriptor or thread to be had.
    pub(crate) fn start(publishers: PublisherMaker) -> io::Result<Self> {
        let (jobs, received) = bounded(JOBS_MAX);
        let client = Client::new(ClientConfig { connections_max: 256, ..ClientConfig::default() })?;
        let waker = client.waker();
        let counts = Arc::new(Counts::default());
        let rounds = Rounds {
            client,
            publishers,
            open: Vec::new(),
            wheel: Wheel::new(now_ns()),
            held: Slab::new(),
            counts: counts.clone(),
            unacknowledged: 0,
        };
        let thread = std::thread::Builder::new()
            .name("callbacks".to_owned())
            .spawn(move || rounds.run(&received))?;
        Ok(Self { jobs, waker, counts, thread: Some(thread) })
    }

    /// Takes a job in.
    pub(crate) fn accept(&self, job: Result<Job, String>) {
        let taken = job.ok().is_some_and(|job| self.jobs.try_send(job).is_ok());
        let count = if taken { &self.counts.accepted } else { &self.counts.refused };
        count.fetch_add(1, Ordering::Relaxed);
        if taken {
            self.waker.wake();
        }
    }

    /// What became of callbacks so far.
    pub(crate) fn figures(&self) -> CallbackFigures {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CallbackFigures {
            accepted: of(&self.counts.accepted),
            done: of(&self.counts.done),
            failed: of(&self.counts.failed),
            refused: of(&self.counts.refused),
        }
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        // Without a sender the thread ends, and leaves undone what is not due.
        let (closed, _) = bounded(0);
        self.jobs = closed;
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _joined = thread.join();
        }
    }
}

/// A broker, and its publisher unless none can be made.
type Broker = (Arc<KafkaChannel>, Option<Box<dyn Publisher>>);

/// The thread's own.
struct Rounds {
    client: Client,
    publishers: PublisherMaker,
    open: Vec<Broker>,
    wheel: Wheel,
    held: Slab<Job>,
    counts: Arc<Counts>,
    unacknowledged: u64,
}

impl Rounds {
    fn run(mut self, jobs: &Receiver<Job>) {
        let (mut due, mut completions) = (Vec::new(), Vec::<Completion>::new());
        let mut outcomes: Vec<Outcome> = Vec::new();
        loop {
            loop {
                match jobs.try_recv() {
                    Ok(job) => self.hold(job),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            self.wheel.advance(now_ns(), &mut due);
            for place in due.drain(..) {
                let job = self.held.remove(place as usize);
                self.send(job.errand);
            }
            for (_, publisher) in &mut self.open {
                if let Some(publisher) = publisher {
                    publisher.poll(&mut outcomes);
                }
            }
            for outcome in outcomes.drain(..) {
                self.unacknowledged = self.unacknowledged.saturating_sub(1);
                self.count(outcome.error.is_none());
            }
            let mut until_ns = self.wheel.next_due_ns().unwrap_or_else(|| now_ns() + SECOND_NS);
            if self.unacknowledged > 0 {
                until_ns = until_ns.min(now_ns() + OUTCOMES_EVERY_NS);
            }
            if self.client.wait_until(until_ns.max(1), &mut completions).is_err() {
                return;
            }
            for completion in completions.drain(..) {
                let status = completion.outcome.map_or(0, |response| response.status);
                self.count((200..300).contains(&status));
            }
        }
    }

    fn hold(&mut self, job: Job) {
        if self.held.len() >= JOBS_MAX {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let due_ns = job.due_ns;
        let place = self.held.insert(job);
        self.wheel.insert(due_ns, place as u32);
    }

    fn send(&mut self, errand: Errand) {
        match errand {
            Errand::Webhook { origin, bytes, is_head, timeout_ns } => {
                let origin = self.client.origin(&origin);
                let exchange = Exchange {
                    token: 0,
                    origin,
                    bytes: &bytes,
                    head_only: is_head,
                    timeout_ns,
                    body: BodyPolicy::Discard,
                };
                self.client.send(now_ns(), exchange);
            }
            Errand::Publish { kafka, topic, key, headers, payload } => {
                let Some(publisher) = self.publisher(&kafka) else {
                    self.count(false);
                    return;
                };
                let headers: Vec<(&str, &[u8])> =
                    headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
                match publisher.try_publish(0, &topic, key.as_deref(), &headers, &payload) {
                    Ok(()) => self.unacknowledged += 1,
                    Err(_) => self.count(false),
                }
            }
        }
    }

    /// The broker's publisher, made when it is first needed; one that cannot be made is not tried
    /// again.
    fn publisher(&mut self, kafka: &Arc<KafkaChannel>) -> Option<&mut Box<dyn Publisher>> {
        let known = self.open.iter().position(|(known, _)| known == kafka);
        let place = match known {
            Some(place) => place,
            None if self.open.len() >= PUBLISHERS_MAX => return None,
            None => {
                self.open.push((kafka.clone(), (self.publishers)(kafka).ok()));
                self.open.len() - 1
            }
        };
        self.open.get_mut(place)?.1.as_mut()
    }

    fn count(&self, is_done: bool) {
        let count = if is_done { &self.counts.done } else { &self.counts.failed };
        count.fetch_add(1, Ordering::Relaxed);
    }
}
