//! What taking the messages used of the machine.

use rustix::time::{ClockId, clock_gettime};
use sojourn_clock::now_ns;

use crate::Publishing;

/// Of one round, for all its messages together.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// Processor time, user and system, nanoseconds.
    pub cpu_ns: u64,
    /// The part of it that what is behind the tap took, with the handing over, where it is told
    /// apart.
    pub behind_ns: Option<u64>,
    /// Time passed, nanoseconds.
    pub passed_ns: u64,
}

impl Used {
    /// How much more than another round this one's messages cost, nanoseconds of processor time:
    /// behind the tap where both tell that apart, or in all.
    pub(crate) fn more_ns(&self, than: &Self) -> f64 {
        match (self.behind_ns, than.behind_ns) {
            (Some(own), Some(other)) => own as f64 - other as f64,
            _ => self.more_in_all_ns(than),
        }
    }

    pub(crate) fn more_in_all_ns(&self, than: &Self) -> f64 {
        self.cpu_ns as f64 - than.cpu_ns as f64
    }
}

/// What this process uses, on all its threads, from before the messages are published (threads that
/// read ahead do so then) until they are read; the time passed is that of reading alone.
pub fn measured(publish: impl FnOnce() -> Publishing, read: impl FnOnce()) -> Used {
    let cpu_ns = process_cpu_ns();
    let publishing = publish();
    let begun_ns = now_ns();
    read();
    let used =
        Used { cpu_ns: process_cpu_ns() - cpu_ns, behind_ns: None, passed_ns: now_ns() - begun_ns };
    publishing.finish();
    used
}

fn process_cpu_ns() -> u64 {
    ns_of(ClockId::ProcessCPUTime)
}

/// Processor time of this thread, nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    ns_of(ClockId::ThreadCPUTime)
}

fn ns_of(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Neither part is ever negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
