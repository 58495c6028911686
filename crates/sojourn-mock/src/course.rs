//! One request's way through a route: which answer, when, and how it goes wrong.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use sojourn_clock::SECOND_NS;
use sojourn_pace::random_unit;

use crate::book::answer::{Answer, Kind, Surroundings};
use crate::book::fault::Fault;
use crate::book::overrides::{Dice, Wishes};
use crate::book::values::Values;
use crate::book::{Book, Route, stream};
use crate::desk::{Library, Office, TruthOrNone};
use crate::message::{Body, Message};
use crate::queue::{Clerk, TruthRecord};
use crate::server::Request;

/// What is to be done with a request.
pub(crate) struct Decision {
    pub(crate) message: Rc<Message>,
    /// No earlier than this instant; 0: at once.
    pub(crate) due_ns: u64,
    pub(crate) fault: Option<Fault>,
    pub(crate) close: bool,
    /// Its number in the queue, where there is one.
    pub(crate) ticket: Option<u64>,
}

/// A request at the route that fits it. Everything random is a function of the book's seed, the
/// route's place, the purpose and the request's number at the route.
pub(crate) struct Course<'a> {
    office: &'a Office,
    library: &'a Library,
    book: &'a Book,
    route: &'a Route,
    place: usize,
    request: &'a Request<'a>,
    values: &'a Values<'a>,
    k: u64,
}

impl<'a> Course<'a> {
    pub(crate) fn new(
        office: &'a Office,
        library: &'a Library,
        place: usize,
        request: &'a Request<'a>,
        values: &'a Values<'a>,
    ) -> Self {
        let book = &*library.book;
        let route = &book.routes[place];
        let k = if library.counts { route.count() } else { 0 };
        Self { office, library, book, route, place, request, values, k }
    }

    /// Decides; `clerk` lets the request into the queue, where there is one.
    pub(crate) fn decide(&self, clerk: &mut Option<Clerk<TruthOrNone>>) -> Decision {
        let arrival_ns = self.request.arrival_ns;
        if let Some(Err(wait_ns)) = self.route.limit.as_ref().map(|it| it.admit(arrival_ns)) {
            self.office.limited.fetch_add(1, Ordering::Relaxed);
            return Decision::at_once(Rc::new(too_many(wait_ns)));
        }
        let dice = Dice { seed: self.book.seed, stream: self.stream(b"wishes  "), k: self.k };
        let wishes = match Wishes::of(self.request, self.book.query_overrides, dice) {
            Ok(wishes) => wishes,
            Err(wrong) => return Decision::at_once(Rc::new(refusal(400, &wrong))),
        };
        let which = self.pick(b"answers ", &self.route.answers).unwrap_or(0);
        let Some((answer, _)) = self.route.answers.get(which) else {
            return Decision::at_once(self.library.not_found.clone());
        };
        let ticket = match clerk.as_mut().map(|clerk| clerk.admit(arrival_ns)) {
            Some(None) => {
                return Decision::at_once(Rc::new(refusal(503, "the queue is full")));
            }
            admitted => admitted.flatten(),
        };
        let (mut message, mut fault) = self.message(which, answer, ticket);
        fault = fault.or_else(|| {
            let at = self.pick(b"faults  ", &self.route.faults)?;
            self.route.faults.get(at).map(|(fault, _)| *fault)
        });
        let (factor, errors) = self.degradation();
        if self.chance(b"degraded", errors) {
            message = Rc::new(refusal(503, "degraded"));
        }
        self.reshape(&mut message, &wishes);
        let due_ns = match ticket {
            Some(record) => record.finish_ns,
            None => self.due_ns(answer, factor, &wishes),
        };
        self.call_back(due_ns.max(arrival_ns));
        if let Some(fault) = fault {
            self.office.faults[fault.number()].fetch_add(1, Ordering::Relaxed);
        }
        let close = wishes.close.unwrap_or_else(|| self.chance(b"close   ", self.route.close));
        Decision { message, due_ns, fault, close, ticket: ticket.map(|record| record.id) }
    }

    /// The answer's message, or what stands in its place.
    fn message(
        &self,
        which: usize,
        answer: &Answer,
        ticket: Option<TruthRecord>,
    ) -> (Rc<Message>, Option<Fault>) {
        let made = match (&self.library.ready[self.place][which], &answer.kind) {
            (Some(message), _) => return (self.numbered(message, ticket), None),
            (None, Kind::Endpoint(endpoint)) => {
                match endpoint.answer(self.request, self.office, self.book.seed, self.k) {
                    Ok(message) => message,
                    Err(fault) => return (self.library.not_found.clone(), Some(fault)),
                }
            }
            (None, Kind::Ready(message)) => message.clone(),
            (None, Kind::Rendered(rendered)) => rendered.message(&self.around(), self.values),
            (None, Kind::Ticket) => {
                let body = ticket.map(|record| record.body()).unwrap_or_default();
                Message::text(200, "application/json", body.as_bytes())
            }
        };
        (self.numbered(&Rc::new(made), ticket), None)
    }

