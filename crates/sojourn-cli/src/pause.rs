//! Waiting for a while that may be cut short.

use std::time::Duration;

use sojourn_clock::now_ns;

/// Between two looks at whether it is over before its time.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits so many nanoseconds, or until something else is asked for.
pub(crate) fn pause(length_ns: u64, is_over: impl Fn() -> bool) {
    let until_ns = now_ns().saturating_add(length_ns);
    while now_ns() < until_ns && !is_over() {
        std::thread::sleep(LOOK_EVERY);
    }
}
