//! The publisher's thread: it has the connection, sends, and hears confirms.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender as Channel};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sojourn_broker::{Backoff, FirstAttempt, Outcome, PublisherSettings};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::AmqpChannel;
use sojourn_socket::Bell;

use crate::config::Settings;
use crate::confirms::{Confirms, fingerprint};
use crate::connection::Connection;
use crate::exchange::explain;
use crate::failure::Failure;
use crate::wire::content::Content;
use crate::wire::frame::{FrameKind, append};
use crate::wire::method::{self, Answer, Said};

const MESSAGES: u16 = 1;
const CONNECT_NS_MAX: u64 = 5 * SECOND_NS;
/// The broker sends a heartbeat each second, and is gone when it has sent none for two.
const HEARTBEAT_S: u16 = 2;
const SILENT_NS_MAX: u64 = 2 * SECOND_NS;
/// Longest wait for a confirm.
const CONFIRM_NS_MAX: u64 = 30 * SECOND_NS;
/// Bytes that may wait for the socket before further messages are taken up.
const UNSENT_BYTES_MAX: usize = 1 << 20;
const LONGEST_SLEEP: Duration = Duration::from_millis(250);
const PAUSE_AFTER_GIVING_UP: Duration = Duration::from_secs(1);

/// A message on its way to the connection.
#[derive(Debug)]
pub(crate) struct Letter {
    pub(crate) token: u64,
    pub(crate) routing_key: Box<str>,
    /// The content header's payload, then the message's.
    pub(crate) bytes: Vec<u8>,
    pub(crate) header_length: usize,
}

/// How the publisher wakes its thread and ends it.
#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) bell: Bell,
    /// The thread waits, or is about to.
    pub(crate) asleep: AtomicBool,
    pub(crate) stop: AtomicBool,
}

impl Signal {
    /// Wakes the thread if it waits.
    pub(crate) fn wake_sleeper(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            self.bell.ring();
        }
    }
}

/// The thread's state.
pub(crate) struct Sender {
    settings: Settings,
    channel: AmqpChannel,
    /// Whom to tell of the first attempt; `None`: it has been told of.
    first: Option<FirstAttempt>,
    letters: Receiver<Letter>,
    told: Channel<Outcome>,
    signal: Arc<Signal>,
    wake: Arc<dyn Fn() + Send + Sync>,
    in_flight_max: usize,
    confirms: Confirms,
    backoff: Option<Backoff>,
}

impl Sender {
    pub(crate) fn new(
        settings: Settings,
        channel: &AmqpChannel,
        (letters, told): (Receiver<Letter>, Channel<Outcome>),
        signal: Arc<Signal>,
        how: PublisherSettings,
        first: FirstAttempt,
    ) -> Self {
        Self {
            settings,
            channel: channel.clone(),
            first: Some(first),
            letters,
            told,
            signal,
            wake: how.wake,
            in_flight_max: how.queue_max.max(1),
            confirms: Confirms::default(),
            backoff: None,
        }
    }

    /// The thread's body: until the publisher is dropped.
    pub(crate) fn run(mut self) {
        while !self.stopped() {
            let failure = match self.connect() {
                Ok(connection) => {
                    if let Some(first) = self.first.take() {
                        first.tell(Ok(()));
                    }
                    self.serve(connection)
                }
                Err(failure) => {
                    self.say_once(&failure);
                    failure
                }
            };
            if self.stopped() {
                return;
            }
            self.fail_all(&failure);
            self.rest();
        }
    }

    fn stopped(&self) -> bool {
        self.signal.stop.load(Ordering::SeqCst)
    }

    /// What failed, if nothing was said before: looking for similar names takes a moment.
    fn say_once(&mut self, failure: &Failure) {
        if let Some(first) = self.first.take() {
            first.tell(Err(explain(failure, &self.settings, &self.channel)));
        }
    }

    fn connect(&self) -> Result<Connection, Failure> {
        let deadline_ns = now_ns() + CONNECT_NS_MAX;
        let mut connection = Connection::open(&self.settings, HEARTBEAT_S, deadline_ns)?;
        connection.open_channel(MESSAGES, deadline_ns)?;
        let exchange = &self.channel.exchange;
        if !exchange.is_empty() {
            connection.find_exchange(MESSAGES, exchange, deadline_ns)?;
        }
        connection.out().confirm_select(MESSAGES)?;
        connection.answer(MESSAGES, Answer::ConfirmSelect, deadline_ns, "confirms")?;
        Ok(connection)
    }

    /// Gives every message that waits or is on its way this outcome.
    fn fail_all(&mut self, failure: &Failure) {
        let (acked_ns, error) = (now_ns(), failure.outcome());
        // Waiting ones first taken, so that what comes meanwhile waits for the next attempt.
        let waiting = self.letters.len();
        let in_flight = self.confirms.drain().into_iter();
        let waiting = self.letters.try_iter().take(waiting).map(|letter| letter.token);
        for token in in_flight.chain(waiting) {
            let outcome = Outcome { token, acked_ns, error: Some(error.clone()) };
            // There is room for every message that has none yet.
            let _ended = self.told.try_send(outcome);
        }
        (self.wake)();
    }

