//! One client: what it is in the middle of.

use std::os::fd::OwnedFd;

use crate::http1::intake::{Intake, Terms};
use crate::message::Timing;
use crate::reply::Reply;
use crate::server::outgoing::Outgoing;
use crate::wheel::TimerId;

/// A connection receives a request or gives an answer, one at a time.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    /// Counted over the thread's life; its lower half guards against events of a predecessor.
    pub(super) id: u64,
    pub(super) intake: Intake,
    /// The answer under way.
    pub(super) reply: Option<Reply>,
    pub(super) terms: Terms,
    /// How long it was held, once it is under way.
    pub(super) timing: Option<Timing>,
    /// What the socket did not take.
    pub(super) outgoing: Option<Box<Outgoing>>,
    pub(super) timer: Option<(TimerId, Alarm)>,
    /// There may be something to read.
    pub(super) is_readable: bool,
    /// The client sends nothing more.
    pub(super) peer_closed: bool,
    /// It waits for nothing but the client's leaving.
    pub(super) is_silent: bool,
    /// It was refused: what still comes is thrown away until the client has read why.
    pub(super) is_lingering: bool,
    /// It is not clear yet which language the client speaks.
    pub(super) is_fresh: bool,
    /// It ends when what is blocked has gone.
    pub(super) close_when_sent: bool,
    /// It waits for its next turn.
    pub(super) is_queued: bool,
    /// Bytes came since the alarm was set.
    pub(super) has_progressed: bool,
}

/// What a connection's timer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// The answer goes on.
    Answer,
    /// A refused client has had time enough to read why.
    Linger,
    /// The request should have come by now.
    Request,
}

impl Connection {
    pub(super) fn new(socket: OwnedFd, id: u64) -> Self {
        Self {
            socket,
            id,
            intake: Intake::default(),
            reply: None,
            terms: Terms::default(),
            timing: None,
            outgoing: None,
            timer: None,
            // A client may have sent before it was accepted; reading too early costs a call.
            is_readable: false,
            peer_closed: false,
            is_silent: false,
            is_lingering: false,
            is_fresh: true,
            close_when_sent: false,
            is_queued: false,
            has_progressed: false,
        }
    }

    /// Whether closing it would cut nothing short.
    pub(super) fn is_idle(&self) -> bool {
        self.reply.is_none() && self.outgoing.is_none() && !self.intake.is_midway()
    }

    /// Whether an answer waits for its instant.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.timer, Some((_, Alarm::Answer))) || self.is_silent
    }
}
