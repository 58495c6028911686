//! The tap: an own queue beside the system's, bound to the exchange.

use std::time::Duration;

use sojourn_broker::{Backoff, BrokerError, Gap, RawMessage, Recovery, Sink, Tap, TapInfo};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_plan::AmqpChannel;

use crate::config::Settings;
use crate::connection::Connection;
use crate::exchange::{ask_type, explain, fans_out};
use crate::failure::Failure;
use crate::wire::content::Content;
use crate::wire::frame::FrameKind;
use crate::wire::method::{self, Answer, QueueKind, Said};

/// Where messages come.
const MESSAGES: u16 = 1;
/// Where the queue is asked about. An exchange that is gone closes this channel, not the other.
const PROBES: u16 = 2;
/// Where the exchange's type is asked for; the answer closes it.
const TYPES: u16 = 3;
/// Longest wait for the broker while opening, and while connecting again.
const OPEN_NS_MAX: u64 = 5 * SECOND_NS;
const REOPEN_NS_MAX: u64 = 2 * SECOND_NS;
/// So long may the tap itself be silent: its first poll may come late, after other taps' opening.
const HEARTBEAT_S: u16 = 30;
/// How often the queue is asked how much it holds.
const PROBE_NS: u64 = 500 * MILLISECOND_NS;
/// Each so many of these questions the bindings are made sure of as well.
const PROBES_PER_BINDING: u64 = 4;
/// A broker that answers nothing for so long, while it is asked, is taken for gone.
const SILENT_NS_MAX: u64 = 2 * SECOND_NS;
/// Messages that may wait in our queue: more would use the broker's memory up.
const WAITING_MAX: u64 = 1_000_000;
/// Reads, of half a mebibyte at most, handed over by one poll.
const READS_MAX: usize = 8;

/// A passive subscription to an exchange. The lifecycle is [`Tap`]'s.
pub struct AmqpTap {
    channel: AmqpChannel,
    settings: Settings,
    live: Option<Live>,
    lost: Option<Lost>,
    /// Why it has given up: then it stays lost.
    ended: Option<BrokerError>,
    gaps: Vec<Gap>,
    watermark_ns: u64,
    patience: Duration,
}

struct Lost {
    backoff: Backoff,
    next_ns: u64,
    failure: Failure,
}

impl AmqpTap {
    /// A tap that is not open yet. Errs when the settings can't work.
    pub fn new(channel: &AmqpChannel) -> Result<Self, BrokerError> {
        let settings = Settings::new(channel)?;
        if channel.exchange.is_empty() {
            return Err(BrokerError::new(format!(
                "{}: the default exchange cannot be listened to",
                settings.name()
            ))
            .with_hint(
                "it hands each message to the one queue that its key names; listen to a named \
                 exchange, or to `amq.rabbitmq.trace` (docs/brokers/amqp.md)",
            ));
        }
        let channel = channel.clone();
        Ok(Self {
            channel,
            settings,
            live: None,
            lost: None,
            ended: None,
            gaps: Vec::new(),
            watermark_ns: 0,
            patience: Backoff::GIVE_UP_AFTER,
        })
    }

    /// Why a tap cannot listen to an exchange of this type, if it cannot.
    fn unfit(&self, kind: &str) -> Option<BrokerError> {
        let AmqpChannel { exchange, routing, .. } = &self.channel;
        let at = self.settings.name();
        let is_pattern = |key: &String| key.contains(['*', '#']);
        if !fans_out(kind) {
            return Some(
                BrokerError::new(format!(
                    "{at}: exchange `{exchange}` is of type {kind}, which may share its messages \
                     out: a tap would take some from the system's queues"
                ))
                .with_hint("listen to the exchange before or behind it"),
            );
        }
        (kind == "direct" && routing.iter().all(is_pattern)).then(|| {
            BrokerError::new(format!(
                "{at}: exchange `{exchange}` is direct: no key fits a pattern such as `{}`",
                routing[0]
            ))
            .with_hint("name the keys themselves: `routing: [order.paid, order.sent]`")
        })
    }

    fn explain(&self, failure: &Failure) -> BrokerError {
        explain(failure, &self.settings, &self.channel)
    }

