//! How a reader reads: how long it waits for what, and what it hands over.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rdkafka::Message as _;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::BorrowedMessage;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};

use super::queue;
use super::reader::{Context, Source};
use super::watermarks;
use crate::final_errors::never_mends;
use crate::received::Received;

/// How long a reader may take until the broker answers for its partitions.
const READY_NS: u64 = 10 * SECOND_NS;
/// The same of a group, whose members wait for each other.
const READY_IN_GROUP_NS: u64 = 30 * SECOND_NS;
/// Longest wait in one go, so that a reader that nobody waits for any more ends soon.
const SLICE_NS: u64 = 50 * MILLISECOND_NS;
/// Most messages of a group that are taken before anybody asks for them.
const KEPT_MAX: usize = 100;
/// Most bytes of keys, values and headers that are handed over together.
const BYTES_MAX: usize = 64 << 20;

/// What is to be read.
#[derive(Clone, Debug)]
pub struct Taking {
    /// So many messages, no more.
    pub limit: usize,
    /// How long is waited: for each next message; with `takes_fewer` for all of them together.
    /// Counted from when the broker has first answered.
    pub wait_ns: u64,
    /// What has come by then is enough.
    pub takes_fewer: bool,
    /// Nobody waits for it any more: what was taken is kept for the next time.
    pub is_cancelled: Arc<AtomicBool>,
}

/// A message that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its topic.
    pub topic: String,
    /// Its partition.
    pub partition: i32,
    /// Its offset.
    pub offset: i64,
    /// Its time, milliseconds since 1970, where it has one.
    pub time_ms: Option<i64>,
    /// The offset behind the partition's newest message, as known when this one was read.
    pub high_watermark: i64,
    /// Its headers, in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Its value.
    pub value: Option<Vec<u8>>,
    /// When it was taken, ns.
    pub at_ns: u64,
}

impl Message {
    /// Bytes of key, value and headers.
    pub fn bytes(&self) -> usize {
        let length = |part: &Option<Vec<u8>>| part.as_ref().map_or(0, Vec::len);
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len());
        length(&self.key) + length(&self.value) + headers.sum::<usize>()
    }
}

/// Why there are not as many messages as asked for. What had come is kept for the next time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Not enough came in time.
    #[error("{had} of {wanted} messages came within {}: {why}", Shown(*.waited_ns))]
    TimedOut {
        /// How many came.
        had: usize,
        /// How many were asked for.
        wanted: usize,
        /// How long was waited, ns.
        waited_ns: u64,
        /// What is known of the reason.
        why: String,
    },
    /// The broker or librdkafka says that it can't be.
    #[error("{0}")]
    Failed(String),
    /// Nobody waited any more.
    #[error("interrupted")]
    Cancelled,
}

/// A duration in messages.
struct Shown(u64);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            ns if ns >= SECOND_NS => write!(f, "{} s", ns as f64 / SECOND_NS as f64),
            ns => write!(f, "{} ms", ns as f64 / MILLISECOND_NS as f64),
        }
    }
}

/// A reader's client, on the reader's thread.
pub(super) struct Reading {
    pub(super) consumer: BaseConsumer<Context>,
    pub(super) source: Source,
    /// Taken and not yet handed over.
    pub(super) kept: VecDeque<Message>,
    /// The offsets behind what was handed over.
    pub(super) positions: HashMap<(String, i32), i64>,
    /// When the broker has first answered, ns.
    pub(super) ready_ns: Option<u64>,
    /// Rebalances, told to whoever reads next.
    pub(super) rebalances: Arc<AtomicU64>,
}

impl Reading {
    /// Reads. Blocks as long as `taking` says, or until the broker has had its time to answer.
    pub(super) fn take(&mut self, taking: &Taking) -> Result<Vec<Message>, ReadError> {
        if let Some(tokens) = &self.consumer.context().tokens {
            // Without one nobody would answer, and why would be said late.
            tokens.token().map_err(ReadError::Failed)?;
        }
        let began_ns = now_ns();
        let mut bytes: usize = self.kept.iter().map(Message::bytes).sum();
        let mut progress_ns = began_ns;
        while self.kept.len() < taking.limit && bytes < BYTES_MAX {
            if taking.is_cancelled.load(Ordering::Acquire) {
                return Err(ReadError::Cancelled);
            }
            let until_ns = self.until_ns(taking, began_ns, progress_ns);
            let left_ns = until_ns.saturating_sub(now_ns());
            match self.next(left_ns.min(SLICE_NS))? {
                Some(message) => {
                    bytes += message.bytes();
                    progress_ns = message.at_ns;
                    self.kept.push_back(message);
                }
                None if left_ns > 0 => {}
                None if taking.takes_fewer && self.ready_ns.is_some() => break,
                None => return Err(self.late(taking, now_ns() - began_ns)),
            }
        }
        let taken: Vec<Message> = self.kept.drain(..taking.limit.min(self.kept.len())).collect();
        self.handed_over(&taken)?;
        Ok(taken)
    }

