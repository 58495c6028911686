//! Who reads a tap's connection: the tap's own thread, and a keeper while that is away.
//!
//! A broker drops what a subscriber does not take (Mosquitto: beyond a thousand messages, without a
//! word). So the connection is read and answered whatever the tap's own thread is doing. While that
//! thread polls, it reads by itself: a hand-over between threads would cost more than the message.
//! When it has been away for a moment, with a sink that is slow, the keeper reads, and keeps what
//! comes up to a bound; what is beyond that is counted as refused, and voids the run, instead of
//! being lost in silence.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use sojourn_broker::Sink;
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_plan::MqttVersion;
use sojourn_socket::Bell;

use crate::codec::{self, Packet};
use crate::connection::{Connection, Found, Lost};
use crate::subscription::{Subscription, hand_over};

/// What waits for the tap's thread at most, bytes; one larger message is kept all the same.
const KEPT_BYTES_MAX: usize = 32 << 20;
/// The keeper's longest wait for the socket; it is woken when the tap's thread comes back.
const WAIT_MAX: Duration = Duration::from_millis(500);
/// How often the keeper looks whether the tap's thread is there. What comes meanwhile waits in the
/// kernel, or in the broker for an acknowledgement: less than its thousand, up to 200,000 a second.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// A tap's thread that has been gone for longer is away: one that keeps up is back sooner.
const AWAY_NS: u64 = MILLISECOND_NS;

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
    /// The broker's last sign of life.
    pub(crate) heard_ns: u64,
    /// How late what comes may be, nanoseconds.
    pub(crate) behind_ns: u64,
    /// The connection is no more; nothing follows.
    pub(crate) lost: Option<Lost>,
}

/// A connection with its keeper; dropped, it is closed.
#[derive(Debug)]
pub(crate) struct Reader {
    shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    /// Held by whoever reads, also while it waits for the socket.
    session: Mutex<Session>,
    /// The tap's thread waits for the session: the keeper lets go.
    is_wanted: AtomicBool,
    /// Ends the keeper's wait.
    bell: Bell,
    /// When the tap's thread let go of the session; 0: it is known to be slow.
    left_ns: AtomicU64,
    has_kept: AtomicBool,
    refused: AtomicU64,
    retained: AtomicU64,
    is_over: AtomicBool,
}

