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

/// Users with these numbers, of all that a scenario has: `first`, `first + of`, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first of them.
    pub first: u64,
    /// Every how many-th, at least 1.
    pub of: u64,
}

impl Part {
    /// How many of so many users.
    pub fn share(self, total: u64) -> u64 {
        total / self.of + u64::from(self.first < total % self.of)
    }
}

/// What these scenarios need together. Users are used again by scenarios that begin when others
/// are over, grace included.
pub fn requirements(scenarios: &[Scenario]) -> Requirements {
    requirements_of(scenarios, |_| Part { first: 0, of: 1 })
}

/// The same for a part of each scenario's users; `part` tells which, by the scenario's place.
pub fn requirements_of(scenarios: &[Scenario], part: impl Fn(usize) -> Part) -> Requirements {
    let placed = || scenarios.iter().enumerate();
    let mut changes: Vec<Change> =
        placed().flat_map(|(place, scenario)| changes_of(scenario, part(place))).collect();
    // At one instant, users are given back before others are taken.
    changes.sort_unstable();
    let (mut planned, mut most) = (0_i64, 0_i64);
    // A ramp's peak that falls on its very end, without grace, is there for no time.
    let mut needed = Requirements {
        planned_vus: most_of(placed().map(|(place, it)| part(place).share(it.planned_vus()))),
        max_vus: most_of(placed().map(|(place, it)| part(place).share(it.max_vus()))),
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

fn most_of(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.max().unwrap_or(0)
}

fn changes_of(scenario: &Scenario, part: Part) -> Vec<Change> {
    let start_ns = scenario.start_time_ns;
    let Executor::RampingVus(ramping) = &scenario.executor else {
        let [planned, most] = [scenario.planned_vus(), scenario.max_vus()]
            .map(|vus| i64::try_from(part.share(vus)).unwrap_or(i64::MAX));
        let end_ns = start_ns.saturating_add(scenario.cut_ns());
        return vec![
            Change { at_ns: start_ns, planned, most },
            Change { at_ns: end_ns, planned: -planned, most: -most },
        ];
    };
    let mut changes = Vec::new();
    for slot in (0..scenario.slots()).filter(|slot| slot % part.of == part.first) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::options::{Options, Tier, Tiers, consolidate};

    fn scenarios(second_start: &str) -> Vec<Scenario> {
        let ramp = json!([{ "target": 201, "duration": "5s" }, { "target": 0, "duration": "5s" }]);
        let options = json!({ "scenarios": {
            "a": { "executor": "constant-vus", "vus": 201, "duration": "10s",
                   "gracefulStop": "0s" },
            "b": { "executor": "ramping-vus", "stages": ramp, "startTime": second_start,
                   "gracefulRampDown": "0s", "gracefulStop": "0s" },
        } });
        let (script, _) = Options::from_json(Tier::Script, &options).unwrap();
        consolidate(Tiers { script, ..Tiers::default() }).unwrap().scenarios
    }

    #[test]
    fn a_part_needs_the_most_that_its_shares_come_to_at_one_time() {
        // The second scenario's odd user is another part's than the first one's.
        let needed = |scenarios: &[Scenario], first: u64| {
            let part = |place: usize| Part { first: (first + place as u64) % 2, of: 2 };
            requirements_of(scenarios, part).planned_vus
        };
        let after_each_other = scenarios("20s");
        assert_eq!(requirements(&after_each_other).planned_vus, 201);
        assert_eq!([needed(&after_each_other, 0), needed(&after_each_other, 1)], [101, 101]);
        let at_once = scenarios("0s");
        let parts = needed(&at_once, 0) + needed(&at_once, 1);
        assert!(parts >= requirements(&at_once).planned_vus, "{parts}");
    }
}
