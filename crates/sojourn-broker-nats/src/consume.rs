//! A member of a group: of a stream's durable consumer, or of a queue group of core NATS.

use std::time::Duration;

use serde_json::{Value, json};
use sojourn_broker::{Backoff, BrokerError, Consumer, Sink, Start};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::NatsChannel;

use crate::config::Settings;
use crate::connection::{Connection, Event};
use crate::dial::left;
use crate::headers::status;
use crate::jetstream::{CONSUMER_NOT_FOUND, Delivery, Failure, JetStream};
use crate::lost::Lost;
use crate::message::raw;
use crate::protocol::{publish, subscribe};

/// Longest wait for connecting, joining, and the end of a request that has had its messages.
const ATTEMPT_NS_MAX: u64 = 2 * SECOND_NS;
/// Longest wait for the broker's answers to acknowledgements.
const COMMIT_NS_MAX: u64 = 10 * SECOND_NS;
/// Numbers of the subscriptions: what a durable consumer is asked for, and a queue group's first.
const PULLED: u64 = 2;
const QUEUED: u64 = 3;

/// Takes messages as a member of a group. Of a stream, the group is a durable pull consumer, which
/// is made if there is none; without one, a queue group.
pub struct NatsConsumer {
    settings: Settings,
    subjects: Vec<String>,
    stream: Option<String>,
    group: String,
    start: Start,
    link: Link,
    /// Subjects that acknowledge what was handed over.
    uncommitted: Vec<String>,
    pulls: u64,
}

enum Link {
    Away { backoff: Backoff, try_ns: u64 },
    Up(Box<Connection>),
    Left,
}

