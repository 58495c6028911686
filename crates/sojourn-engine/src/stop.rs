//! Asking a run to end early.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

/// Shared with signal handlers: the first request ends arrivals and drains nothing further than
/// what is known, with a full report; the second ends at once.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Asks once more.
    pub fn request(&self) {
        // Two is the most that means anything.
        let _ignored =
            self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| (n < 2).then_some(n + 1));
    }

    /// Asked to end arrivals and report.
    pub fn graceful(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= 1
    }

    /// Asked to end at once.
    pub fn at_once(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= 2
    }
}