    /// Until when the next message is waited for.
    fn until_ns(&self, taking: &Taking, began_ns: u64, progress_ns: u64) -> u64 {
        let Some(ready_ns) = self.ready_ns else {
            let in_group = matches!(self.source, Source::Group { .. });
            let least_ns = if in_group { READY_IN_GROUP_NS } else { READY_NS };
            return began_ns.saturating_add(least_ns.max(taking.wait_ns));
        };
        let from_ns = if taking.takes_fewer { began_ns } else { progress_ns };
        from_ns.max(ready_ns).saturating_add(taking.wait_ns)
    }

    /// The next message, if one comes within so long.
    fn next(&mut self, wait_ns: u64) -> Result<Option<Message>, ReadError> {
        let polled = self.consumer.poll(Duration::from_nanos(wait_ns));
        let context = self.consumer.context();
        let at_ns = now_ns();
        if context.is_revoked.swap(false, Ordering::AcqRel) {
            // Whoever has the partitions now reads them from what was committed.
            self.kept.clear();
        }
        if self.ready_ns.is_none() && context.is_idle.load(Ordering::Acquire) {
            self.ready_ns = Some(at_ns);
        }
        match polled {
            None => Ok(None),
            Some(Ok(message)) => {
                let message = owned(&self.consumer, &message, at_ns);
                self.ready_ns.get_or_insert(at_ns);
                Ok(Some(message))
            }
            Some(Err(KafkaError::PartitionEOF(_))) => {
                self.ready_ns.get_or_insert(at_ns);
                Ok(None)
            }
            Some(Err(error)) => {
                let told = context.redactor.redact(&error.to_string());
                if is_final(&error) {
                    let why = context.reason().map_or_else(String::new, |why| format!(": {why}"));
                    return Err(ReadError::Failed(told + &why));
                }
                // It may be mended yet.
                context.note(told);
                Ok(None)
            }
        }
    }

    fn late(&self, taking: &Taking, waited_ns: u64) -> ReadError {
        let why = match (self.consumer.context().reason(), self.ready_ns) {
            (Some(reason), _) => reason,
            (None, None) => "the broker has not answered for the partitions".to_owned(),
            (None, Some(_)) => "there were no more".to_owned(),
        };
        ReadError::TimedOut { had: self.kept.len(), wanted: taking.limit, waited_ns, why }
    }

    /// The script has these messages: a group is told so.
    fn handed_over(&mut self, taken: &[Message]) -> Result<(), ReadError> {
        for message in taken {
            let place = (message.topic.clone(), message.partition);
            self.positions.insert(place, message.offset + 1);
        }
        let Source::Group { .. } = self.source else { return Ok(()) };
        for message in taken {
            // Its partition may have gone to another member meanwhile, who will read it again.
            let Message { topic, partition, offset, .. } = message;
            self.consumer.store_offset(topic, *partition, *offset).ok();
        }
        match taken.is_empty() {
            true => Ok(()),
            false => self.commit().map_err(ReadError::Failed),
        }
    }

    /// Nobody asks for anything: a group's member takes what has come, up to a bound, since that is
    /// how librdkafka is given its turn; as does whoever is let in by tokens that end.
    pub(super) fn idle(&mut self) {
        let has_tokens = self.consumer.context().tokens.is_some();
        let takes_turns = has_tokens || matches!(self.source, Source::Group { .. });
        while takes_turns && self.kept.len() < KEPT_MAX {
            match self.next(0) {
                Ok(Some(message)) => self.kept.push_back(message),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Messages that are fetched and not handed over.
    pub(super) fn waiting(&self) -> usize {
        self.kept.len() + queue::length(&self.consumer)
    }

    /// Commits what was handed over.
    pub(super) fn commit(&self) -> Result<(), String> {
        use RDKafkaErrorCode as Code;
        match self.consumer.commit_consumer_state(CommitMode::Sync) {
            Ok(()) => Ok(()),
            Err(error) => match error.rdkafka_error_code() {
                // Nothing new; or the partitions have gone to others, who read on where we were
                // told to have stopped.
                Some(
                    Code::NoOffset
                    | Code::RebalanceInProgress
                    | Code::IllegalGeneration
                    | Code::UnknownMemberId,
                ) => Ok(()),
                _ => Err(self.consumer.context().redactor.redact(&error.to_string())),
            },
        }
    }
}

/// Whether an error will not mend by itself. A topic that is not there may have been made a moment
/// ago.
fn is_final(error: &KafkaError) -> bool {
    use RDKafkaErrorCode as Code;
    match error.rdkafka_error_code() {
        Some(Code::InvalidSessionTimeout | Code::OffsetOutOfRange) => true,
        code => code.is_some_and(never_mends),
    }
}

fn owned(consumer: &BaseConsumer<Context>, message: &BorrowedMessage<'_>, at_ns: u64) -> Message {
    let (topic, partition, offset) = (message.topic(), message.partition(), message.offset());
    let high = watermarks::high(consumer, topic, partition).unwrap_or(offset + 1);
    let headers = Received::of(message).headers().into_iter();
    Message {
        topic: topic.to_owned(),
        partition,
        offset,
        time_ms: message.timestamp().to_millis(),
        high_watermark: high,
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_vec())).collect(),
        key: message.key().map(<[u8]>::to_vec),
        value: message.payload().map(<[u8]>::to_vec),
        at_ns,
    }
}
