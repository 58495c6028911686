//! Taking over another machine's clock.

use std::sync::atomic::{AtomicI64, Ordering};

/// For tests only: nanoseconds, signed, by which the clock of a process is wrong from its start, as
/// if it ran on a machine with another clock.
pub const TEST_OFFSET_VARIABLE: &str = "SOJOURN_TEST_CLOCK_OFFSET_NS";

/// What is added to this machine's clock, nanoseconds. Relaxed: it is set before there are threads
/// that measure.
static SHIFT_NS: AtomicI64 = AtomicI64::new(0);

/// What is added to this machine's clock, nanoseconds; 0 unless it was shifted.
#[inline]
pub fn shift_ns() -> i64 {
    SHIFT_NS.load(Ordering::Relaxed)
}

/// Adds so many nanoseconds to this process's clock for good. To be called at most once, before
/// anything is measured or waited for by this clock: instants of before mean nothing afterwards.
pub fn shift_to(offset_ns: i64) {
    SHIFT_NS.fetch_add(offset_ns, Ordering::Relaxed);
}

/// For tests only: shifts the clock as the environment says, if it says so. At the beginning of a
/// process.
pub fn shift_for_tests() {
    let asked = std::env::var(TEST_OFFSET_VARIABLE).ok().and_then(|it| it.parse().ok());
    if let Some(offset_ns) = asked {
        shift_to(offset_ns);
    }
}