    fn give_up(&mut self, error: BrokerError) -> Result<(), BrokerError> {
        self.live = None;
        self.lost = None;
        self.ended = Some(error.clone());
        Err(error)
    }

    /// Tries to listen again, when it is time; waits until then for `timeout` at most.
    fn reopen(&mut self, timeout: Duration) -> Result<(), BrokerError> {
        let Some(lost) = &mut self.lost else {
            let ended = self.ended.clone();
            return Err(ended.unwrap_or_else(|| BrokerError::new("the tap is not open")));
        };
        let now = now_ns();
        if now < lost.next_ns {
            std::thread::sleep(timeout.min(Duration::from_nanos(lost.next_ns - now)));
            return Ok(());
        }
        let deadline_ns = now + REOPEN_NS_MAX;
        let opened = connect(&self.settings, &self.channel.exchange, deadline_ns)
            .and_then(|connection| Live::open(connection, &self.channel, deadline_ns));
        match opened {
            Ok((live, _)) => {
                let (from_ns, to_ns) = (lost.backoff.lost_ns(), now_ns());
                self.gaps.push(Gap { from_ns, to_ns, recovery: Recovery::Missed });
                self.live = Some(live);
                self.lost = None;
                return Ok(());
            }
            Err(failure) => lost.failure = failure,
        }
        let now = now_ns();
        match lost.backoff.pause(now) {
            Some(pause) => {
                lost.next_ns = now + pause.as_nanos() as u64;
                Ok(())
            }
            None => {
                let failure = lost.failure.clone();
                self.give_up(self.explain(&failure))
            }
        }
    }
}

impl Tap for AmqpTap {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        let deadline_ns = now_ns() + OPEN_NS_MAX;
        let AmqpChannel { exchange, .. } = &self.channel;
        let asked = connect(&self.settings, exchange, deadline_ns).and_then(|mut connection| {
            let kind = ask_type(&mut connection, TYPES, exchange, deadline_ns)?;
            Ok((connection, kind))
        });
        let (connection, kind) = asked.map_err(|failure| self.explain(&failure))?;
        if let Some(error) = kind.as_deref().and_then(|kind| self.unfit(kind)) {
            return Err(error);
        }
        let opened = Live::open(connection, &self.channel, deadline_ns);
        let (live, opened_ns) = opened.map_err(|failure| self.explain(&failure))?;
        self.live = Some(live);
        self.watermark_ns = opened_ns;
        let AmqpChannel { exchange, routing, .. } = &self.channel;
        let keys = match kind.as_deref() {
            Some("fanout" | "headers") => "all messages".to_owned(),
            _ => format!("keys {}", routing.join(", ")),
        };
        let kind = kind.map_or_else(String::new, |kind| format!("{kind} "));
        Ok(TapInfo {
            listens_to: format!(
                "{}, virtual host {}, {kind}exchange {exchange}, {keys}, by an own queue",
                self.settings.name(),
                self.settings.vhost
            ),
            address: None,
        })
    }

    fn give_up_after(&mut self, patience: Duration) {
        self.patience = patience;
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        let Some(live) = &mut self.live else {
            return self.reopen(timeout);
        };
        match live.poll(timeout, sink, &mut self.watermark_ns) {
            Ok(()) if live.waiting.held <= WAITING_MAX => Ok(()),
            Ok(()) => {
                let held = live.waiting.held;
                let error = BrokerError::new(format!(
                    "{}: {held} messages wait in the tap's queue, so it was given up before the \
                     broker's memory is",
                    self.settings.name()
                ));
                self.give_up(
                    error.with_hint("bind fewer keys, or give this machine more processor time"),
                )
            }
            Err(failure) => {
                let lost_ns = live.connection.heard_ns();
                let backoff = Backoff::with_limit(lost_ns, self.patience);
                self.lost = Some(Lost { backoff, next_ns: now_ns(), failure });
                self.live = None;
                Ok(())
            }
        }
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.gaps)
    }

    fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }

    fn behind_ns(&self) -> Option<u64> {
        self.live.as_ref().map(|live| live.waiting.behind_ns(now_ns()))
    }
}

