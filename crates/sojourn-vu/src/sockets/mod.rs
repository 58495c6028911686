//! Sockets that are not HTTP's, WebSockets and connections for gRPC, MQTT and Redis, and whatever
//! else is done on threads that are not the users'.
//!
//! ```text
//!  users' thread                     side thread (one of the process)
//!  ─────────────                     ───────────────────────────────
//!  module ── spawns a task ────────> task: connects, reads, writes
//!         ── orders (text, close) ─>   │
//!  user  <── inbox, waker ──────────── ┘ arrivals, stamped where the bytes came
//! ```
//!
//! A [`Link`] is one such task as both sides see it. No more than [`ARRIVALS_MAX`] of a link's
//! arrivals wait for its user: the task reads on when the user has taken one. A user that ends a
//! job ends its links, and what still comes of them is dropped.

pub(crate) mod deflate;
pub(crate) mod dial;
pub(crate) mod grpc;
mod handshake;
#[cfg(feature = "mqtt")]
pub(crate) mod mqtt;
#[cfg(feature = "mqtt")]
mod over_websocket;
pub(crate) mod redis;
mod side;
#[cfg(test)]
mod tests;
pub(crate) mod websocket;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sojourn_http::Waker;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use crate::host::{OperationId, UserIndex};
pub(crate) use dial::Traffic;
pub(crate) use side::Sockets;

/// Most arrivals of a link that wait for its user.
const ARRIVALS_MAX: usize = 64;

/// Most arrivals of a thread's links that wait for the thread.
const INBOX_MAX: usize = 16_384;

/// Most messages that wait to be sent on a link.
pub(crate) const ORDERS_MAX: usize = 16_384;

/// Most bytes that wait to be sent on a link.
pub(crate) const UNSENT_BYTES_MAX: usize = 64 << 20;

/// What has come of a link.
#[derive(Debug)]
pub(crate) enum Event {
    WebSocket(websocket::Event),
    Grpc(grpc::Event),
    #[cfg(feature = "mqtt")]
    Mqtt(mqtt::Event),
    Redis(redis::Answer),
    /// What a module's own thread has come to; the module knows its type.
    #[cfg(feature = "kafka")]
    Answer(Box<dyn std::any::Any + Send>),
}

/// An event on its way to its user.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) event: Event,
    /// When the side thread had it, ns.
    pub(crate) at_ns: u64,
    link: Arc<Link>,
    /// Given back when the user has taken the arrival, if not before.
    #[cfg_attr(not(feature = "mqtt"), allow(dead_code, reason = "it is kept until it is dropped"))]
    place: Option<OwnedSemaphorePermit>,
}

impl Arrival {
    /// Whose it is; `None` when that user does not want it any more.
    pub(crate) fn of(&self) -> Option<(UserIndex, OperationId)> {
        let link = &self.link;
        (!link.is_dropped.load(Ordering::Acquire)).then_some((link.user, link.operation))
    }

    /// Its link may say more, though the user has not taken it; false if that was said before.
    #[cfg(feature = "mqtt")]
    pub(crate) fn give_place_back(&mut self) -> bool {
        self.place.take().is_some()
    }
}

/// A thread's arrivals.
pub(crate) struct Inbox {
    sender: Sender<Arrival>,
    receiver: RefCell<Receiver<Arrival>>,
    waker: Waker,
}

impl Inbox {
    pub(crate) fn new(waker: Waker) -> Self {
        let (sender, receiver) = channel(INBOX_MAX);
        Self { sender, receiver: RefCell::new(receiver), waker }
    }

    /// The next arrival that somebody wants, with whose it is.
    pub(crate) fn take(&self) -> Option<(UserIndex, OperationId, Arrival)> {
        loop {
            let arrival = self.receiver.borrow_mut().try_recv().ok()?;
            if let Some((user, operation)) = arrival.of() {
                return Some((user, operation, arrival));
            }
        }
    }

    /// A link of this thread's user.
    pub(crate) fn link(&self, user: UserIndex, operation: OperationId) -> Arc<Link> {
        Arc::new(Link {
            user,
            operation,
            is_dropped: AtomicBool::new(false),
            places: Arc::new(Semaphore::new(ARRIVALS_MAX)),
            unsent_bytes: AtomicUsize::new(0),
            to: self.sender.clone(),
            waker: self.waker.clone(),
        })
    }
}

