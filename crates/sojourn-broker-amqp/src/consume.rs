//! A consumer of a queue, beside the system's own.

use std::collections::VecDeque;
use std::time::Duration;

use sojourn_broker::{Backoff, BrokerError, Consumer, RawMessage, Sink};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::AmqpChannel;

use crate::config::Settings;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::wire::content::{Content, Kind, Message};
use crate::wire::frame::{Frame, FrameKind};
use crate::wire::headers::Headers;
use crate::wire::method::{self, Answer, QueueKind, Said};

const MESSAGES: u16 = 1;
/// Messages that the broker gives out before earlier ones are acknowledged.
const PREFETCH: u16 = 1_000;
const ANSWER_NS_MAX: u64 = 5 * SECOND_NS;
/// A script may take so long, and as long again, between two calls.
const HEARTBEAT_S: u16 = 30;
const SILENT_NS_MAX: u64 = 2 * HEARTBEAT_S as u64 * SECOND_NS;

/// Takes messages from a queue and acknowledges them when asked.
pub struct AmqpConsumer {
    settings: Settings,
    queue: String,
    live: Option<Live>,
    away: Option<(Backoff, u64)>,
    /// Something handed over was not acknowledged when the connection was lost.
    owing: bool,
    left: bool,
}

impl AmqpConsumer {
    /// A consumer of the queue `queue`, which must exist. It connects when first asked.
    pub fn new(channel: &AmqpChannel, queue: &str) -> Result<Self, BrokerError> {
        let settings = Settings::new(channel)?;
        let queue = queue.to_owned();
        Ok(Self { settings, queue, live: None, away: None, owing: false, left: false })
    }

    /// The subscription; `None`: the broker is away.
    fn live(&mut self, timeout: Duration) -> Result<Option<&mut Live>, BrokerError> {
        if self.left {
            return Err(BrokerError::new("the queue was left"));
        }
        if self.live.is_none() {
            let now = now_ns();
            if let Some((_, next_ns)) = self.away
                && now < next_ns
            {
                std::thread::sleep(timeout.min(Duration::from_nanos(next_ns - now)));
                return Ok(None);
            }
            match Live::open(&self.settings, &self.queue) {
                Ok(live) => {
                    self.live = Some(live);
                    self.away = None;
                }
                Err(failure) => return self.lost(&failure).map(|()| None),
            }
        }
        Ok(self.live.as_mut())
    }

    /// Errs when trying again does not help.
    fn lost(&mut self, failure: &Failure) -> Result<(), BrokerError> {
        self.owing |= self.live.take().is_some_and(|live| live.handed > live.acked);
        match failure {
            Failure::ChannelClosed { code: 404, .. } => Err(BrokerError::new(format!(
                "{}: no queue `{}` in virtual host `{}`",
                self.settings.name(),
                self.queue,
                self.settings.vhost
            ))
            .with_hint("a consumer makes none: start what declares it first, or mend its name")),
            Failure::Unreachable(_)
            | Failure::CutOffAtGreeting
            | Failure::CutOffInHandshake
            | Failure::Lost
            | Failure::Silent
            | Failure::Late(_)
            | Failure::Cancelled
            | Failure::Closed { code: 320, .. } => {
                let now = now_ns();
                let (backoff, next_ns) = self.away.get_or_insert_with(|| (Backoff::new(now), now));
                let pause = backoff.pause(now).unwrap_or(Duration::from_secs(1));
                *next_ns = now + pause.as_nanos() as u64;
                Ok(())
            }
            failure => Err(failure.error(&self.settings)),
        }
    }
}

impl Consumer for AmqpConsumer {
    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError> {
        let Some(live) = self.live(timeout)? else { return Ok(0) };
        let before = live.handed_over;
        let outcome = live.consume(messages_max, timeout, sink);
        let taken = (live.handed_over - before) as usize;
        if let Err(failure) = outcome {
            self.lost(&failure)?;
        }
        Ok(taken)
    }

    fn commit(&mut self) -> Result<(), BrokerError> {
        if std::mem::take(&mut self.owing) {
            return Err(BrokerError::new(format!(
                "{}: the connection was lost, so what was handed over comes again",
                self.settings.name()
            )));
        }
        let Some(live) = &mut self.live else { return Ok(()) };
        if let Err(failure) = live.commit() {
            let error = failure.error(&self.settings);
            self.lost(&failure)?;
            self.owing = false;
            return Err(error);
        }
        Ok(())
    }

    fn idle(&mut self) {
        // What is wrong with the connection is said by the next call.
        if let Some(live) = &mut self.live {
            let _later = live.connection.beat(now_ns());
        }
    }

    fn assigned(&self) -> usize {
        usize::from(self.live.is_some())
    }

    fn leave(&mut self) {
        // Closed, it gives everything back that is not acknowledged.
        self.live = None;
        self.left = true;
    }
}

impl std::fmt::Debug for AmqpConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("AmqpConsumer");
        shown.field("settings", &self.settings).field("queue", &self.queue).finish_non_exhaustive()
    }
}

/// A subscription that stands.
struct Live {
    connection: Connection,
    content: Content,
    /// What came while an answer was waited for: at most [`PREFETCH`].
    held: VecDeque<Held>,
    handed_over: u64,
    /// Tags of the latest handed over, and of the latest acknowledged.
    handed: u64,
    acked: u64,
}

/// A message kept.
struct Held {
    stamp_ns: u64,
    tag: u64,
    exchange: String,
    routing_key: String,
    headers: Headers,
    body: Vec<u8>,
}