impl std::fmt::Debug for AmqpTap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AmqpTap").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// A connection with a channel, to a broker that has the exchange.
fn connect(settings: &Settings, exchange: &str, deadline_ns: u64) -> Result<Connection, Failure> {
    let mut connection = Connection::open(settings, HEARTBEAT_S, deadline_ns)?;
    connection.open_channel(MESSAGES, deadline_ns)?;
    connection.find_exchange(MESSAGES, exchange, deadline_ns)?;
    Ok(connection)
}

/// A subscription that stands.
struct Live {
    connection: Connection,
    content: Content,
    exchange: String,
    routing: Vec<String>,
    queue: Vec<u8>,
    waiting: Waiting,
}

impl Live {
    /// Makes the queue, binds it, subscribes to it; and the instant from which on nothing is
    /// missed.
    fn open(
        mut connection: Connection,
        channel: &AmqpChannel,
        deadline_ns: u64,
    ) -> Result<(Self, u64), Failure> {
        // Whatever type of queue the virtual host makes by default: only this one can be our own.
        let classic: &[_] = match connection.is_rabbitmq() {
            true => &[("x-queue-type", "classic")],
            false => &[],
        };
        connection.out().queue_declare(MESSAGES, b"", QueueKind::Own(classic))?;
        let queue = connection.until(deadline_ns, "making a queue", |said, _| match said {
            Some(Said::QueueDeclared { name, .. }) => Ok(Some(name.to_vec())),
            _ => Ok(None),
        })?;
        for key in &channel.routing {
            connection.out().queue_bind(MESSAGES, &queue, &channel.exchange, key)?;
            connection.answer(MESSAGES, Answer::QueueBind, deadline_ns, "binding the queue")?;
        }
        // Bound: whatever is published from now on comes.
        let opened_ns = now_ns();
        connection.open_channel(PROBES, deadline_ns)?;
        connection.out().consume(MESSAGES, &queue, true)?;
        connection.answer(MESSAGES, Answer::Consume, deadline_ns, "subscribing to the queue")?;
        let this = Self {
            connection,
            content: Content::default(),
            exchange: channel.exchange.clone(),
            routing: channel.routing.clone(),
            queue,
            waiting: Waiting { asked_ns: opened_ns, ..Waiting::default() },
        };
        Ok((this, opened_ns))
    }

    fn poll(
        &mut self,
        timeout: Duration,
        sink: &mut dyn Sink,
        watermark_ns: &mut u64,
    ) -> Result<(), Failure> {
        // Frames that came along with the last answer to opening.
        let opened_ns = self.connection.heard_ns();
        self.hand_over(opened_ns, sink)?;
        let begun_ns = now_ns();
        self.probe(begun_ns)?;
        let deadline_ns = begun_ns + timeout.as_nanos() as u64;
        let mut idle_ns = begun_ns;
        let mut read_any = false;
        for _ in 0..READS_MAX {
            match self.connection.fill()? {
                Some(stamp_ns) => {
                    read_any = true;
                    self.hand_over(stamp_ns, sink)?;
                    idle_ns = now_ns();
                }
                None => {
                    *watermark_ns = (*watermark_ns).max(idle_ns);
                    self.waiting.check(self.connection.heard_ns(), idle_ns)?;
                    if read_any || idle_ns >= deadline_ns {
                        break;
                    }
                    let rest = Duration::from_nanos(deadline_ns - idle_ns);
                    self.connection.wait(rest, None)?;
                    idle_ns = now_ns();
                }
            }
        }
        self.connection.beat(now_ns())
    }

