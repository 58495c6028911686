//! A receiver's queue and thread: what keeps a slow one away from the test.
//!
//! What finds no room in the queue is dropped and counted. At the end each receiver has
//! [`FLUSH_NS`]; what it has not taken by then is counted too, and told.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, TrySendError, bounded};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_k6::metrics::{Registry, Sample};
use sojourn_outputs::wire::Failure;

/// Most samples that wait for one receiver's thread.
pub(super) const WAITING_MAX: u64 = 500_000;
/// Most batches of them.
const BATCHES_MAX: usize = 4_096;
/// How long receivers have at the end of a test, ns.
pub(super) const FLUSH_NS: u64 = 5 * SECOND_NS;
/// How long one attempt may take, ns.
const ATTEMPT_NS_MAX: u64 = 5 * SECOND_NS;
/// The pause after a failure while the test goes on; at the end they begin shorter.
const PAUSE_NS: u64 = SECOND_NS;
const LAST_PAUSE_NS: u64 = 100 * MILLISECOND_NS;
/// How much longer a thread's end is waited for than it may send.
const GRACE_NS: u64 = 200 * MILLISECOND_NS;

/// What sends samples, on a thread of its own: it may block as long as it is told.
pub(super) trait Sending: Send {
    /// Takes samples in; how many it had no room for.
    fn take(&mut self, samples: &[Sample], registry: &Registry) -> u64;

    /// Sends what there is to send. After [`Failure::Again`] it is called again with the same.
    fn push(&mut self, moment: Push<'_>) -> Result<(), Failure>;

    /// How many samples it has taken in that no receiver has, or ever will.
    fn unsent(&self) -> u64;
}

/// One attempt.
#[derive(Clone, Copy)]
pub(super) struct Push<'a> {
    /// How long it may take.
    pub(super) timeout: Duration,
    /// Whether the test has ended.
    pub(super) is_last: bool,
    /// The test's metrics.
    pub(super) registry: &'a Registry,
}

/// Samples on their way to a thread.
struct Batch {
    registry: Arc<Registry>,
    samples: Vec<Sample>,
}

/// A receiver's end at the test.
pub(super) struct Sender {
    shown: String,
    batches: Option<crossbeam_channel::Sender<Batch>>,
    registry: Option<Arc<Registry>>,
    /// Disconnected when the thread has ended.
    done: Receiver<()>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    given: AtomicU64,
    waiting: AtomicU64,
    refused: AtomicU64,
    unsent: AtomicU64,
    /// Until when anything may be sent; 0 while the test goes on.
    until_ns: AtomicU64,
    last_failure: Mutex<Option<String>>,
}

impl Shared {
    fn fail(&self, words: String) {
        *self.last_failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    }
}

impl Sender {
    /// Starts the thread; `shown` is the receiver as texts have it, without secrets.
    pub(super) fn start(
        shown: String,
        interval_ns: u64,
        sending: Box<dyn Sending>,
    ) -> io::Result<Self> {
        let (sender, batches) = bounded(BATCHES_MAX);
        let (alive, done) = bounded(0);
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        std::thread::Builder::new().name("output".to_owned()).spawn(move || {
            // Dropped whatever happens: that is how its end is seen.
            let _alive = alive;
            Worker { sending, batches, shared: own, registry: None }.run(interval_ns);
        })?;
        Ok(Self { shown, batches: Some(sender), registry: None, done, shared })
    }

    /// Puts samples into the queue, or counts them as dropped.
    pub(super) fn give(&mut self, samples: &[Sample], registry: &Registry) {
        let registry = self.registry.get_or_insert_with(|| Arc::new(registry.clone()));
        let count = samples.len() as u64;
        self.shared.given.fetch_add(count, Ordering::AcqRel);
        let before = self.shared.waiting.fetch_add(count, Ordering::AcqRel);
        let refuse = |why: &str| {
            self.shared.waiting.fetch_sub(count, Ordering::AcqRel);
            self.shared.refused.fetch_add(count, Ordering::AcqRel);
            self.shared.fail(why.to_owned());
        };
        if before + count > WAITING_MAX {
            return refuse("too many samples waited for it: no room for more");
        }
        let batch = Batch { registry: Arc::clone(registry), samples: samples.to_vec() };
        match self.batches.as_ref().map(|batches| batches.try_send(batch)) {
            Some(Ok(())) => {}
            Some(Err(TrySendError::Full(_))) => {
                refuse("too many samples waited for it: no room for more");
            }
            Some(Err(TrySendError::Disconnected(_))) | None => refuse("its thread has ended"),
        }
    }

