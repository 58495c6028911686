//! The tap: subscriptions of core NATS, or an ordered consumer of a stream.

use std::time::Duration;

use sojourn_broker::{Backoff, BrokerError, Gap, Recovery, Sink, Span, Tap, TapInfo};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::NatsChannel;

use crate::config::Settings;
use crate::connection::{Connection, Event};
use crate::jetstream::{Failure, JetStream};
use crate::lost::Lost;
use crate::message::raw;
use crate::ordered::{Ordered, Verdict};
use crate::protocol::{publish, subscribe};
use crate::replay::replay;
use crate::subject::matches;

/// Longest wait for the server while opening.
const OPEN_NS_MAX: u64 = 5 * SECOND_NS;
/// Longest attempt to connect again.
const ATTEMPT_NS_MAX: u64 = 2 * SECOND_NS;
/// Most messages handed over by one poll.
const BATCH_MAX: usize = 1_024;
/// Longest wait of one poll.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// Number of the first core subscription; the others follow.
const FIRST_SID: u64 = 2;

/// A passive subscription to NATS subjects. The lifecycle is [`Tap`]'s.
pub struct NatsTap {
    pub(crate) settings: Settings,
    pub(crate) subjects: Vec<String>,
    /// Reading a stream; `None`: core NATS.
    ordered: Option<Ordered>,
    link: Link,
    watermark_ns: u64,
    gaps: Vec<Gap>,
    patience: Duration,
}

enum Link {
    Closed,
    Up(Box<Connection>),
    Away { backoff: Backoff, try_ns: u64, why: Lost },
}

impl NatsTap {
    /// A tap that is not open yet. Errs when a file of the settings cannot be used.
    pub fn new(nats: &NatsChannel) -> Result<Self, BrokerError> {
        let mut subjects: Vec<String> = Vec::new();
        for subject in &nats.subjects {
            if !subjects.contains(subject) {
                subjects.push(subject.clone());
            }
        }
        let ordered = nats.stream.as_deref().map(|stream| Ordered::new(stream, &subjects));
        Ok(Self {
            settings: Settings::new(nats)?,
            subjects,
            ordered,
            link: Link::Closed,
            watermark_ns: 0,
            gaps: Vec::new(),
            patience: Backoff::GIVE_UP_AFTER,
        })
    }

    /// The stream that is read, where there is one.
    pub(crate) fn stream(&self) -> Option<&str> {
        self.ordered.as_ref().map(|ordered| ordered.stream.as_str())
    }

    /// The number of positions' partition.
    pub(crate) fn generation(&self) -> u64 {
        self.ordered.as_ref().map_or(0, Ordered::generation)
    }

    /// Subscribes to every subject; returns when the server has seen it.
    fn subscribe(&self, connection: &mut Connection, deadline_ns: u64) -> Result<(), Failure> {
        for (sid, subject) in (FIRST_SID..).zip(&self.subjects) {
            subscribe(connection.out(), subject, None, sid);
        }
        let refused = connection.await_pong(deadline_ns)?;
        match refused.first() {
            None => Ok(()),
            Some(words) => Err(Failure::Refused {
                code: 403,
                error: BrokerError::new(format!("nats at {}: {words}", self.settings.address))
                    .with_hint("the user must be allowed to subscribe to it"),
            }),
        }
    }

