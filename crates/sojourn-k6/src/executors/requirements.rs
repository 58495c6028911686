//! What a run needs: virtual users over time, and how long it takes at most.

use crate::executors::{Executor, Scenario};

/// What scenarios need together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Virtual users to make before the run: the most that are planned at one time.
    pub planned_vus: u64,
    /// Most virtual users, with those that arrival rates may add.
    pub max_vus: u64,
    /// How long the run takes at most, grace included, nanoseconds; `None` where nothing ends it.
    pub max_duration_ns: Option<u64>,
}

/// A change of how many users are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    at_ns: u64,
    planned: i64,
    most: i64,
}

/// What these scenarios need together. Users are used again by scenarios that begin when others
/// are over, grace included.
pub fn requirements(scenarios: &[Scenario]) -> Requirements {
    let mut changes: Vec<Change> = scenarios.iter().flat_map(changes_of).collect();
    // At one instant, users are given back before others are taken.
    changes.sort_unstable();
    let (mut planned, mut most) = (0_i64, 0_i64);
    // A ramp's peak that falls on its very end, without grace, is there for no time.
    let mut needed = Requirements {
        planned_vus: scenarios.iter().map(Scenario::planned_vus).max().unwrap_or(0),
        max_vus: scenarios.iter().map(Scenario::max_vus).max().unwrap_or(0),
        max_duration_ns: None,
    };
    for change in changes {
        planned += change.planned;
        most += change.most;
        needed.planned_vus = needed.planned_vus.max(u64::try_from(planned).unwrap_or(0));
        needed.max_vus = needed.max_vus.max(u64::try_from(most).unwrap_or(0));
    }
    let busy = scenarios.iter().filter(|scenario| scenario.max_vus() > 0);
    let ends = busy.map(|s| s.start_time_ns.saturating_add(s.cut_ns()));
    needed.max_duration_ns = Some(ends.max().unwrap_or(0)).filter(|end_ns| *end_ns < u64::MAX);
    needed
}

fn changes_of(scenario: &Scenario) -> Vec<Change> {
    let start_ns = scenario.start_time_ns;
    let Executor::RampingVus(ramping) = &scenario.executor else {
        let [planned, most] = [scenario.planned_vus(), scenario.max_vus()]
            .map(|vus| i64::try_from(vus).unwrap_or(i64::MAX));
        let end_ns = start_ns.saturating_add(scenario.cut_ns());
        return vec![
            Change { at_ns: start_ns, planned, most },
            Change { at_ns: end_ns, planned: -planned, most: -most },
        ];
    };
    let mut changes = Vec::new();
    for slot in 0..scenario.slots() {
        let mut free_from_ns = None;
        for span in scenario.holds(ramping, slot) {
            // A slot that is wanted again before it is given back was never given back.
            if free_from_ns.is_none_or(|free_ns| free_ns < span.start_ns) {
                changes.push(change(start_ns.saturating_add(span.start_ns), 1));
                if let Some(free_ns) = free_from_ns {
                    changes.push(change(start_ns.saturating_add(free_ns), -1));
                }
            }
            free_from_ns = Some(span.cut_ns);
        }
        if let Some(free_ns) = free_from_ns {
            changes.push(change(start_ns.saturating_add(free_ns), -1));
        }
    }
    changes
}

fn change(at_ns: u64, by: i64) -> Change {
    Change { at_ns, planned: by, most: by }
}