    /// Pauses before the next attempt, longer each time until a message has been confirmed.
    fn rest(&mut self) {
        let now = now_ns();
        let backoff = self.backoff.get_or_insert_with(|| Backoff::new(now));
        let pause = backoff.pause(now).unwrap_or(PAUSE_AFTER_GIVING_UP);
        let until_ns = now + pause.as_nanos() as u64;
        while !self.stopped() {
            let now = now_ns();
            if now >= until_ns {
                return;
            }
            let rest = Duration::from_nanos(until_ns - now);
            let event = PollFd::new(&self.signal.bell, PollFlags::IN);
            let timeout = Timespec::try_from(rest).ok();
            // Only the end wakes: `asleep` is not set.
            let _woken = poll(&mut [event], timeout.as_ref());
            self.signal.bell.hush();
        }
    }

    /// Sends and hears until the connection fails or the publisher is dropped.
    fn serve(&mut self, mut connection: Connection) -> Failure {
        let mut content = Content::default();
        loop {
            if let Err(failure) = self.turn(&mut connection, &mut content) {
                return failure;
            }
            if self.stopped() {
                return Failure::Lost;
            }
        }
    }

    fn turn(&mut self, connection: &mut Connection, content: &mut Content) -> Result<(), Failure> {
        self.send(connection)?;
        connection.flush()?;
        if let Some(stamp_ns) = connection.fill()? {
            return self.hear(connection, content, stamp_ns);
        }
        let now = now_ns();
        connection.beat(now)?;
        if now.saturating_sub(connection.heard_ns()) >= SILENT_NS_MAX {
            return Err(Failure::Silent);
        }
        if self.confirms.oldest_ns().is_some_and(|sent_ns| now - sent_ns >= CONFIRM_NS_MAX) {
            return Err(match connection.is_blocked() {
                true => Failure::Blocked,
                false => Failure::Late("a message"),
            });
        }
        self.signal.asleep.store(true, Ordering::SeqCst);
        let nothing_to_do = self.letters.is_empty() || connection.unsent() >= UNSENT_BYTES_MAX;
        if nothing_to_do && !self.stopped() {
            connection.wait(LONGEST_SLEEP, Some(self.signal.bell.as_fd()))?;
        }
        self.signal.asleep.store(false, Ordering::SeqCst);
        self.signal.bell.hush();
        Ok(())
    }

    /// Takes up waiting messages as long as the socket keeps up.
    fn send(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        while connection.unsent() < UNSENT_BYTES_MAX && self.confirms.len() < self.in_flight_max {
            let Ok(letter) = self.letters.try_recv() else { return Ok(()) };
            let (header, body) = letter.bytes.split_at(letter.header_length);
            let print = self.channel.mandatory.then(|| fingerprint(&letter.routing_key, body));
            self.confirms.sent(letter.token, print.unwrap_or_default(), now_ns());
            let body_max = connection.body_max();
            let out = connection.out();
            let AmqpChannel { exchange, mandatory, .. } = &self.channel;
            out.publish(MESSAGES, exchange, &letter.routing_key, *mandatory)?;
            append(out, FrameKind::Header, MESSAGES, |out| out.raw(header))?;
            for part in body.chunks(body_max) {
                append(out, FrameKind::Body, MESSAGES, |out| out.raw(part))?;
            }
        }
        Ok(())
    }

    fn hear(
        &mut self,
        connection: &mut Connection,
        content: &mut Content,
        stamp_ns: u64,
    ) -> Result<(), Failure> {
        let (confirms, told) = (&mut self.confirms, &self.told);
        let mut any = false;
        let mut tell = |token, error: Option<&str>| {
            let error = error.map(str::to_owned);
            // There is room for every message that has none yet.
            let _ended = told.try_send(Outcome { token, acked_ns: stamp_ns, error });
            any = true;
        };
        let mut ended = Ok(());
        while let Some(frame) = connection.next()? {
            if frame.kind != FrameKind::Method {
                if let Some(message) = content.add(&frame)? {
                    confirms.returned(fingerprint(message.routing_key, message.body));
                }
                continue;
            }
            let said = method::read(frame.payload)?;
            if content.begin(&said)? {
                continue;
            }
            match said {
                Said::Acked { tag, multiple } => confirms.settle(tag, multiple, None, &mut tell),
                Said::Nacked { tag, multiple } => {
                    confirms.settle(tag, multiple, Some("refused by the broker"), &mut tell);
                }
                Said::ChannelClose { code, text } => {
                    ended = Err(Failure::channel_closed(code, text));
                    break;
                }
                _ => {}
            }
        }
        if any {
            self.backoff = None;
            (self.wake)();
        }
        ended
    }
}