    /// Hands over the messages whose last frame has come, and hears answers.
    fn hand_over(&mut self, stamp_ns: u64, sink: &mut dyn Sink) -> Result<(), Failure> {
        let Self { connection, content, waiting, .. } = self;
        while let Some(frame) = connection.next()? {
            if frame.kind != FrameKind::Method {
                let Some(message) = content.add(&frame)? else { continue };
                waiting.delivered += 1;
                sink.message(&RawMessage {
                    stamp_ns,
                    topic: message.routing_key,
                    key: message.headers.get("correlation-id"),
                    headers: message.headers.with(("exchange", message.exchange.as_bytes())),
                    payload: message.body,
                    position: None,
                });
                continue;
            }
            let said = method::read(frame.payload)?;
            if content.begin(&said)? {
                continue;
            }
            match said {
                Said::QueueDeclared { ready, .. } => waiting.answered(ready.into(), stamp_ns),
                Said::ChannelClose { code, text } => {
                    return Err(Failure::channel_closed(code, text));
                }
                Said::Cancelled => return Err(Failure::Cancelled),
                Said::Flow { active } => {
                    let channel = frame.channel;
                    connection.out().flow_ok(channel, active)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Asks how much the queue holds, and every other second makes sure of its bindings: an
    /// exchange that was deleted takes them along without a word.
    fn probe(&mut self, now_ns: u64) -> Result<(), Failure> {
        if !self.waiting.is_time(now_ns) {
            return Ok(());
        }
        let out = self.connection.out();
        if self.waiting.probes.is_multiple_of(PROBES_PER_BINDING) {
            for key in &self.routing {
                out.queue_bind(PROBES, &self.queue, &self.exchange, key)?;
            }
        }
        out.queue_declare(PROBES, &self.queue, QueueKind::Existing)?;
        self.waiting.probes += 1;
        self.waiting.asked_ns = now_ns;
        self.waiting.unanswered = true;
        self.connection.flush()
    }
}

/// What our queue holds that has not been handed over.
#[derive(Debug, Default)]
struct Waiting {
    /// Messages handed over.
    delivered: u64,
    probes: u64,
    asked_ns: u64,
    unanswered: bool,
    /// What the queue held by its latest answer.
    held: u64,
    /// How many must have been delivered before nothing of an earlier answer is left, and since
    /// when that is known.
    end: Option<(u64, u64)>,
}

impl Waiting {
    fn is_time(&self, now_ns: u64) -> bool {
        !self.unanswered && now_ns.saturating_sub(self.asked_ns) >= PROBE_NS
    }

    fn answered(&mut self, held: u64, now_ns: u64) {
        self.unanswered = false;
        self.held = held;
        if self.end.is_none_or(|(end, _)| self.delivered >= end) {
            self.end = (held > 0).then_some((self.delivered + held, now_ns));
        }
    }

    /// How long something has been waiting in the queue, or the answer for longer than usual.
    fn behind_ns(&self, now_ns: u64) -> u64 {
        let unread = self.end.filter(|(end, _)| self.delivered < *end);
        let unread_ns = unread.map_or(0, |(_, since_ns)| now_ns.saturating_sub(since_ns));
        let late_ns = match self.unanswered {
            true => now_ns.saturating_sub(self.asked_ns + PROBE_NS),
            false => 0,
        };
        unread_ns.max(late_ns)
    }

    /// Errs when the broker, asked, has said nothing for too long.
    fn check(&self, heard_ns: u64, now_ns: u64) -> Result<(), Failure> {
        let since_ns = heard_ns.max(self.asked_ns);
        match self.unanswered && now_ns.saturating_sub(since_ns) >= SILENT_NS_MAX {
            true => Err(Failure::Silent),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_is_how_long_something_known_has_been_waiting() {
        let mut waiting = Waiting { asked_ns: 0, ..Waiting::default() };
        assert!(!waiting.is_time(PROBE_NS - 1) && waiting.is_time(PROBE_NS));
        waiting.answered(10, 100);
        assert_eq!(waiting.behind_ns(150), 50);
        waiting.delivered = 9;
        // What is new does not make what is old younger.
        waiting.answered(50, 200);
        assert_eq!(waiting.behind_ns(250), 150);
        waiting.delivered = 10;
        assert_eq!(waiting.behind_ns(250), 0);
        waiting.answered(0, 300);
        assert_eq!(waiting.behind_ns(400), 0);
        waiting.unanswered = true;
        waiting.asked_ns = 400;
        assert_eq!(waiting.behind_ns(400 + PROBE_NS + 7), 7);
    }

    #[test]
    fn silence_counts_from_the_question() {
        let mut waiting = Waiting { asked_ns: 10, ..Waiting::default() };
        assert!(waiting.check(0, 10 + SILENT_NS_MAX).is_ok());
        waiting.unanswered = true;
        assert!(waiting.check(0, 9 + SILENT_NS_MAX).is_ok());
        assert_eq!(waiting.check(0, 10 + SILENT_NS_MAX), Err(Failure::Silent));
        assert!(waiting.check(20, 10 + SILENT_NS_MAX).is_ok());
    }
}