impl NatsConsumer {
    /// A member of `group`; it joins by the first call of [`Consumer::consume`]. Errs when the name
    /// cannot be one, or a file of the settings cannot be used.
    pub fn new(nats: &NatsChannel, group: &str) -> Result<Self, BrokerError> {
        let wrong = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '.' | '*' | '>');
        if group.is_empty() || group.contains(wrong) {
            return Err(BrokerError::new(format!("`{group}` cannot name a group of nats"))
                .with_hint("no blanks, dots or wildcards"));
        }
        Ok(Self {
            settings: Settings::new(nats)?,
            subjects: nats.subjects.clone(),
            stream: nats.stream.clone(),
            group: group.to_owned(),
            start: Start::Latest,
            link: Link::Away { backoff: Backoff::new(now_ns()), try_ns: 0 },
            uncommitted: Vec::new(),
            pulls: 0,
        })
    }

    /// The same that begins elsewhere in the stream, where it makes the durable consumer.
    #[must_use]
    pub fn starting(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// Joins, if it is time to try; errs when trying again would not help.
    fn join(&mut self) -> Result<(), BrokerError> {
        let Link::Away { try_ns, .. } = &self.link else { return Ok(()) };
        if now_ns() < *try_ns {
            return Ok(());
        }
        match self.joined() {
            Ok(connection) => {
                self.link = Link::Up(Box::new(connection));
                Ok(())
            }
            Err(Failure::Lost(lost)) if !lost.for_good => {
                self.lose();
                Ok(())
            }
            Err(failure) => Err(failure.into_error()),
        }
    }

    fn joined(&self) -> Result<Connection, Failure> {
        let deadline_ns = now_ns() + ATTEMPT_NS_MAX;
        let mut connection = Connection::open(&self.settings, deadline_ns)?;
        if let Some(stream) = &self.stream {
            let inbox = connection.inbox("p.*");
            subscribe(connection.out(), &inbox, None, PULLED);
            let mut jetstream = JetStream {
                connection: &mut connection,
                settings: &self.settings,
                stream,
                deadline_ns,
            };
            jetstream.stream_state()?;
            self.durable(&mut jetstream)?;
        } else {
            for (sid, subject) in (QUEUED..).zip(&self.subjects) {
                subscribe(connection.out(), subject, Some(&self.group), sid);
            }
        }
        let refused = connection.await_pong(deadline_ns)?;
        match refused.first() {
            None => Ok(connection),
            Some(words) => Err(self.refused(words)),
        }
    }

    /// Finds the durable consumer, or makes it.
    fn durable(&self, jetstream: &mut JetStream<'_>) -> Result<(), Failure> {
        let found = match jetstream.consumer(&self.group) {
            Err(Failure::Refused { code: CONSUMER_NOT_FOUND, .. }) => {
                let begin = match self.start {
                    Start::Earliest => "all",
                    Start::Latest => "new",
                };
                let mut config = json!({
                    "durable_name": self.group,
                    "deliver_policy": begin,
                    "ack_policy": "explicit",
                    "replay_policy": "instant",
                });
                if let [subject] = self.subjects.as_slice() {
                    config["filter_subject"] = Value::from(subject.as_str());
                }
                let stream = jetstream.stream;
                let request = json!({ "stream_name": stream, "config": config });
                let what = format!("CONSUMER.DURABLE.CREATE.{stream}.{}", self.group);
                jetstream.ask(&what, &request)?
            }
            found => found?,
        };
        let is_pushed = found.pointer("/config/deliver_subject").is_some_and(Value::is_string);
        if is_pushed {
            return Err(self.refused(&format!("consumer `{}` pushes its messages", self.group)));
        }
        Ok(())
    }

    fn refused(&self, words: &str) -> Failure {
        let at = &self.settings.address;
        Failure::Refused { code: 0, error: BrokerError::new(format!("nats at {at}: {words}")) }
    }

    fn lose(&mut self) {
        // What was not committed comes again; it cannot be acknowledged any more by this member.
        self.uncommitted.clear();
        let now = now_ns();
        let mut backoff = match std::mem::replace(&mut self.link, Link::Left) {
            Link::Away { backoff, .. } => backoff,
            Link::Up(_) | Link::Left => Backoff::new(now),
        };
        let pause = backoff.pause(now).unwrap_or(Duration::from_secs(1));
        let pause_ns = u64::try_from(pause.as_nanos()).unwrap_or(SECOND_NS);
        self.link = Link::Away { backoff, try_ns: now + pause_ns };
    }

    /// Takes up to `messages_max` of what the queue group was sent.
    fn take_queued(
        connection: &mut Connection,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, Lost> {
        let (mut taken, mut timeout) = (0, timeout);
        while taken < messages_max {
            match connection.next()? {
                Some(Event::Message(place)) if place.sid >= QUEUED => {
                    sink.message(&raw(&connection.message(&place), connection.read_ns(), None));
                    taken += 1;
                    timeout = Duration::ZERO;
                }
                Some(_) => {}
                None if connection.fill(timeout)? => {}
                None => break,
            }
        }
        Ok(taken)
    }

    /// Asks the durable consumer for messages, and takes what comes until it says that there is no
    /// more: `wait` for how long it may hold the request back, none for not at all.
    fn pull(
        &mut self,
        connection: &mut Connection,
        messages_max: usize,
        wait: Option<Duration>,
        sink: &mut dyn Sink,
    ) -> Result<usize, Lost> {
        self.pulls += 1;
        let inbox = connection.inbox(&format!("p.{}", self.pulls));
        let request = match wait {
            Some(wait) => json!({ "batch": messages_max, "expires": wait.as_nanos() as u64 }),
            None => json!({ "batch": messages_max, "no_wait": true }),
        };
        let (api, stream) = (&self.settings.api, self.stream.as_deref().unwrap_or_default());
        let subject = format!("{api}.CONSUMER.MSG.NEXT.{stream}.{}", self.group);
        publish(connection.out(), &subject, Some(&inbox), b"", request.to_string().as_bytes());
        let wait_ns = wait.map_or(0, |wait| u64::try_from(wait.as_nanos()).unwrap_or(0));
        let deadline_ns = now_ns() + wait_ns + ATTEMPT_NS_MAX;
        let mut taken = 0;
        while taken < messages_max {
            match connection.next()? {
                Some(Event::Message(place)) if place.sid == PULLED => {
                    let message = connection.message(&place);
                    let ended = message.payload.is_empty()
                        && status(message.headers).is_some_and(|status| status.code >= 400);
                    if ended && message.subject == inbox {
                        break;
                    }
                    if let (false, Some(reply)) = (ended, message.reply) {
                        let reply = reply.to_owned();
                        sink.message(&raw(&message, connection.read_ns(), None));
                        let is_last = Delivery::parse(&reply).is_some_and(|it| it.pending == 0);
                        self.uncommitted.push(reply);
                        taken += 1;
                        // A server need not say that there is no more once it has sent something.
                        // What it sends all the same belongs to the next request.
                        if is_last && wait.is_none() {
                            break;
                        }
                    }
                }
                Some(_) => {}
                None => {
                    let Some(left) = left(deadline_ns) else { break };
                    connection.fill(left)?;
                }
            }
        }
        Ok(taken)
    }

    /// Acknowledges what was handed over, and waits until each acknowledgement is answered.
    fn acknowledge(&mut self, connection: &mut Connection) -> Result<bool, Lost> {
        connection.listen_for_answers();
        let mut open = std::collections::HashSet::new();
        for subject in self.uncommitted.drain(..) {
            let (number, inbox) = connection.answer_subject();
            publish(connection.out(), &subject, Some(&inbox), b"", b"+ACK");
            open.insert(number);
        }
        let deadline_ns = now_ns() + COMMIT_NS_MAX;
        let mut kept = Vec::new();
        while !open.is_empty() {
            match connection.next_keeping(&mut kept)? {
                Some(Event::Message(place)) => {
                    let message = connection.message(&place);
                    let refused = status(message.headers).is_some_and(|status| status.code >= 400);
                    match connection.answered(message.subject) {
                        Some(number) if !refused => drop(open.remove(&number)),
                        _ => {}
                    }
                }
                Some(_) => {}
                None => match left(deadline_ns) {
                    Some(left) => drop(connection.fill(left)?),
                    None => break,
                },
            }
        }
        connection.put_back(&kept);
        Ok(open.is_empty())
    }
}

impl Consumer for NatsConsumer {
    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError> {
        let deadline_ns =
            now_ns().saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        if messages_max == 0 {
            return Ok(0);
        }
        self.join()?;
        let mut connection = match std::mem::replace(&mut self.link, Link::Left) {
            Link::Up(connection) => connection,
            Link::Left => return Err(BrokerError::new("the group was left")),
            away @ Link::Away { .. } => {
                self.link = away;
                std::thread::sleep(left(deadline_ns).unwrap_or_default());
                return Ok(0);
            }
        };
        let timeout = left(deadline_ns).unwrap_or_default();
        let taken = match &self.stream {
            None => Self::take_queued(&mut connection, messages_max, timeout, sink),
            Some(_) => {
                let mut pull = |most, wait| self.pull(&mut connection, most, wait, sink);
                match pull(messages_max, None) {
                    // Waits for one, then takes what else there is by now.
                    Ok(0) if !timeout.is_zero() => match pull(1, Some(timeout)) {
                        Ok(1) if messages_max > 1 => {
                            pull(messages_max - 1, None).map(|more| more + 1)
                        }
                        outcome => outcome,
                    },
                    outcome => outcome,
                }
            }
        };
        if taken.is_err() {
            self.lose();
        } else {
            self.link = Link::Up(connection);
        }
        // Of a broker that is away nothing comes.
        Ok(taken.unwrap_or(0))
    }

    fn commit(&mut self) -> Result<(), BrokerError> {
        let at = self.settings.address.clone();
        let Link::Up(mut connection) = std::mem::replace(&mut self.link, Link::Left) else {
            return Err(BrokerError::new(format!("nats at {at}: not in the group")));
        };
        let done = match &self.stream {
            Some(_) => self.acknowledge(&mut connection),
            None => connection.await_pong(now_ns() + COMMIT_NS_MAX).map(|_| true),
        };
        match done {
            Ok(all) => {
                self.link = Link::Up(connection);
                if all {
                    Ok(())
                } else {
                    Err(BrokerError::new(format!(
                        "nats at {at}: not every acknowledgement was answered"
                    )))
                }
            }
            Err(lost) => {
                self.lose();
                Err(lost.error)
            }
        }
    }

    fn idle(&mut self) {
        if let Link::Up(connection) = &mut self.link
            && beat(connection).is_err()
        {
            self.lose();
        }
    }

    fn commits(&self) -> bool {
        self.stream.is_some()
    }

    fn assigned(&self) -> usize {
        usize::from(matches!(self.link, Link::Up(_)))
    }

    fn leave(&mut self) {
        if let Link::Up(mut connection) = std::mem::replace(&mut self.link, Link::Left) {
            for subject in self.uncommitted.drain(..) {
                publish(connection.out(), &subject, None, b"", b"-NAK");
            }
            // Without it they come again after the consumer's own time.
            let _answered = connection.await_pong(now_ns() + ATTEMPT_NS_MAX);
        }
    }
}

/// Answers the server's pings; messages stay for later.
fn beat(connection: &mut Connection) -> Result<(), Lost> {
    let mut kept = Vec::new();
    if connection.fill(Duration::ZERO)? {
        while connection.next_keeping(&mut kept)?.is_some() {}
    }
    connection.put_back(&kept);
    connection.flush()
}

impl std::fmt::Debug for NatsConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the login.
        f.debug_struct("NatsConsumer")
            .field("address", &self.settings.address)
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}
