//! Apdex: one figure for how satisfied those who waited can have been.

use crate::Histogram;

/// `(satisfied + tolerated / 2) / all` (Apdex technical specification 1.1): of the good answers
/// those within the satisfying time, and those within four times it; of all requests, so that
/// failed ones count as frustrated. `None` of nothing. Times are nanoseconds.
pub fn apdex(good: &Histogram, all: u64, satisfied_ns: u64) -> Option<f64> {
    let satisfied = good.count_at_most(satisfied_ns);
    let tolerated = good.count_at_most(satisfied_ns.saturating_mul(4)) - satisfied;
    (all > 0).then(|| (satisfied as f64 + tolerated as f64 / 2.0) / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_requests_are_frustrated_and_tolerated_ones_count_a_half() {
        let mut good = Histogram::new();
        good.record_n(500_000_000, 6);
        good.record_n(1_900_000_000, 2);
        good.record_n(2_100_000_000, 1);
        assert_eq!(apdex(&good, 10, 500_000_000), Some(0.7));
        assert_eq!(apdex(&Histogram::new(), 3, 500_000_000), Some(0.0));
        assert_eq!(apdex(&Histogram::new(), 0, 500_000_000), None);
    }
}