    /// No sample follows, and what waits has until then.
    pub(super) fn begin_end(&mut self, until_ns: u64) {
        self.shared.until_ns.store(until_ns, Ordering::Release);
        self.batches = None;
    }

    /// Waits until then at most, and says what did not arrive. A thread that is not done is left:
    /// it ends with the process.
    pub(super) fn end(&mut self, until_ns: u64) -> Option<String> {
        let left_ns = until_ns.saturating_add(GRACE_NS).saturating_sub(now_ns());
        let ended = self.done.recv_timeout(Duration::from_nanos(left_ns));
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        let waiting = read(&self.shared.waiting);
        let given = read(&self.shared.given);
        let lost = read(&self.shared.refused) + read(&self.shared.unsent) + waiting;
        let lost = lost.min(given);
        let failure = self.shared.last_failure.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = match ended {
            Err(RecvTimeoutError::Timeout) => {
                let late = "had not arrived when its time was up";
                format!("{}: {lost} of {given} samples {late}", self.shown)
            }
            _ if lost == 0 => return None,
            _ => format!("{}: {lost} of {given} samples did not arrive", self.shown),
        };
        if let Some(failure) = &*failure {
            told.push_str(&format!(" (last failure: {failure})"));
        }
        Some(told)
    }
}

/// The thread.
struct Worker {
    sending: Box<dyn Sending>,
    batches: Receiver<Batch>,
    shared: Arc<Shared>,
    registry: Option<Arc<Registry>>,
}

impl Worker {
    fn run(mut self, interval_ns: u64) {
        let mut push_ns = now_ns() + interval_ns;
        loop {
            let left_ns = push_ns.saturating_sub(now_ns());
            match self.batches.recv_timeout(Duration::from_nanos(left_ns)) {
                Ok(batch) => self.take(batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if now_ns() >= push_ns {
                let pause_ns = match self.push(false) {
                    Err(Failure::Again(_)) => interval_ns.min(PAUSE_NS),
                    _ => interval_ns,
                };
                // A moment that has passed is not made up for.
                push_ns = (push_ns + pause_ns).max(now_ns());
            }
        }
        self.finish();
    }

    /// What is held is counted as lost until it is known to have arrived.
    fn count(&self) {
        self.shared.unsent.store(self.sending.unsent(), Ordering::Release);
    }

    fn take(&mut self, batch: Batch) {
        let refused = self.sending.take(&batch.samples, &batch.registry);
        if refused > 0 {
            self.shared.refused.fetch_add(refused, Ordering::AcqRel);
            self.shared.fail(format!("{refused} samples of a moment had no room"));
        }
        // Counted twice for a moment rather than not at all.
        self.count();
        self.shared.waiting.fetch_sub(batch.samples.len() as u64, Ordering::AcqRel);
        self.registry = Some(batch.registry);
    }

    /// One attempt, if there is time for it.
    fn push(&mut self, is_last: bool) -> Result<(), Failure> {
        let Some(registry) = &self.registry else { return Ok(()) };
        let until_ns = self.shared.until_ns.load(Ordering::Acquire);
        let left_ns = match until_ns {
            0 => ATTEMPT_NS_MAX,
            until_ns => until_ns.saturating_sub(now_ns()).min(ATTEMPT_NS_MAX),
        };
        if left_ns < MILLISECOND_NS {
            return Err(Failure::Never("its time was up".to_owned()));
        }
        let timeout = Duration::from_nanos(left_ns);
        let pushed = self.sending.push(Push { timeout, is_last, registry });
        self.count();
        if let Err(failure) = &pushed {
            self.shared.fail(failure.to_string());
        }
        pushed
    }

    /// Tries until everything is taken, will never be, or the time is up.
    fn finish(&mut self) {
        let mut pause_ns = LAST_PAUSE_NS;
        while let Err(Failure::Again(_)) = self.push(true) {
            let left_ns = self.shared.until_ns.load(Ordering::Acquire).saturating_sub(now_ns());
            std::thread::sleep(Duration::from_nanos(pause_ns.min(left_ns)));
            pause_ns = (pause_ns * 2).min(PAUSE_NS);
        }
    }
}
