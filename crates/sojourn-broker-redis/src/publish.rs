//! Publishing, pipelined: commands go out as they come, answers come in the same order.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};
use rustix::event::{PollFd, PollFlags};
use sojourn_broker::{
    BrokerError, FirstAttempt, Handover, Outcome, Publisher, PublisherSettings, Readiness,
};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_plan::{RedisChannel, RedisSource};
use sojourn_socket::Bell;

use crate::config::Target;
use crate::connection::{Connection, wait_for};
use crate::entry::fields_of;
use crate::failure::Failure;
use crate::resp::{Cursor, Token, write_argument, write_begin, write_command};

/// Bytes of all messages without an outcome.
const BYTES_MAX: usize = 64 << 20;
/// Bytes written ahead of the socket.
const AHEAD_BYTES: usize = 256 << 10;
/// How long an answer may take before the connection is taken for dead.
const ANSWER_NS_MAX: u64 = 10 * SECOND_NS;
/// How long a connection may take to be made.
const OPEN_NS_MAX: u64 = 5 * SECOND_NS;
/// How long after a failed connection messages fail at once, instead of trying another.
const PAUSE_NS: u64 = 100 * MILLISECOND_NS;

/// Sends messages to streams or channels without blocking. A thread of its own writes them and
/// stamps the answers as they come.
pub struct RedisPublisher {
    field: Option<String>,
    streams: bool,
    handover: Handover<Order>,
    readiness: Readiness,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// A message on its way.
struct Order {
    token: u64,
    command: Vec<u8>,
}

/// Between the publisher and its thread.
struct Shared {
    bytes: AtomicUsize,
    /// The thread waits, or is about to: it wants the event.
    waits: AtomicBool,
    ends: AtomicBool,
    bell: Bell,
}

impl RedisPublisher {
    /// A publisher. It connects in the background: an unreachable server shows in the outcomes.
    /// Errs when the settings can't work.
    pub fn new(redis: &RedisChannel, how: PublisherSettings) -> Result<Self, BrokerError> {
        let target = Target::new(redis)?;
        let streams = match &redis.source {
            RedisSource::Streams(_) => true,
            RedisSource::Channels(_) => false,
            RedisSource::Keyspace(_) => {
                return Err(target.error("nothing can be published to keyspace notifications"));
            }
        };
        let (handover, ordered, decided) = Handover::new(how.queue_max, "the server");
        let bell = Bell::new().map_err(|error| target.error(error))?;
        let shared = Arc::new(Shared {
            bytes: AtomicUsize::new(0),
            waits: AtomicBool::new(false),
            ends: AtomicBool::new(false),
            bell,
        });
        let (readiness, first) = Readiness::new();
        let worker = Worker {
            target: target.clone(),
            ordered,
            decided,
            wake: how.wake,
            shared: Arc::clone(&shared),
            in_flight: VecDeque::new(),
            asked_ns: 0,
            refused: None,
            first,
        };
        let thread = std::thread::Builder::new()
            .name("redis-publisher".to_owned())
            .spawn(move || worker.run())
            .map_err(|error| target.error(error))?;
        let (field, thread) = (redis.field.clone(), Some(thread));
        Ok(Self { field, streams, handover, readiness, shared, thread })
    }

