//! Reading a stream in order by an ephemeral consumer, and again from where it stopped.
//!
//! The consumer numbers what it sends; a number that is missing, or no sign of it for
//! [`SILENCE_NS_MAX`], and it is made anew from the sequence after the last one seen. It
//! acknowledges nothing, and the server forgets it seconds after its subscriber is gone.

use serde_json::json;
use sojourn_broker::{Gap, Position, Recovery};
use sojourn_clock::{SECOND_NS, now_ns};

use crate::connection::{Connection, Message};
use crate::headers::{field, status};
use crate::jetstream::{Delivery, Failure, JetStream, StreamState};
use crate::lost::Lost;
use crate::protocol::{publish, subscribe};
use crate::subject::matches;

/// How often the consumer shows that it lives while it has nothing to send.
const HEARTBEAT_NS: u64 = SECOND_NS / 2;
/// Longest silence of a consumer whose connection lives.
const SILENCE_NS_MAX: u64 = 2 * SECOND_NS;

/// Where the reading of a stream is.
#[derive(Debug)]
pub(crate) struct Ordered {
    pub(crate) stream: String,
    /// The one subject that the server sends; `None`: we choose among all.
    filter: Option<String>,
    subjects: Vec<String>,
    /// Number of the consumer's subscription: another one for each consumer.
    sid: u64,
    consumer: String,
    consumer_seq: u64,
    heard_ns: u64,
    /// The sequence that comes next.
    next_seq: u64,
    /// When the stream was made, and how many streams of the name we have seen: their sequences
    /// begin anew.
    created: String,
    generation: u64,
    catching_up: Option<CatchingUp>,
    behind_since_ns: Option<u64>,
}

/// Reading what came while we were away.
#[derive(Debug)]
struct CatchingUp {
    gap: Gap,
    messages: u64,
    /// The consumer's number of the last such message.
    until: u64,
}

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Hand it over.
    Ours(Position),
    /// It is none of ours.
    Other,
    /// Something of the consumer is missing.
    Broken,
}

impl Ordered {
    pub(crate) fn new(stream: &str, subjects: &[String]) -> Self {
        let filter = match subjects {
            [one] => Some(one.clone()),
            _ => None,
        };
        Self {
            stream: stream.to_owned(),
            filter,
            subjects: subjects.to_vec(),
            sid: 100,
            consumer: String::new(),
            consumer_seq: 0,
            heard_ns: 0,
            next_seq: 0,
            created: String::new(),
            generation: 0,
            catching_up: None,
            behind_since_ns: None,
        }
    }

    /// The sequence that comes next.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// How many streams of the name came before this one.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Since when the consumer has had messages that it could not send yet.
    pub(crate) fn behind_since_ns(&self) -> Option<u64> {
        self.behind_since_ns
    }

    /// Whether what came while we were away is still being read.
    pub(crate) fn is_catching_up(&self) -> bool {
        self.catching_up.is_some()
    }

    /// Begins behind the stream's last message.
    pub(crate) fn begin(&mut self, jetstream: &mut JetStream<'_>) -> Result<(), Failure> {
        let state = jetstream.stream_state()?;
        self.created = state.created;
        self.next_seq = state.last_seq + 1;
        self.make_consumer(jetstream).map(drop)
    }

    /// Reads on where it stopped; the gap ends at once or when all is read that came meanwhile.
    pub(crate) fn resume(
        &mut self,
        jetstream: &mut JetStream<'_>,
        lost_ns: u64,
    ) -> Result<Option<Gap>, Failure> {
        let earlier = self.catching_up.take();
        let state = jetstream.stream_state()?;
        let missed = self.follow(&state);
        let pending = match self.make_consumer(jetstream) {
            Ok(pending) => pending,
            Err(failure) => {
                self.catching_up = earlier;
                return Err(failure);
            }
        };
        let mut gap = Gap {
            from_ns: lost_ns,
            to_ns: now_ns(),
            recovery: if missed { Recovery::Missed } else { Recovery::Resumed { messages: 0 } },
        };
        let mut messages = 0;
        if let Some(earlier) = earlier {
            gap.from_ns = gap.from_ns.min(earlier.gap.from_ns);
            messages = earlier.messages;
            if earlier.gap.recovery == Recovery::Missed {
                gap.recovery = Recovery::Missed;
            }
        }
        self.catching_up = Some(CatchingUp { gap, messages, until: pending });
        Ok(if pending == 0 { self.caught_up() } else { None })
    }

