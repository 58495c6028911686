//! A reader: a thread with a consumer, which does what it is asked, one thing after the other.

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use rdkafka::client::OAuthToken;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer as _, ConsumerContext, Rebalance};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{ClientContext, Offset, TopicPartitionList};
use sojourn_broker::BrokerError;
use sojourn_plan::KafkaChannel;

use super::reading::{Message, ReadError, Reading, Taking};
use super::tokens::{self, TokenSource};
use crate::config::{Redactor, reader_config};

/// Orders that may wait for the thread.
const ORDERS_MAX: usize = 16;
/// Between two looks at its group while nobody asks for anything.
const IDLE: Duration = Duration::from_millis(20);
/// How long the broker has for a question.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What a reader is made with.
#[derive(Clone, Debug)]
pub struct ReaderSettings {
    /// Brokers and properties.
    pub kafka: KafkaChannel,
    /// What lets it in, where that is a token.
    pub tokens: Option<Arc<TokenSource>>,
    /// What is read.
    pub source: Source,
}

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// One partition, without a group.
    Partition {
        /// Its topic.
        topic: String,
        /// Its number.
        partition: i32,
        /// From where on.
        begin: Begin,
    },
    /// Those partitions of topics that a group's members get.
    Group {
        /// Its name.
        group: String,
        /// The topics.
        topics: Vec<String>,
        /// From where on, where the group has committed nothing: `First` or `Last`.
        begin: Begin,
    },
}

/// Where reading begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At the oldest message.
    First,
    /// Behind the newest.
    Last,
    /// At this offset.
    At(i64),
}

/// What a reader is asked for.
#[derive(Clone, Debug)]
pub enum Order {
    /// Messages.
    Take(Taking),
    /// To read on at an offset of a partition of its topic.
    Seek(i32, i64),
    /// The offset in a partition of its topic at which it will read on.
    Position(i32),
    /// To commit what was handed over.
    Commit,
    /// How many partitions it has.
    Assigned,
    /// To leave its group and to end.
    Close,
}

/// What comes of it.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Messages.
    Taken(Result<Vec<Message>, ReadError>, Beside),
    /// A number: a position, a count.
    Number(Result<i64, String>),
    /// It is done.
    Done(Result<(), String>),
}

/// What else is known when messages were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// How many rebalances there were since the last time.
    pub rebalances: u64,
    /// Messages that are fetched and wait to be taken, the end of a partition counting as one.
    pub waiting: usize,
}

/// Who is told; called on the reader's thread.
pub type Reply = Box<dyn FnOnce(Answer) + Send>;

/// See the module's page. Dropped, it leaves its group as soon as it has done what it does.
pub struct Reader {
    orders: Arc<Sender<(Order, Reply)>>,
}

/// A reader that is somebody else's, who may drop it.
pub struct Handle(Weak<Sender<(Order, Reply)>>);

impl Reader {
    /// A reader. It connects in the background. Errs when a property is refused, or there is no
    /// thread.
    pub fn new(settings: ReaderSettings) -> Result<Self, BrokerError> {
        let kafka = &settings.kafka;
        let redactor = Redactor::new(kafka);
        let failed = |error: KafkaError| {
            let told = redactor.redact(&error.to_string());
            BrokerError::new(format!("kafka at {}: {told}", kafka.brokers))
        };
        let (group, begin) = match &settings.source {
            Source::Partition { begin, .. } => (None, *begin),
            Source::Group { group, begin, .. } => (Some(group.as_str()), *begin),
        };
        let reset = if begin == Begin::Last { "latest" } else { "earliest" };
        let rebalances = Arc::new(AtomicU64::new(0));
        let context = Context {
            redactor: redactor.clone(),
            tokens: settings.tokens,
            reason: Mutex::default(),
            is_idle: AtomicBool::new(false),
            is_revoked: AtomicBool::new(false),
            rebalances: Arc::clone(&rebalances),
        };
        let consumer: BaseConsumer<Context> = reader_config(kafka, group, reset)
            .create_with_context(context)
            .map_err(|error| redactor.refused_config(&error))?;
        match &settings.source {
            Source::Partition { topic, partition, begin } => {
                assign(&consumer, topic, *partition, begin.offset()).map_err(failed)?;
            }
            Source::Group { topics, .. } => {
                let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
                consumer.subscribe(&topics).map_err(failed)?;
            }
        }
        let reading = Reading {
            consumer,
            source: settings.source,
            kept: VecDeque::new(),
            positions: HashMap::new(),
            ready_ns: None,
            rebalances,
        };
        let (orders, ordered) = bounded(ORDERS_MAX);
        std::thread::Builder::new()
            .name("kafka reader".to_owned())
            .spawn(move || work(reading, &ordered))
            .map_err(|error| BrokerError::new(format!("no thread for a reader: {error}")))?;
        Ok(Self { orders: Arc::new(orders) })
    }

