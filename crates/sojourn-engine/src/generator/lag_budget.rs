//! How late open arrivals may begin so that several begin at one wake-up.
//!
//! The first of those that begin together has waited for the others, and then for the wake-up,
//! which comes late: by tens of microseconds as a rule, and by as much as the budget now and then
//! where the machine is shared. Both count. So the thread asks to be woken as much before the
//! budget ends as hardly any wake-up is late by. That is followed from wake-up to wake-up: one that
//! was later moves it up, each that was not moves it down a little, and it stays where the first
//! are one in [`KEPT_PER_LATE`] of the second. Where even a wake-up at the arrival's own instant
//! would be too late, nothing helps, and the lag says so.

/// What an arrival may be late by when nobody has said it and arrivals are dense.
const USUAL_NS: u64 = 100_000;

/// Arrivals are dense from a mean distance of so much on: 5,000 a second.
const DENSE_NS: u64 = 200_000;

/// The mean is over about so many arrivals.
const MEMORY: u64 = 64;

/// A wake-up may come later than was allowed for once in so many times: of the arrivals one in a
/// hundred may be later than the budget, and with a late wake-up come several.
const KEPT_PER_LATE: u64 = 400;

/// What a late wake-up moves the allowance up by: this part of the budget.
const STEP_PART: u64 = 10;

/// A generator's budget.
#[derive(Debug)]
pub(crate) struct LagBudget {
    /// What the user has said.
    stated_ns: Option<u64>,
    last_t0_ns: Option<u64>,
    /// Mean distance of the scheduled instants; far at first.
    distance_ns: u64,
    /// The arrival that the thread waits for last, and the instant it is to wake at.
    awaited: Option<(u64, u64)>,
    /// How much of the budget is left to wake-ups that come late, in units of its
    /// 1 / (`STEP_PART` × `KEPT_PER_LATE`).
    allowance: u64,
}

/// The whole budget, in units of the allowance.
const WHOLE: u64 = STEP_PART * KEPT_PER_LATE;

impl LagBudget {
    pub(crate) fn new(stated_ns: Option<u64>) -> Self {
        Self {
            stated_ns,
            last_t0_ns: None,
            distance_ns: 10 * DENSE_NS,
            awaited: None,
            // Rather too much until it is known: the first seconds count like all others.
            allowance: WHOLE / 2,
        }
    }

    /// When to wake for the arrival of this instant.
    pub(crate) fn wake_ns(&mut self, t0_ns: u64) -> u64 {
        let budget_ns = self.ns();
        if budget_ns == 0 {
            return t0_ns;
        }
        let wake_ns = t0_ns.saturating_add(budget_ns - self.allowance_ns(budget_ns));
        self.awaited = Some((t0_ns, wake_ns));
        wake_ns
    }

    /// An open arrival of the first instant begins at the second.
    pub(crate) fn begins(&mut self, t0_ns: u64, now_ns: u64) {
        if let Some(last_ns) = self.last_t0_ns.replace(t0_ns) {
            let distance_ns = t0_ns.saturating_sub(last_ns).min(10 * DENSE_NS);
            self.distance_ns = (self.distance_ns * (MEMORY - 1) + distance_ns) / MEMORY;
        }
        // Woken by something else, it says nothing of how late wake-ups are.
        if let Some((awaited_ns, wake_ns)) = self.awaited.take()
            && awaited_ns == t0_ns
            && now_ns >= wake_ns
        {
            self.learn(now_ns - wake_ns);
        }
    }

    /// How late the next arrival may begin, nanoseconds.
    pub(crate) fn ns(&self) -> u64 {
        let usual_ns = if self.distance_ns <= DENSE_NS { USUAL_NS } else { 0 };
        self.stated_ns.unwrap_or(usual_ns)
    }

    fn allowance_ns(&self, budget_ns: u64) -> u64 {
        budget_ns / WHOLE * self.allowance + budget_ns % WHOLE * self.allowance / WHOLE
    }

