//! The tap: a connection, what reads from it, and how it is made again.

use std::time::Duration;

use sojourn_broker::{Backoff, BrokerError, Gap, Sink, Span, Tap, TapInfo};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_plan::{RedisChannel, RedisSource};

use crate::config::Target;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::replay::replay;
use crate::streams::Streams;
use crate::subscriptions::Subscriptions;

/// Longest wait for the server while opening.
const OPEN_NS_MAX: u64 = 5 * SECOND_NS;
/// Longest wait for the server while connecting again.
const AGAIN_NS_MAX: u64 = SECOND_NS;
/// How long a server may say nothing after it should have, nanoseconds: then the connection is
/// taken for dead.
pub(crate) const SILENCE_NS_MAX: u64 = 1_500 * MILLISECOND_NS;
/// Most messages handed over by one poll, but for the rest of an answer.
const BATCH_MAX: usize = 4_096;

/// What reads from a connection: entries of streams, or what was subscribed to.
pub(crate) trait Source: Send {
    /// Begins to listen: nothing published afterwards is missed.
    fn begin(&mut self, connection: &mut Connection, deadline_ns: u64) -> Result<(), Failure>;

    /// Listens again after a connection that was lost at `lost_ns`.
    fn begin_again(
        &mut self,
        connection: &mut Connection,
        lost_ns: u64,
        deadline_ns: u64,
    ) -> Result<(), Failure>;

    /// Hands over what the next answer carries; `None`: none has been received.
    fn take(
        &mut self,
        connection: &mut Connection,
        sink: &mut dyn Sink,
    ) -> Result<Option<usize>, Failure>;

    /// Asks for more where that is needed, and sees whether the server still answers.
    fn tend(&mut self, connection: &mut Connection, now_ns: u64) -> Result<(), Failure>;

    /// Whether all that the server had is here.
    fn is_caught_up(&self) -> bool;

    /// How far it reads behind, nanoseconds.
    fn behind_ns(&self, now_ns: u64) -> u64;

    /// Gaps that are over.
    fn gaps(&mut self) -> &mut Vec<Gap>;

    /// What it listens to, in words.
    fn listens_to(&self) -> String;

    /// The streams, where it reads streams.
    fn as_streams(&self) -> Option<&Streams> {
        None
    }
}

/// A passive subscription to a Redis server. The lifecycle is [`Tap`]'s.
pub struct RedisTap {
    target: Target,
    source: Box<dyn Source>,
    state: State,
    watermark_ns: u64,
    give_up_after: Duration,
}

enum State {
    Closed,
    Listening(Connection),
    /// Without a connection; the next attempt is due at the instant.
    Away {
        backoff: Backoff,
        retry_ns: u64,
        reason: String,
    },
}

impl RedisTap {
    /// A tap that is not open yet. Errs when the settings can't work.
    pub fn new(redis: &RedisChannel) -> Result<Self, BrokerError> {
        let target = Target::new(redis)?;
        let source: Box<dyn Source> = match &redis.source {
            RedisSource::Streams(names) => {
                Box::new(Streams::new(target.clone(), names, redis.field.clone()))
            }
            RedisSource::Channels(names) => {
                Box::new(Subscriptions::of_channels(target.clone(), names))
            }
            RedisSource::Keyspace(patterns) => {
                Box::new(Subscriptions::of_keyspace(target.clone(), patterns))
            }
        };
        let give_up_after = Backoff::GIVE_UP_AFTER;
        Ok(Self { target, source, state: State::Closed, watermark_ns: 0, give_up_after })
    }

    /// One look at the connection: reads, hands over, asks. Says how many messages were handed over
    /// and whether nothing more was there.
    fn turn(
        source: &mut dyn Source,
        connection: &mut Connection,
        sink: &mut dyn Sink,
    ) -> Result<(usize, bool), Failure> {
        let filled = connection.fill()?;
        let mut handed_over = 0;
        while let Some(more) = source.take(connection, sink)? {
            handed_over += more;
        }
        source.tend(connection, now_ns())?;
        connection.flush()?;
        Ok((handed_over, !filled))
    }

