//! A connection to a NATS server: dialled, greeted, read and written without ever blocking but in
//! [`Connection::fill`].
//!
//! It answers the server's pings itself, and asks with pings of its own: a server that says nothing
//! for [`SILENCE_NS_MAX`] although it was asked is lost, so that a stalled connection is noticed
//! within two seconds.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Deserialize;
use sojourn_broker::{BrokerError, Echo};
use sojourn_clock::{MILLISECOND_NS, now_ns};

use crate::config::Settings;
use crate::lost::Lost;
use crate::protocol::{Frame, MESSAGE_MAX, Parsed, Place, parse, subscribe};
use crate::wire::Wire;

/// Longest silence after a ping.
const SILENCE_NS_MAX: u64 = 1_200 * MILLISECOND_NS;
/// What is read at once, bytes.
const READ: usize = 128 << 10;
/// Most bytes that wait to be written.
const OUT_MAX: usize = MESSAGE_MAX + (1 << 20);
/// Number of the subscription that answers come to.
pub(crate) const ANSWERS: u64 = 1;

/// An open connection.
pub(crate) struct Connection {
    address: String,
    wire: Wire,
    input: Vec<u8>,
    /// What of `input` is filled and not yet looked at.
    start: usize,
    end: usize,
    /// What waits to be written, and how much of it is.
    out: Vec<u8>,
    written: usize,
    info: ServerInfo,
    read_ns: u64,
    pings: u64,
    pongs: u64,
    /// Of the first ping whose pong is not here: pongs come in order.
    echo: Echo,
    /// Where answers to our requests come.
    inbox: String,
    listens_for_answers: bool,
    requests: u64,
}

/// What a server says of itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ServerInfo {
    pub(crate) version: String,
    pub(crate) max_payload: usize,
    pub(crate) nonce: Option<String>,
    pub(crate) auth_required: bool,
    pub(crate) headers: bool,
    pub(crate) tls_required: bool,
    pub(crate) tls_available: bool,
}

/// What came of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A message; [`Connection::message`] shows it until the next [`Connection::fill`].
    Message(Place),
    /// An answer to one of our pings.
    Pong,
    /// The server refused something and goes on: permissions.
    Refused(String),
}

/// A message where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'c> {
    pub(crate) sid: u64,
    pub(crate) subject: &'c str,
    pub(crate) reply: Option<&'c str>,
    pub(crate) headers: &'c [u8],
    pub(crate) payload: &'c [u8],
}

