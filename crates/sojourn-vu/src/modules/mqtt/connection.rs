//! One session with a broker, and what is asked of it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sojourn_broker_mqtt::session::{self, Outgoing};
use sojourn_script::js::{Function, Persistent};
use tokio::sync::mpsc::{Sender, channel};

use super::meters::Account;
use crate::host::OperationId;
use crate::sockets::mqtt::{self, Ask, Event, Order};
use crate::sockets::{Arrival, Event as Any, Link, ORDERS_MAX, UNSENT_BYTES_MAX};
use crate::user::User;

/// From so many unwritten bytes on, a message of QoS 0 is waited for until it is written.
const UNSENT_BYTES_MANY: usize = 256 << 10;
/// Numbers below are those of packets; from here on they are of messages that have none.
const FIRST_UNNUMBERED: u32 = 1 << 16;

pub(super) const NOT_CONNECTED: &str = "the client is not connected";
/// Why a call has no answer any more.
pub(super) const ENDED: &str = "the client has ended";

/// Where a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Connecting,
    Open,
    /// Our goodbye is under way.
    Leaving,
    Over,
}

/// What is asked of a broker.
pub(super) enum Request {
    Publish { topic: String, payload: Vec<u8>, qos: u8, retain: bool },
    Subscribe { filters: Vec<String>, qos: u8 },
    Unsubscribe { filters: Vec<String> },
}

/// Of a promise: how to resolve and how to reject it.
pub(super) type Settling = (Persistent<Function<'static>>, Persistent<Function<'static>>);

/// A call whose promise is not settled.
pub(super) struct Pending {
    pub(super) method: &'static str,
    pub(super) request: Request,
    pub(super) account: Account,
    pub(super) settling: Settling,
}

/// Promises that are not settled. The session's callback alone holds them, so that they go with it
/// when the user's work is cut, and not when the engine does.
#[derive(Default)]
pub(super) struct Promises {
    /// By the numbers of their packets.
    calls: RefCell<HashMap<u32, Pending>>,
    pub(super) of_the_end: RefCell<Vec<Settling>>,
}

impl Promises {
    pub(super) fn take(&self, number: u32) -> Option<Pending> {
        self.calls.borrow_mut().remove(&number)
    }

    pub(super) fn take_all(&self) -> Vec<Pending> {
        self.calls.borrow_mut().drain().map(|(_, call)| call).collect()
    }
}

/// What came of waiting: `None`, the user is to end.
pub(super) type Waited<T> = Option<Result<T, String>>;

/// See the module's page.
pub(super) struct Connection {
    user: Rc<User>,
    pub(super) operation: OperationId,
    link: Arc<Link>,
    orders: Sender<Order>,
    phase: Cell<Phase>,
    /// Gone when nobody listens to the session any more.
    promises: RefCell<Weak<Promises>>,
    last_packet_id: Cell<u16>,
    last_unnumbered: Cell<u32>,
}

impl Connection {
    /// Begins to connect. Fails when there is no thread for it.
    pub(super) fn begin(user: &Rc<User>, ask: Ask) -> Result<Rc<Self>, String> {
        let operation = user.operation();
        let link = user.host.inbox.link(user.index, operation);
        let (orders, coming) = channel(ORDERS_MAX);
        let task = mqtt::run(ask, Arc::clone(&link), coming, user.links.traffic());
        user.links.start(&user.host.settings.sockets, &link, task)?;
        Ok(Rc::new(Self {
            user: Rc::clone(user),
            operation,
            link,
            orders,
            phase: Cell::new(Phase::Connecting),
            promises: RefCell::default(),
            last_packet_id: Cell::new(0),
            last_unnumbered: Cell::new(FIRST_UNNUMBERED),
        }))
    }

    /// For the callback that listens to the session.
    pub(super) fn new_promises(&self) -> Rc<Promises> {
        let promises = Rc::new(Promises::default());
        *self.promises.borrow_mut() = Rc::downgrade(&promises);
        promises
    }

    /// `None` when nobody listens to the session any more: the user's work was cut.
    pub(super) fn promises(&self) -> Option<Rc<Promises>> {
        self.promises.borrow().upgrade()
    }

    pub(super) fn is_open(&self) -> bool {
        self.phase.get() == Phase::Open && self.promises().is_some()
    }

    /// Waits until the session stands; when it did, ns.
    pub(super) fn wait_connected(&self) -> Waited<u64> {
        let waited = self.wait(|event, at_ns| match event {
            Event::Connected => Some((Ok(at_ns), false)),
            Event::Refused { error } => Some((Err(error.clone()), true)),
            _ => None,
        })?;
        let phase = if waited.is_ok() { Phase::Open } else { Phase::Over };
        self.phase.set(phase);
        Some(waited)
    }

