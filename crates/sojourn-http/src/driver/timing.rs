//! How long the kernel is asked to wait.

use std::num::NonZeroU64;

use rustix::time::Timespec;
use sojourn_clock::SECOND_NS;

/// Lets the calling thread's waits end on time.
pub(super) fn set_timer_slack() {
    // Default slack lets the kernel end waits 50 µs late. Where a sandbox forbids to set it, lag
    // shows it.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
}

/// From now to the deadline, nanoseconds; 0 (no wait) when it has passed.
pub(super) fn wait_ns(deadline_ns: u64) -> u64 {
    match deadline_ns {
        0 => 0,
        _ => deadline_ns.saturating_sub(sojourn_clock::now_ns()),
    }
}

/// Whether there is nothing to wait for.
pub(super) fn is_past(deadline_ns: u64) -> bool {
    wait_ns(deadline_ns) == 0
}

/// The kernel's form of a wait.
pub(super) fn timeout(wait_ns: u64) -> Timespec {
    // A year is for ever, and never overflows.
    let seconds = (wait_ns / SECOND_NS).min(31_536_000);
    Timespec { tv_sec: seconds as i64, tv_nsec: (wait_ns % SECOND_NS) as i64 }
}
