//! Publishing in transactions: what waits when one is over makes the next.
//!
//! librdkafka's calls for transactions wait for the broker, so they are made on a thread of its
//! own. A message's outcome is its transaction's: acknowledged when the commit's answer is read,
//! since from then on the system's consumers see it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer};
use rdkafka::{ClientConfig, ClientContext};
use sojourn_broker::{BrokerError, FirstAttempt, Outcome, PublisherSettings, Readiness};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::KafkaChannel;

use crate::config::{Redactor, publisher_config};
use crate::ready::Troubles;

/// Most messages of one transaction.
const BATCH_MAX: usize = 500;
/// Longest wait for the broker before it is looked whether to end.
const STEP: Duration = Duration::from_secs(1);
/// How long messages wait for the first answer of a broker.
const BEGIN_NS_MAX: u64 = 30 * SECOND_NS;

/// The thread that publishes; dropped, it ends within some seconds.
pub(crate) struct Transactions {
    work: Option<Sender<Message>>,
    readiness: Readiness,
    /// The first client, as long as it is of use.
    client: Weak<Client>,
    brokers: String,
    troubles: Arc<Troubles>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A message on its way to the thread.
pub(crate) struct Message {
    pub(crate) token: u64,
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) payload: Vec<u8>,
    pub(crate) taken_ns: u64,
}

impl Transactions {
    /// Starts the thread; outcomes come by `delivered`, which has room for as many as wait at most.
    pub(crate) fn start(
        kafka: &KafkaChannel,
        how: &PublisherSettings,
        delivered: Sender<Outcome>,
        troubles: &Arc<Troubles>,
    ) -> Result<Self, BrokerError> {
        let queue_max = how.queue_max.max(BATCH_MAX);
        let config = publisher_config(kafka, &PublisherSettings { queue_max, ..how.clone() });
        let producer: Client = config
            .create_with_context(Complaints(Arc::clone(troubles)))
            .map_err(|error| Redactor::new(kafka).refused_config(&error))?;
        let producer = Arc::new(producer);
        let client = Arc::downgrade(&producer);
        let (readiness, first) = Readiness::new();
        let (work, messages) = bounded(how.queue_max.max(1));
        let ending = Arc::new(AtomicBool::new(false));
        let publishing = Publishing {
            config,
            messages,
            waiting: VecDeque::new(),
            delivered,
            wake: Arc::clone(&how.wake),
            ending: Arc::clone(&ending),
            brokers: kafka.brokers.clone(),
            troubles: Arc::clone(troubles),
            first,
        };
        let thread = std::thread::Builder::new()
            .name("kafka-transactions".to_owned())
            .spawn(move || publishing.run(producer))
            .map_err(|error| BrokerError::new(format!("no thread for transactions: {error}")))?;
        let (brokers, troubles) = (kafka.brokers.clone(), Arc::clone(troubles));
        let (work, thread) = (Some(work), Some(thread));
        Ok(Self { work, readiness, client, brokers, troubles, ending, thread })
    }

    /// Returns when the broker is reached, the topics are there and the id is registered.
    pub(crate) fn ready(&mut self, topics: &[String]) -> Result<(), BrokerError> {
        if let Some(client) = self.client.upgrade() {
            self.troubles.check(client.client(), &self.brokers, topics)?;
        }
        self.readiness.wait()
    }

    /// Hands a message to the thread.
    pub(crate) fn send(&self, message: Message) -> Result<(), String> {
        let sent = self.work.as_ref().map(|work| work.try_send(message));
        match sent {
            Some(Ok(())) => Ok(()),
            Some(Err(TrySendError::Full(_))) => Err("the queue of messages is full".to_owned()),
            Some(Err(TrySendError::Disconnected(_))) | None => {
                Err("the thread that publishes has ended".to_owned())
            }
        }
    }
}

impl Drop for Transactions {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        self.work = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

type Client = ThreadedProducer<Complaints>;

/// Hears what librdkafka complains of. What became of messages is known by their transactions.
struct Complaints(Arc<Troubles>);

impl ClientContext for Complaints {
    fn log(&self, _level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.0.logged(facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.0.heard(&error, reason);
    }
}

impl ProducerContext for Complaints {
    type DeliveryOpaque = ();

    fn delivery(&self, _result: &DeliveryResult<'_>, _opaque: ()) {}
}

struct Publishing {
    config: ClientConfig,
    messages: Receiver<Message>,
    /// Taken from the queue, not published yet.
    waiting: VecDeque<Message>,
    delivered: Sender<Outcome>,
    wake: Arc<dyn Fn() + Send + Sync>,
    ending: Arc<AtomicBool>,
    brokers: String,
    troubles: Arc<Troubles>,
    first: FirstAttempt,
}

/// What a failed call means for the transaction.
#[derive(Debug)]
enum Fate {
    /// The same call again.
    Again,
    /// It did not happen; the next one may.
    Aborted(String),
    /// Nothing more by this client; by a new one of the same id perhaps.
    Broken(String),
    /// Another publisher has come under the same id.
    Fenced(String),
}

impl Publishing {
    fn run(mut self, first: Arc<Client>) {
        let mut next = Some(first);
        while !self.is_ending() {
            let client = match next.take().map_or_else(|| self.client(), Ok) {
                Ok(client) => client,
                Err(error) => return self.fail_all(&error.to_string()),
            };
            match self.serve(&client) {
                Ok(()) | Err(Fate::Again) => return,
                Err(Fate::Fenced(reason)) => return self.fail_all(&reason),
                // A moment, lest a broker that refuses us is asked without end.
                Err(Fate::Aborted(_) | Fate::Broken(_)) => std::thread::sleep(STEP),
            }
        }
    }

