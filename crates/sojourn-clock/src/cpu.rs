//! What a thread has had of the processor, and what it waited for it.

use rustix::time::{ClockId, clock_gettime};

/// A thread's processor accounting since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCpu {
    /// Time on a processor, nanoseconds.
    pub cpu_ns: u64,
    /// Time ready to run but waiting for a processor, nanoseconds; zero where the kernel does not
    /// keep `schedstat`.
    pub run_queue_ns: u64,
}

/// The calling thread's accounting (`/proc/thread-self/schedstat`, first two fields).
pub fn thread_cpu() -> ThreadCpu {
    let from_schedstat =
        std::fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|text| {
            let mut fields = text.split_ascii_whitespace();
            let cpu_ns = fields.next()?.parse().ok()?;
            let run_queue_ns = fields.next()?.parse().ok()?;
            Some(ThreadCpu { cpu_ns, run_queue_ns })
        });
    from_schedstat.unwrap_or_else(|| ThreadCpu {
        cpu_ns: super::to_ns(clock_gettime(ClockId::ThreadCPUTime)),
        run_queue_ns: 0,
    })
}
