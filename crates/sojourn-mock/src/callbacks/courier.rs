//! The thread that carries callbacks out: holds them until they are due, sends webhooks by
//! Sojourn's own HTTP client and messages by the build's connectors.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use slab::Slab;
use sojourn_broker::{BrokerError, Registry};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, ClientConfig, Completion, Exchange, Waker};

use super::brokers::{Brokers, Line};
use super::counts::{CallbackFigures, Counts};
use super::{Errand, Job};
use crate::book::Book;
use crate::wheel::Wheel;

/// Callbacks that wait to be due, sent or answered; beyond, they are refused and counted.
const JOBS_MAX: usize = 100_000;
/// What these may hold, bytes; beyond, they are refused, too.
const HELD_BYTES_MAX: u64 = 256 << 20;
/// Room for those, for as many threads as may look at the number at once, and for other orders.
const ORDERS_MAX: usize = JOBS_MAX + 1_000;
/// How long the end waits for answers to what has been sent.
const END_NS: u64 = SECOND_NS;

/// Takes callbacks in from the server's threads.
pub(crate) struct Courier {
    orders: Sender<Order>,
    waker: Waker,
    registry: Arc<Registry>,
    counts: Arc<Counts>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread is told.
enum Order {
    /// There are no more jobs.
    End,
    Job(Job),
    /// A book's channels, before its first job.
    Lines(Vec<Line>),
}

impl Courier {
    /// Starts the thread; brokers are spoken to by these connectors.
    ///
    /// # Errors
    /// No descriptor or thread to be had.
    pub(crate) fn start(registry: Arc<Registry>) -> io::Result<Self> {
        let (orders, received) = bounded(ORDERS_MAX);
        let client = Client::new(ClientConfig { connections_max: 256, ..ClientConfig::default() })?;
        let waker = client.waker();
        let counts = Arc::new(Counts::default());
        let rounds = Rounds {
            client,
            brokers: Brokers::default(),
            wheel: Wheel::new(now_ns()),
            held: Slab::new(),
            counts: counts.clone(),
            end_ns: None,
        };
        let thread = std::thread::Builder::new()
            .name("callbacks".to_owned())
            .spawn(move || rounds.run(&received))?;
        Ok(Self { orders, waker, registry, counts, thread: Mutex::new(Some(thread)) })
    }

    /// Makes ready for a book's callbacks, of which none may be accepted before.
    ///
    /// # Errors
    /// A channel cannot be published to: by this build, by its connector, with its settings.
    pub(crate) fn prepare(&self, book: &Book) -> Result<(), BrokerError> {
        let lines = Line::open(&book.published_channels(), &self.registry, &self.waker)?;
        if !lines.is_empty() {
            // It fails only when the thread has ended, and then jobs are refused, too.
            let _sent = self.orders.send(Order::Lines(lines));
            self.waker.wake();
        }
        Ok(())
    }

    /// Takes a job in.
    pub(crate) fn accept(&self, job: Result<Job, String>) {
        let job = match job {
            Ok(job) => job,
            Err(why) => return self.counts.refused(&why),
        };
        if self.counts.figures().waiting() >= JOBS_MAX as u64 {
            return self.counts.refused("too many callbacks wait");
        }
        let bytes = job.bytes();
        if self.counts.hold(bytes) > HELD_BYTES_MAX {
            self.counts.release(bytes);
            return self.counts.refused("the callbacks that wait hold too many bytes");
        }
        // Before its end can be counted.
        self.counts.accept();
        match self.orders.try_send(Order::Job(job)) {
            Ok(()) => self.waker.wake(),
            Err(_) => {
                self.counts.release(bytes);
                self.counts.failed("the thread of callbacks has ended");
            }
        }
    }

    /// What became of callbacks so far.
    pub(crate) fn figures(&self) -> CallbackFigures {
        self.counts.figures()
    }

    /// Why callbacks failed or were refused so far.
    pub(crate) fn reasons(&self) -> Vec<(String, u64)> {
        self.counts.reasons()
    }

    /// Ends the thread. What is not due is left undone; what has been sent may still be answered,
    /// for a second.
    pub(crate) fn finish(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _sent = self.orders.send(Order::End);
            self.waker.wake();
            let _joined = thread.join();
        }
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The thread's own.
struct Rounds {
    client: Client,
    brokers: Brokers,
    wheel: Wheel,
    held: Slab<Job>,
    counts: Arc<Counts>,
    /// When it ends at the latest, once it was told to.
    end_ns: Option<u64>,
}

impl Rounds {
    fn run(mut self, orders: &Receiver<Order>) {
        let (mut due, mut completions) = (Vec::new(), Vec::<Completion>::new());
        loop {
            for order in orders.try_iter() {
                match order {
                    Order::End => self.end_ns = Some(now_ns() + END_NS),
                    Order::Job(job) => self.hold(job),
                    Order::Lines(lines) => self.brokers.add(lines),
                }
            }
            self.wheel.advance(now_ns(), &mut due);
            for place in due.drain(..) {
                let job = self.held.remove(place as usize);
                self.counts.release(job.bytes());
                if self.end_ns.is_none() {
                    self.send(job.errand);
                }
            }
            let counts = &self.counts;
            self.brokers.outcomes(now_ns(), |outcome| match outcome {
                Ok(()) => counts.done(),
                Err(why) => counts.failed(&why),
            });
            let is_idle = self.client.in_flight() == 0 && self.brokers.pending() == 0;
            if self.end_ns.is_some_and(|end_ns| is_idle || now_ns() >= end_ns) {
                return;
            }
            let mut until_ns = self.wheel.next_due_ns().unwrap_or_else(|| now_ns() + SECOND_NS);
            until_ns = until_ns.min(self.brokers.next_ns()).min(self.end_ns.unwrap_or(u64::MAX));
            if self.client.wait_until(until_ns.max(1), &mut completions).is_err() {
                return;
            }
            for completion in completions.drain(..) {
                match completion.outcome {
                    Ok(response) if (200..300).contains(&response.status) => self.counts.done(),
                    Ok(response) => self.counts.failed(&format!("status {}", response.status)),
                    Err(failure) => self.counts.failed(failure.kind.name()),
                }
            }
        }
    }

    fn hold(&mut self, job: Job) {
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
            Errand::Publish(letter) => {
                if let Err(why) = self.brokers.send(now_ns(), &letter) {
                    self.counts.failed(&why);
                }
            }
        }
    }
}
