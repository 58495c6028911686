//! What a tap listens to, and how far it has come.

use std::time::Duration;

use sojourn_broker::{BrokerError, Sink, Span};
use sojourn_clock::SECOND_NS;

use crate::config::Target;
use crate::connection::{Connection, Purpose};
use crate::failure::Failure;

/// One of the ways in which Postgres tells of what happens. The tap owns the connection and makes
/// another when it is lost.
pub(crate) trait Source: Send {
    /// Which connection it needs.
    fn purpose(&self) -> Purpose;

    /// Looks for what it listens to and subscribes; returns in words what that is. Nothing that is
    /// committed after it has returned is missed.
    fn open(&mut self, target: &Target, connection: &mut Connection)
    -> Result<String, BrokerError>;

    /// Subscribes again, on a new connection.
    fn reopen(&mut self, connection: &mut Connection) -> Result<(), Failure>;

    /// Whether what happened while there was no connection can still be read.
    fn keeps_the_past(&self) -> bool;

    /// Hands over what there is, waiting for it until `deadline_ns`.
    fn poll(
        &mut self,
        connection: &mut Connection,
        deadline_ns: u64,
        sink: &mut dyn Sink,
    ) -> Result<Progress, Failure>;

    /// How late what comes may be, nanoseconds, where that can be told.
    fn behind_ns(&self) -> u64 {
        0
    }

    /// As [`sojourn_broker::Tap::replay`], on a connection of its own.
    fn replay(
        &mut self,
        target: &Target,
        span: &Span,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<u64, BrokerError> {
        let _unused = (span, timeout, sink);
        Err(target.error("nothing of this channel is kept that could be read again"))
    }
}

/// How long a server may take for a sign of life.
const SILENCE_NS_MAX: u64 = 2 * SECOND_NS;
/// With a sign of life outstanding for so long, that nothing came proves nothing.
const ATTENTIVE_NS_MAX: u64 = SECOND_NS / 2;

/// Whether nothing at all has come for too long since a sign of life was asked for.
pub(crate) fn is_silent(connection: &Connection, asked_ns: u64, now_ns: u64) -> bool {
    now_ns.saturating_sub(asked_ns.max(connection.stamp_ns())) >= SILENCE_NS_MAX
}

/// Whether the connection is known to be up, so that where nothing came there was nothing.
pub(crate) fn is_attentive(asked_ns: Option<u64>, now_ns: u64) -> bool {
    asked_ns.is_none_or(|asked_ns| now_ns.saturating_sub(asked_ns) < ATTENTIVE_NS_MAX)
}

/// What a poll came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Messages handed over.
    pub(crate) messages: u64,
    /// Nothing more had come at this instant.
    pub(crate) idle_at_ns: Option<u64>,
    /// All that happened while there was no connection has been read, if it is kept at all.
    pub(crate) caught_up: bool,
}
