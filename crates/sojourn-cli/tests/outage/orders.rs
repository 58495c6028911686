//! A small system: takes orders by HTTP, and tells of each by a publisher, again and again until
//! that has an acknowledgement.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sojourn_broker::{Outcome, Publisher};
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_testkit::{Reply, Request, Responder, Server, response};

/// Between two attempts at what was not acknowledged.
const AGAIN_NS: u64 = 50 * MILLISECOND_NS;
const PAUSE: Duration = Duration::from_millis(1);

/// What really happened to one order. Instants are CLOCK_MONOTONIC.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// When it came.
    pub(super) taken_ns: u64,
    /// When its event was handed to the publisher, each time.
    pub(super) attempts_ns: Vec<u64>,
    /// When the broker acknowledged it; after that it is not told again.
    pub(super) acked_ns: Option<u64>,
}

/// Whether an order is refused, which its event says; all others are placed.
pub(super) fn is_refused(number: usize) -> bool {
    number % 5 == 4
}

type Book = Arc<Mutex<Vec<Order>>>;

fn locked(book: &Book) -> MutexGuard<'_, Vec<Order>> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The system at work; dropped, it ends.
pub(super) struct Orders {
    server: Server,
    name: String,
    book: Book,
    stop: Arc<AtomicBool>,
    courier: Option<JoinHandle<()>>,
}

impl Orders {
    /// Starts it; its events go by this publisher, to this topic.
    pub(super) fn start(publisher: Box<dyn Publisher>, topic: &str) -> Self {
        // Several systems may tell by one broker, one after the other.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("o{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let (book, stop) = (Book::default(), Arc::new(AtomicBool::new(false)));
        let server = Server::start(Desk { book: Arc::clone(&book), name: name.clone() }).unwrap();
        let courier = Courier {
            book: Arc::clone(&book),
            name: name.clone(),
            publisher,
            topic: topic.to_owned(),
            sent: Vec::new(),
            taken: 0,
            again: Vec::new(),
        };
        let stopped = Arc::clone(&stop);
        let courier = std::thread::spawn(move || courier.run(&stopped));
        Self { server, name, book, stop, courier: Some(courier) }
    }

    pub(super) fn url(&self) -> String {
        self.server.url("")
    }

    /// The number of the order with this key.
    pub(super) fn number(&self, key: &str) -> Option<usize> {
        key.strip_prefix(&self.name)?.strip_prefix('-')?.parse().ok()
    }

    /// Orders of which this holds.
    pub(super) fn count(&self, holds: impl Fn(&Order) -> bool) -> usize {
        locked(&self.book).iter().filter(|order| holds(order)).count()
    }

    /// All orders so far.
    pub(super) fn book(&self) -> Vec<Order> {
        locked(&self.book).clone()
    }
}

impl Drop for Orders {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // One that panicked has said so, and its orders are never acknowledged.
        let _ended = self.courier.take().map(JoinHandle::join);
    }
}

/// Takes orders.
struct Desk {
    book: Book,
    name: String,
}

impl Responder for Desk {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let mut book = locked(&self.book);
        let body = format!(r#"{{"id":"{}-{}"}}"#, self.name, book.len());
        book.push(Order { taken_ns: request.arrival_ns, ..Order::default() });
        Reply::now(response(200, "application/json", body.as_bytes()))
    }
}

/// Tells of orders.
struct Courier {
    book: Book,
    name: String,
    publisher: Box<dyn Publisher>,
    topic: String,
    /// The order of each message; its place is the message's token.
    sent: Vec<usize>,
    /// Orders that were told of at least once.
    taken: usize,
    /// Those whose last message was not acknowledged.
    again: Vec<usize>,
}

impl Courier {
    fn run(mut self, stop: &AtomicBool) {
        let (mut tried_ns, mut outcomes) = (0, Vec::new());
        while !stop.load(Ordering::Relaxed) {
            self.publisher.poll(&mut outcomes);
            for Outcome { token, acked_ns, error } in outcomes.drain(..) {
                let number = self.sent[usize::try_from(token).unwrap()];
                match error {
                    None => locked(&self.book)[number].acked_ns = Some(acked_ns),
                    Some(_) => self.again.push(number),
                }
            }
            if now_ns() >= tried_ns + AGAIN_NS {
                tried_ns = now_ns();
                std::mem::take(&mut self.again).into_iter().for_each(|number| self.send(number));
            }
            let count = locked(&self.book).len();
            (self.taken..count).for_each(|number| self.send(number));
            self.taken = count;
            std::thread::sleep(PAUSE);
        }
    }

    fn send(&mut self, number: usize) {
        let id = format!("{}-{number}", self.name);
        let kind = if is_refused(number) { "Refused" } else { "Placed" };
        let payload = format!(r#"{{"type":"{kind}","id":"{id}"}}"#);
        let token = self.sent.len() as u64;
        locked(&self.book)[number].attempts_ns.push(now_ns());
        let Self { publisher, topic, .. } = self;
        match publisher.try_publish(token, topic, Some(id.as_bytes()), &[], payload.as_bytes()) {
            Ok(()) => self.sent.push(number),
            Err(_) => {
                locked(&self.book)[number].attempts_ns.pop();
                self.again.push(number);
            }
        }
    }
}
