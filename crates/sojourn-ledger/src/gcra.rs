//! The generic cell rate algorithm, to hold instants against a stated rate.
//!
//! With an interval T (a period over the number allowed in it), a burst b and a tolerance ε, an
//! instant t conforms if t ≥ d − (b − 1)·T − ε, where d is when the next one is due; then
//! d := max(t, d) + T. One that does not conform is a violation and leaves d where it was: what is
//! counted are those that a queue with this limit would have held back (virtual scheduling, ITU-T
//! I.371, annex A).

/// Instants held against a rate, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Gcra {
    interval_ns: u64,
    slack_ns: u64,
    tolerance_ns: u64,
    due_ns: u64,
}

impl Gcra {
    pub(crate) fn new(most: u64, per_ns: u64, burst: u64, tolerance_ns: u64) -> Self {
        let interval_ns = per_ns / most.max(1);
        let slack_ns = interval_ns.saturating_mul(burst.max(1) - 1);
        Self { interval_ns, slack_ns, tolerance_ns, due_ns: 0 }
    }

    /// Takes the next instant: how much too early it was, tolerance left out of account, and
    /// whether that is a violation.
    pub(crate) fn take(&mut self, at_ns: u64) -> (u64, bool) {
        let allowed_ns = self.due_ns.saturating_sub(self.slack_ns);
        let early_ns = allowed_ns.saturating_sub(at_ns);
        let violates = early_ns > self.tolerance_ns;
        if !violates {
            self.due_ns = self.due_ns.max(at_ns).saturating_add(self.interval_ns);
        }
        (early_ns, violates)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn violations(mut gcra: Gcra, instants: &[u64]) -> Vec<u64> {
        instants.iter().copied().filter(|&at| gcra.take(at).1).collect()
    }

    #[test]
    fn a_rate_a_burst_and_a_tolerance() {
        // Ten in 1,000: one in 100.
        let one = Gcra::new(10, 1_000, 1, 0);
        assert_eq!(violations(one.clone(), &[5, 105, 205, 304, 305, 1_000, 1_050]), [304, 1_050]);
        let three = Gcra::new(10, 1_000, 3, 0);
        assert_eq!(violations(three, &[5, 5, 5, 5, 104, 105, 204, 205]), [5, 104, 204]);
        let lax = Gcra::new(10, 1_000, 1, 10);
        assert_eq!(violations(lax.clone(), &[100, 191, 289, 290]), [289]);
        let mut lax = lax;
        assert_eq!([100, 191, 289].map(|at| lax.take(at)), [(0, false), (9, false), (11, true)]);
    }

    proptest! {
        /// The leaky bucket says the same of every instant: it holds (b − 1)·T + ε, each instant
        /// adds T, and it leaks one a nanosecond.
        #[test]
        fn a_leaky_bucket_agrees(
            mut instants in prop::collection::vec(0_u64..5_000, 1..80),
            (most, burst, tolerance) in (1_u64..20, 1_u64..6, 0_u64..50),
        ) {
            instants.sort_unstable();
            let interval = 1_000 / most;
            let (mut level, mut last, mut spilled) = (0_u64, 0_u64, Vec::new());
            for &at in &instants {
                let now = level.saturating_sub(at - last);
                if now > (burst - 1) * interval + tolerance {
                    spilled.push(at);
                } else {
                    (level, last) = (now + interval, at);
                }
            }
            let gcra = Gcra::new(most, 1_000, burst, tolerance);
            prop_assert_eq!(violations(gcra, &instants), spilled);
        }
    }
}
