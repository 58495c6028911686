//! The tap: one connection, made again when it is lost.

use std::time::Duration;

use sojourn_broker::{Backoff, BrokerError, Gap, Recovery, Sink, Span, Tap, TapInfo};
use sojourn_clock::now_ns;
use sojourn_plan::{PostgresChannel, PostgresSource};

use crate::config::Target;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::notify::Notifications;
use crate::replication::Replication;
use crate::source::Source;
use crate::table::Table;

/// Most gaps kept for [`Tap::take_gaps`].
const GAPS_MAX: usize = 1_024;

/// A passive subscription to a Postgres database. The lifecycle is [`Tap`]'s.
pub struct PostgresTap {
    target: Target,
    source: Box<dyn Source>,
    state: State,
    watermark_ns: u64,
    gaps: Vec<Gap>,
    give_up_after: Duration,
}

enum State {
    Closed,
    Connected {
        connection: Box<Connection>,
        /// What is being caught up with: since when, and how many messages so far.
        behind: Option<(u64, u64)>,
    },
    Lost {
        /// Since when, and how many messages have been caught up with nevertheless.
        behind: (u64, u64),
        backoff: Backoff,
        next_ns: u64,
        reason: Failure,
    },
    Failed(BrokerError),
}

impl PostgresTap {
    /// A tap that is not open yet. Errs on settings that can't work.
    pub fn new(postgres: &PostgresChannel) -> Result<Self, BrokerError> {
        let source: Box<dyn Source> = match &postgres.source {
            PostgresSource::Notify(channels) => Box::new(Notifications::new(channels)?),
            PostgresSource::Table(table) => Box::new(Table::new(table)?),
            PostgresSource::Publication(name) => Box::new(Replication::new(name)),
        };
        Ok(Self {
            target: Target::new(&postgres.server)?,
            source,
            state: State::Closed,
            watermark_ns: 0,
            gaps: Vec::new(),
            give_up_after: Backoff::GIVE_UP_AFTER,
        })
    }

    /// Tries to connect when the pause is over; until then it waits, but not beyond `deadline_ns`.
    fn connect_again(&mut self, deadline_ns: u64) -> Result<(), BrokerError> {
        let State::Lost { behind, backoff, next_ns, reason } = &mut self.state else {
            return Ok(());
        };
        sojourn_clock::sleep_until(deadline_ns.min(*next_ns));
        if now_ns() < *next_ns {
            return Ok(());
        }
        let attempt =
            Connection::open(&self.target, self.source.purpose()).and_then(|connection| {
                let mut connection = Box::new(connection);
                self.source.reopen(&mut connection).map(|()| connection)
            });
        match attempt {
            Ok(connection) => {
                let behind = Some(*behind);
                self.state = State::Connected { connection, behind };
                Ok(())
            }
            Err(failure) => {
                *reason = failure;
                let now = now_ns();
                match backoff.pause(now) {
                    Some(pause) => {
                        *next_ns = now + u64::try_from(pause.as_nanos()).unwrap_or(0);
                        Ok(())
                    }
                    None => Err(self.target.explain(reason)),
                }
            }
        }
    }

    fn listen(&mut self, deadline_ns: u64, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        let State::Connected { connection, behind } = &mut self.state else {
            return Ok(());
        };
        // How far a poll came before its connection was lost, only the sink knows.
        let mut counted = Counted { sink, messages: 0 };
        match self.source.poll(connection, deadline_ns, &mut counted) {
            Ok(progress) => {
                if let Some((_, messages)) = behind {
                    *messages += counted.messages;
                }
                if progress.caught_up
                    && let Some((from_ns, messages)) = behind.take()
                {
                    let kept = self.source.keeps_the_past();
                    let recovery =
                        if kept { Recovery::Resumed { messages } } else { Recovery::Missed };
                    if self.gaps.len() < GAPS_MAX {
                        // The watermark may stand there at once.
                        let to_ns = progress.idle_at_ns.unwrap_or_else(now_ns);
                        self.gaps.push(Gap { from_ns, to_ns, recovery });
                    }
                }
                // What came during the gap is read before time goes on.
                if let (Some(idle_ns), None) = (progress.idle_at_ns, &behind) {
                    self.watermark_ns = self.watermark_ns.max(idle_ns);
                }
                Ok(())
            }
            Err(failure) if is_final(&failure) => Err(self.target.explain(&failure)),
            Err(reason) => {
                let now = now_ns();
                let behind = match behind {
                    Some((from_ns, messages)) => (*from_ns, *messages + counted.messages),
                    // Of a silence the beginning is known.
                    None if reason.is_silence() => (connection.stamp_ns().min(now), 0),
                    None => (now, 0),
                };
                let backoff = Backoff::with_limit(now, self.give_up_after);
                self.state = State::Lost { behind, backoff, next_ns: 0, reason };
                Ok(())
            }
        }
    }
}

/// Whether connecting again would be of no use: the server refused what was asked for, and not
/// because it is going down.
fn is_final(failure: &Failure) -> bool {
    failure.code().is_some_and(|code| !code.starts_with("57P") && !code.starts_with("08"))
}

impl Tap for PostgresTap {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        let mut connection = Connection::open(&self.target, self.source.purpose())
            .map(Box::new)
            .map_err(|failure| self.target.explain(&failure))?;
        let what = self.source.open(&self.target, &mut connection)?;
        self.watermark_ns = now_ns();
        self.state = State::Connected { connection, behind: None };
        let (address, database) = (self.target.server.address(), &self.target.database);
        Ok(TapInfo { listens_to: format!("postgres {address}/{database}, {what}"), address: None })
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let deadline_ns = now_ns().saturating_add(timeout_ns);
        let polled = match &self.state {
            State::Closed => return Err(self.target.error("the tap is not open")),
            State::Failed(error) => return Err(error.clone()),
            State::Lost { .. } => self.connect_again(deadline_ns),
            State::Connected { .. } => Ok(()),
        };
        let polled = polled.and_then(|()| self.listen(deadline_ns, sink));
        if let Err(error) = &polled {
            self.state = State::Failed(error.clone());
        }
        polled
    }

    fn give_up_after(&mut self, patience: Duration) {
        self.give_up_after = patience;
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.gaps)
    }

    fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }

    fn behind_ns(&self) -> Option<u64> {
        matches!(self.state, State::Connected { .. }).then(|| self.source.behind_ns())
    }

    fn replay(
        &mut self,
        span: &Span,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<u64, BrokerError> {
        self.source.replay(&self.target, span, timeout, sink)
    }
}

impl std::fmt::Debug for PostgresTap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresTap").field("target", &self.target).finish_non_exhaustive()
    }
}

/// Counts what passes.
struct Counted<'a> {
    sink: &'a mut dyn Sink,
    messages: u64,
}

impl Sink for Counted<'_> {
    fn message(&mut self, message: &sojourn_broker::RawMessage<'_>) {
        self.messages += 1;
        self.sink.message(message);
    }
}