    /// Sends a request; the number of its answer, or `None` where there is nothing to wait for.
    pub(super) fn send(&self, request: &Request) -> Result<Option<u32>, String> {
        if !self.is_open() {
            return Err(NOT_CONNECTED.to_owned());
        }
        let id = self.packet_id()?;
        let (bytes, qos) = match request {
            Request::Publish { topic, payload, qos, retain } => {
                let message = Outgoing { topic, payload, qos: *qos, retain: *retain };
                (session::publish(&message, id)?, *qos)
            }
            Request::Subscribe { filters, qos } => (session::subscribe(id, filters, *qos)?, 1),
            Request::Unsubscribe { filters } => (session::unsubscribe(id, filters)?, 1),
        };
        let size = bytes.len();
        // The last place is for our goodbye.
        if self.orders.capacity() < 2 {
            return Err(format!("more than {} calls wait to be sent", ORDERS_MAX - 1));
        }
        if !self.link.reserve(size) {
            return Err(format!("more than {UNSENT_BYTES_MAX} bytes wait to be sent"));
        }
        let is_much = self.link.unsent_bytes.load(Ordering::Acquire) > UNSENT_BYTES_MANY;
        let told = (qos == 0 && is_much).then(|| self.unnumbered());
        let order = Order::Packet { bytes, is_exactly_once: qos == 2, told };
        if self.orders.try_send(order).is_err() {
            self.link.written(size);
            return Err(NOT_CONNECTED.to_owned());
        }
        Ok(if qos == 0 { told } else { Some(id.into()) })
    }

    /// Waits for the answer of this number: for each filter of a subscription whether it was
    /// refused.
    pub(super) fn wait_answered(&self, number: u32) -> Waited<Vec<bool>> {
        let waited = self.wait(|event, _| match event {
            Event::Done { id } if *id == number => Some((Ok(Vec::new()), true)),
            Event::Granted { id, refused } if *id == number => Some((Ok(refused.clone()), true)),
            Event::Closed => Some((Err(ENDED.to_owned()), false)),
            Event::Lost { error } => Some((Err(error.clone()), false)),
            _ => None,
        })?;
        if waited.is_err() {
            self.phase.set(Phase::Over);
        }
        Some(waited)
    }

    /// Says goodbye.
    pub(super) fn leave(&self) {
        if matches!(self.phase.get(), Phase::Connecting | Phase::Open) {
            self.phase.set(Phase::Leaving);
            // There is always room for it; a task that has ended says so.
            self.orders.try_send(Order::Disconnect).ok();
        }
    }

    /// Waits until the session is over; `is_quiet`: nobody is told that it is.
    pub(super) fn wait_over(&self, is_quiet: bool) -> Option<()> {
        if self.phase.get() == Phase::Leaving {
            let over = self.wait(|event, _| {
                let is_over = matches!(event, Event::Closed | Event::Lost { .. });
                is_over.then_some(((), is_quiet))
            });
            over?;
        }
        self.phase.set(Phase::Over);
        if is_quiet {
            self.forget();
        }
        Some(())
    }

    /// Whatever comes of it goes nowhere.
    pub(super) fn forget(&self) {
        self.phase.set(Phase::Over);
        self.user.forget(self.operation);
        self.user.links.end(self.operation);
    }

    /// The last event has come.
    pub(super) fn is_over(&self) {
        self.phase.set(Phase::Over);
        self.user.links.release(self.operation);
    }

    /// A call whose promise is settled when its answer has come.
    pub(super) fn keep(&self, number: u32, call: Pending) {
        if let Some(promises) = self.promises() {
            promises.calls.borrow_mut().insert(number, call);
        }
    }

    fn wait<T>(&self, look: impl Fn(&Event, u64) -> Option<(T, bool)>) -> Option<T> {
        self.user.wait_said(self.operation, |arrival: &Arrival| match &arrival.event {
            Any::Mqtt(event) => look(event, arrival.at_ns),
            _ => None,
        })
    }

    /// A number that no call without an answer has.
    fn packet_id(&self) -> Result<u16, String> {
        let promises = self.promises();
        let is_taken = |id: u16| {
            promises.as_ref().is_some_and(|it| it.calls.borrow().contains_key(&id.into()))
        };
        let mut id = self.last_packet_id.get();
        for _ in 0..u16::MAX {
            id = id.checked_add(1).unwrap_or(1);
            if !is_taken(id) {
                self.last_packet_id.set(id);
                return Ok(id);
            }
        }
        Err(format!("{} calls have no answer yet", u16::MAX))
    }

    fn unnumbered(&self) -> u32 {
        let next = self.last_unnumbered.get().checked_add(1).unwrap_or(FIRST_UNNUMBERED);
        self.last_unnumbered.set(next);
        next
    }
}
