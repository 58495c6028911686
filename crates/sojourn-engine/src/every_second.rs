//! Work that is done once a second beside the load.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use sojourn_clock::{SECOND_NS, now_ns};

/// How long to sleep between two looks at the clock and at the stop.
const NAP: Duration = Duration::from_millis(20);

/// Calls `work` with the instant at `start_ns` and at every whole second from there, until `stop`.
/// A second that passes while `work` is busy is left out.
pub(crate) fn every_second(start_ns: u64, stop: &AtomicBool, mut work: impl FnMut(u64)) {
    let mut due_ns = start_ns;
    while !stop.load(Ordering::Relaxed) {
        let now = now_ns();
        if now < due_ns {
            std::thread::sleep(NAP.min(Duration::from_nanos(due_ns - now)));
            continue;
        }
        work(now);
        due_ns += SECOND_NS * (1 + (now - due_ns) / SECOND_NS);
    }
}
