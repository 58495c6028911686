//! Trying a root step again.

/// When a root step is tried again. The journey stays the same one: t0 and deadline do not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Most attempts, the first one included.
    pub attempts: u32,
    /// What another attempt is made after; everything else is final.
    pub on: Vec<RetryOn>,
    /// Pause before the second attempt, nanoseconds; each further one is twice as long.
    pub backoff_ns: u64,
}

/// How an attempt ended that is not the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryOn {
    /// No connection: refused, unreachable, no such name.
    Connect,
    /// The connection ended before the answer did.
    Reset,
    /// An unexpected answer with a status from the first to the second.
    Status(u16, u16),
    /// No whole answer in time.
    Timeout,
}

impl Retry {
    /// The pause after attempt `attempt` (from 1), nanoseconds.
    pub fn pause_ns(&self, attempt: u32) -> u64 {
        let doublings = attempt.saturating_sub(1).min(63);
        self.backoff_ns.saturating_mul(1 << doublings)
    }

    /// Whether another attempt follows attempt `attempt` (from 1) that ended so.
    pub fn goes_on(&self, attempt: u32, ended: impl Fn(&RetryOn) -> bool) -> bool {
        attempt < self.attempts && self.on.iter().any(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_attempts_are_counted() {
        let retry = Retry { attempts: 3, on: vec![RetryOn::Timeout], backoff_ns: 100 };
        assert_eq!([1, 2, 3].map(|attempt| retry.pause_ns(attempt)), [100, 200, 400]);
        assert_eq!(retry.pause_ns(u32::MAX), u64::MAX);
        let goes_on = |attempt, how| retry.goes_on(attempt, |on| *on == how);
        assert!(goes_on(1, RetryOn::Timeout) && goes_on(2, RetryOn::Timeout));
        assert!(!goes_on(3, RetryOn::Timeout) && !goes_on(1, RetryOn::Connect));
    }
}
