//! Publishing: a thread of its own writes messages and stamps what acknowledges them.
//!
//! Core NATS acknowledges nothing. The server works through what a connection says in order, so the
//! pong to a ping sent behind messages says that it has taken them; a subject it refused it has
//! named before. A stream answers each message by itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sojourn_broker::{BrokerError, Handover, Outcome, Publisher, PublisherSettings, Readiness};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::NatsChannel;
use sojourn_socket::Bell;

use crate::config::Settings;
use crate::connection::Connection;
use crate::headers;
use crate::jetstream::{Failure, JetStream};
use crate::subject::unpublishable;
use crate::worker::Worker;

/// How long it may take to look for a stream.
const LOOK_NS_MAX: u64 = 5 * SECOND_NS;
/// JetStream's answer to who may publish and not ask.
const FORBIDDEN: u64 = 403;

/// Sends messages to NATS without blocking.
pub struct NatsPublisher {
    handover: Handover<Job>,
    readiness: Readiness,
    settings: Settings,
    stream: Option<String>,
    signal: Arc<Signal>,
}

/// One message on its way to the worker: subject, headers and payload one behind the other.
pub(crate) struct Job {
    pub(crate) token: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) subject: usize,
    pub(crate) headers: usize,
}

/// Wakes the worker when it sleeps.
pub(crate) struct Signal {
    pub(crate) bell: Bell,
    pub(crate) asleep: AtomicBool,
    pub(crate) stop: AtomicBool,
}

impl Signal {
    fn new() -> io::Result<Self> {
        Ok(Self {
            bell: Bell::new()?,
            asleep: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        })
    }

    fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            self.bell.ring();
        }
    }
}

impl NatsPublisher {
    /// A publisher. It connects in the background: an unreachable server shows in the outcomes.
    /// Errs when a file of the settings cannot be used.
    pub fn new(nats: &NatsChannel, how: PublisherSettings) -> Result<Self, BrokerError> {
        let settings = Settings::new(nats)?;
        let no_thread =
            |error: &io::Error| BrokerError::new(format!("no thread to publish with: {error}"));
        let (handover, taken, finished) = Handover::new(how.queue_max, "the broker");
        let signal = Arc::new(Signal::new().map_err(|error| no_thread(&error))?);
        let (readiness, first) = Readiness::new();
        let worker = Worker::new(
            settings.clone(),
            nats.stream.clone(),
            taken,
            (finished, how.wake),
            Arc::clone(&signal),
            first,
        );
        std::thread::Builder::new()
            .name("nats-publisher".to_owned())
            .spawn(move || worker.run())
            .map_err(|error| no_thread(&error))?;
        Ok(Self { handover, readiness, settings, stream: nats.stream.clone(), signal })
    }

    /// Errs where the stream is not there. Who may publish need not have the right to ask.
    fn find_stream(&self, stream: &str) -> Result<(), BrokerError> {
        let (settings, deadline_ns) = (&self.settings, now_ns() + LOOK_NS_MAX);
        let connection = &mut Connection::open(settings, deadline_ns).map_err(|lost| lost.error)?;
        match (JetStream { connection, settings, stream, deadline_ns }).stream_state() {
            Ok(_) | Err(Failure::Refused { code: FORBIDDEN, .. }) => Ok(()),
            Err(failure) => Err(failure.into_error()),
        }
    }
}

impl Publisher for NatsPublisher {
    /// Whether the stream takes a subject shows in the outcomes: servers map subjects.
    fn ready(&mut self, _topics: &[String]) -> Result<(), BrokerError> {
        self.readiness.wait()?;
        self.stream.as_ref().map_or(Ok(()), |stream| self.find_stream(stream))
    }

    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        self.handover.check_room()?;
        if let Some(problem) = unpublishable(topic) {
            return Err(problem.to_owned());
        }
        let mut bytes = Vec::with_capacity(topic.len() + payload.len() + 64 * headers.len());
        bytes.extend_from_slice(topic.as_bytes());
        headers::write(&mut bytes, key, headers)?;
        let headers = bytes.len() - topic.len();
        bytes.extend_from_slice(payload);
        self.handover.send(Job { token, bytes, subject: topic.len(), headers })?;
        self.signal.wake();
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        self.handover.poll(outcomes);
    }
}

impl Drop for NatsPublisher {
    fn drop(&mut self) {
        self.signal.stop.store(true, Ordering::SeqCst);
        self.signal.asleep.store(true, Ordering::SeqCst);
        self.signal.wake();
    }
}

impl std::fmt::Debug for NatsPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NatsPublisher")
            .field("pending", &self.handover.pending())
            .finish_non_exhaustive()
    }
}