    /// The way to it for whoever does not own it.
    pub fn handle(&self) -> Handle {
        Handle(Arc::downgrade(&self.orders))
    }

    /// Asks for something. Errs, in words, when it has closed or has too much to do already.
    pub fn ask(&self, order: Order, reply: Reply) -> Result<(), String> {
        self.orders
            .try_send((order, reply))
            .map_err(|_| "the reader is closed, or still does what it was asked before".to_owned())
    }
}

impl Handle {
    /// Whether the reader is still there.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Tells it to leave its group and to end; false when it is gone, or can't be told.
    pub fn close(&self, reply: Reply) -> bool {
        let orders = self.0.upgrade();
        orders.is_some_and(|orders| orders.try_send((Order::Close, reply)).is_ok())
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.is_alive()).finish()
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

/// The thread: until nobody can ask any more, or it is told to close. A group's member takes part
/// in rebalances meanwhile, so that the others need not wait for it.
fn work(mut reading: Reading, orders: &Receiver<(Order, Reply)>) {
    // What asks the broker without polling needs the token that polling brings.
    reading.idle();
    loop {
        let (order, reply) = match orders.recv_timeout(IDLE) {
            Ok(asked) => asked,
            Err(RecvTimeoutError::Timeout) => {
                reading.idle();
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let answer = match order {
            Order::Take(taking) => {
                let taken = reading.take(&taking);
                let rebalances = reading.rebalances.swap(0, Ordering::AcqRel);
                Answer::Taken(taken, Beside { rebalances, waiting: reading.waiting() })
            }
            Order::Seek(partition, offset) => Answer::Done(reading.seek(partition, offset)),
            Order::Position(partition) => Answer::Number(reading.position(partition)),
            Order::Commit => Answer::Done(reading.commit()),
            Order::Assigned => Answer::Number(reading.assigned()),
            Order::Close => {
                // Dropped, it says goodbye to the group.
                drop(reading);
                return reply(Answer::Done(Ok(())));
            }
        };
        reply(answer);
    }
}

impl Reading {
    /// The topic that a partition's bare number is of.
    fn topic(&self) -> Result<String, String> {
        match &self.source {
            Source::Partition { topic, .. } => Ok(topic.clone()),
            Source::Group { topics, .. } if topics.len() == 1 => Ok(topics[0].clone()),
            Source::Group { .. } => {
                Err("the reader has several topics: a partition says not of which".to_owned())
            }
        }
    }

    fn seek(&mut self, partition: i32, offset: i64) -> Result<(), String> {
        let topic = self.topic()?;
        let sought = match &self.source {
            Source::Partition { .. } => {
                let begin = Begin::of(offset).offset();
                assign(&self.consumer, &topic, partition, begin)
            }
            Source::Group { .. } => {
                self.consumer.seek(&topic, partition, Begin::of(offset).offset(), TIMEOUT)
            }
        };
        sought.map_err(|error| self.told(&error))?;
        self.kept.retain(|message| (&message.topic, message.partition) != (&topic, partition));
        match offset {
            0.. => self.positions.insert((topic, partition), offset),
            _ => self.positions.remove(&(topic, partition)),
        };
        Ok(())
    }

    fn position(&self, partition: i32) -> Result<i64, String> {
        let topic = self.topic()?;
        let place = (topic, partition);
        if let Some(position) = self.positions.get(&place) {
            return Ok(*position);
        }
        let begin = match &self.source {
            Source::Partition { begin, .. } => *begin,
            Source::Group { begin, .. } => {
                let mut asked = TopicPartitionList::new();
                asked.add_partition(&place.0, partition);
                let committed = self.consumer.committed_offsets(asked, TIMEOUT);
                let committed = committed.map_err(|error| self.told(&error))?;
                match committed.elements().first().map(|known| known.offset()) {
                    Some(Offset::Offset(offset)) => return Ok(offset),
                    _ => *begin,
                }
            }
        };
        if let Begin::At(offset) = begin {
            return Ok(offset);
        }
        let ends = self.consumer.fetch_watermarks(&place.0, partition, TIMEOUT);
        let (low, high) = ends.map_err(|error| self.told(&error))?;
        Ok(if begin == Begin::First { low } else { high })
    }

    fn assigned(&self) -> Result<i64, String> {
        let assigned = self.consumer.assignment().map_err(|error| self.told(&error))?;
        Ok(assigned.count() as i64)
    }

    fn told(&self, error: &KafkaError) -> String {
        self.consumer.context().redactor.redact(&error.to_string())
    }
}

impl Begin {
    /// Kafka's own numbers: -2 is the first, -1 behind the last.
    pub fn of(offset: i64) -> Self {
        match offset {
            -2 => Self::First,
            0.. => Self::At(offset),
            _ => Self::Last,
        }
    }

    fn offset(self) -> Offset {
        match self {
            Self::First => Offset::Beginning,
            Self::Last => Offset::End,
            Self::At(offset) => Offset::Offset(offset),
        }
    }
}

fn assign(
    consumer: &BaseConsumer<Context>,
    topic: &str,
    partition: i32,
    offset: Offset,
) -> Result<(), KafkaError> {
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, partition, offset)?;
    consumer.assign(&list)
}

/// What librdkafka tells besides messages.
pub(super) struct Context {
    pub(super) redactor: Redactor,
    pub(super) tokens: Option<Arc<TokenSource>>,
    /// Why the brokers can't be reached, as last said.
    reason: Mutex<Option<String>>,
    /// The group has given this member no partition.
    pub(super) is_idle: AtomicBool,
    /// It has taken partitions from this member.
    pub(super) is_revoked: AtomicBool,
    rebalances: Arc<AtomicU64>,
}

impl Context {
    pub(super) fn note(&self, reason: String) {
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    pub(super) fn reason(&self) -> Option<String> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl ClientContext for Context {
    const ENABLE_REFRESH_OAUTH_TOKEN: bool = true;

    fn generate_oauth_token(&self, _: Option<&str>) -> Result<OAuthToken, Box<dyn Error>> {
        tokens::answer(self.tokens.as_deref())
    }

    fn log(&self, _level: RDKafkaLogLevel, _facility: &str, _message: &str) {}

    fn error(&self, error: KafkaError, reason: &str) {
        let mut known = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        // That all brokers are away says less than what came before.
        if known.is_none() || error.rdkafka_error_code() != Some(RDKafkaErrorCode::AllBrokersDown) {
            *known = Some(self.redactor.redact(reason));
        }
    }
}

impl ConsumerContext for Context {
    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(partitions) => {
                self.rebalances.fetch_add(1, Ordering::AcqRel);
                self.is_idle.store(partitions.count() == 0, Ordering::Release);
            }
            Rebalance::Revoke(_) => self.is_revoked.store(true, Ordering::Release),
            Rebalance::Error(_) => {}
        }
    }
}