    /// A wake-up has come so late.
    fn learn(&mut self, late_ns: u64) {
        let budget_ns = self.ns();
        let allowed = self.allowance_ns(budget_ns);
        self.allowance = match late_ns {
            // Nothing would have helped: a thread that was stopped for so long says nothing of
            // wake-ups.
            _ if late_ns > budget_ns => self.allowance,
            _ if late_ns > allowed => (self.allowance + KEPT_PER_LATE).min(WHOLE),
            _ => self.allowance.saturating_sub(1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(distance_ns: u64, stated_ns: Option<u64>) -> u64 {
        let mut budget = LagBudget::new(stated_ns);
        (0..2_000).for_each(|k| budget.begins(k * distance_ns, k * distance_ns));
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
        (0..1_000).for_each(|k| budget.begins(k * 50_000, 0));
        assert_eq!(budget.ns(), USUAL_NS);
        (0..1_000).for_each(|k| budget.begins(50_000_000 + k * 1_000_000, 0));
        assert_eq!(budget.ns(), 0);
    }

    #[test]
    fn without_a_budget_arrivals_are_woken_for_at_their_instants() {
        assert_eq!(LagBudget::new(Some(0)).wake_ns(5), 5);
        assert_eq!(LagBudget::new(Some(1_000)).wake_ns(u64::MAX), u64::MAX);
    }

    /// The 99th percentile of the lag of 10,000 arrivals a second for some seconds, and how many
    /// wake-ups there were, where wake-ups are as late as this says of each.
    fn simulated(budget_ns: u64, late_ns: impl Fn(u64) -> u64) -> (u64, u64) {
        const DISTANCE_NS: u64 = 100_000;
        let mut budget = LagBudget::new(Some(budget_ns));
        let (mut lags, mut k, mut wake_ups) = (Vec::new(), 0, 0);
        while k < 50_000 {
            let wake_ns = budget.wake_ns(k * DISTANCE_NS);
            let now_ns = wake_ns + late_ns(wake_ups);
            wake_ups += 1;
            while k * DISTANCE_NS <= now_ns {
                budget.begins(k * DISTANCE_NS, now_ns);
                lags.push(now_ns - k * DISTANCE_NS);
                k += 1;
            }
        }
        lags.sort_unstable();
        (lags[lags.len() * 99 / 100], wake_ups)
    }

    /// Numbers without a pattern, the same each time: SplitMix64.
    fn any(n: u64) -> u64 {
        let mut z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    #[test]
    fn a_budget_is_kept_however_late_wake_ups_are() {
        // On bare metal, under a hypervisor, on a machine that others use.
        let (prompt, wake_ups) = simulated(1_000_000, |n| 2_000 + any(n) % 3_000);
        assert!(prompt <= 1_000_000, "{prompt}");
        assert!(wake_ups < 7_000, "of 50,000 arrivals {wake_ups} had a wake-up of their own");
        let (late, wake_ups) = simulated(1_000_000, |n| 20_000 + any(n) % 80_000);
        assert!(late <= 1_000_000, "{late}");
        assert!(wake_ups < 8_000, "{wake_ups}");
        let (very_late, _) = simulated(1_000_000, |n| match any(n) % 20 {
            0 => 300_000 + any(n) % 500_000,
            _ => 50_000,
        });
        assert!(very_late <= 1_000_000, "{very_late}");
        let (near, _) = simulated(100_000, |n| any(n) % 60_000);
        assert!(near <= 100_000, "{near}");
    }

    #[test]
    fn stalls_that_nothing_helps_against_do_not_end_the_sharing_of_wake_ups() {
        let (_, wake_ups) = simulated(1_000_000, |n| match any(n) % 20 {
            0 => 3_000_000,
            _ => 20_000,
        });
        assert!(wake_ups < 8_000, "{wake_ups}");
    }
}
