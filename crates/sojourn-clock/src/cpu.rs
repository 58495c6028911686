//! What a thread has had of the processor, and what it waited for it.

use rustix::time::{ClockId, clock_gettime};

/// A thread's processor accounting since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCpu {
    /// Time on a processor, nanoseconds.
    pub cpu_ns: u64,
    /// Time ready to run but waiting for a processor, nanoseconds; `None` where the kernel does not
    /// tell it (no `schedstat`, or `/proc` out of reach).
    pub run_queue_ns: Option<u64>,
}

impl ThreadCpu {
    /// What was added since an `earlier` reading. Readings may come from two sources whose ends
    /// differ a little: what looks like going back counts as nothing, and the wait is known only
    /// where both readings knew it.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let waits = self.run_queue_ns.zip(earlier.run_queue_ns);
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            run_queue_ns: waits.map(|(now_ns, then_ns)| now_ns.saturating_sub(then_ns)),
        }
    }
}

/// The calling thread's accounting (`/proc/thread-self/schedstat`, first two fields).
pub fn thread_cpu() -> ThreadCpu {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    schedstat.as_deref().and_then(from_schedstat).unwrap_or_else(|| ThreadCpu {
        cpu_ns: super::to_ns(clock_gettime(ClockId::ThreadCPUTime)),
        run_queue_ns: None,
    })
}

/// Processor time of all threads of this process since it began, nanoseconds.
pub fn process_cpu_ns() -> u64 {
    super::to_ns(clock_gettime(ClockId::ProcessCPUTime))
}

fn from_schedstat(text: &str) -> Option<ThreadCpu> {
    let mut fields = text.split_ascii_whitespace();
    let cpu_ns = fields.next()?.parse().ok()?;
    let run_queue_ns = fields.next()?.parse().ok()?;
    Some(ThreadCpu { cpu_ns, run_queue_ns: Some(run_queue_ns) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_was_not_read_is_unknown_and_nothing_wraps() {
        let read = |text: &str| from_schedstat(text);
        let known = read("500 70 3\n").expect("two numbers");
        assert_eq!(known, ThreadCpu { cpu_ns: 500, run_queue_ns: Some(70) });
        assert_eq!([read(""), read("500"), read("500 -1 3"), read("a b c")], [None; 4]);
        let unread = ThreadCpu { cpu_ns: 450, run_queue_ns: None };
        assert_eq!(unread.since(&known), ThreadCpu { cpu_ns: 0, run_queue_ns: None });
        assert_eq!(known.since(&unread), ThreadCpu { cpu_ns: 50, run_queue_ns: None });
        let later = ThreadCpu { cpu_ns: 800, run_queue_ns: Some(60) };
        assert_eq!(later.since(&known), ThreadCpu { cpu_ns: 300, run_queue_ns: Some(0) });
    }
}
