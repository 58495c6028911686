//! How late open arrivals may begin so that several begin at one wake-up.

/// What an arrival may be late by when nobody has said it and arrivals are dense.
const USUAL_NS: u64 = 100_000;

/// Arrivals are dense from a mean distance of so much on: 5,000 a second.
const DENSE_NS: u64 = 200_000;

/// The mean is over about so many arrivals.
const MEMORY: u64 = 64;

/// A generator's budget.
#[derive(Debug)]
pub(crate) struct LagBudget {
    /// What the user has said.
    stated_ns: Option<u64>,
    last_t0_ns: Option<u64>,
    /// Mean distance of the scheduled instants; far at first.
    distance_ns: u64,
}

impl LagBudget {
    pub(crate) fn new(stated_ns: Option<u64>) -> Self {
        Self { stated_ns, last_t0_ns: None, distance_ns: 10 * DENSE_NS }
    }

    /// An open arrival of this instant begins.
    pub(crate) fn note(&mut self, t0_ns: u64) {
        if let Some(last_ns) = self.last_t0_ns.replace(t0_ns) {
            let distance_ns = t0_ns.saturating_sub(last_ns).min(10 * DENSE_NS);
            self.distance_ns = (self.distance_ns * (MEMORY - 1) + distance_ns) / MEMORY;
        }
    }

    /// How late the next arrival may begin, nanoseconds.
    pub(crate) fn ns(&self) -> u64 {
        let usual_ns = if self.distance_ns <= DENSE_NS { USUAL_NS } else { 0 };
        self.stated_ns.unwrap_or(usual_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(distance_ns: u64, stated_ns: Option<u64>) -> u64 {
        let mut budget = LagBudget::new(stated_ns);
        (0..2_000).for_each(|k| budget.note(k * distance_ns));
        budget.ns()
    }

    #[test]
    fn only_dense_arrivals_may_be_late_unless_it_is_said() {
        assert_eq!(LagBudget::new(None).ns(), 0);
        assert_eq!([after(1_000_000, None), after(250_000, None)], [0, 0]);
        assert_eq!([after(190_000, None), after(20_000, None)], [USUAL_NS; 2]);
        assert_eq!(after(20_000, Some(0)), 0);
        assert_eq!(after(1_000_000, Some(7)), 7);
    }

    #[test]
    fn it_follows_a_rate_that_changes() {
        let mut budget = LagBudget::new(None);
        (0..1_000).for_each(|k| budget.note(k * 50_000));
        assert_eq!(budget.ns(), USUAL_NS);
        (0..1_000).for_each(|k| budget.note(50_000_000 + k * 1_000_000));
        assert_eq!(budget.ns(), 0);
    }
}
