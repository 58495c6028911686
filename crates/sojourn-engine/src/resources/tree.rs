//! A process with its children as of one instant, and the processor time between two of them.
//!
//! A child that ends takes its own figures along; whoever waits for it gets them added to theirs.
//! So the time that a tree used is added up process by process: what those that are still there
//! used, all of those that are new, and of a child that is gone what its parent was given beyond
//! what was known of it. What a child used that nobody waits for, since it was last looked at, is
//! lost.

use std::collections::BTreeMap;

/// One process of it, by number and beginning, since numbers are given again.
pub(super) type Id = (u32, u64);

/// One process's processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// Its parent.
    pub(super) parent: u32,
    /// Its own, clock ticks.
    pub(super) own_ticks: u64,
    /// That of children that it has waited for, with theirs.
    pub(super) waited_ticks: u64,
}

/// All of them.
pub(super) type Tree = BTreeMap<Id, Used>;

/// Clock ticks that the tree used from one instant to another.
pub(super) fn used_ticks(before: &Tree, now: &Tree) -> u64 {
    let gone = before.iter().filter(|(id, _)| !now.contains_key(id));
    let mut known_of_gone: BTreeMap<u32, u64> = BTreeMap::new();
    for (_, used) in gone {
        *known_of_gone.entry(used.parent).or_default() += used.own_ticks + used.waited_ticks;
    }
    let used = |(id, used): (&Id, &Used)| match before.get(id) {
        Some(earlier) => {
            let known = known_of_gone.get(&id.0).copied().unwrap_or(0);
            let waited = used.waited_ticks.saturating_sub(earlier.waited_ticks);
            used.own_ticks.saturating_sub(earlier.own_ticks) + waited.saturating_sub(known)
        }
        None => used.own_ticks + used.waited_ticks,
    };
    now.iter().map(used).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(processes: &[(u32, u32, u64, u64)]) -> Tree {
        let entry = |&(pid, parent, own_ticks, waited_ticks): &(u32, u32, u64, u64)| {
            ((pid, u64::from(pid) * 10), Used { parent, own_ticks, waited_ticks })
        };
        processes.iter().map(entry).collect()
    }

    #[test]
    fn time_of_those_that_stay_and_of_new_ones_adds_up() {
        let before = tree(&[(1, 0, 100, 40), (2, 1, 50, 0)]);
        let now = tree(&[(1, 0, 110, 40), (2, 1, 53, 0), (3, 2, 7, 1)]);
        assert_eq!(used_ticks(&before, &now), 10 + 3 + 8);
        assert_eq!(used_ticks(&now, &now), 0);
    }

    #[test]
    fn a_child_that_was_waited_for_counts_once() {
        let before = tree(&[(1, 0, 100, 40), (2, 1, 50, 5)]);
        // It used nine more before it ended: 64 are added to its parent's.
        let now = tree(&[(1, 0, 101, 104)]);
        assert_eq!(used_ticks(&before, &now), 1 + 9);
        // One that came and went between.
        assert_eq!(used_ticks(&now, &tree(&[(1, 0, 101, 110)])), 6);
    }

    #[test]
    fn a_child_that_nobody_waits_for_takes_nothing_away() {
        let before = tree(&[(1, 0, 100, 0), (2, 1, 5_000, 0)]);
        assert_eq!(used_ticks(&before, &tree(&[(1, 0, 104, 0)])), 4);
    }

    #[test]
    fn a_number_that_is_given_again_is_another_process() {
        let before = tree(&[(1, 0, 100, 0), (2, 1, 90, 0)]);
        let mut now = tree(&[(1, 0, 100, 90)]);
        now.insert((2, 77), Used { parent: 1, own_ticks: 3, waited_ticks: 0 });
        assert_eq!(used_ticks(&before, &now), 3);
    }
}