impl Reader {
    /// Errs when the system has no thread or descriptor left.
    pub(crate) fn start(mut connection: Connection) -> std::io::Result<Self> {
        connection.listen_for_echo();
        let shared = Arc::new(Shared {
            session: Mutex::new(Session {
                connection,
                subscription: Subscription::new(false),
                kept: Fetched::default(),
                bytes: 0,
                is_over: false,
            }),
            is_wanted: AtomicBool::new(false),
            bell: Bell::new()?,
            left_ns: AtomicU64::new(0),
            has_kept: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            retained: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        let mut session = shared.lock();
        // What had come along with the broker's word that we are subscribed.
        if let Err(lost) = session.receive(now_ns(), &shared) {
            session.end(lost);
        }
        drop(session);
        let own = Arc::clone(&shared);
        let keeper =
            std::thread::Builder::new().name("mqtt-keeper".to_owned()).spawn(move || keep(&own))?;
        Ok(Self { shared, keeper: Some(keeper) })
    }

    /// Waits up to `timeout` for messages and takes all that there are.
    pub(crate) fn fetch(&self, timeout: Duration) -> Fetched {
        let shared = &*self.shared;
        let mut session = shared.take_back();
        let is_slow = !session.kept.chunks.is_empty();
        if !is_slow
            && !session.is_over
            && let Err(lost) = session.read_for(timeout, shared)
        {
            session.end(lost);
        }
        session.bytes = 0;
        let heard_ns = session.connection.heard_ns();
        let behind_ns = session.connection.behind_ns(now_ns());
        let kept = &mut session.kept;
        let fetched = Fetched {
            chunks: std::mem::take(&mut kept.chunks),
            read_up_to_ns: kept.read_up_to_ns,
            heard_ns,
            behind_ns,
            lost: kept.lost.take(),
        };
        shared.has_kept.store(false, Ordering::Relaxed);
        drop(session);
        // While the sink is slow, the keeper goes on without a pause.
        shared.left_ns.store(if is_slow { 0 } else { now_ns() }, Ordering::Relaxed);
        if is_slow && let Some(keeper) = &self.keeper {
            keeper.thread().unpark();
        }
        fetched
    }

    /// Whether more has come since the last fetch.
    pub(crate) fn has_more(&self) -> bool {
        self.shared.has_kept.load(Ordering::Relaxed)
    }

    /// Messages refused at the bound, and messages left out because they had been kept.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (count(&self.shared.refused), count(&self.shared.retained))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.bell.ring();
        if let Some(keeper) = self.keeper.take() {
            keeper.thread().unpark();
            // It waits for nothing but the bell and its time.
            drop(keeper.join());
        }
        self.shared.lock().connection.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Session>> {
        match self.session.try_lock() {
            Ok(session) => Some(session),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The session for the tap's thread; the keeper, if it has it, lets go at once.
    fn take_back(&self) -> MutexGuard<'_, Session> {
        self.try_lock().unwrap_or_else(|| {
            self.is_wanted.store(true, Ordering::SeqCst);
            self.bell.ring();
            let session = self.lock();
            self.is_wanted.store(false, Ordering::SeqCst);
            session
        })
    }

    fn must_let_go(&self) -> bool {
        self.is_wanted.load(Ordering::SeqCst) || self.is_over.load(Ordering::SeqCst)
    }
}

/// The keeper's work, until the reader is dropped or the connection is lost.
fn keep(shared: &Shared) {
    while !shared.is_over.load(Ordering::SeqCst) {
        let left_ns = shared.left_ns.load(Ordering::Relaxed);
        // Whoever holds the session is there.
        if now_ns().saturating_sub(left_ns) > AWAY_NS
            && let Some(mut session) = shared.try_lock()
        {
            session.read_until_wanted(shared);
            if session.is_over {
                return;
            }
        }
        std::thread::park_timeout(LOOK_EVERY);
    }
}

#[derive(Debug)]
struct Session {
    connection: Connection,
    subscription: Subscription,
    /// What is for the tap's thread.
    kept: Fetched,
    /// Bytes of its chunks.
    bytes: usize,
    /// The connection is lost: what has come of it has been looked at, and is not looked at again.
    is_over: bool,
}

impl Session {
    /// For the tap's thread: reads until there is something, up to `timeout`.
    fn read_for(&mut self, timeout: Duration, shared: &Shared) -> Result<(), Lost> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = now_ns().saturating_add(timeout_ns);
        if self.connection.is_drained {
            // A look would find nothing, most of the time.
            self.connection.wait(timeout, None)?;
        }
        loop {
            let now = now_ns();
            let is_quiet = !self.step(now, shared)?;
            if !self.kept.chunks.is_empty() || now >= until_ns {
                return Ok(());
            }
            if is_quiet {
                self.connection.wait(Duration::from_nanos(until_ns - now), None)?;
            }
        }
    }

    /// For the keeper.
    fn read_until_wanted(&mut self, shared: &Shared) {
        let mut outcome = Ok(());
        while outcome.is_ok() && !self.is_over && !shared.must_let_go() {
            shared.bell.hush();
            outcome = self.step(now_ns(), shared).and_then(|found| {
                // What was asked for before the bell was hushed, it would not ring for again.
                match found || shared.must_let_go() {
                    true => Ok(()),
                    false => self.connection.wait(WAIT_MAX, Some(&shared.bell)),
                }
            });
        }
        if let Err(lost) = outcome {
            self.end(lost);
        }
    }

    fn end(&mut self, lost: Lost) {
        self.is_over = true;
        self.kept.lost = Some(lost);
    }

    /// Reads and answers once; whether anything had come.
    fn step(&mut self, now: u64, shared: &Shared) -> Result<bool, Lost> {
        let found = self.connection.read()?;
        if self.connection.is_drained {
            self.kept.read_up_to_ns = now;
        }
        match found {
            Found::More(stamp_ns) => {
                self.receive(stamp_ns, shared)?;
                self.connection.flush()?;
                self.connection.tend(stamp_ns, false)?;
                Ok(true)
            }
            Found::Nothing => {
                self.connection.flush()?;
                self.connection.tend(now, true)?;
                Ok(false)
            }
        }
    }

    fn receive(&mut self, stamp_ns: u64, shared: &Shared) -> Result<(), Lost> {
        let mut packets = Vec::with_capacity(self.connection.inbound.bytes().len());
        let mut keep = |_: &codec::Publish<'_>, packet: &[u8]| packets.extend_from_slice(packet);
        let received = self.subscription.receive(&mut self.connection, usize::MAX, &mut keep);
        shared.retained.store(self.subscription.retained, Ordering::Relaxed);
        if packets.is_empty() {
            return received.map(drop);
        }
        if self.bytes > 0 && self.bytes + packets.len() > KEPT_BYTES_MAX {
            shared.refused.fetch_add(received? as u64, Ordering::Relaxed);
            return Ok(());
        }
        self.bytes += packets.len();
        self.kept.chunks.push_back(Chunk { stamp_ns, packets });
        shared.has_kept.store(true, Ordering::Relaxed);
        received.map(drop)
    }
}
