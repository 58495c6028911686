//! How long to wait before trying again.

use std::time::Duration;

/// Pauses between attempts to connect again: 50 ms, doubled up to 1 s, until
/// [`Backoff::GIVE_UP_AFTER`] has passed since the connection was lost.
#[derive(Clone, Debug)]
pub struct Backoff {
    lost_ns: u64,
    give_up_ns: u64,
    next_ms: u64,
}

const FIRST_MS: u64 = 50;
const PAUSE_MS_MAX: u64 = 1_000;

impl Backoff {
    /// How long is tried unless told otherwise.
    pub const GIVE_UP_AFTER: Duration = Duration::from_secs(30);

    /// The connection was lost at this instant, CLOCK_MONOTONIC nanoseconds.
    pub fn new(lost_ns: u64) -> Self {
        Self::with_limit(lost_ns, Self::GIVE_UP_AFTER)
    }

    /// The same for a tap that was told how long to try ([`crate::Tap::give_up_after`]).
    pub fn with_limit(lost_ns: u64, give_up_after: Duration) -> Self {
        let give_up_ns = u64::try_from(give_up_after.as_nanos()).unwrap_or(u64::MAX);
        Self { lost_ns, give_up_ns, next_ms: FIRST_MS }
    }

    /// When the connection was lost.
    pub fn lost_ns(&self) -> u64 {
        self.lost_ns
    }

    /// The pause before the next attempt; `None`: it is time to give up.
    pub fn pause(&mut self, now_ns: u64) -> Option<Duration> {
        if now_ns.saturating_sub(self.lost_ns) >= self.give_up_ns {
            return None;
        }
        let pause = Duration::from_millis(self.next_ms);
        self.next_ms = (self.next_ms * 2).min(PAUSE_MS_MAX);
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_second_and_end_after_thirty() {
        let mut backoff = Backoff::new(5);
        let pauses: Vec<_> = (0..7).filter_map(|_| backoff.pause(6)).collect();
        assert_eq!(
            pauses.iter().map(Duration::as_millis).sum::<u128>(),
            50 + 100 + 200 + 400 + 800 + 2000
        );
        assert!(backoff.pause(4 + 30_000_000_000).is_some());
        assert_eq!(backoff.pause(5 + 30_000_000_000), None);
        assert_eq!(backoff.lost_ns(), 5);
        let mut shorter = Backoff::with_limit(5, Duration::from_micros(1));
        assert!(shorter.pause(1_004).is_some());
        assert_eq!(shorter.pause(1_005), None);
    }
}