impl Live {
    fn open(settings: &Settings, queue: &str) -> Result<Self, Failure> {
        let deadline_ns = now_ns() + ANSWER_NS_MAX;
        let mut connection = Connection::open(settings, HEARTBEAT_S, deadline_ns)?;
        connection.open_channel(MESSAGES, deadline_ns)?;
        connection.out().queue_declare(MESSAGES, queue.as_bytes(), QueueKind::Existing)?;
        connection.until(deadline_ns, "looking for the queue", |said, _| {
            Ok(matches!(said, Some(Said::QueueDeclared { .. })).then_some(()))
        })?;
        connection.out().qos(MESSAGES, PREFETCH)?;
        connection.answer(MESSAGES, Answer::Qos, deadline_ns, "limiting what comes at once")?;
        connection.out().consume(MESSAGES, queue.as_bytes(), false)?;
        connection.answer(MESSAGES, Answer::Consume, deadline_ns, "subscribing to the queue")?;
        let (content, held) = (Content::default(), VecDeque::new());
        Ok(Self { connection, content, held, handed_over: 0, handed: 0, acked: 0 })
    }

    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<(), Failure> {
        let deadline_ns = now_ns() + timeout.as_nanos() as u64;
        let end = self.handed_over + messages_max as u64;
        let mut stamp_ns = self.connection.heard_ns();
        let begun = self.handed_over;
        loop {
            while self.handed_over < end
                && let Some(held) = self.held.pop_front()
            {
                sink.message(&held.raw());
                self.handed = held.tag;
                self.handed_over += 1;
            }
            while self.handed_over < end && self.step(stamp_ns, sink)? {}
            let now = now_ns();
            self.connection.beat(now)?;
            if self.handed_over == end {
                return Ok(());
            }
            match self.connection.fill()? {
                Some(read_ns) => stamp_ns = read_ns,
                None if self.handed_over > begun || now >= deadline_ns => {
                    let silent_ns = now.saturating_sub(self.connection.heard_ns());
                    let silent = silent_ns >= SILENT_NS_MAX;
                    return if silent { Err(Failure::Silent) } else { Ok(()) };
                }
                None => self.connection.wait(Duration::from_nanos(deadline_ns - now), None)?,
            }
        }
    }

    /// Takes a frame that has come and hands the message over that it completes; false: there is
    /// none.
    fn step(&mut self, stamp_ns: u64, sink: &mut dyn Sink) -> Result<bool, Failure> {
        let Some(frame) = self.connection.next()? else { return Ok(false) };
        if let Some((message, tag)) = take(&mut self.content, &frame)? {
            sink.message(&raw(stamp_ns, &message));
            self.handed = tag;
            self.handed_over += 1;
        }
        Ok(true)
    }

    /// Acknowledges, and asks for something on the same channel: when that is answered, the
    /// acknowledgement has been read.
    fn commit(&mut self) -> Result<(), Failure> {
        if self.handed == self.acked {
            return Ok(());
        }
        let Self { connection, content, held, .. } = self;
        connection.out().ack(MESSAGES, self.handed)?;
        connection.out().qos(MESSAGES, PREFETCH)?;
        let deadline_ns = now_ns() + ANSWER_NS_MAX;
        connection.until(deadline_ns, "an acknowledgement", |said, frame| {
            if said == Some(&Said::Ok(Answer::Qos)) {
                return Ok(Some(()));
            }
            if let Some((message, tag)) = take(content, frame)? {
                held.push_back(Held::of(now_ns(), tag, &message));
            }
            Ok(None)
        })?;
        self.acked = self.handed;
        Ok(())
    }
}

/// The message that a frame completes, and its tag.
fn take<'a>(
    content: &'a mut Content,
    frame: &Frame<'_>,
) -> Result<Option<(Message<'a>, u64)>, Failure> {
    if frame.kind == FrameKind::Method {
        let said = method::read(frame.payload)?;
        if !content.begin(&said)? {
            match said {
                Said::ChannelClose { code, text } => {
                    return Err(Failure::channel_closed(code, text));
                }
                Said::Cancelled => return Err(Failure::Cancelled),
                _ => {}
            }
        }
        return Ok(None);
    }
    Ok(content.add(frame)?.and_then(|message| match message.kind {
        Kind::Delivered(tag) => Some((message, tag)),
        Kind::Returned => None,
    }))
}

fn raw<'a>(stamp_ns: u64, message: &Message<'a>) -> RawMessage<'a> {
    RawMessage {
        stamp_ns,
        topic: message.routing_key,
        key: message.headers.get("correlation-id"),
        headers: message.headers.with(("exchange", message.exchange.as_bytes())),
        payload: message.body,
        // A queue gives out again what nobody acknowledged: that is its business.
        position: None,
    }
}

impl Held {
    fn of(stamp_ns: u64, tag: u64, message: &Message<'_>) -> Self {
        Self {
            stamp_ns,
            tag,
            exchange: message.exchange.to_owned(),
            routing_key: message.routing_key.to_owned(),
            headers: message.headers.clone(),
            body: message.body.to_vec(),
        }
    }

    fn raw(&self) -> RawMessage<'_> {
        let Self { exchange, routing_key, headers, body, tag, .. } = self;
        let kind = Kind::Delivered(*tag);
        raw(self.stamp_ns, &Message { kind, exchange, routing_key, headers, body })
    }
}