    /// Goes to where the stream can be read on; whether messages are missing.
    fn follow(&mut self, state: &StreamState) -> bool {
        if state.created != self.created || state.last_seq + 1 < self.next_seq {
            // Another stream of the name, or one that has lost its end: sequences are used again.
            let anew = state.created != self.created;
            self.created.clone_from(&state.created);
            self.generation += 1;
            self.next_seq = if anew { state.first_seq.max(1) } else { state.last_seq + 1 };
            return true;
        }
        let missed = state.first_seq > self.next_seq;
        self.next_seq = self.next_seq.max(state.first_seq);
        missed
    }

    fn make_consumer(&mut self, jetstream: &mut JetStream<'_>) -> Result<u64, Failure> {
        self.sid += 1;
        let deliver_to = jetstream.connection.inbox(&format!("d.{}", self.sid));
        subscribe(jetstream.connection.out(), &deliver_to, None, self.sid);
        let start = json!({
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": self.next_seq,
        });
        let filter = self.filter.as_deref();
        let (consumer, pending) =
            jetstream.ordered_consumer(&deliver_to, filter, &start, HEARTBEAT_NS)?;
        self.consumer = consumer;
        self.consumer_seq = 0;
        self.heard_ns = now_ns();
        self.behind_since_ns = None;
        Ok(pending)
    }

    /// Takes a message in. `answer`: where to publish nothing, so that the consumer goes on.
    pub(crate) fn take(
        &mut self,
        message: &Message<'_>,
        read_ns: u64,
        answer: &mut Option<String>,
    ) -> Verdict {
        if message.sid != self.sid {
            return Verdict::Other;
        }
        if message.payload.is_empty()
            && let Some(status) = status(message.headers)
        {
            return self.take_status(status.code, message, read_ns, answer);
        }
        let Some(delivery) = message.reply.and_then(Delivery::parse) else {
            return Verdict::Other;
        };
        if delivery.consumer_seq != self.consumer_seq + 1 {
            return Verdict::Broken;
        }
        self.heard_ns = read_ns;
        self.consumer_seq = delivery.consumer_seq;
        self.next_seq = delivery.stream_seq + 1;
        self.behind_since_ns = match delivery.pending {
            0 => None,
            _ => self.behind_since_ns.or(Some(read_ns)),
        };
        let is_ours = self.filter.is_some()
            || self.subjects.iter().any(|subject| matches(subject, message.subject));
        if let Some(catching_up) = &mut self.catching_up {
            catching_up.messages += u64::from(is_ours);
            if delivery.pending == 0 {
                catching_up.until = catching_up.until.min(self.consumer_seq);
            }
        }
        match is_ours {
            true => {
                Verdict::Ours(Position { partition: self.generation, offset: delivery.stream_seq })
            }
            false => Verdict::Other,
        }
    }

    fn take_status(
        &mut self,
        code: u16,
        message: &Message<'_>,
        read_ns: u64,
        answer: &mut Option<String>,
    ) -> Verdict {
        if code != 100 {
            return Verdict::Broken;
        }
        self.heard_ns = read_ns;
        let text = |name| std::str::from_utf8(field(message.headers, name)?).ok();
        // Flow control asks by the message itself, or again by a heartbeat.
        let asked = message.reply.or_else(|| text("Nats-Consumer-Stalled"));
        *answer = asked.map(ToOwned::to_owned);
        let sent = text("Nats-Last-Consumer").and_then(|number| number.parse::<u64>().ok());
        match sent {
            Some(sent) if sent > self.consumer_seq => Verdict::Broken,
            Some(_) => {
                // A heartbeat: nothing waits.
                self.behind_since_ns = None;
                if let Some(catching_up) = &mut self.catching_up {
                    catching_up.until = catching_up.until.min(self.consumer_seq);
                }
                Verdict::Other
            }
            None => Verdict::Other,
        }
    }

    /// The gap, once all is read that came in it.
    pub(crate) fn caught_up(&mut self) -> Option<Gap> {
        let reached = self.catching_up.as_ref().is_some_and(|it| self.consumer_seq >= it.until);
        let done = self.catching_up.take_if(|_| reached)?;
        let mut gap = done.gap;
        if let Recovery::Resumed { messages } = &mut gap.recovery {
            *messages = done.messages;
        }
        Some(gap)
    }

    /// Errs when the consumer has been silent for too long.
    pub(crate) fn check_silence(&self, connection: &Connection) -> Result<(), Lost> {
        if now_ns().saturating_sub(self.heard_ns) <= SILENCE_NS_MAX {
            return Ok(());
        }
        Err(connection.lost(&format!("its consumer of stream `{}` is silent", self.stream)))
    }

    /// Tells the server to forget the consumer; not waited for.
    pub(crate) fn end(&self, connection: &mut Connection, api: &str) {
        let subject = format!("{api}.CONSUMER.DELETE.{}.{}", self.stream, self.consumer);
        publish(connection.out(), &subject, None, b"", b"");
        // The server forgets it by itself as well.
        let _sent = connection.flush();
    }
}