    fn client(&self) -> Result<Arc<Client>, KafkaError> {
        self.config.create_with_context(Complaints(Arc::clone(&self.troubles))).map(Arc::new)
    }

    /// Publishes until the client can't any more, or the publisher is gone.
    fn serve(&mut self, client: &Client) -> Result<(), Fate> {
        if let Err(fate) = self.register(client) {
            self.first.tell(Err(self.unregistered(&fate)));
            let waiting = self.waiting.drain(..).collect();
            self.settle(waiting, Some(fate.words()));
            return Err(fate);
        }
        self.first.tell(Ok(()));
        while let Some(batch) = self.next_batch() {
            match self.publish(client, &batch) {
                Ok(()) => self.settle(batch, None),
                Err(fate) => {
                    self.settle(batch, Some(fate.words()));
                    if !matches!(fate, Fate::Aborted(_)) {
                        return Err(fate);
                    }
                }
            }
        }
        Ok(())
    }

    fn unregistered(&self, fate: &Fate) -> BrokerError {
        let (at, why) = (&self.brokers, fate.words());
        BrokerError::new(format!("kafka at {at} does not register the transactional id: {why}"))
            .with_hint("may this user write with the property `transactional.id`?")
    }

    /// Registers the client's id with the broker, which ends a transaction that an earlier client
    /// has left open. What waits for too long meanwhile has failed.
    fn register(&mut self, client: &Client) -> Result<(), Fate> {
        loop {
            match client.init_transactions(STEP).map_err(|error| fate(&error)) {
                Err(Fate::Again) if !self.is_ending() => {}
                outcome => return outcome,
            }
            self.waiting.extend(self.messages.try_iter());
            let late = |message: &Message| now_ns() > message.taken_ns + BEGIN_NS_MAX;
            let count = self.waiting.iter().take_while(|message| late(message)).count();
            let batch: Vec<_> = self.waiting.drain(..count).collect();
            self.settle(batch, Some(&words(RDKafkaErrorCode::MessageTimedOut)));
        }
    }

    /// What waits, at least one; `None` when the publisher is gone.
    fn next_batch(&mut self) -> Option<Vec<Message>> {
        while self.waiting.is_empty() {
            match self.messages.recv_timeout(STEP) {
                Ok(first) => self.waiting.push_back(first),
                Err(RecvTimeoutError::Timeout) if !self.is_ending() => {}
                Err(_) => return None,
            }
        }
        let room = BATCH_MAX.saturating_sub(self.waiting.len());
        self.waiting.extend(self.messages.try_iter().take(room));
        Some(self.waiting.drain(..self.waiting.len().min(BATCH_MAX)).collect())
    }

    /// Nothing can be published any more.
    fn fail_all(&mut self, reason: &str) {
        while let Some(batch) = self.next_batch() {
            self.settle(batch, Some(reason));
        }
    }

    /// One transaction.
    fn publish(&self, client: &Client, batch: &[Message]) -> Result<(), Fate> {
        client.begin_transaction().map_err(|error| fate(&error))?;
        let sent = batch.iter().try_for_each(|message| send(client, message));
        let committed = sent.and_then(|()| self.until(|| client.commit_transaction(STEP)));
        if let Err(Fate::Aborted(_)) = &committed {
            self.until(|| client.abort_transaction(STEP))?;
        }
        committed
    }

    /// Calls until it works, fails for good, or the publisher is gone.
    fn until(&self, mut call: impl FnMut() -> Result<(), KafkaError>) -> Result<(), Fate> {
        loop {
            match call().map_err(|error| fate(&error)) {
                Err(Fate::Again) if !self.is_ending() => {}
                outcome => return outcome,
            }
        }
    }

    fn settle(&self, batch: Vec<Message>, error: Option<&str>) {
        let acked_ns = now_ns();
        for message in batch {
            let error = error.map(str::to_owned);
            // Room for every pending message; it only fails when the publisher is being dropped.
            let outcome = Outcome { token: message.token, acked_ns, error };
            let _dropped = self.delivered.try_send(outcome);
        }
        (self.wake)();
    }

    fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }
}

/// Hands a message to librdkafka, as part of the transaction that is open.
fn send(client: &Client, message: &Message) -> Result<(), Fate> {
    let mut record = BaseRecord::<[u8], [u8]>::to(&message.topic).payload(&message.payload);
    record.key = message.key.as_deref();
    if !message.headers.is_empty() {
        let list = OwnedHeaders::new_with_capacity(message.headers.len());
        let headers = message
            .headers
            .iter()
            .fold(list, |list, (key, value)| list.insert(Header { key, value: Some(value) }));
        record = record.headers(headers);
    }
    let sent = client.send(record);
    sent.map_err(|(error, _)| {
        Fate::Aborted(
            error.rdkafka_error_code().map_or_else(|| "the message was refused".to_owned(), words),
        )
    })
}

impl Fate {
    /// In words that reports can count by.
    fn words(&self) -> &str {
        match self {
            Self::Again => "the publisher ended first",
            Self::Aborted(reason) | Self::Broken(reason) | Self::Fenced(reason) => reason,
        }
    }
}

fn fate(error: &KafkaError) -> Fate {
    let KafkaError::Transaction(error) = error else {
        return Fate::Broken(error.rdkafka_error_code().map_or_else(|| error.to_string(), words));
    };
    let reason = words(error.code());
    match error.code() {
        RDKafkaErrorCode::ProducerFenced | RDKafkaErrorCode::Fenced => Fate::Fenced(reason),
        _ if error.txn_requires_abort() => Fate::Aborted(reason),
        _ if error.is_retriable() => Fate::Again,
        _ => Fate::Broken(reason),
    }
}

/// An error in words that reports can count by.
fn words(code: RDKafkaErrorCode) -> String {
    code.to_string()
}
