//! One signal to stop, for threads that wait and tasks that await.

use sojourn_clock::now_ns;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// A signal that is raised once and stays raised.
pub(crate) struct StopSignal {
    raised: watch::Sender<bool>,
    lock: Mutex<()>,
    wake: Condvar,
}

impl StopSignal {
    pub(crate) fn new() -> Self {
        Self { raised: watch::Sender::new(false), lock: Mutex::new(()), wake: Condvar::new() }
    }

    pub(crate) fn raise(&self) {
        // Taken so that a thread between its look and its wait is not missed.
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.raised.send_replace(true);
        drop(guard);
        self.wake.notify_all();
    }

    pub(crate) fn is_raised(&self) -> bool {
        *self.raised.borrow()
    }

    /// Blocks until the instant or the signal; true when it is the signal.
    pub(crate) fn wait_until(&self, instant_ns: u64) -> bool {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.is_raised() {
                return true;
            }
            let left_ns = instant_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                return false;
            }
            guard = self
                .wake
                .wait_timeout(guard, Duration::from_nanos(left_ns))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Blocks for a while or until the signal; true when it is the signal.
    pub(crate) fn wait_ms(&self, ms: u64) -> bool {
        self.wait_until(now_ns() + ms * sojourn_clock::MILLISECOND_NS)
    }

    /// Completes when the signal is raised.
    pub(crate) async fn raised(&self) {
        let mut raised = self.raised.subscribe();
        // An error would mean that the sender is gone, which `self` is not.
        let _seen = raised.wait_for(|&raised| raised).await;
    }
}
