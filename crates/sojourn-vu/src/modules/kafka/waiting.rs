//! Waiting for what another thread does: the user is suspended, its thread goes on.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use sojourn_script::js::{self, Ctx};

use super::go_error::throw;
use crate::host::OperationId;
use crate::sockets::{Event, Link};
use crate::user::{Outcome, User};

/// An operation that another thread answers.
pub(super) struct Waiting {
    user: Rc<User>,
    operation: OperationId,
    /// Whom the answer is given.
    pub(super) link: Arc<Link>,
}

impl Waiting {
    pub(super) fn new(user: &Rc<User>) -> Self {
        let operation = user.operation();
        let link = user.host.inbox.link(user.index, operation);
        user.links.watch(&link);
        Self { user: Rc::clone(user), operation, link }
    }

    /// There will be no answer.
    pub(super) fn forget(self) {
        self.user.links.end(self.operation);
    }

    /// Suspends the user until there is an answer; `None` if the user is to end first.
    pub(super) fn answer<T: 'static>(self) -> Option<T> {
        let outcome = self.user.wait(self.operation);
        self.user.links.end(self.operation);
        let Some(Outcome::Socket(arrival)) = outcome else { return None };
        let Event::Answer(answer) = arrival.event else { return None };
        answer.downcast().ok().map(|answer| *answer)
    }
}

/// Tells a user; called on any thread but the users'.
pub(super) fn tell<T: Any + Send>(link: &Arc<Link>, answer: T) {
    link.tell_now(Event::Answer(Box::new(answer)));
}

/// Does what blocks on a thread for that.
pub(super) fn blocking<T: Any + Send>(
    ctx: &Ctx<'_>,
    user: &Rc<User>,
    work: impl FnOnce() -> T + Send + 'static,
) -> js::Result<T> {
    let waiting = Waiting::new(user);
    let link = Arc::clone(&waiting.link);
    let sockets = &user.host.settings.sockets;
    sockets.block(move || tell(&link, work())).map_err(|problem| throw(ctx, &problem))?;
    waiting.answer().ok_or_else(|| interrupted(ctx))
}

/// The user is to end.
pub(super) fn interrupted(ctx: &Ctx<'_>) -> js::Error {
    js::Exception::throw_internal(ctx, "interrupted")
}
