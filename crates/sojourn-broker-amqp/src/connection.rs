//! One connection: the handshake, frames in and out, heartbeats, the broker's goodbyes.

use std::io::ErrorKind;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use sojourn_clock::{SECOND_NS, now_ns};

use crate::config::Settings;
use crate::failure::Failure;
use crate::stream::Stream;
use crate::wire::frame::{self, Frame, FrameKind, GREETING};
use crate::wire::headers::Headers;
use crate::wire::method::{self, Answer, Said};
use crate::wire::writer::Writer;

/// The longest frame that we ask for, bytes: RabbitMQ's own default.
pub(crate) const FRAME_BYTES_MAX: usize = 131_072;
/// Bytes read at once and kept until their frames are whole: more than the longest frame.
const INBOX_BYTES: usize = 4 * FRAME_BYTES_MAX;
/// The broker's own channels: ours are 1 and 2.
const CHANNEL_MAX: u16 = 8;

/// A connection that has logged in. Nothing in it waits but [`Connection::wait`] and what has a
/// deadline.
pub(crate) struct Connection {
    stream: Stream,
    inbox: Vec<u8>,
    /// Received and not yet looked at.
    unread: Range<usize>,
    out: Writer,
    sent: usize,
    frame_max: usize,
    heartbeat_ns: u64,
    heard_ns: u64,
    written_ns: u64,
    rabbitmq: bool,
    blocked: bool,
}

