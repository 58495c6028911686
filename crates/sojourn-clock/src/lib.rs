//! The one clock.
//!
//! Every instant in Sojourn is CLOCK_MONOTONIC in nanoseconds (`*_ns: u64`): threads and processes
//! of one machine share it, it never steps, and the vDSO reads it without a system call. Durations
//! are nanoseconds too. Wall time exists once per run, as an [`Anchor`].
//!
//! A process that makes load for a coordinator on another machine takes over that one's clock
//! before it does anything else ([`shift_to`]): from then on its [`now_ns`] is the coordinator's,
//! and never steps. What the kernel is told must be the machine's own ([`machine_ns_of`]).
//!
//! Pure crates (plan, pace, ledger, metrics, analysis) never call this one: they are handed
//! instants.

mod cpu;
mod machine;
mod shift;
mod slice;

pub use cpu::{ThreadCpu, process_cpu_ns, thread_cpu};
pub use machine::{MachineCpu, machine_cpu};
pub use shift::{TEST_OFFSET_VARIABLE, shift_for_tests, shift_ns, shift_to};
pub use slice::request_short_slice;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const MILLISECOND_NS: u64 = 1_000_000;

/// The present instant: CLOCK_MONOTONIC in nanoseconds, of the coordinator's machine.
#[inline]
pub fn now_ns() -> u64 {
    machine_ns().wrapping_add_signed(shift::shift_ns())
}

/// The present instant of this machine's CLOCK_MONOTONIC, nanoseconds: for waits that have nothing
/// to do with a run. The same as [`now_ns`] unless the clock was shifted.
#[inline]
pub fn machine_ns() -> u64 {
    to_ns(clock_gettime(ClockId::Monotonic))
}

/// What this machine's CLOCK_MONOTONIC shows at an instant: what the kernel takes for absolute
/// times. An instant before the machine's first is its first.
#[inline]
pub fn machine_ns_of(instant_ns: u64) -> u64 {
    match shift::shift_ns() {
        0 => instant_ns,
        shift_ns => instant_ns.saturating_add_signed(shift_ns.saturating_neg()),
    }
}

/// Sleeps until the given instant; returns at once if it has passed.
pub fn sleep_until(instant_ns: u64) {
    loop {
        let now = now_ns();
        if now >= instant_ns {
            return;
        }
        std::thread::sleep(std::time::Duration::from_nanos(instant_ns - now));
    }
}

/// Further readings of both clocks for an anchor.
const ANCHOR_TRIES: usize = 4;

/// Ties the monotonic clock to wall time, once per run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// CLOCK_MONOTONIC, nanoseconds.
    pub monotonic_ns: u64,
    /// Wall time at that same instant, nanoseconds since the Unix epoch.
    pub unix_ns: u64,
}

impl Anchor {
    /// Reads both clocks, some tens of nanoseconds apart: of several tries the closest one, so that
    /// a thread that was put off between two readings does not pass for a difference of the clocks.
    pub fn now() -> Self {
        let read = || {
            let before_ns = now_ns();
            let unix_ns = to_ns(clock_gettime(ClockId::Realtime));
            let apart_ns = now_ns() - before_ns;
            (apart_ns, Self { monotonic_ns: before_ns + apart_ns / 2, unix_ns })
        };
        let first = read();
        let tries = (0..ANCHOR_TRIES).map(|_| read());
        tries.fold(first, |best, other| if other.0 < best.0 { other } else { best }).1
    }

    /// Wall time, nanoseconds since the Unix epoch, of a monotonic instant.
    pub fn unix_ns_at(&self, instant_ns: u64) -> u64 {
        self.unix_ns.saturating_add(instant_ns).saturating_sub(self.monotonic_ns)
    }
}

fn to_ns(time: rustix::time::Timespec) -> u64 {
    // Neither clock is negative on a running system.
    (time.tv_sec as u64) * SECOND_NS + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_forward_and_sleep_until_does_not_return_early() {
        let before = now_ns();
        let until = before + 2 * MILLISECOND_NS;
        sleep_until(until);
        assert!(now_ns() >= until);
    }

    #[test]
    fn the_anchor_maps_instants_to_wall_time() {
        let anchor = Anchor { monotonic_ns: 1_000, unix_ns: 5_000_000 };
        assert_eq!(anchor.unix_ns_at(1_500), 5_000_500);
        assert_eq!(anchor.unix_ns_at(500), 4_999_500);
    }

    #[test]
    fn a_thread_that_works_gains_processor_time() {
        let before = thread_cpu();
        let end = now_ns() + 20 * MILLISECOND_NS;
        let mut work = 0u64;
        while now_ns() < end {
            work = work.wrapping_mul(31).wrapping_add(1);
        }
        std::hint::black_box(work);
        assert!(thread_cpu().cpu_ns > before.cpu_ns);
    }
}
