//! A producer that many share: messages in, their acknowledgements to the batch that they are of.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rdkafka::ClientContext;
use rdkafka::client::OAuthToken;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Header, OwnedHeaders};
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, ThreadedProducer};
use sojourn_broker::{BrokerError, PublisherSettings};
use sojourn_clock::now_ns;
use sojourn_plan::KafkaChannel;

use super::tokens::{self, TokenSource};
use crate::config::{Redactor, publisher_config};

/// Messages that may wait for the broker.
const QUEUE_MAX: usize = 100_000;
/// How long the broker has to say which topics there are.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends messages without blocking.
pub struct Producer {
    inner: ThreadedProducer<Reports>,
    redactor: Redactor,
    /// Partitions of the topics that the broker has told of.
    topics: Mutex<HashMap<String, usize>>,
}

/// A message to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Where to.
    pub topic: &'a str,
    /// Its partition; `None`: as the producer's partitioner has it.
    pub partition: Option<i32>,
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value; `None` deletes the key in a compacted topic.
    pub value: Option<&'a [u8]>,
    /// Its headers, in order.
    pub headers: &'a [(String, Vec<u8>)],
    /// Its time, milliseconds since 1970; `None`: now.
    pub time_ms: Option<i64>,
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Too many wait for the broker: try again later.
    Full,
    /// It can't be sent at all, for this reason.
    Failed(String),
}

impl Producer {
    /// A producer with these properties. It connects in the background: an unreachable broker shows
    /// as messages that fail, after `message.timeout.ms`. Errs when a property is refused.
    pub fn new(
        kafka: &KafkaChannel,
        tokens: Option<Arc<TokenSource>>,
    ) -> Result<Self, BrokerError> {
        let redactor = Redactor::new(kafka);
        let reports = Reports { redactor: redactor.clone(), tokens, reason: Mutex::default() };
        let inner = publisher_config(
            kafka,
            &PublisherSettings { queue_max: QUEUE_MAX, ..Default::default() },
        )
        .create_with_context(reports)
        .map_err(|error| redactor.refused_config(&error))?;
        Ok(Self { inner, redactor, topics: Mutex::default() })
    }

    /// Sends a message of a part of a batch. Never blocks.
    pub fn send(
        &self,
        record: &Record<'_>,
        batch: &Arc<Batch>,
        part: usize,
    ) -> Result<(), Refused> {
        let headers = record.headers.iter().map(|(name, value)| name.len() + value.len());
        let length = |part: Option<&[u8]>| part.map_or(0, <[u8]>::len);
        let bytes = length(record.key) + length(record.value) + headers.sum::<usize>();
        let ticket = Ticket { batch: Arc::clone(batch), part, bytes, sent_ns: now_ns() };
        let mut base =
            BaseRecord::<[u8], [u8], Box<Ticket>>::with_opaque_to(record.topic, Box::new(ticket));
        base.key = record.key;
        base.payload = record.value;
        base.partition = record.partition;
        base.timestamp = record.time_ms;
        if !record.headers.is_empty() {
            let list = OwnedHeaders::new_with_capacity(record.headers.len());
            base.headers =
                Some(record.headers.iter().fold(list, |list, (key, value)| {
                    list.insert(Header { key, value: Some(value) })
                }));
        }
        batch.lock().outstanding += 1;
        self.inner.send(base).map_err(|(error, _)| {
            batch.lock().outstanding -= 1;
            match error {
                KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull) => Refused::Full,
                error => Refused::Failed(self.redactor.redact(&error.to_string())),
            }
        })
    }

    /// How many partitions a topic has, where the broker has told of it.
    pub fn known_partitions(&self, topic: &str) -> Option<usize> {
        lock(&self.topics).get(topic).copied()
    }

    /// Asks the broker for its topics, unless this one is known; `None` when there is no such
    /// topic. It comes into no being by this. Blocks for ten seconds at most.
    pub fn partitions(&self, topic: &str) -> Result<Option<usize>, String> {
        // Whoever asks at the same time waits, and finds the answer.
        let mut topics = lock(&self.topics);
        if let Some(known) = topics.get(topic) {
            return Ok(Some(*known));
        }
        if let Some(tokens) = &self.inner.client().context().tokens {
            // Without one nobody would answer, and why would be said late.
            tokens.token()?;
        }
        let found = self.inner.client().fetch_metadata(None, TIMEOUT).map_err(|error| {
            let reason = self.inner.client().context().reason();
            self.redactor.redact(&format!("{error}{reason}"))
        })?;
        for topic in found.topics().iter().filter(|topic| !topic.partitions().is_empty()) {
            topics.insert(topic.name().to_owned(), topic.partitions().len());
        }
        Ok(topics.get(topic).copied())
    }

    /// How many messages, of whomever, wait for their acknowledgement.
    pub fn pending(&self) -> usize {
        usize::try_from(self.inner.in_flight_count()).unwrap_or(0)
    }
}