impl Connection {
    /// A connection that has not been greeted.
    pub(crate) fn over(wire: Wire, settings: &Settings) -> Result<Self, Lost> {
        let mut random = [0; 12];
        aws_lc_rs::rand::fill(&mut random)
            .map_err(|_| Lost::now(BrokerError::new("no random numbers for a subject")))?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            address: settings.address.clone(),
            wire,
            input: vec![0; READ],
            start: 0,
            end: 0,
            out: Vec::new(),
            written: 0,
            info: ServerInfo::default(),
            read_ns: now_ns(),
            pings: 0,
            pongs: 0,
            echo: Echo::new(now_ns()),
            inbox: format!("{}.{name}", settings.inbox),
            listens_for_answers: false,
            requests: 0,
        })
    }

    /// What the server said of itself.
    pub(crate) fn info(&self) -> &ServerInfo {
        &self.info
    }

    /// When the bytes of the messages at hand were read, CLOCK_MONOTONIC nanoseconds.
    pub(crate) fn read_ns(&self) -> u64 {
        self.read_ns
    }

    /// A subject of our own.
    pub(crate) fn inbox(&self, last: &str) -> String {
        format!("{}.{last}", self.inbox)
    }

    /// Number and subject for the answer to a request.
    pub(crate) fn answer_subject(&mut self) -> (u64, String) {
        self.requests += 1;
        (self.requests, format!("{}.a.{}", self.inbox, self.requests))
    }

    /// The number of the request that a subject answers.
    pub(crate) fn answered(&self, subject: &str) -> Option<u64> {
        subject.strip_prefix(&self.inbox)?.strip_prefix(".a.")?.parse().ok()
    }

    /// Listens for answers to requests, if it does not yet.
    pub(crate) fn listen_for_answers(&mut self) {
        if !self.listens_for_answers {
            let subject = self.inbox("a.*");
            subscribe(&mut self.out, &subject, None, ANSWERS);
            self.listens_for_answers = true;
        }
    }

    /// Where to write what is to be sent at the next [`Self::fill`] or [`Self::flush`].
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Bytes that wait to be written.
    pub(crate) fn unsent(&self) -> usize {
        self.out.len() - self.written
    }

    /// Asks for a pong; [`Self::pongs`] reaches the number returned when it has come.
    pub(crate) fn ping(&mut self) -> u64 {
        self.out.extend_from_slice(b"PING\r\n");
        self.pings += 1;
        if self.pings == self.pongs + 1 {
            self.echo.asked(now_ns());
        }
        self.pings
    }

    /// Pings so far.
    pub(crate) fn pings_sent(&self) -> u64 {
        self.pings
    }

    /// How late what comes may be, nanoseconds.
    pub(crate) fn behind_ns(&self, now: u64) -> u64 {
        self.echo.behind_ns(now)
    }

    /// Pongs so far.
    pub(crate) fn pongs(&self) -> u64 {
        self.pongs
    }

    /// Shows a message.
    pub(crate) fn message(&self, place: &Place) -> Message<'_> {
        // The parser has seen that both are UTF-8.
        let text = |range: &std::ops::Range<usize>| {
            std::str::from_utf8(&self.input[range.clone()]).unwrap_or_default()
        };
        Message {
            sid: place.sid,
            subject: text(&place.subject),
            reply: place.reply.as_ref().map(text),
            headers: &self.input[place.headers.clone()],
            payload: &self.input[place.payload.clone()],
        }
    }

    /// The next of what was read; `None`: [`Self::fill`] has to be called.
    pub(crate) fn next(&mut self) -> Result<Option<Event>, Lost> {
        loop {
            match self.next_frame()? {
                None => return Ok(None),
                Some((Frame::Message(place), _)) => return Ok(Some(Event::Message(place))),
                Some((Frame::Pong, _)) => {
                    self.pongs = (self.pongs + 1).min(self.pings);
                    self.echo.answered(self.read_ns);
                    return Ok(Some(Event::Pong));
                }
                Some((Frame::Ping, _)) => self.out.extend_from_slice(b"PONG\r\n"),
                Some((Frame::Understood, _)) => {}
                Some((Frame::Info(range), _)) => {
                    self.info = serde_json::from_slice(&self.input[range])
                        .map_err(|error| self.lost(&format!("its greeting: {error}")))?;
                }
                Some((Frame::Complaint(range), _)) => {
                    let words = String::from_utf8_lossy(&self.input[range]).into_owned();
                    return self.complaint(words).map(Some);
                }
            }
        }
    }

    /// The next of what was read, but messages that are no answers are put into `kept` as they
    /// are, for [`Self::put_back`].
    pub(crate) fn next_keeping(&mut self, kept: &mut Vec<u8>) -> Result<Option<Event>, Lost> {
        loop {
            match self.next()? {
                Some(Event::Message(place)) if place.sid != ANSWERS => {
                    let message = place.begin..self.start;
                    if kept.len() + message.len() > MESSAGE_MAX {
                        return Err(self.lost("more messages came than can be kept for later"));
                    }
                    kept.extend_from_slice(&self.input[message]);
                }
                other => return Ok(other),
            }
        }
    }

    /// What the server said of itself, before TLS.
    pub(crate) fn greeted_with(&mut self, info: ServerInfo) {
        self.info = info;
    }

    /// The next frame with its place; what it is of is taken as looked at.
    pub(crate) fn next_frame(&mut self) -> Result<Option<(Frame, std::ops::Range<usize>)>, Lost> {
        if self.start == self.end {
            return Ok(None);
        }
        match parse(&self.input[..self.end], self.start) {
            Ok(Parsed::Whole(frame, length)) => {
                let place = self.start..self.start + length;
                self.start += length;
                Ok(Some((frame, place)))
            }
            Ok(Parsed::Needs(length)) => {
                self.make_room(length);
                Ok(None)
            }
            Err(malformed) => Err(Lost {
                for_good: true,
                ..self.lost(&format!("{}: is this NATS's port?", malformed.0))
            }),
        }
    }

    /// Puts frames back, before all that has not been looked at.
    pub(crate) fn put_back(&mut self, frames: &[u8]) {
        if frames.is_empty() {
            return;
        }
        let mut bytes = Vec::with_capacity((frames.len() + self.end - self.start).max(READ));
        bytes.extend_from_slice(frames);
        bytes.extend_from_slice(&self.input[self.start..self.end]);
        (self.start, self.end) = (0, bytes.len());
        bytes.resize(bytes.capacity(), 0);
        self.input = bytes;
    }

    /// The bytes of a frame.
    pub(crate) fn bytes(&self, place: std::ops::Range<usize>) -> &[u8] {
        &self.input[place]
    }

    /// Sends what waits and reads what there is, waiting up to `timeout` for it; whether anything
    /// came. Places of messages seen before are no longer valid.
    pub(crate) fn fill(&mut self, timeout: Duration) -> Result<bool, Lost> {
        self.fill_or_woken(timeout, None)
    }

    /// The same; the wait also ends when `waker` can be read.
    pub(crate) fn fill_or_woken(
        &mut self,
        timeout: Duration,
        waker: Option<BorrowedFd<'_>>,
    ) -> Result<bool, Lost> {
        self.flush()?;
        if self.read()? {
            return Ok(true);
        }
        let mut now = now_ns();
        let until = now.saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        loop {
            self.check_silence(now)?;
            if now >= until {
                return Ok(false);
            }
            let wait_ns = (until - now).min(Echo::EVERY_NS / 2);
            let woken = self.wait(wait_ns, waker)?;
            self.flush()?;
            if self.read()? {
                return Ok(true);
            }
            if woken {
                return Ok(false);
            }
            now = now_ns();
        }
    }

    /// Sends what waits, as far as it goes without waiting.
    pub(crate) fn flush(&mut self) -> Result<(), Lost> {
        while self.written < self.out.len() {
            match self.wire.write(&self.out[self.written..]) {
                Ok(Some(written)) if written > 0 => self.written += written,
                Ok(_) => break,
                Err(error) => return Err(self.broken(&error)),
            }
        }
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        } else if self.written > READ {
            self.out.drain(..self.written);
            self.written = 0;
        }
        if self.out.len() > OUT_MAX {
            return Err(self.lost("it takes nothing of what we send"));
        }
        self.wire.push().map_err(|error| self.broken(&error))
    }

    /// Waits for the socket or the waker; whether it was the waker.
    fn wait(&self, wait_ns: u64, waker: Option<BorrowedFd<'_>>) -> Result<bool, Lost> {
        let mut flags = PollFlags::IN;
        if self.unsent() > 0 || self.wire.holds_back() {
            flags |= PollFlags::OUT;
        }
        let own = PollFd::from_borrowed_fd(self.wire.as_fd(), flags);
        let second = waker.unwrap_or_else(|| self.wire.as_fd());
        let mut watched = [own, PollFd::from_borrowed_fd(second, PollFlags::IN)];
        let count = if waker.is_some() { 2 } else { 1 };
        let time = Timespec {
            tv_sec: i64::try_from(wait_ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(wait_ns % 1_000_000_000).unwrap_or(0),
        };
        match poll(&mut watched[..count], Some(&time)) {
            Ok(_) => Ok(waker.is_some() && !watched[1].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(self.broken(&error.into())),
        }
    }

    fn read(&mut self) -> Result<bool, Lost> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.input.len() {
            self.make_room(self.end - self.start + 1);
        }
        match self.wire.read(&mut self.input[self.end..]) {
            Ok(None) => Ok(false),
            Ok(Some(0)) => Err(self.lost("it closed the connection")),
            Ok(Some(count)) => {
                self.read_ns = now_ns();
                self.end += count;
                Ok(true)
            }
            Err(error) => Err(self.broken(&error)),
        }
    }

    /// Makes place for a frame of this many bytes that begins at `start`.
    fn make_room(&mut self, length: usize) {
        if self.start + length <= self.input.len() {
            return;
        }
        self.input.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if length > self.input.len() {
            // The parser refuses messages that are too long.
            self.input.resize((length + READ).next_power_of_two(), 0);
        }
    }

    fn check_silence(&mut self, now: u64) -> Result<(), Lost> {
        if self.pings == self.pongs {
            if self.echo.is_due(now) {
                self.ping();
                self.flush()?;
            }
            return Ok(());
        }
        let heard_ns = self.read_ns.max(self.echo.asked_ns().unwrap_or(0));
        if now.saturating_sub(heard_ns) >= SILENCE_NS_MAX {
            return Err(self.lost("it says nothing any more"));
        }
        Ok(())
    }

    /// What a complaint means.
    fn complaint(&self, words: String) -> Result<Event, Lost> {
        let lower = words.to_ascii_lowercase();
        if lower.starts_with("permissions violation") || lower == "invalid subject" {
            return Ok(Event::Refused(words));
        }
        let lost = self.lost(&format!("it says `{words}`"));
        let refuses_us = ["authorization violation", "account authentication expired"]
            .iter()
            .any(|known| lower.starts_with(known))
            || lower.contains("authentication expired");
        Err(if refuses_us {
            Lost::for_good(
                lost.error.with_hint("check user, password, token or credentials"),
                "login refused",
            )
        } else {
            lost
        })
    }

    /// Lost, for a reason in words.
    pub(crate) fn lost(&self, why: &str) -> Lost {
        Lost::now(BrokerError::new(format!("lost nats at {}: {why}", self.address)))
    }

    fn broken(&self, error: &std::io::Error) -> Lost {
        self.lost(&error.to_string())
    }
}
