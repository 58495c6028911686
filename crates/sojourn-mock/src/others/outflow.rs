//! A message's body as hyper takes it: whole, cut short, or in pieces over time.

use std::future::Future as _;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::book::fault::{DRIBBLES, Fault};
use crate::message::{self, Message};

/// Most bytes handed over at once.
const PIECE_MAX: u64 = 64 * 1024;

/// So long hyper is given to send the half of a body: a failure throws away what is not sent yet.
const CUT_AFTER: Duration = Duration::from_millis(20);

/// A body on its way.
pub(super) struct Outflow {
    message: Rc<Message>,
    from: u64,
    to: u64,
    /// Ends as if the connection had broken, once this has passed.
    cut: Option<Pin<Box<Sleep>>>,
    pace: Option<Pace>,
}

/// Pieces of a dribble.
struct Pace {
    every: Duration,
    piece: u64,
    sleep: Pin<Box<Sleep>>,
}

/// The body ends before its length, on purpose.
#[derive(Debug, thiserror::Error)]
#[error("cut short on purpose")]
pub(super) struct CutShort;

impl Outflow {
    /// The whole body.
    pub(super) fn new(message: Rc<Message>) -> Self {
        let to = message.body().length();
        Self { message, from: 0, to, cut: None, pace: None }
    }

    /// The head alone, as if the body followed: the answer to HEAD.
    pub(super) fn without_body(mut self) -> Self {
        self.to = 0;
        self
    }

    /// What a fault leaves of it.
    pub(super) fn with_fault(mut self, fault: Option<Fault>) -> Self {
        match fault {
            Some(Fault::Truncate) => {
                self.to /= 2;
                self.cut = Some(Box::pin(sleep(CUT_AFTER)));
            }
            Some(Fault::Dribble(over_ns)) => {
                let every = Duration::from_nanos(over_ns / DRIBBLES);
                self.pace = Some(Pace { every, piece: 0, sleep: Box::pin(sleep(every)) });
            }
            _ => {}
        }
        self
    }

    fn next(&mut self, most: u64) -> Option<Bytes> {
        let left = (self.to - self.from).min(most);
        let piece = match self.message.body() {
            message::Body::Bytes(bytes) if left > 0 => {
                let from = self.from as usize;
                Bytes::from_owner(bytes.clone()).slice(from..from + left as usize)
            }
            body => {
                let piece = body.piece(self.from);
                let length = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                Bytes::copy_from_slice(&piece[..length])
            }
        };
        self.from += piece.len() as u64;
        (!piece.is_empty()).then_some(piece)
    }
}

impl Body for Outflow {
    type Data = Bytes;
    type Error = CutShort;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutShort>>> {
        let this = &mut *self;
        if this.from >= this.to {
            return match &mut this.cut {
                None => Poll::Ready(None),
                Some(wait) => wait.as_mut().poll(context).map(|()| Some(Err(CutShort))),
            };
        }
        let mut most = PIECE_MAX;
        if let Some(pace) = &mut this.pace {
            if pace.sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            pace.piece += 1;
            let until =
                u128::from(this.to) * u128::from(pace.piece.min(DRIBBLES)) / u128::from(DRIBBLES);
            most = (until as u64).saturating_sub(this.from).max(1);
            pace.sleep = Box::pin(sleep(pace.every));
        }
        Poll::Ready(this.next(most).map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.from >= self.to && self.cut.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        // What hyper makes the content length of, where the message says none.
        SizeHint::with_exact(self.message.body().length() - self.from)
    }
}
