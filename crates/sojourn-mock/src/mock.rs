//! A mock at work: its book behind an address.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use sojourn_broker::{BrokerError, Registry};

use crate::book::Book;
use crate::callbacks::{CallbackFigures, Courier};
use crate::desk::{Desk, Office};
use crate::enrolment::Authority;
use crate::others::{Others, TlsIdentity};
use crate::queue::{Queue, TruthFile, TruthReport};
use crate::server::{Counters, Figures, Meter, Server, ServerConfig, Takeover, Waiting};

/// How a mock serves.
#[derive(Clone)]
pub struct MockOptions {
    /// Address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Threads; with a queue there is always one, because requests are served in order.
    pub threads: NonZeroUsize,
    /// Most connections of all threads together.
    pub connections_max: usize,
    /// Where the truth about each request of the queue is written, as NDJSON.
    pub truth: Option<PathBuf>,
    /// Stands for this run in `uuid()`: two runs never make the same.
    pub run_id: String,
    /// Speak to the brokers that callbacks publish to.
    pub connectors: Arc<Registry>,
    /// Who it is to TLS clients; without one it speaks no TLS.
    pub tls: Option<Arc<TlsIdentity>>,
    /// Its threads never sleep: answers are not late by a wake-up, and each thread takes a core.
    pub spin: bool,
}

/// A mock at work; dropped, it stops at once.
pub struct Mock {
    // Dropped first: its threads write what the others finish.
    server: Server,
    /// Serves TLS and HTTP/2; with a queue nobody does, because its order is that of one thread.
    others: Option<Others>,
    office: Arc<Office>,
    /// As it was at the start, and stays.
    queue: Option<Queue>,
    truth: Option<TruthReport>,
}

/// What is left to say when a mock has ended.
#[derive(Debug, Default)]
pub struct MockEnd {
    /// Everything counted.
    pub figures: Figures,
    /// Lines of the truth file, where there is one, or why it is not whole.
    pub truth: Option<io::Result<u64>>,
    /// Lines that the disk could not take in time.
    pub truth_left_out: u64,
    /// What became of callbacks.
    pub callbacks: CallbackFigures,
    /// Why some failed or were refused, and how often.
    pub callback_failures: Vec<(String, u64)>,
}

/// Why a mock does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A channel that callbacks publish to is of no use.
    #[error(transparent)]
    Channel(#[from] BrokerError),
    /// The address is taken or not ours; the truth file cannot be made (and is named); the identity
    /// cannot be used; no descriptor, thread or key to be had.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Mock {
    /// Starts a book.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(book: Book, options: &MockOptions) -> Result<Self, StartError> {
        let threads = if book.queue.is_some() { NonZeroUsize::MIN } else { options.threads };
        let courier = Courier::start(options.connectors.clone())?;
        courier.prepare(&book)?;
        let authority = Authority::new()?;
        let office = Office::new(book, options.run_id.clone(), Some(courier), authority);
        let office = Arc::new(office);
        let (mut file, truth) = match &options.truth {
            Some(path) => {
                let (file, report) = TruthFile::create(path).map_err(|error| {
                    let message = format!("cannot write {}: {error}", path.display());
                    io::Error::new(error.kind(), message)
                })?;
                (Some(file), Some(report))
            }
            None => (None, None),
        };
        let counters = Arc::new(Counters::default());
        let queue = office.book().queue.clone();
        let others = match queue {
            Some(_) => None,
            None => {
                let identity = options.tls.as_deref();
                let most = options.connections_max;
                Some(Others::start(office.clone(), counters.clone(), identity, most)?)
            }
        };
        let config = ServerConfig {
            listen: options.listen,
            connections_max: options.connections_max.div_ceil(threads.get()),
            others: others.as_ref().map(|it| it.door() as Arc<dyn Takeover>),
            waiting: match (options.spin, queue.is_some()) {
                (true, _) => Waiting::Spinning,
                (false, true) => Waiting::OnTime,
                (false, false) => Waiting::Asleep,
            },
            ..ServerConfig::default()
        };
        let makers = (0..threads.get()).map(|_| {
            let (office, queue, truth) = (office.clone(), queue.clone(), file.take());
            move || Desk::new(office, queue.as_ref(), truth)
        });
        let server = Server::start(&config, makers.collect())?;
        // It has been empty until now.
        let _set = office.meter.set(server.meter().with(counters));
        Ok(Self { server, others, office, queue, truth })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The URL of a path (which starts with `/`).
    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// Reads its figures from elsewhere.
    pub fn meter(&self) -> Meter {
        self.office.meter.get().cloned().unwrap_or_else(|| self.server.meter())
    }

    /// From now on requests are answered by this book; those that are held, by theirs. A queue
    /// stays as it is: false when the book has another one.
    ///
    /// # Errors
    /// A channel that its callbacks publish to is of no use; the mock goes on as it was.
    pub fn replace(&self, book: Book) -> Result<bool, BrokerError> {
        if let Some(courier) = &self.office.courier {
            courier.prepare(&book)?;
        }
        let is_same = book.queue == self.queue;
        self.office.publish(book);
        Ok(is_same)
    }

    /// What became of callbacks so far.
    pub fn callbacks(&self) -> CallbackFigures {
        self.office.courier.as_ref().map(Courier::figures).unwrap_or_default()
    }

    /// Stops accepting and answers what is held.
    pub fn drain(&self) {
        self.server.drain();
        if let Some(others) = &self.others {
            others.drain();
        }
    }

    /// Whether everything is answered after a drain.
    pub fn has_ended(&self) -> bool {
        self.server.has_ended() && self.others.as_ref().is_none_or(Others::has_ended)
    }

    /// Ends it, whether or not it was drained, and says what is left to say.
    pub fn finish(self) -> MockEnd {
        let meter = self.meter();
        drop(self.server);
        drop(self.others);
        let truth_left_out = self.truth.as_ref().map_or(0, TruthReport::left_out);
        let truth = self.truth.map(TruthReport::finish);
        let mut end =
            MockEnd { figures: meter.figures(), truth, truth_left_out, ..MockEnd::default() };
        if let Some(courier) = &self.office.courier {
            courier.finish();
            end.callbacks = courier.figures();
            end.callback_failures = courier.reasons();
        }
        end
    }
}

impl std::fmt::Debug for Mock {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Mock").field("address", &self.address()).finish_non_exhaustive()
    }
}
