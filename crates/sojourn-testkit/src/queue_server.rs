//! An HTTP server that is an exact queue: c servers, drawn service times, and a book of the truth.
//!
//! Each request's start and finish are fixed when it arrives ([`QueueModel`]); the answer leaves at
//! the finish, and the book also says when it really left. A client's measured response time is
//! thus checked twice: against this server's book, request by request, and against
//! [`theory`](crate::theory) on average.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sojourn_mock::{Clerk, Draws, QueueModel, Reply, Request, Responder, Truth, TruthRecord};

use crate::server::{Server, response};

/// The queue's dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueShape {
    /// Requests served at a time.
    pub servers: NonZeroUsize,
    /// Requests that may wait; one more is answered 503 at once.
    pub waiting_max: usize,
    /// Requests the book holds; beyond, they are served but only counted.
    pub records_max: usize,
}

impl Default for QueueShape {
    /// One server, a waiting line of 100,000, a book of a million.
    fn default() -> Self {
        Self { servers: NonZeroUsize::MIN, waiting_max: 100_000, records_max: 1_000_000 }
    }
}

/// A queue behind an HTTP address. Any method and path will do; the answer is the request's
/// [`TruthRecord`] as JSON, without `sent_ns`, which is not known yet.
#[derive(Debug)]
pub struct QueueServer {
    server: Server,
    book: Arc<Mutex<Book>>,
}

#[derive(Debug, Default)]
struct Book {
    records: Vec<TruthRecord>,
    unrecorded: u64,
    refused: u64,
}

impl QueueServer {
    /// Opens the queue on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// No port, descriptor or thread to be had.
    pub fn start(shape: QueueShape, service: Draws) -> io::Result<Self> {
        let book = Arc::new(Mutex::new(Book::default()));
        let pen = Pen { book: book.clone(), records_max: shape.records_max };
        let model = QueueModel::new(shape.servers, shape.waiting_max);
        let server = Server::start(Desk(Clerk::new(model, service, pen)))?;
        Ok(Self { server, book })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The URL of a path (which starts with `/`).
    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// The counters of the connections and requests beneath.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// A copy of the book so far, in order of arrival.
    pub fn truth(&self) -> Vec<TruthRecord> {
        open(&self.book).records.clone()
    }

    /// Requests answered 503 because the waiting line was full.
    pub fn refused(&self) -> u64 {
        open(&self.book).refused
    }

    /// Requests that were served but found the book full.
    pub fn unrecorded(&self) -> u64 {
        open(&self.book).unrecorded
    }

    /// Writes the book so far, one JSON object a line.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_ndjson(&self, mut writer: impl io::Write) -> io::Result<()> {
        for record in self.truth() {
            serde_json::to_writer(&mut writer, &record)?;
            writer.write_all(b"\n")?;
        }
        writer.flush()
    }
}

/// Admits requests; lives on the server's thread.
struct Desk(Clerk<Pen>);

/// Writes the book.
struct Pen {
    book: Arc<Mutex<Book>>,
    records_max: usize,
}

impl Responder for Desk {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let Some(record) = self.0.admit(request.arrival_ns) else {
            return Reply::now(response(503, "text/plain", b"the queue is full\n"));
        };
        let answer = response(200, "application/json", record.body().as_bytes());
        Reply::at(record.finish_ns, answer).exact().tagged(record.id)
    }

    fn sent(&mut self, tag: u64, sent_ns: u64) {
        self.0.truth().ended(tag, Some(sent_ns));
    }
}

impl Truth for Pen {
    fn admitted(&mut self, record: &TruthRecord) {
        let mut book = open(&self.book);
        if book.records.len() < self.records_max {
            book.records.push(*record);
        } else {
            book.unrecorded += 1;
        }
    }

    fn ended(&mut self, id: u64, sent_ns: Option<u64>) {
        // Records are numbered from 0 without a gap, so a record's id is its place.
        let place = usize::try_from(id).unwrap_or(usize::MAX);
        if let Some(record) = open(&self.book).records.get_mut(place) {
            record.sent_ns = sent_ns;
        }
    }

    fn refused(&mut self) {
        open(&self.book).refused += 1;
    }
}

/// A book whose writer panicked is still true up to there.
fn open(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}
