//! The bounded queue between the receiver's thread and the tap's.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use sojourn_broker::RawMessage;
use sojourn_clock::now_ns;

use crate::config::Limits;

/// A request as a message of the path's topic.
pub(crate) fn message<'a>(
    stamp_ns: u64,
    path: &'a str,
    headers: &'a HeaderMap,
    body: &'a [u8],
) -> RawMessage<'a> {
    let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    RawMessage {
        stamp_ns,
        topic: path,
        key: None,
        headers: pairs.collect(),
        payload: body,
        position: None,
    }
}

/// A request received in full.
#[derive(Debug)]
pub(crate) struct Received {
    /// When its whole body was here.
    pub(crate) stamp_ns: u64,
    /// Its path, without the query.
    pub(crate) path: String,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: Body,
    /// Why it is no event.
    pub(crate) problem: Option<&'static str>,
}

/// Bytes that count against the queue's bound until they are dropped.
#[derive(Debug)]
pub(crate) struct Body {
    bytes: Vec<u8>,
    queue: Arc<Queue>,
}

/// Messages in the order of their stamps, bounded in number and bytes.
#[derive(Debug)]
pub(crate) struct Queue {
    limits: Limits,
    state: Mutex<State>,
    arrived: Condvar,
    /// Of bodies, being received, queued or handed over.
    bytes: AtomicUsize,
    refused: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Received>,
    /// Why no more will come.
    ended: Option<String>,
}

impl Queue {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: Mutex::default(),
            arrived: Condvar::new(),
            bytes: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Longest body, bytes.
    pub(crate) fn body_bytes_max(&self) -> usize {
        self.limits.body_bytes_max
    }

    /// Most connections.
    pub(crate) fn connections_max(&self) -> usize {
        self.limits.connections_max
    }

    /// Messages refused, and connections that may have carried one.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts a message refused.
    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Stamps a message and queues it; false when the queue is full. Stamping under the lock that
    /// [`Self::take`] reads its watermark under keeps the two in order.
    pub(crate) fn push(
        &self,
        path: String,
        headers: HeaderMap,
        body: Body,
        problem: Option<&'static str>,
    ) -> bool {
        {
            let mut state = self.lock();
            if state.messages.len() >= self.limits.messages_max {
                return false;
            }
            let stamp_ns = now_ns();
            state.messages.push_back(Received { stamp_ns, path, headers, body, problem });
        }
        self.arrived.notify_one();
        true
    }

    /// Waits up to `timeout` for a message, then moves all there are into `taken`. Returns an
    /// instant that every message stamped before it has been taken by now, or why no more will
    /// come.
    pub(crate) fn take(
        &self,
        timeout: Duration,
        taken: &mut VecDeque<Received>,
    ) -> Result<u64, String> {
        let waiting = |state: &mut State| state.messages.is_empty() && state.ended.is_none();
        let (mut state, _timed_out) = self
            .arrived
            .wait_timeout_while(self.lock(), timeout, waiting)
            .unwrap_or_else(PoisonError::into_inner);
        let watermark_ns = now_ns();
        if state.messages.is_empty()
            && let Some(reason) = &state.ended
        {
            return Err(reason.clone());
        }
        taken.append(&mut state.messages);
        Ok(watermark_ns)
    }

    /// No more will come, for this reason.
    pub(crate) fn end(&self, reason: &str) {
        self.lock().ended.get_or_insert_with(|| reason.to_owned());
        self.arrived.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here can panic half way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Body {
    /// An empty body whose bytes will count.
    pub(crate) fn new(queue: &Arc<Queue>) -> Self {
        Self { bytes: Vec::new(), queue: Arc::clone(queue) }
    }

    /// Adds a piece; false when the queue's bound on bytes does not allow it.
    pub(crate) fn extend(&mut self, piece: &[u8]) -> bool {
        let held = &self.queue.bytes;
        let before = held.fetch_add(piece.len(), Ordering::Relaxed);
        if before.saturating_add(piece.len()) > self.queue.limits.bytes_max {
            held.fetch_sub(piece.len(), Ordering::Relaxed);
            return false;
        }
        self.bytes.extend_from_slice(piece);
        true
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.queue.bytes.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}