impl Connection {
    /// Connects and logs in, until `deadline_ns`. Both sides send a heartbeat twice in
    /// `heartbeat_s`.
    pub(crate) fn open(
        settings: &Settings,
        heartbeat_s: u16,
        deadline_ns: u64,
    ) -> Result<Self, Failure> {
        let timeout = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()).max(1_000_000));
        let stream = Stream::connect(&settings.host, settings.port, &settings.tls, timeout)
            .map_err(|error| Failure::of_connecting(&error))?;
        let now = now_ns();
        let mut this = Self {
            stream,
            inbox: vec![0; INBOX_BYTES],
            unread: 0..0,
            out: Writer { bytes: GREETING.to_vec() },
            sent: 0,
            frame_max: FRAME_BYTES_MAX,
            heartbeat_ns: u64::from(heartbeat_s) * SECOND_NS,
            heard_ns: now,
            written_ns: now,
            rabbitmq: false,
            blocked: false,
        };
        this.log_in(settings, heartbeat_s, deadline_ns)?;
        Ok(this)
    }

    fn log_in(
        &mut self,
        settings: &Settings,
        heartbeat_s: u16,
        deadline_ns: u64,
    ) -> Result<(), Failure> {
        let greeted = self.until(deadline_ns, "the greeting", |said, _| match said {
            Some(Said::Start { properties, mechanisms }) => {
                let mut known = Headers::default();
                known.read_table(properties)?;
                let external = mechanisms.split(|byte| *byte == b' ').any(|m| m == b"EXTERNAL");
                Ok(Some((known.get("product") == Some(b"RabbitMQ"), external)))
            }
            _ => Ok(None),
        });
        let (rabbitmq, external) = match greeted {
            Err(Failure::Lost) if self.stream.is_handshaking() => {
                return Err(Failure::CutOffInHandshake);
            }
            Err(Failure::Lost) => return Err(Failure::CutOffAtGreeting),
            greeted => greeted?,
        };
        self.rabbitmq = rabbitmq;
        let by_certificate = settings.by_certificate && external;
        let login = (settings.user.as_str(), settings.password.reveal());
        self.out.start_ok((!by_certificate).then_some(login))?;
        let tuned = self.until(deadline_ns, "logging in", |said, _| match said {
            Some(Said::Tune { channel_max, frame_max, .. }) => Ok(Some((*channel_max, *frame_max))),
            Some(Said::Secure) => {
                Err(Failure::Malformed("it wants a login that is neither PLAIN nor EXTERNAL"))
            }
            _ => Ok(None),
        });
        let (channel_max, frame_max) = match tuned {
            // A broker that does not say why cuts the connection off.
            Err(Failure::Lost) => return Err(Failure::CutOffAtLogin),
            tuned => tuned?,
        };
        let agree = |theirs: u32, ours: u32| if theirs == 0 { ours } else { theirs.min(ours) };
        let frame_max = agree(frame_max, FRAME_BYTES_MAX as u32).max(4_096);
        self.frame_max = frame_max as usize;
        let channel_max = agree(channel_max.into(), CHANNEL_MAX.into()) as u16;
        self.out.tune_ok(channel_max, frame_max, heartbeat_s)?;
        self.out.connection_open(&settings.vhost)?;
        self.answer(0, Answer::ConnectionOpen, deadline_ns, "opening the virtual host")
    }

    /// Whether the broker is RabbitMQ.
    pub(crate) fn is_rabbitmq(&self) -> bool {
        self.rabbitmq
    }

    /// Whether the broker has said that it takes no messages for now.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// When anything came from the broker last.
    pub(crate) fn heard_ns(&self) -> u64 {
        self.heard_ns
    }

    /// The longest body of a frame, bytes.
    pub(crate) fn body_max(&self) -> usize {
        self.frame_max - frame::FRAME_OVERHEAD
    }

    /// Where frames to be sent are written to; [`Self::flush`] sends them.
    pub(crate) fn out(&mut self) -> &mut Writer {
        &mut self.out
    }

    /// Bytes that wait to be sent.
    pub(crate) fn unsent(&self) -> usize {
        self.out.bytes.len() - self.sent
    }

    /// Sends what the socket takes.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        while self.unsent() > 0 {
            match self.stream.write(&self.out.bytes[self.sent..]) {
                Ok(0) => return Err(Failure::Lost),
                Ok(written) => {
                    self.sent += written;
                    self.written_ns = now_ns();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::of_socket(&error)),
            }
        }
        self.out.bytes.clear();
        self.out.bytes.shrink_to(INBOX_BYTES);
        self.sent = 0;
        Ok(())
    }

    /// Sends a heartbeat if nothing else was sent for half its time.
    pub(crate) fn beat(&mut self, now_ns: u64) -> Result<(), Failure> {
        if self.unsent() == 0 && now_ns.saturating_sub(self.written_ns) >= self.heartbeat_ns / 2 {
            self.out.heartbeat();
        }
        self.flush()
    }

    /// Reads once what is there; says when it was read, or `None` if there was nothing. Errs when
    /// the connection has ended.
    pub(crate) fn fill(&mut self) -> Result<Option<u64>, Failure> {
        if self.unread.is_empty() {
            self.unread = 0..0;
        } else if self.unread.start > INBOX_BYTES - FRAME_BYTES_MAX {
            // All whole frames have been taken: what is left is the beginning of one.
            self.inbox.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        loop {
            match self.stream.read(&mut self.inbox[self.unread.end..]) {
                Ok(0) => return Err(Failure::Lost),
                Ok(read) => {
                    self.heard_ns = now_ns();
                    self.unread.end += read;
                    return Ok(Some(self.heard_ns));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::of_socket(&error)),
            }
        }
    }

    /// Waits for something to read, for `waker`, for room where something waits to be sent, or
    /// until the time is over.
    pub(crate) fn wait(
        &self,
        timeout: Duration,
        waker: Option<BorrowedFd<'_>>,
    ) -> Result<(), Failure> {
        let waited = self.stream.wait(self.unsent() > 0, waker, timeout);
        waited.map_err(|error| Failure::of_socket(&error))
    }

    /// The next frame of our channels that has come; what concerns the connection itself is dealt
    /// with, [`Said`] of channel 0 while logging in apart.
    pub(crate) fn next(&mut self) -> Result<Option<Frame<'_>>, Failure> {
        loop {
            let bytes = &self.inbox[self.unread.clone()];
            let Some((found, taken)) = frame::parse(bytes, self.frame_max)? else {
                return Ok(None);
            };
            let (kind, channel) = (found.kind, found.channel);
            let begin = self.unread.start + frame::FRAME_OVERHEAD - 1;
            let payload = begin..begin + found.payload.len();
            self.unread.start += taken;
            let serious = match kind {
                FrameKind::Heartbeat => false,
                FrameKind::Method if channel == 0 => self.of_connection(payload.clone())?,
                _ => true,
            };
            if serious {
                return Ok(Some(Frame { kind, channel, payload: &self.inbox[payload] }));
            }
        }
    }

    /// Deals with what the broker says of the whole connection; whether it is for others too.
    fn of_connection(&mut self, payload: Range<usize>) -> Result<bool, Failure> {
        match method::read(&self.inbox[payload])? {
            Said::ConnectionClose { code, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                self.out.connection_close_ok()?;
                // It closes whether or not it gets our answer.
                let _gone = self.flush();
                Err(Failure::Closed { code, text })
            }
            Said::Blocked { .. } => {
                self.blocked = true;
                Ok(false)
            }
            Said::Unblocked => {
                self.blocked = false;
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    /// Sends what is to be sent and hands each frame to `take` until it has what it wants: the
    /// method, where it is one, and the frame. Errs when a channel is closed, after saying so to
    /// the broker, and at the deadline, naming `what`.
    pub(crate) fn until<T>(
        &mut self,
        deadline_ns: u64,
        what: &'static str,
        mut take: impl FnMut(Option<&Said<'_>>, &Frame<'_>) -> Result<Option<T>, Failure>,
    ) -> Result<T, Failure> {
        loop {
            self.flush()?;
            while let Some(frame) = self.next()? {
                let said = match frame.kind {
                    FrameKind::Method => Some(method::read(frame.payload)?),
                    _ => None,
                };
                if let Some(Said::ChannelClose { code, text }) = said {
                    let closed = Failure::channel_closed(code, text);
                    let channel = frame.channel;
                    self.out.channel_close_ok(channel)?;
                    self.flush()?;
                    return Err(closed);
                }
                if let Some(taken) = take(said.as_ref(), &frame)? {
                    return Ok(taken);
                }
            }
            if self.fill()?.is_none() {
                let now = now_ns();
                if now >= deadline_ns {
                    return Err(Failure::Late(what));
                }
                self.wait(Duration::from_nanos(deadline_ns - now), None)?;
            }
        }
    }

    /// Sends what is to be sent and waits for this agreement on this channel.
    pub(crate) fn answer(
        &mut self,
        channel: u16,
        answer: Answer,
        deadline_ns: u64,
        what: &'static str,
    ) -> Result<(), Failure> {
        self.until(deadline_ns, what, |said, frame| {
            let agreed = frame.channel == channel && said == Some(&Said::Ok(answer));
            Ok(agreed.then_some(()))
        })
    }

    /// Opens a channel.
    pub(crate) fn open_channel(&mut self, channel: u16, deadline_ns: u64) -> Result<(), Failure> {
        self.out.channel_open(channel)?;
        self.answer(channel, Answer::ChannelOpen, deadline_ns, "opening a channel")
    }

    /// Asks whether an exchange exists.
    pub(crate) fn find_exchange(
        &mut self,
        channel: u16,
        exchange: &str,
        deadline_ns: u64,
    ) -> Result<(), Failure> {
        self.out.exchange_exists(channel, exchange)?;
        self.answer(channel, Answer::ExchangeDeclare, deadline_ns, "looking for the exchange")
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A goodbye, so that the broker's log has nothing to complain of; it may not be heard.
        if self.unsent() == 0 && self.out.connection_close().is_ok() {
            let _gone = self.flush();
        }
    }
}

impl Failure {
    pub(crate) fn channel_closed(code: u16, text: &[u8]) -> Self {
        Self::ChannelClosed { code, text: String::from_utf8_lossy(text).into_owned() }
    }
}