    /// Turns until the deadline, or until there was something and nothing more.
    fn listen(
        &mut self,
        connection: &mut Connection,
        deadline_ns: u64,
        sink: &mut dyn Sink,
    ) -> Result<(), Failure> {
        let mut handed_over = 0;
        loop {
            let asked_ns = now_ns();
            let (more, dry) = Self::turn(self.source.as_mut(), connection, sink)?;
            handed_over += more;
            if dry && self.source.is_caught_up() {
                self.watermark_ns = self.watermark_ns.max(asked_ns);
            }
            if handed_over >= BATCH_MAX || dry && (handed_over > 0 || asked_ns >= deadline_ns) {
                return Ok(());
            }
            if dry {
                // The server's silence is looked at now and then, however long the poll.
                let wait_ns = (deadline_ns - asked_ns).min(250 * MILLISECOND_NS);
                connection.wait(Duration::from_nanos(wait_ns), None)?;
            }
        }
    }

    /// Tries to connect again when that is due; waits no longer than until the deadline.
    fn come_back(
        &mut self,
        mut backoff: Backoff,
        retry_ns: u64,
        reason: String,
        deadline_ns: u64,
    ) -> Result<State, BrokerError> {
        let now = now_ns();
        if now < retry_ns {
            sojourn_clock::sleep_until(retry_ns.min(deadline_ns));
            return Ok(State::Away { backoff, retry_ns, reason });
        }
        let attempt_end_ns = now + AGAIN_NS_MAX;
        let attempt = Connection::open(&self.target, attempt_end_ns).and_then(|mut connection| {
            let lost_ns = backoff.lost_ns();
            self.source.begin_again(&mut connection, lost_ns, attempt_end_ns)?;
            Ok(connection)
        });
        let now = now_ns();
        match attempt {
            Ok(connection) => Ok(State::Listening(connection)),
            Err(Failure::Fatal(error)) => Err(error),
            Err(Failure::Lost(reason)) => match backoff.pause(now) {
                Some(pause) => {
                    let retry_ns = now + u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
                    Ok(State::Away { backoff, retry_ns, reason })
                }
                None => Err(BrokerError::new(format!(
                    "lost {}, and could not connect again: {reason}",
                    self.target.name()
                ))
                .with_hint("what the tap missed is not known, so the run is void")),
            },
        }
    }
}

impl Tap for RedisTap {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        let deadline_ns = now_ns() + OPEN_NS_MAX;
        let opened = Connection::open(&self.target, deadline_ns).and_then(|mut connection| {
            self.source.begin(&mut connection, deadline_ns)?;
            Ok(connection)
        });
        let connection = opened.map_err(|failure| failure.into_error(&self.target))?;
        // Messages may have come with the answer that said that we listen.
        self.watermark_ns = connection.received_ns();
        self.state = State::Listening(connection);
        let address = self.target.server.address();
        Ok(TapInfo {
            listens_to: format!("redis {address}, {}", self.source.listens_to()),
            address: None,
        })
    }

    fn give_up_after(&mut self, patience: Duration) {
        self.give_up_after = patience;
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        let deadline_ns = now_ns() + u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 2);
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Closed => Err(self.target.error("the tap is not open")),
            State::Listening(mut connection) => {
                match self.listen(&mut connection, deadline_ns, sink) {
                    Ok(()) => self.state = State::Listening(connection),
                    Err(Failure::Fatal(error)) => return Err(error),
                    Err(Failure::Lost(reason)) => {
                        let lost_ns = now_ns();
                        let backoff = Backoff::with_limit(lost_ns, self.give_up_after);
                        self.state = State::Away { backoff, retry_ns: lost_ns, reason };
                    }
                }
                Ok(())
            }
            State::Away { backoff, retry_ns, reason } => {
                self.state = self.come_back(backoff, retry_ns, reason, deadline_ns)?;
                Ok(())
            }
        }
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(self.source.gaps())
    }

    fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }

    fn replay(
        &mut self,
        span: &Span,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<u64, BrokerError> {
        let deadline_ns = now_ns() + u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 2);
        match self.source.as_streams() {
            Some(streams) => replay(streams, span, deadline_ns, sink)
                .map_err(|failure| failure.into_error(&self.target)),
            None => Err(self.target.error("pub/sub keeps nothing that could be read again")),
        }
    }

    fn behind_ns(&self) -> Option<u64> {
        let now_ns = now_ns();
        match &self.state {
            State::Closed => None,
            State::Listening(_) => Some(self.source.behind_ns(now_ns)),
            State::Away { backoff, .. } => Some(now_ns.saturating_sub(backoff.lost_ns())),
        }
    }
}

impl std::fmt::Debug for RedisTap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the password.
        let mut shown = f.debug_struct("RedisTap");
        shown.field("server", &self.target.server);
        if let State::Away { reason, .. } = &self.state {
            shown.field("lost", reason);
        }
        shown.finish_non_exhaustive()
    }
}