    /// The command that carries a message.
    fn command(
        &self,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<Vec<u8>, String> {
        let mut command = Vec::with_capacity(payload.len() + topic.len() + 128);
        if !self.streams {
            write_command(&mut command, &[b"PUBLISH", topic.as_bytes(), payload]);
            return Ok(command);
        }
        let mut arguments = 3;
        let mut fields = Vec::with_capacity(payload.len() + 128);
        fields_of(self.field.as_deref(), key, headers, payload, |name, value| {
            write_argument(&mut fields, name);
            write_argument(&mut fields, value);
            arguments += 2;
        })?;
        write_begin(&mut command, arguments);
        for word in [b"XADD", topic.as_bytes(), b"*"] {
            write_argument(&mut command, word);
        }
        command.extend_from_slice(&fields);
        Ok(command)
    }
}

impl Publisher for RedisPublisher {
    /// Streams and channels come into being by messages.
    fn ready(&mut self, _topics: &[String]) -> Result<(), BrokerError> {
        self.readiness.wait()
    }

    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        self.handover.check_room()?;
        let command = self.command(topic, key, headers, payload)?;
        let bytes = command.len();
        let before = self.shared.bytes.fetch_add(bytes, Ordering::Relaxed);
        // A message larger than the bound goes alone.
        if before > 0 && before + bytes > BYTES_MAX {
            self.shared.bytes.fetch_sub(bytes, Ordering::Relaxed);
            return Err("64 MiB of messages wait for the server".to_owned());
        }
        let sent = self.handover.send(Order { token, command });
        match sent {
            Ok(()) => self.shared.notify(),
            Err(_) => drop(self.shared.bytes.fetch_sub(bytes, Ordering::Relaxed)),
        }
        sent
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        self.handover.poll(outcomes);
    }
}

impl Drop for RedisPublisher {
    fn drop(&mut self) {
        self.handover.close();
        self.shared.ends.store(true, Ordering::SeqCst);
        self.shared.waits.store(true, Ordering::SeqCst);
        self.shared.notify();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl std::fmt::Debug for RedisPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisPublisher")
            .field("pending", &self.handover.pending())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn notify(&self) {
        if self.waits.swap(false, Ordering::SeqCst) {
            self.bell.ring();
        }
    }

    /// Forgets that it was notified.
    fn clear(&self) {
        self.waits.store(false, Ordering::SeqCst);
        self.bell.hush();
    }

    fn ends(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }
}

/// The publisher's thread.
struct Worker {
    target: Target,
    ordered: Receiver<Order>,
    decided: Sender<Outcome>,
    wake: Arc<dyn Fn() + Send + Sync>,
    shared: Arc<Shared>,
    /// Messages written whose answers have not come: token and bytes.
    in_flight: VecDeque<(u64, usize)>,
    /// When the oldest of them was written, or an answer came last.
    asked_ns: u64,
    /// Why the last attempt to connect failed, and when.
    refused: Option<(u64, String)>,
    first: FirstAttempt,
}

impl Worker {
    fn run(mut self) {
        while !self.shared.ends() {
            // Connected before the first message comes: it should not measure that.
            match Connection::open(&self.target, now_ns() + OPEN_NS_MAX) {
                Ok(connection) => {
                    self.first.tell(Ok(()));
                    let reason = self.serve(connection);
                    self.fail_in_flight(&reason);
                }
                Err(failure) => {
                    self.first.tell(Err(failure.clone().into_error(&self.target)));
                    self.refused = Some((now_ns(), failed_words(failure)));
                }
            }
            self.refuse_for_a_while();
        }
    }

    /// Writes and reads until the connection is lost; returns why.
    fn serve(&mut self, mut connection: Connection) -> String {
        loop {
            if self.shared.ends() {
                return "the publisher has ended".to_owned();
            }
            let turned = self.turn(&mut connection);
            match turned {
                Ok(()) => {}
                Err(Failure::Lost(reason)) => return format!("connection lost: {reason}"),
                Err(Failure::Fatal(_)) => return "connection lost: TLS failed".to_owned(),
            }
        }
    }

    fn turn(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let wrote = self.write(connection);
        connection.flush()?;
        let filled = connection.fill()?;
        let mut decided = 0;
        while let Some(answer) = connection.next_answer()? {
            let error = match Cursor::new(answer).token()? {
                Token::Error(said) => Some(refused_words(said)),
                _ => None,
            };
            decided += usize::from(self.decide(connection.received_ns(), error));
        }
        let now = now_ns();
        if decided > 0 {
            self.asked_ns = now;
            (self.wake)();
        }
        if wrote || filled {
            return Ok(());
        }
        if !self.in_flight.is_empty() && now.saturating_sub(self.asked_ns) > ANSWER_NS_MAX {
            return Err(Failure::Lost("the server answers nothing".to_owned()));
        }
        self.shared.waits.store(true, Ordering::SeqCst);
        // What was ordered before it could see that we wait.
        if self.ordered.is_empty() || connection.unsent() >= AHEAD_BYTES {
            connection.wait(Duration::from_secs(1), Some(self.shared.bell.as_fd()))?;
        }
        self.shared.clear();
        Ok(())
    }

