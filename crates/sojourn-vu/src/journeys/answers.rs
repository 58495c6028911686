//! What other threads answer a thread's users.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::Arc;

use sojourn_http::Waker;

use super::{Came, Message};
use crate::host::{OperationId, UserIndex};

/// Answers that may wait for a thread: more than one a user waits for at a time.
const ANSWERS_MAX: usize = 65_536;

/// What an operation has come to.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// An event that was waited for.
    Event(Arc<Message>),
    /// The broker has acknowledged a message, or why it has not.
    Published(Result<(), String>),
    /// What a member of a group was asked for.
    Member(Result<Came, String>),
}

/// A thread's answers.
pub(crate) struct Answers {
    sender: Sender<(UserIndex, OperationId, Answer)>,
    receiver: Receiver<(UserIndex, OperationId, Answer)>,
    waker: Waker,
}

/// The way to one operation of one user, from any thread.
#[derive(Clone)]
pub(crate) struct Reply {
    user: UserIndex,
    operation: OperationId,
    sender: Sender<(UserIndex, OperationId, Answer)>,
    waker: Waker,
}

impl Answers {
    pub(crate) fn new(waker: Waker) -> Self {
        let (sender, receiver) = bounded(ANSWERS_MAX);
        Self { sender, receiver, waker }
    }

    pub(crate) fn take(&self) -> Option<(UserIndex, OperationId, Answer)> {
        self.receiver.try_recv().ok()
    }

    pub(crate) fn reply(&self, user: UserIndex, operation: OperationId) -> Reply {
        let (sender, waker) = (self.sender.clone(), self.waker.clone());
        Reply { user, operation, sender, waker }
    }
}

impl Reply {
    /// Hands the answer over; false when there is no room for it, or nobody left.
    pub(crate) fn send(&self, answer: Answer) -> bool {
        let is_sent = self.sender.try_send((self.user, self.operation, answer)).is_ok();
        self.waker.wake();
        is_sent
    }

    /// Whether it is this operation's.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        (self.user, self.operation) == (other.user, other.operation)
            && self.sender.same_channel(&other.sender)
    }
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reply({}, {})", self.user, self.operation)
    }
}
