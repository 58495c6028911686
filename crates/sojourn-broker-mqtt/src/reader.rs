//! The thread that reads a tap's connection.
//!
//! A broker drops what a subscriber does not take (Mosquitto: beyond a thousand messages, without a
//! word). So the connection is read and answered whatever the tap's own thread is doing, and what
//! it does not fetch is kept here up to a bound; what is beyond that is counted as refused, and
//! voids the run, instead of being lost in silence.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use sojourn_broker::Sink;
use sojourn_clock::now_ns;
use sojourn_plan::MqttVersion;
use sojourn_socket::Bell;

use crate::codec::{self, Packet};
use crate::connection::{Connection, Found, Lost};
use crate::subscription::{Subscription, hand_over};

/// What waits for the tap's thread at most, bytes; one larger message is kept all the same.
const KEPT_BYTES_MAX: usize = 32 << 20;
/// The longest wait of the thread; it is woken when there is something to do.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Messages received at one instant, as packets one after the other.
#[derive(Debug)]
pub(crate) struct Chunk {
    stamp_ns: u64,
    packets: Vec<u8>,
}

impl Chunk {
    /// Hands each message over.
    pub(crate) fn hand_over(&self, version: MqttVersion, sink: &mut dyn Sink) {
        let mut rest = self.packets.as_slice();
        // They have been read once already.
        while let Ok(Some(found)) = codec::frame(rest) {
            if let Ok(Packet::Publish(publish)) = codec::packet(&found, version) {
                hand_over(&publish, self.stamp_ns, sink);
            }
            rest = &rest[found.length..];
        }
    }
}

/// What the tap's thread finds.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    /// In the order received.
    pub(crate) chunks: VecDeque<Chunk>,
    /// Everything received before this instant is in the chunks of this and earlier fetches.
    pub(crate) read_up_to_ns: u64,
    /// The connection is no more; nothing follows.
    pub(crate) lost: Option<Lost>,
}

#[derive(Debug, Default)]
struct State {
    fetched: Fetched,
    bytes: usize,
    refused: u64,
    retained: u64,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    bell: Bell,
    is_over: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection with its thread; dropped, it is closed.
#[derive(Debug)]
pub(crate) struct Reader {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Errs when the system has no thread or descriptor left.
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            bell: Bell::new()?,
            is_over: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("mqtt-tap".to_owned())
            .spawn(move || run(connection, &own))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Waits up to `timeout` for messages and takes all that there are.
    pub(crate) fn fetch(&self, timeout: Duration) -> Fetched {
        let mut state = self.shared.lock();
        if state.fetched.chunks.is_empty() && state.fetched.lost.is_none() {
            // It looks again, so that it can say up to when nothing has come.
            self.shared.bell.ring();
            let is_quiet =
                |state: &mut State| state.fetched.chunks.is_empty() && state.fetched.lost.is_none();
            let waited = self.shared.changed.wait_timeout_while(state, timeout, is_quiet);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.bytes = 0;
        Fetched {
            chunks: std::mem::take(&mut state.fetched.chunks),
            read_up_to_ns: state.fetched.read_up_to_ns,
            lost: state.fetched.lost.take(),
        }
    }

    /// Whether more has come since the last fetch.
    pub(crate) fn has_more(&self) -> bool {
        !self.shared.lock().fetched.chunks.is_empty()
    }

    /// Messages refused at the bound, and messages left out because they had been kept.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let state = self.shared.lock();
        (state.refused, state.retained)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.bell.ring();
        if let Some(thread) = self.thread.take() {
            // It waits for nothing but the bell.
            drop(thread.join());
        }
    }
}

fn run(mut connection: Connection, shared: &Shared) {
    let mut subscription = Subscription::new(false);
    // What had come along with the broker's word that we are subscribed.
    let mut outcome = receive(&mut connection, &mut subscription, now_ns(), shared);
    while outcome.is_ok() {
        if shared.is_over.load(Ordering::SeqCst) {
            return connection.close();
        }
        outcome = step(&mut connection, &mut subscription, shared);
    }
    shared.lock().fetched.lost = outcome.err();
    shared.changed.notify_one();
}

fn step(
    connection: &mut Connection,
    subscription: &mut Subscription,
    shared: &Shared,
) -> Result<(), Lost> {
    shared.bell.hush();
    let now = now_ns();
    match connection.read()? {
        Found::More(stamp_ns) => {
            receive(connection, subscription, stamp_ns, shared)?;
            connection.flush()?;
            connection.tend(stamp_ns, false)
        }
        Found::Nothing => {
            shared.lock().fetched.read_up_to_ns = now;
            connection.flush()?;
            connection.tend(now, true)?;
            connection.wait(WAIT_MAX, Some(&shared.bell))
        }
    }
}

fn receive(
    connection: &mut Connection,
    subscription: &mut Subscription,
    stamp_ns: u64,
    shared: &Shared,
) -> Result<(), Lost> {
    let mut packets = Vec::new();
    let mut keep = |_: &codec::Publish<'_>, packet: &[u8]| packets.extend_from_slice(packet);
    let received = subscription.receive(connection, usize::MAX, &mut keep);
    let mut state = shared.lock();
    state.retained = subscription.retained;
    if packets.is_empty() {
        return received.map(drop);
    }
    if state.bytes > 0 && state.bytes + packets.len() > KEPT_BYTES_MAX {
        state.refused += received? as u64;
        return Ok(());
    }
    state.bytes += packets.len();
    let was_empty = state.fetched.chunks.is_empty();
    state.fetched.chunks.push_back(Chunk { stamp_ns, packets });
    drop(state);
    if was_empty {
        shared.changed.notify_one();
    }
    received.map(drop)
}
