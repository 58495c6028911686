//! Why figures may not be believed, where the generator is to blame: what it missed, how late it
//! was, how busy. Every kind of run has the same words for that.

/// What the causes are called.
pub const MISSED: &str = "missed arrivals";
/// Likewise.
pub const LAG: &str = "generator lag";
/// Likewise.
pub const SATURATED: &str = "generator saturated";

/// Arrivals that never began, if they are more than this share of those scheduled.
pub fn missed(missed: u64, scheduled: u64, share_max: f64) -> Option<String> {
    let limit = share_max * 100.0;
    let is_over = missed as f64 > share_max * scheduled as f64;
    is_over.then(|| format!("{missed} of {scheduled} were never started (limit {limit} %)"))
}

/// Lag at p99, if it is beyond its limit, both in nanoseconds.
pub fn lag(p99_ns: f64, limit_ns: f64) -> Option<String> {
    (p99_ns > limit_ns).then(|| {
        format!(
            "p99 {:.1} ms, limit {:.1} ms: this machine could not keep the schedule",
            p99_ns / 1e6,
            limit_ns / 1e6
        )
    })
}

/// A generator's thread that was busier than this share of its time for so long in a row, seconds,
/// if that is as long as it may not be.
pub fn saturated(thread: &str, longest_s: f64, busy_max: f64, limit_s: f64) -> Option<String> {
    let limit = busy_max * 100.0;
    (longest_s >= limit_s).then(|| {
        format!(
            "{thread} was more than {limit} % busy for {longest_s:.0} s in a row (limit \
             {limit_s} s): use --threads, or a machine of its own"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_a_limit_is_within_it_but_for_a_stretch_as_long_as_it() {
        assert_eq!(missed(1, 1_000, 0.001), None);
        let told = missed(2, 1_000, 0.001);
        assert_eq!(told.as_deref(), Some("2 of 1000 were never started (limit 0.1 %)"));
        assert_eq!((missed(0, 0, 0.001), lag(10e6, 10e6)), (None, None));
        assert!(lag(14e6, 10e6).is_some_and(|told| told.starts_with("p99 14.0 ms, limit 10.0 ms")));
        assert_eq!(saturated("users-0", 9.0, 0.95, 10.0), None);
        assert!(saturated("users-0", 10.0, 0.95, 10.0).is_some());
    }
}