/// See the module's page.
pub(crate) struct Link {
    user: UserIndex,
    operation: OperationId,
    is_dropped: AtomicBool,
    places: Arc<Semaphore>,
    /// Bytes that the user has given and the task has not yet written.
    pub(crate) unsent_bytes: AtomicUsize,
    to: Sender<Arrival>,
    waker: Waker,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Link({}, {})", self.user, self.operation)
    }
}

impl Link {
    /// Tells the user, once there is a place.
    pub(crate) async fn tell(self: &Arc<Self>, event: Event) {
        let at_ns = sojourn_clock::now_ns();
        // Never closed.
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else { return };
        let arrival = Arrival { event, at_ns, link: Arc::clone(self), place: Some(place) };
        // A thread that is gone wants nothing.
        self.to.send(arrival).await.ok();
        self.waker.wake();
    }

    /// Tells the user, from a thread that may wait: a link that tells one thing at a time never
    /// does for long.
    #[cfg(feature = "kafka")]
    pub(crate) fn tell_now(self: &Arc<Self>, event: Event) {
        let at_ns = sojourn_clock::now_ns();
        // A link of one answer has its place.
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else { return };
        let arrival = Arrival { event, at_ns, link: Arc::clone(self), place: Some(place) };
        // A thread that is gone wants nothing.
        self.to.blocking_send(arrival).ok();
        self.waker.wake();
    }

    /// Takes room for bytes that are to be sent; false when too many wait already.
    pub(crate) fn reserve(&self, bytes: usize) -> bool {
        let before = self.unsent_bytes.fetch_add(bytes, Ordering::AcqRel);
        let fits = before + bytes <= UNSENT_BYTES_MAX;
        if !fits {
            self.written(bytes);
        }
        fits
    }

    /// Bytes have been written.
    pub(crate) fn written(&self, bytes: usize) {
        self.unsent_bytes.fetch_sub(bytes, Ordering::AcqRel);
    }
}

/// A link, and what aborts its task.
type Open = (Arc<Link>, Option<AbortHandle>);

/// A user's links.
#[derive(Default)]
pub(crate) struct Links {
    open: RefCell<HashMap<OperationId, Open>>,
    traffic: OnceCell<Arc<Traffic>>,
}

impl Links {
    /// Bytes of all the user's sockets.
    pub(crate) fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(self.traffic.get_or_init(Arc::default))
    }

    /// Bytes written and read since this was last asked.
    pub(crate) fn take_traffic(&self) -> (u64, u64) {
        self.traffic.get().map_or((0, 0), |traffic| traffic.take())
    }

    /// Starts a link's task. Fails when there is no side thread.
    pub(crate) fn start(
        &self,
        sockets: &Sockets,
        link: &Arc<Link>,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), String> {
        let abort = sockets.side()?.spawn(task).abort_handle();
        self.open.borrow_mut().insert(link.operation, (Arc::clone(link), Some(abort)));
        Ok(())
    }

    /// A link whose task is somebody else's: it can be ended, its task goes on.
    #[cfg(feature = "kafka")]
    pub(crate) fn watch(&self, link: &Arc<Link>) {
        self.open.borrow_mut().insert(link.operation, (Arc::clone(link), None));
    }

    /// Ends a link: what it still has to say is dropped, its task ends.
    pub(crate) fn end(&self, operation: OperationId) {
        if let Some(open) = self.open.borrow_mut().remove(&operation) {
            end(&open);
        }
    }

    /// A link that has nothing more to say, and may still have something to do.
    pub(crate) fn release(&self, operation: OperationId) {
        if let Some((link, _)) = self.open.borrow_mut().remove(&operation) {
            link.is_dropped.store(true, Ordering::Release);
        }
    }

    pub(crate) fn end_all(&self) {
        for (_, open) in self.open.borrow_mut().drain() {
            end(&open);
        }
    }
}

fn end((link, abort): &(Arc<Link>, Option<AbortHandle>)) {
    link.is_dropped.store(true, Ordering::Release);
    if let Some(abort) = abort {
        abort.abort();
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        self.end_all();
    }
}
