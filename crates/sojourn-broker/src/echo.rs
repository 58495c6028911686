//! How late a connection brings what was sent: an answer comes behind the messages before it.

use sojourn_clock::SECOND_NS;

/// Pings on a tap's connection, one at a time, also while messages come.
///
/// That messages come says nothing of when they were sent: behind a slow link, or a broker that
/// holds them back, all of them are late, and would be taken for the system's slowness. Where a
/// broker answers in the order of what it sends, the answer is as late as the messages.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    asked_ns: Option<u64>,
    next_ns: u64,
    took_ns: u64,
}

impl Echo {
    /// From one answer to the next ping, nanoseconds.
    pub const EVERY_NS: u64 = SECOND_NS / 2;

    /// Of a connection that is made now. Instants are CLOCK_MONOTONIC nanoseconds.
    pub fn new(now_ns: u64) -> Self {
        Self { asked_ns: None, next_ns: now_ns + Self::EVERY_NS, took_ns: 0 }
    }

    /// Whether it is time for a ping.
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.asked_ns.is_none() && now_ns >= self.next_ns
    }

    /// When that is, unless an answer is awaited.
    pub fn next_ns(&self) -> Option<u64> {
        self.asked_ns.is_none().then_some(self.next_ns)
    }

    /// A ping is sent now.
    pub fn asked(&mut self, now_ns: u64) {
        self.asked_ns = Some(now_ns);
    }

    /// When the ping was sent whose answer is awaited.
    pub fn asked_ns(&self) -> Option<u64> {
        self.asked_ns
    }

    /// The answer was received at this instant; one that was not asked for is passed over.
    pub fn answered(&mut self, now_ns: u64) {
        if let Some(asked_ns) = self.asked_ns.take() {
            self.took_ns = now_ns.saturating_sub(asked_ns);
            // A late answer is to be seen before the next one, which may not be late.
            self.next_ns = now_ns + Self::EVERY_NS;
        }
    }

    /// How late what comes may be, nanoseconds: what the last answer took, or what the awaited one
    /// has taken so far if that is more.
    pub fn behind_ns(&self, now_ns: u64) -> u64 {
        self.asked_ns.map_or(0, |asked_ns| now_ns.saturating_sub(asked_ns)).max(self.took_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_comes_late_or_not_at_all_is_behind() {
        let mut echo = Echo::new(7);
        assert!(!echo.is_due(7) && echo.is_due(7 + Echo::EVERY_NS), "not amid a login");
        assert_eq!(echo.behind_ns(7), 0);
        echo.asked(1_000);
        assert!(!echo.is_due(1_000 + 2 * Echo::EVERY_NS), "one at a time");
        assert_eq!(echo.behind_ns(5_000), 4_000);
        echo.answered(7_000);
        echo.answered(9_000);
        assert_eq!(echo.behind_ns(9_000), 6_000, "until there is another answer");
        let next_ns = 7_000 + Echo::EVERY_NS;
        assert!(!echo.is_due(next_ns - 1) && echo.is_due(next_ns), "after it was answered");
        echo.asked(20_000);
        assert_eq!(echo.behind_ns(20_001), 6_000);
        echo.answered(20_300);
        assert_eq!(echo.behind_ns(30_000), 300);
    }
}
