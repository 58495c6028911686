//! How a thread waits for what is due: asleep; asleep, but awake on time; or not asleep at all.
//!
//! A thread that sleeps until an instant wakes some microseconds after it, tens of them under a
//! hypervisor. To be on time it asks to be woken as much earlier as wake-ups have lately been late,
//! and looks out for the rest. What comes unannounced, a request, still finds it asleep; only who
//! never sleeps misses nothing.

/// No thread is woken earlier than this: a machine that is later than that is overloaded, and
/// looking out for so long would not help it.
const EARLY_NS_MAX: u64 = 50_000;
/// The typical lateness is an average over about so many wake-ups.
const MEMORY: u64 = 16;

/// How a server's threads wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// As cheaply as can be: what is due leaves as late as the kernel wakes the thread.
    #[default]
    Asleep,
    /// What is due leaves on time, for up to 50 µs of looking out before each such instant.
    OnTime,
    /// Requests are seen at once, too. Each thread takes a whole core.
    Spinning,
}

/// A thread's waits.
#[derive(Debug)]
pub(super) struct Waits {
    how: Waiting,
    late_ns_typical: u64,
}

impl Waits {
    pub(super) fn new(how: Waiting) -> Self {
        Self { how, late_ns_typical: 0 }
    }

    /// Until when to sleep, at `now_ns`, for something due at `due_ns`: `None` for good, and
    /// nothing later than now for not at all.
    pub(super) fn sleep_until(&self, now_ns: u64, due_ns: Option<u64>) -> Option<u64> {
        match self.how {
            Waiting::Asleep => due_ns,
            Waiting::OnTime => due_ns.map(|due_ns| due_ns.saturating_sub(self.late_ns_typical)),
            Waiting::Spinning => Some(now_ns),
        }
    }

    /// A sleep was to end at `asked_ns` and did at `now_ns`, for no other reason.
    pub(super) fn slept(&mut self, asked_ns: u64, now_ns: u64) {
        let late_ns = now_ns.saturating_sub(asked_ns).min(EARLY_NS_MAX);
        self.late_ns_typical = (self.late_ns_typical * (MEMORY - 1) + late_ns) / MEMORY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_to_be_on_time_is_woken_as_early_as_wake_ups_are_late() {
        let mut waits = Waits::new(Waiting::OnTime);
        assert_eq!(waits.sleep_until(0, Some(1_000_000)), Some(1_000_000));
        for _ in 0..200 {
            waits.slept(1_000_000, 1_020_000);
        }
        let early_ns = 1_000_000 - waits.sleep_until(0, Some(1_000_000)).unwrap();
        assert!((19_000..=20_000).contains(&early_ns), "{early_ns}");
        // A stall spoils nothing.
        for _ in 0..200 {
            waits.slept(1_000_000, 9_000_000_000);
        }
        assert!(waits.late_ns_typical <= EARLY_NS_MAX);
        assert_eq!(waits.sleep_until(5, None), None);
        assert_eq!(Waits::new(Waiting::Asleep).sleep_until(5, Some(9)), Some(9));
        assert_eq!(Waits::new(Waiting::Spinning).sleep_until(5, None), Some(5));
    }
}
