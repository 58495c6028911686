//! Where a thread decides: from a request to what is answered, when, and how it goes wrong.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use sojourn_clock::Anchor;

use crate::book::answer::Kind;
use crate::book::fault::Fault;
use crate::book::values::Values;
use crate::book::{BODY_MAX, Book, Route};
use crate::callbacks::Courier;
use crate::course::{Course, Decision};
use crate::enrolment::Authority;
use crate::message::Message;
use crate::metrics;
use crate::queue::{Clerk, Queue, Truth, TruthFile};
use crate::reply::Reply;
use crate::server::{Meter, Request, Responder};
use crate::target::block_of_noise;

/// What all threads of a mock share.
pub(crate) struct Office {
    book: Mutex<Arc<Book>>,
    /// Grows with every new book.
    edition: AtomicU64,
    pub(crate) start: Anchor,
    pub(crate) run_id: String,
    /// The server's figures, once it has started.
    pub(crate) meter: OnceLock<Meter>,
    pub(crate) courier: Option<Courier>,
    pub(crate) noise: Arc<[u8]>,
    pub(crate) authority: Authority,
    /// By [`Fault::number`].
    pub(crate) faults: [AtomicU64; Fault::NAMES.len()],
    pub(crate) limited: AtomicU64,
    pub(crate) unmatched: AtomicU64,
}

/// Decides for one thread.
pub(crate) struct Desk {
    office: Arc<Office>,
    edition: u64,
    library: Rc<Library>,
    clerk: Option<Clerk<TruthOrNone>>,
}

/// A book with the messages that stand ready, counted by this thread alone.
pub(crate) struct Library {
    pub(crate) book: Arc<Book>,
    /// By route and answer; `None` where it is made from the request.
    pub(crate) ready: Vec<Vec<Option<Rc<Message>>>>,
    needs_body: Vec<bool>,
    pub(crate) counts: bool,
    pub(crate) not_found: Rc<Message>,
}

/// The truth where somebody wants it.
pub(crate) type TruthOrNone = Option<TruthFile>;

impl Truth for TruthOrNone {
    fn admitted(&mut self, record: &crate::queue::TruthRecord) {
        if let Some(file) = self {
            file.admitted(record);
        }
    }

    fn ended(&mut self, id: u64, sent_ns: Option<u64>) {
        if let Some(file) = self {
            file.ended(id, sent_ns);
        }
    }

    fn refused(&mut self) {
        if let Some(file) = self {
            file.refused();
        }
    }
}

impl Office {
    pub(crate) fn new(
        book: Book,
        run_id: String,
        courier: Option<Courier>,
        authority: Authority,
    ) -> Self {
        Self {
            book: Mutex::new(Arc::new(book)),
            edition: AtomicU64::new(1),
            start: Anchor::now(),
            run_id,
            meter: OnceLock::new(),
            courier,
            noise: block_of_noise(),
            authority,
            faults: [const { AtomicU64::new(0) }; Fault::NAMES.len()],
            limited: AtomicU64::new(0),
            unmatched: AtomicU64::new(0),
        }
    }

    /// From now on requests are answered by this book; those that are held, by theirs.
    pub(crate) fn publish(&self, book: Book) {
        *self.book.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(book);
        self.edition.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn book(&self) -> Arc<Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Library {
    fn new(book: Arc<Book>) -> Self {
        let ready = |route: &Route| {
            let messages = route.answers.iter().map(|(answer, _)| match &answer.kind {
                Kind::Ready(message) => Some(Rc::new(message.clone())),
                Kind::Endpoint(_) | Kind::Rendered(_) | Kind::Ticket => None,
            });
            messages.collect()
        };
        let body = b"{\"error\":\"no route of this mock fits the request\"}\n";
        Self {
            ready: book.routes.iter().map(ready).collect(),
            needs_body: book.routes.iter().map(|route| route.needs_body(&book)).collect(),
            counts: book.counts(),
            not_found: Rc::new(Message::text(404, "application/json", body)),
            book,
        }
    }
}

impl Desk {
    /// A desk; `truth` is where its queue's truth goes, if it has a queue. That is given, because
    /// the office's book may be another one before this thread begins.
    pub(crate) fn new(office: Arc<Office>, queue: Option<&Queue>, truth: TruthOrNone) -> Self {
        let edition = office.edition.load(Ordering::Acquire);
        let book = office.book();
        let clerk = queue.map(|queue| {
            let draws = crate::latency::Draws::new(queue.service.clone(), book.seed);
            Clerk::new(queue.model(), draws, truth)
        });
        Self { library: Rc::new(Library::new(book)), office, edition, clerk }
    }

    /// Decides about a request.
    pub(crate) fn decide(&mut self, request: &Request<'_>) -> Decision {
        if request.path.starts_with(metrics::PREFIX) {
            return Decision::at_once(Rc::new(metrics::answer(&self.office, request)));
        }
        let Self { office, library, clerk, .. } = self;
        let book = &*library.book;
        for place in book.candidates(request.route()) {
            let route = &book.routes[place];
            if !route.fits(request) {
                continue;
            }
            let values = Values::new(request, &route.pattern, &office.start);
            if route.conditions.is_empty() || route.holds(&values) {
                return Course::new(office, library, place, request, &values).decide(clerk);
            }
        }
        office.unmatched.fetch_add(1, Ordering::Relaxed);
        Decision::at_once(library.not_found.clone())
    }
}

impl Responder for Desk {
    fn body_max(&mut self, request: &Request<'_>) -> usize {
        let library = &*self.library;
        let wants =
            |place: usize| library.needs_body[place] && library.book.routes[place].fits(request);
        let is_wanted = library.book.candidates(request.route()).any(wants);
        if is_wanted { BODY_MAX } else { 0 }
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let decision = self.decide(request);
        let mut reply = match decision.fault {
            None => Reply::message(decision.message).held_until(decision.due_ns),
            Some(fault) => fault.reply(decision.message, decision.due_ns.max(request.arrival_ns)),
        };
        if decision.close {
            reply = reply.closing();
        }
        match decision.ticket {
            Some(id) => reply.exact().tagged(id),
            None => reply,
        }
    }

    fn sent(&mut self, tag: u64, sent_ns: u64) {
        if let Some(clerk) = &mut self.clerk {
            clerk.truth().ended(tag, Some(sent_ns));
        }
    }

    fn abandoned(&mut self, tag: u64) {
        if let Some(clerk) = &mut self.clerk {
            clerk.truth().ended(tag, None);
        }
    }

    fn wanted_ns(&self) -> Option<u64> {
        self.clerk.as_ref()?.truth_so_far().as_ref()?.flush_ns()
    }

    fn after_batch(&mut self) {
        if let Some(Some(file)) = self.clerk.as_mut().map(Clerk::truth) {
            file.flush();
        }
        let edition = self.office.edition.load(Ordering::Acquire);
        if edition != self.edition {
            self.edition = edition;
            self.library = Rc::new(Library::new(self.office.book()));
        }
    }
}
