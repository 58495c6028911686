//! Another broker than Kafka that carries the demo's messages, by its own publisher and consumer.

use crate::common::Common;
use crate::error::DemoError;
use crate::publisher::{Deliveries, Outgoing, Purpose, Ticket, headers};
use crate::threads::Thread;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use sojourn_broker::{Consumer, Outcome, Publisher};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Messages that wait for the publishing thread.
const QUEUE_MAX: usize = 10_000;
/// How long the publishing thread waits for a message before it looks for acknowledgements.
const LOOK: Duration = Duration::from_millis(1);

/// A broker's ends for the demo. Topics, queues and streams exist already.
pub struct Carrier {
    /// The broker in words: `nats at 127.0.0.1:4222`.
    pub name: String,
    /// Publishes events.
    pub events: CarrierEnd,
    /// Publishes events that were given up.
    pub dead_letters: CarrierEnd,
    /// Takes events, each once, as the system's own consumers do.
    pub consumer: Box<dyn Consumer>,
}

/// Where messages of one kind go.
pub struct CarrierEnd {
    /// Takes them.
    pub publisher: Box<dyn Publisher>,
    /// Topic, subject, routing key or stream.
    pub topic: String,
}

/// Where messages wait for the publishing thread.
pub(crate) struct Queue {
    messages: Sender<(Outgoing, Ticket)>,
    /// Handed over and not yet acknowledged or refused.
    pending: Arc<AtomicUsize>,
}

impl Queue {
    /// Starts the publishing thread, which ends when the queue is dropped and nothing is pending.
    pub(crate) fn start(
        events: CarrierEnd,
        dead_letters: CarrierEnd,
        common: Common,
    ) -> Result<(Self, Thread), DemoError> {
        let (messages, waiting) = bounded(QUEUE_MAX);
        let pending = Arc::new(AtomicUsize::new(0));
        let courier = Courier {
            waiting,
            ends: [events, dead_letters],
            tickets: HashMap::new(),
            next: 0,
            outcomes: Vec::new(),
            deliveries: Deliveries::new(common),
            pending: Arc::clone(&pending),
        };
        let thread = Thread::spawn("demo-carrier", move || courier.run())?;
        Ok((Self { messages, pending }, thread))
    }

    /// Hands a message over; waits while the queue is full. Errs when the thread is gone.
    pub(crate) fn push(&self, message: &Outgoing, ticket: Ticket) -> Result<(), String> {
        self.pending.fetch_add(1, Ordering::SeqCst);
        self.messages.send((message.clone(), ticket)).map_err(|_| {
            self.pending.fetch_sub(1, Ordering::SeqCst);
            "the demo is stopping".to_owned()
        })
    }

    /// Waits until nothing is pending; false when that took too long.
    pub(crate) fn flush(&self, timeout: Duration) -> bool {
        let waits = timeout.as_millis();
        for _ in 0..waits {
            if self.pending.load(Ordering::SeqCst) == 0 {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }
}

/// The publishing thread.
struct Courier {
    waiting: Receiver<(Outgoing, Ticket)>,
    /// Events, dead letters.
    ends: [CarrierEnd; 2],
    /// Messages on their way, by token. Bounded by the publishers' own bounds.
    tickets: HashMap<u64, Ticket>,
    /// The next token. Each end has one connection, so tokens are the order of its messages.
    next: u64,
    outcomes: Vec<Outcome>,
    deliveries: Deliveries,
    pending: Arc<AtomicUsize>,
}

impl Courier {
    fn run(mut self) {
        loop {
            match self.waiting.recv_timeout(LOOK) {
                Ok((message, ticket)) => self.send(&message, ticket),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Ok((message, ticket)) = self.waiting.try_recv() {
                self.send(&message, ticket);
            }
            self.hear();
        }
    }

    /// Publishes; while the publisher has no place, acknowledgements are heard.
    fn send(&mut self, message: &Outgoing, mut ticket: Ticket) {
        let end = match message.purpose {
            Purpose::Event(_) => 0,
            Purpose::DeadLetter(_) => 1,
        };
        let headers = headers(message);
        let headers: Vec<(&str, &[u8])> =
            headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let token = self.next;
        self.next += 1;
        loop {
            ticket.published_now();
            let CarrierEnd { publisher, topic } = &mut self.ends[end];
            let key = Some(message.key.as_bytes());
            let sent =
                publisher.try_publish(token, topic, key, &headers, message.payload.as_bytes());
            match sent {
                Ok(()) => {
                    self.tickets.insert(token, ticket);
                    return;
                }
                Err(error) if self.tickets.is_empty() => {
                    return self.done(ticket, Err(error));
                }
                Err(_) => {
                    std::thread::sleep(LOOK);
                    self.hear();
                }
            }
        }
    }

    fn hear(&mut self) {
        for CarrierEnd { publisher, .. } in &mut self.ends {
            publisher.poll(&mut self.outcomes);
        }
        for outcome in std::mem::take(&mut self.outcomes) {
            if let Some(ticket) = self.tickets.remove(&outcome.token) {
                let place = outcome.token as i64;
                let result = outcome.error.map_or(Ok((outcome.acked_ns, 0, place)), Err);
                self.done(ticket, result);
            }
        }
    }

    /// (When, partition, offset): not every broker tells a place, so it is the order of publishing.
    fn done(&self, ticket: Ticket, result: Result<(u64, i32, i64), String>) {
        self.deliveries.delivered(ticket, result);
        self.pending.fetch_sub(1, Ordering::SeqCst);
    }
}