    /// Moves orders into the connection's output, up to a bound.
    fn write(&mut self, connection: &mut Connection) -> bool {
        let mut wrote = false;
        while connection.unsent() < AHEAD_BYTES {
            let Ok(order) = self.ordered.try_recv() else { break };
            if self.in_flight.is_empty() {
                self.asked_ns = now_ns();
            }
            connection.output.extend_from_slice(&order.command);
            self.in_flight.push_back((order.token, order.command.len()));
            wrote = true;
        }
        wrote
    }

    /// The oldest message in flight has its outcome; false: there was none.
    fn decide(&mut self, acked_ns: u64, error: Option<String>) -> bool {
        let Some((token, bytes)) = self.in_flight.pop_front() else { return false };
        self.tell(Outcome { token, acked_ns, error }, bytes);
        true
    }

    fn tell(&self, outcome: Outcome, bytes: usize) {
        self.shared.bytes.fetch_sub(bytes, Ordering::Relaxed);
        // Room for every pending message; it only fails when the publisher is being dropped.
        drop(self.decided.try_send(outcome));
    }

    fn fail_in_flight(&mut self, reason: &str) {
        // Some may have been carried out: sent again, they would be duplicates.
        while self.decide(now_ns(), Some(reason.to_owned())) {}
        (self.wake)();
    }

    /// After an attempt to connect has failed: whatever is ordered fails at once, for a while and
    /// until something is ordered after it.
    fn refuse_for_a_while(&mut self) {
        let Some((failed_ns, reason)) = self.refused.take() else { return };
        while !self.shared.ends() {
            let mut refused = false;
            while let Ok(Order { token, command }) = self.ordered.try_recv() {
                let error = Some(reason.clone());
                self.tell(Outcome { token, acked_ns: now_ns(), error }, command.len());
                refused = true;
            }
            if refused {
                (self.wake)();
            }
            let left_ns = (failed_ns + PAUSE_NS).saturating_sub(now_ns());
            if left_ns == 0 {
                return;
            }
            self.shared.waits.store(true, Ordering::SeqCst);
            if self.ordered.is_empty() {
                let event = self.shared.bell.as_fd();
                let mut fds = [PollFd::from_borrowed_fd(event, PollFlags::IN)];
                drop(wait_for(&mut fds, Duration::from_nanos(left_ns)));
            }
            self.shared.clear();
        }
    }
}

/// Why no connection could be made, in words that stay the same.
fn failed_words(failure: Failure) -> String {
    match failure {
        Failure::Lost(reason) => format!("cannot connect: {reason}"),
        // `redis at host:port: what`.
        Failure::Fatal(error) => match error.message.split(": ").nth(1) {
            Some(what) => format!("cannot connect: {what}"),
            None => "cannot connect".to_owned(),
        },
    }
}

/// A refusal in words that stay the same: without names, numbers and addresses.
fn refused_words(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let code = said.split(' ').next().unwrap_or_default();
    match code {
        "NOPERM" => "NOPERM: the user may not do this".to_owned(),
        "MOVED" | "ASK" => format!("{code}: another node of the cluster has this key"),
        _ => said.chars().take(120).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_words_that_stay_the_same() {
        for (said, words) in [
            (
                "NOPERM User load has no permissions to run the 'xadd' command",
                "NOPERM: the user may not do this",
            ),
            ("MOVED 3999 127.0.0.1:6381", "MOVED: another node of the cluster has this key"),
            ("OOM command not allowed", "OOM command not allowed"),
        ] {
            assert_eq!(refused_words(said.as_bytes()), words);
        }
        let error = BrokerError::new("redis at [::1]:6379: it asks for a password");
        assert_eq!(failed_words(Failure::Fatal(error)), "cannot connect: it asks for a password");
    }
}