impl fmt::Debug for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").finish_non_exhaustive()
    }
}

/// Messages that somebody sends together, and what has become of them.
pub struct Batch {
    state: Mutex<State>,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    outstanding: usize,
    is_sealed: bool,
    parts: Vec<Delivered>,
}

/// What has become of one part of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Bytes of keys, values and headers that the broker has acknowledged.
    pub acked_bytes: u64,
    /// What each acknowledged message took, from being sent to its acknowledgement, ns.
    pub took_ns: Vec<u64>,
    /// Messages that failed.
    pub failed: u64,
    /// Why the first of these did.
    pub error: Option<String>,
    /// When the last acknowledgement or failure came, ns; 0 before.
    pub last_ns: u64,
}

impl Batch {
    /// A batch of so many parts. `wake` is called once, when everything sent has come to something
    /// after [`seal`](Self::seal) has said false.
    pub fn new(parts: usize, wake: Box<dyn Fn() + Send + Sync>) -> Arc<Self> {
        let parts = vec![Delivered::default(); parts];
        Arc::new(Self { state: Mutex::new(State { parts, ..State::default() }), wake })
    }

    /// Nothing more will be sent; whether nothing is outstanding.
    pub fn seal(&self) -> bool {
        let mut state = self.lock();
        state.is_sealed = true;
        state.outstanding == 0
    }

    /// What has come so far, of each part.
    pub fn take(&self) -> Vec<Delivered> {
        let mut state = self.lock();
        let empty = vec![Delivered::default(); state.parts.len()];
        std::mem::replace(&mut state.parts, empty)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").finish_non_exhaustive()
    }
}

/// A panic of another thread leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What librdkafka carries with a message.
struct Ticket {
    batch: Arc<Batch>,
    part: usize,
    bytes: usize,
    sent_ns: u64,
}

/// Where librdkafka's delivery reports go; called on the producer's own thread.
struct Reports {
    redactor: Redactor,
    tokens: Option<Arc<TokenSource>>,
    /// Why the brokers can't be reached, as last said.
    reason: Mutex<Option<String>>,
}

impl Reports {
    /// The reason behind a colon; empty without.
    fn reason(&self) -> String {
        lock(&self.reason).as_ref().map_or_else(String::new, |reason| format!(": {reason}"))
    }
}

impl ClientContext for Reports {
    const ENABLE_REFRESH_OAUTH_TOKEN: bool = true;

    fn generate_oauth_token(&self, _: Option<&str>) -> Result<OAuthToken, Box<dyn Error>> {
        tokens::answer(self.tokens.as_deref())
    }

    fn log(&self, _level: RDKafkaLogLevel, _facility: &str, _message: &str) {}

    fn error(&self, error: KafkaError, reason: &str) {
        let mut known = lock(&self.reason);
        // That all brokers are away says less than what came before.
        if known.is_none() || error.rdkafka_error_code() != Some(RDKafkaErrorCode::AllBrokersDown) {
            *known = Some(self.redactor.redact(reason));
        }
    }
}

impl ProducerContext for Reports {
    type DeliveryOpaque = Box<Ticket>;

    fn delivery(&self, result: &DeliveryResult<'_>, ticket: Box<Ticket>) {
        let at_ns = now_ns();
        let mut state = ticket.batch.lock();
        if let Some(part) = state.parts.get_mut(ticket.part) {
            part.last_ns = at_ns;
            match result {
                Ok(_) => {
                    part.acked_bytes += ticket.bytes as u64;
                    part.took_ns.push(at_ns.saturating_sub(ticket.sent_ns));
                }
                Err((error, _)) => {
                    part.failed += 1;
                    let is_late =
                        error.rdkafka_error_code() == Some(RDKafkaErrorCode::MessageTimedOut);
                    let reason = if is_late { self.reason() } else { String::new() };
                    let told = || self.redactor.redact(&format!("{error}{reason}"));
                    part.error.get_or_insert_with(told);
                }
            }
        }
        state.outstanding = state.outstanding.saturating_sub(1);
        let is_over = state.is_sealed && state.outstanding == 0;
        drop(state);
        if is_over {
            (ticket.batch.wake)();
        }
    }
}
