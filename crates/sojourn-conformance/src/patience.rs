//! Waiting for what must become true.

use std::time::Duration;

use sojourn_clock::{SECOND_NS, now_ns};

/// Nothing takes this long unless it is broken: servers share a busy machine.
const PATIENCE_NS: u64 = 90 * SECOND_NS;
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until the closure has something; panics, naming what was waited for, when it never does.
#[track_caller]
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline_ns = now_ns() + PATIENCE_NS;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(now_ns() < deadline_ns, "never happened: {what}");
        std::thread::sleep(PAUSE);
    }
}

/// [`wait_for`] a condition.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}
