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
    /// There are no more jobs; what is not due by this instant is left undone.
    End(u64),
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
        let counts = Arc::new(Counts::default());
        let rounds = Rounds::new(counts.clone())?;
        let waker = rounds.client.waker();
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

    /// Ends the thread. What is not due yet is left undone; what has been sent may still be
    /// answered, for a second.
    pub(crate) fn finish(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _sent = self.orders.send(Order::End(now_ns()));
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
    /// When it was told to end.
    told_ns: Option<u64>,
}

impl Rounds {
    fn new(counts: Arc<Counts>) -> io::Result<Self> {
        Ok(Self {
            client: Client::new(ClientConfig { connections_max: 256, ..ClientConfig::default() })?,
            brokers: Brokers::default(),
            wheel: Wheel::new(now_ns()),
            held: Slab::new(),
            counts,
            told_ns: None,
        })
    }

    fn run(mut self, orders: &Receiver<Order>) {
        let (mut due, mut completions) = (Vec::new(), Vec::<Completion>::new());
        loop {
            for order in orders.try_iter() {
                match order {
                    Order::End(told_ns) => self.told_ns = Some(told_ns),
                    Order::Job(job) => self.hold(job),
                    Order::Lines(lines) => self.brokers.add(lines),
                }
            }
            self.wheel.advance(now_ns(), &mut due);
            for place in due.drain(..) {
                let job = self.held.remove(place as usize);
                self.counts.release(job.bytes());
                if self.told_ns.is_none_or(|told_ns| job.due_ns <= told_ns) {
                    self.send(job.errand);
                }
            }
            let counts = &self.counts;
            self.brokers.outcomes(now_ns(), |outcome| match outcome {
                Ok(()) => counts.done(),
                Err(why) => counts.failed(&why),
            });
            let is_idle = self.client.in_flight() == 0 && self.brokers.pending() == 0;
            let end_ns = self.told_ns.map(|told_ns| told_ns + END_NS);
            if end_ns.is_some_and(|end_ns| is_idle || now_ns() >= end_ns) {
                return;
            }
            let mut until_ns = self.wheel.next_due_ns().unwrap_or_else(|| now_ns() + SECOND_NS);
            until_ns = until_ns.min(self.brokers.next_ns()).min(end_ns.unwrap_or(u64::MAX));
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use sojourn_http::Origin;

    use super::*;

    /// Whoever is told to end in the round in which something falls due sends it all the same.
    #[test]
    fn what_is_due_at_the_end_is_sent_and_nothing_later() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 1_000]).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        });
        let job = |due_ns| {
            let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port };
            let bytes = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n".to_vec();
            let timeout_ns = 10 * SECOND_NS;
            Job { due_ns, errand: Errand::Webhook { origin, bytes, is_head: false, timeout_ns } }
        };
        let counts = Arc::new(Counts::default());
        let rounds = Rounds::new(counts.clone()).unwrap();
        let told_ns = now_ns();
        let (orders, received) = bounded(10);
        for job in [job(told_ns), job(told_ns + 1)] {
            counts.accept();
            counts.hold(job.bytes());
            assert!(orders.send(Order::Job(job)).is_ok());
        }
        assert!(orders.send(Order::End(told_ns)).is_ok());
        rounds.run(&received);
        server.join().unwrap();
        let figures = counts.figures();
        assert_eq!((figures.done, figures.failed, figures.waiting()), (1, 0, 1));
    }
}
