//! Publishing: a thread that owns the publishers, one for each tap that is published to.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use sojourn_broker::{Awaited, Outcome, Publisher, PublisherSettings, Registry};
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_plan::Channel;

use super::{Answer, Reply};

/// Orders that may wait for the thread; a further one is refused.
const ORDERS_MAX: usize = 16_384;
/// Messages of a channel without an acknowledgement; a further one is refused.
const QUEUE_MAX: usize = 100_000;
/// How long the thread sleeps at most.
const NAP_NS: u64 = 50 * MILLISECOND_NS;

/// A message to publish.
pub(crate) struct Order {
    /// The tap's number.
    pub(crate) tap: usize,
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) payload: Vec<u8>,
    /// How long the acknowledgement is waited for, ns.
    pub(crate) timeout_ns: u64,
    /// Who hears of it, once.
    pub(crate) reply: Reply,
}

enum Word {
    Order(Box<Order>),
    /// There are outcomes.
    Wake,
    End,
}

/// The way to the thread; ends it when dropped.
pub(crate) struct Publishing {
    words: Sender<Word>,
    thread: Option<JoinHandle<()>>,
}

impl Publishing {
    /// Starts the thread; it connects to a broker when a message is there for it.
    pub(crate) fn start(channels: Vec<Channel>, registry: Arc<Registry>) -> Result<Self, String> {
        let (words, heard) = bounded(ORDERS_MAX);
        let waker = words.clone();
        let wake = Arc::new(move || {
            // A full channel is about to be read anyway.
            waker.try_send(Word::Wake).ok();
        });
        let publishers = Publishers {
            channels,
            registry,
            wake,
            made: HashMap::new(),
            awaited: Awaited::default(),
            replies: HashMap::new(),
            token: 0,
        };
        let thread = std::thread::Builder::new()
            .name("publish".to_owned())
            .spawn(move || publishers.run(&heard))
            .map_err(|error| format!("no thread for publishing: {error}"))?;
        Ok(Self { words, thread: Some(thread) })
    }

    /// Hands a message over. Errs in words when there is no room.
    pub(crate) fn publish(&self, order: Order) -> Result<(), String> {
        self.words.try_send(Word::Order(Box::new(order))).map_err(|error| match error {
            TrySendError::Full(_) => format!("{ORDERS_MAX} messages wait to be published already"),
            TrySendError::Disconnected(_) => "publishing has ended".to_owned(),
        })
    }
}

impl Drop for Publishing {
    fn drop(&mut self) {
        // Said, since publishers hold senders of their own. Errs when the thread is gone already.
        self.words.send(Word::End).ok();
        if let Some(thread) = self.thread.take() {
            // What panics there has left its users without an answer, which they were told.
            thread.join().ok();
        }
    }
}

/// What the thread owns.
struct Publishers {
    channels: Vec<Channel>,
    registry: Arc<Registry>,
    wake: Arc<dyn Fn() + Send + Sync>,
    made: HashMap<usize, Box<dyn Publisher>>,
    awaited: Awaited,
    replies: HashMap<u64, Reply>,
    token: u64,
}

impl Publishers {
    fn run(mut self, heard: &Receiver<Word>) {
        let mut outcomes = Vec::new();
        loop {
            let until_ns = self.awaited.next_ns().min(now_ns() + NAP_NS);
            let nap = Duration::from_nanos(until_ns.saturating_sub(now_ns()));
            match heard.recv_timeout(nap) {
                Ok(Word::Order(order)) => self.send(*order),
                Ok(Word::Wake) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Word::End) | Err(RecvTimeoutError::Disconnected) => return,
            }
            self.outcomes(&mut outcomes);
        }
    }

    fn send(&mut self, order: Order) {
        if let Err(problem) = self.try_send(&order) {
            order.reply.send(Answer::Published(Err(problem)));
            return;
        }
        self.replies.insert(self.token, order.reply);
    }

    fn try_send(&mut self, order: &Order) -> Result<(), String> {
        self.token += 1;
        let token = self.token;
        let headers: Vec<(&str, &[u8])> =
            order.headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
        let (topic, key, payload) = (&order.topic, order.key.as_deref(), &order.payload);
        let publisher = self.publisher(order.tap)?;
        publisher.try_publish(token, topic, key, &headers, payload)?;
        self.awaited.add(now_ns(), token, order.timeout_ns);
        Ok(())
    }

    fn publisher(&mut self, tap: usize) -> Result<&mut Box<dyn Publisher>, String> {
        if !self.made.contains_key(&tap) {
            let channel = self.channels.get(tap).ok_or("there is no such tap")?;
            let settings = PublisherSettings {
                queue_max: QUEUE_MAX,
                wake: Arc::clone(&self.wake),
                ..PublisherSettings::default()
            };
            let made = self.registry.of(channel).and_then(|it| it.publisher(channel, settings));
            self.made.insert(tap, made.map_err(|error| error.to_string())?);
        }
        self.made.get_mut(&tap).ok_or_else(|| "there is no publisher".to_owned())
    }

    fn outcomes(&mut self, outcomes: &mut Vec<Outcome>) {
        for publisher in self.made.values_mut() {
            publisher.poll(outcomes);
        }
        for Outcome { token, error, .. } in outcomes.drain(..) {
            if self.awaited.settle(token)
                && let Some(reply) = self.replies.remove(&token)
            {
                reply.send(Answer::Published(error.map_or(Ok(()), Err)));
            }
        }
        let replies = &mut self.replies;
        self.awaited.give_up(now_ns(), |token| {
            if let Some(reply) = replies.remove(&token) {
                let told = Awaited::NOT_ACKNOWLEDGED.to_owned();
                reply.send(Answer::Published(Err(told)));
            }
        });
    }
}
