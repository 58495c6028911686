//! What the server does after a request: bytes, pauses and insults, in order.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::message::Message;

/// One thing the server does on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bytes `from..to` of a message's body.
    Body {
        /// The message.
        message: Rc<Message>,
        /// First byte.
        from: u64,
        /// One past the last.
        to: u64,
    },
    /// Closes the connection in order (FIN).
    Close,
    /// A message's head, completed with date and timing.
    Head(Rc<Message>),
    /// Breaks the connection off (RST).
    Reset,
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Says nothing more and keeps the connection open until the client leaves.
    Silence,
    /// Goes on no earlier than this instant, nanoseconds of `sojourn_clock`.
    WaitUntil(u64),
}

/// The whole answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub(crate) due_ns: u64,
    pub(crate) what: What,
    /// `u64::MAX`: nobody asks.
    pub(crate) tag: u64,
    /// The connection ends with it.
    pub(crate) close: bool,
    /// It may leave as much as one part in so many of its hold late, to leave together with others.
    pub(crate) is_exact: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The common case: one message, whole. It allocates nothing.
    Message(Rc<Message>),
    Steps(VecDeque<Step>),
}

impl Reply {
    /// A message as soon as may be.
    pub fn message(message: Rc<Message>) -> Self {
        Self::new(What::Message(message))
    }

    /// These steps, one after the other.
    pub fn steps(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::new(What::Steps(steps.into_iter().collect()))
    }

    /// These bytes at once.
    pub fn now(bytes: Vec<u8>) -> Self {
        Self::steps([Step::Send(bytes)])
    }

    /// These bytes at `instant_ns`.
    pub fn at(instant_ns: u64, bytes: Vec<u8>) -> Self {
        Self::now(bytes).held_until(instant_ns)
    }

    /// No earlier than this instant. It may leave a little later to leave together with others: by
    /// at most 0.1 % of its hold and half a millisecond, unless it is [`Self::exact`].
    #[must_use]
    pub fn held_until(mut self, instant_ns: u64) -> Self {
        self.due_ns = instant_ns;
        self
    }

    /// At its instant as exactly as the kernel wakes the thread.
    #[must_use]
    pub fn exact(mut self) -> Self {
        self.is_exact = true;
        self
    }

    /// A number that [`Responder::sent`](crate::Responder::sent) gets back when this reply has
    /// left.
    #[must_use]
    pub fn tagged(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }

    /// The connection ends with it.
    #[must_use]
    pub fn closing(mut self) -> Self {
        self.close = true;
        self
    }

    fn new(what: What) -> Self {
        Self { due_ns: 0, what, tag: u64::MAX, close: false, is_exact: false }
    }
}