    /// A message that says which line of the truth it belongs to.
    fn numbered(&self, message: &Rc<Message>, ticket: Option<TruthRecord>) -> Rc<Message> {
        let Some(record) = ticket else {
            return message.clone();
        };
        let id = record.id.to_string();
        let own = [("sojourn-id", id.as_bytes())];
        let headers = message.headers().filter(|(name, _)| *name != "content-length").chain(own);
        Rc::new(Message::new(message.status(), headers, message.body().clone()))
    }

    fn degradation(&self) -> (f64, f64) {
        let Some(course) = &self.route.degradation else {
            return (1.0, 0.0);
        };
        let start_ns = self.office.start.monotonic_ns;
        course.at(self.request.arrival_ns.saturating_sub(start_ns))
    }

    /// Changes an answer's size and status where the route or the request says so.
    fn reshape(&self, message: &mut Rc<Message>, wishes: &Wishes) {
        let sizes = &self.route.sizes;
        let drawn = self.pick(b"sizes   ", sizes).and_then(|at| sizes.get(at));
        if let Some(length) = wishes.size.or_else(|| drawn.map(|(size, _)| *size)) {
            let body = Body::Repeated { block: self.office.noise.clone(), length };
            *message = Rc::new(message.with(message.status(), body));
        }
        if let Some(status) = wishes.status {
            *message = Rc::new(message.with(status, message.body().clone()));
        }
    }

    fn due_ns(&self, answer: &Answer, factor: f64, wishes: &Wishes) -> u64 {
        let hold_ns = wishes.delay_ns.unwrap_or_else(|| {
            let law = answer.latency().unwrap_or(&self.route.latency);
            match law.draw_ns(self.book.seed, self.stream(b"latency "), self.k) {
                0 => 0,
                ns if factor == 1.0 => ns,
                ns => (ns as f64 * factor).round() as u64,
            }
        });
        match hold_ns {
            0 => 0,
            hold_ns => self.request.arrival_ns.saturating_add(hold_ns),
        }
    }

    /// Hands over what follows the answer.
    fn call_back(&self, answered_ns: u64) {
        let Some(courier) = &self.office.courier else {
            return;
        };
        for (number, at) in self.route.callbacks.iter().enumerate() {
            let callback = &self.book.callbacks[*at];
            let own = self.stream(b"callback").wrapping_add(2 * number as u64);
            let seed = self.book.seed;
            if random_unit(seed, own, self.k) < callback.share {
                let after_ns = callback.after.draw_ns(seed, own + 1, self.k);
                let due_ns = answered_ns.saturating_add(after_ns);
                courier.accept(callback.job(due_ns, &self.around(), self.values));
            }
        }
    }

    fn around(&self) -> Surroundings<'_> {
        Surroundings { book: self.book, run_id: &self.office.run_id, k: self.k }
    }

    fn stream(&self, purpose: &[u8; 8]) -> u64 {
        stream(purpose, self.place)
    }

    /// One of several by their shares; `None` for what they leave over.
    fn pick<T>(&self, purpose: &[u8; 8], choices: &[(T, f64)]) -> Option<usize> {
        match choices {
            [] => return None,
            [(_, share)] if *share >= 1.0 => return Some(0),
            _ => {}
        }
        let mut left = random_unit(self.book.seed, self.stream(purpose), self.k);
        choices.iter().position(|(_, share)| {
            let is_it = left < *share;
            left -= share;
            is_it
        })
    }

    fn chance(&self, purpose: &[u8; 8], share: f64) -> bool {
        share > 0.0 && random_unit(self.book.seed, self.stream(purpose), self.k) < share
    }
}

impl Decision {
    pub(crate) fn at_once(message: Rc<Message>) -> Self {
        Self { message, due_ns: 0, fault: None, close: false, ticket: None }
    }
}

/// 429, with the whole seconds after which it is worth another try.
fn too_many(wait_ns: u64) -> Message {
    let seconds = wait_ns.div_ceil(SECOND_NS).max(1).to_string();
    let headers =
        [("content-type", b"application/json".as_slice()), ("retry-after", seconds.as_bytes())];
    Message::new(
        429,
        headers,
        Body::Bytes(b"{\"error\":\"too many requests\"}\n".as_slice().into()),
    )
}

fn refusal(status: u16, why: &str) -> Message {
    let body = format!("{}\n", serde_json::json!({ "error": why }));
    Message::text(status, "application/json", body.as_bytes())
}
