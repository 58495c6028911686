//! Rate limits: so many requests a second, and a burst.

use std::sync::atomic::{AtomicU64, Ordering};

/// Lets requests through at a rate. The generic cell rate algorithm (ITU-T I.371): what is kept is
/// the instant at which the next request would be on time, shared by all threads without a lock.
#[derive(Debug)]
pub struct Limit {
    interval_ns: u64,
    tolerance_ns: u64,
    on_time_ns: AtomicU64,
}

impl Limit {
    /// `rate_per_s` above zero; `burst` requests, at least one, may come at once.
    pub fn new(rate_per_s: f64, burst: u64) -> Self {
        let interval_ns = (1e9 / rate_per_s).round().max(1.0) as u64;
        Self {
            interval_ns,
            tolerance_ns: interval_ns.saturating_mul(burst.saturating_sub(1)),
            on_time_ns: AtomicU64::new(0),
        }
    }

    /// Lets a request through at `now_ns`. Err: how long to wait, nanoseconds.
    pub fn admit(&self, now_ns: u64) -> Result<(), u64> {
        let mut on_time_ns = self.on_time_ns.load(Ordering::Relaxed);
        loop {
            let from_ns = on_time_ns.max(now_ns);
            let early_ns = from_ns - now_ns;
            if early_ns > self.tolerance_ns {
                return Err(early_ns - self.tolerance_ns);
            }
            let next_ns = from_ns.saturating_add(self.interval_ns);
            match self.on_time_ns.compare_exchange_weak(
                on_time_ns,
                next_ns,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(found_ns) => on_time_ns = found_ns,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate() {
        let limit = Limit::new(10.0, 3);
        let start_ns = 5_000_000_000;
        for _ in 0..3 {
            assert_eq!(limit.admit(start_ns), Ok(()));
        }
        assert_eq!(limit.admit(start_ns), Err(100_000_000));
        assert_eq!(limit.admit(start_ns + 99_999_999), Err(1));
        assert_eq!(limit.admit(start_ns + 100_000_000), Ok(()));
        assert!(limit.admit(start_ns + 100_000_000).is_err());
        // After a long rest the burst is whole again, and no larger.
        let later_ns = start_ns + 60_000_000_000;
        let admitted = (0..10).filter(|_| limit.admit(later_ns).is_ok()).count();
        assert_eq!(admitted, 3);
    }

    #[test]
    fn over_a_minute_of_too_many_requests_the_rate_is_kept() {
        let limit = Limit::new(50.0, 1);
        let admitted = (0..60_000).filter(|ms| limit.admit(ms * 1_000_000).is_ok()).count();
        assert_eq!(admitted, 3000);
    }
}