    /// Hands over up to [`BATCH_MAX`] messages; moves the watermark when there was nothing more.
    fn drain(
        &mut self,
        connection: &mut Connection,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<(), Lost> {
        let mut timeout = timeout;
        let mut left = BATCH_MAX;
        loop {
            while let Some(event) = connection.next()? {
                match event {
                    Event::Message(place) => {
                        self.take(connection, &place, sink)?;
                        left -= 1;
                    }
                    Event::Pong | Event::Refused(_) => {}
                }
                if left == 0 {
                    return connection.flush();
                }
            }
            let asked_ns = now_ns();
            if !connection.fill(timeout)? && timeout.is_zero() {
                if let Some(ordered) = &self.ordered {
                    ordered.check_silence(connection)?;
                }
                if !self.ordered.as_ref().is_some_and(Ordered::is_catching_up) {
                    self.watermark_ns = self.watermark_ns.max(asked_ns);
                }
                return Ok(());
            }
            timeout = Duration::ZERO;
        }
    }

    fn take(
        &mut self,
        connection: &mut Connection,
        place: &crate::protocol::Place,
        sink: &mut dyn Sink,
    ) -> Result<(), Lost> {
        let message = connection.message(place);
        let stamp_ns = connection.read_ns();
        let Some(ordered) = &mut self.ordered else {
            // Overlapping subjects bring a message once for each: the first one's counts.
            let index = usize::try_from(message.sid.saturating_sub(FIRST_SID)).unwrap_or(0);
            let earlier = self.subjects.iter().take(index);
            if !earlier.into_iter().any(|subject| matches(subject, message.subject)) {
                sink.message(&raw(&message, stamp_ns, None));
            }
            return Ok(());
        };
        let mut answer = None;
        match ordered.take(&message, stamp_ns, &mut answer) {
            Verdict::Ours(position) => sink.message(&raw(&message, stamp_ns, Some(position))),
            Verdict::Other => {}
            Verdict::Broken => {
                return Err(connection.lost("what its consumer sends is not complete"));
            }
        }
        if let Some(answer) = answer {
            publish(connection.out(), &answer, None, b"", b"");
        }
        self.gaps.extend(ordered.caught_up());
        Ok(())
    }

    /// Waits for the next attempt to connect again, and makes it when its time has come.
    fn try_again(&mut self, timeout: Duration) -> Result<(), BrokerError> {
        let Link::Away { backoff, try_ns, .. } = &mut self.link else { return Ok(()) };
        let wait = Duration::from_nanos(try_ns.saturating_sub(now_ns()));
        std::thread::sleep(wait.min(timeout));
        if now_ns() < *try_ns {
            return Ok(());
        }
        let lost_ns = backoff.lost_ns();
        match self.come_back(lost_ns) {
            Ok(connection) => self.link = Link::Up(Box::new(connection)),
            Err(Failure::Lost(lost)) => self.stay_away(lost, lost_ns)?,
            // A server that has just started does not have its streams at once.
            Err(Failure::Refused { error, .. }) => self.stay_away(Lost::now(error), lost_ns)?,
        }
        Ok(())
    }

    fn come_back(&mut self, lost_ns: u64) -> Result<Connection, Failure> {
        let deadline_ns = now_ns() + ATTEMPT_NS_MAX;
        let mut connection = Connection::open(&self.settings, deadline_ns)?;
        if let Some(ordered) = &mut self.ordered {
            let stream = ordered.stream.clone();
            let mut jetstream = JetStream {
                connection: &mut connection,
                settings: &self.settings,
                stream: &stream,
                deadline_ns,
            };
            self.gaps.extend(ordered.resume(&mut jetstream, lost_ns)?);
        } else {
            self.subscribe(&mut connection, deadline_ns)?;
            let to_ns = now_ns();
            self.gaps.push(Gap { from_ns: lost_ns, to_ns, recovery: Recovery::Missed });
        }
        Ok(connection)
    }

    /// Tries again later, if it is worth it. `heard_ns`: the last sign of life.
    fn stay_away(&mut self, lost: Lost, heard_ns: u64) -> Result<(), BrokerError> {
        let now = now_ns();
        let mut backoff = match std::mem::replace(&mut self.link, Link::Closed) {
            Link::Away { backoff, .. } => backoff,
            Link::Closed | Link::Up(_) => Backoff::with_limit(heard_ns, self.patience),
        };
        match backoff.pause(now) {
            Some(pause) if !lost.for_good => {
                let pause_ns = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
                self.link = Link::Away { backoff, try_ns: now + pause_ns, why: lost };
                Ok(())
            }
            _ => Err(lost.error),
        }
    }

    fn info(&self) -> TapInfo {
        let s = if self.subjects.len() == 1 { "" } else { "s" };
        let stream = self.ordered.as_ref().map_or_else(String::new, |ordered| {
            format!(" of stream {} from sequence {}", ordered.stream, ordered.next_seq())
        });
        TapInfo {
            listens_to: format!(
                "nats {}, subject{s} {}{stream}",
                self.settings.address,
                self.subjects.join(" "),
            ),
            address: None,
        }
    }
}

impl Tap for NatsTap {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        let deadline_ns = now_ns() + OPEN_NS_MAX;
        let mut connection =
            Connection::open(&self.settings, deadline_ns).map_err(|lost| lost.error)?;
        if let Some(ordered) = &mut self.ordered {
            let stream = ordered.stream.clone();
            let mut jetstream = JetStream {
                connection: &mut connection,
                settings: &self.settings,
                stream: &stream,
                deadline_ns,
            };
            ordered.begin(&mut jetstream).map_err(Failure::into_error)?;
        } else {
            self.subscribe(&mut connection, deadline_ns).map_err(Failure::into_error)?;
        }
        self.watermark_ns = now_ns();
        self.link = Link::Up(Box::new(connection));
        Ok(self.info())
    }

    fn give_up_after(&mut self, patience: Duration) {
        self.patience = patience;
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        let timeout = timeout.min(WAIT_MAX);
        match std::mem::replace(&mut self.link, Link::Closed) {
            Link::Closed => {
                let at = &self.settings.address;
                Err(BrokerError::new(format!("nats at {at}: the tap is not open")))
            }
            Link::Up(mut connection) => {
                let drained = self.drain(&mut connection, timeout, sink);
                match drained {
                    Ok(()) => {
                        self.link = Link::Up(connection);
                        Ok(())
                    }
                    Err(lost) => self.stay_away(lost, connection.read_ns()),
                }
            }
            away @ Link::Away { .. } => {
                self.link = away;
                self.try_again(timeout)
            }
        }
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.gaps)
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
        replay(self, span, timeout, sink)
    }

    fn behind_ns(&self) -> Option<u64> {
        let now = now_ns();
        let since_ns = self.ordered.as_ref().and_then(Ordered::behind_since_ns);
        let pending_ns = since_ns.map_or(0, |since_ns| now.saturating_sub(since_ns));
        let late_ns = match &self.link {
            Link::Up(connection) => connection.behind_ns(now),
            Link::Closed | Link::Away { .. } => 0,
        };
        Some(pending_ns.max(late_ns))
    }
}

impl Drop for NatsTap {
    fn drop(&mut self) {
        if let (Link::Up(connection), Some(ordered)) = (&mut self.link, &self.ordered) {
            ordered.end(connection, &self.settings.api);
        }
    }
}

impl std::fmt::Debug for NatsTap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the login.
        let mut shown = f.debug_struct("NatsTap");
        shown.field("address", &self.settings.address).field("subjects", &self.subjects);
        if let Link::Away { why, .. } = &self.link {
            shown.field("away", &why.error.message);
        }
        shown.finish_non_exhaustive()
    }
}
