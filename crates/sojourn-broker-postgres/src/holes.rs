//! Which numbers of a growing column were left out, and may still appear.
//!
//! A transaction draws its number when it inserts and shows it when it commits, so a row with a
//! smaller number may appear after one with a larger. Every number that was jumped over is a hole,
//! looked into until it can't be filled any more: a transaction that drew a number has had the
//! server's transaction id soon after (`patience`), and once all transactions with ids given out
//! until then have ended, whoever drew the number has committed or never will.

use std::collections::BTreeMap;

/// Most holes remembered.
pub(crate) const HOLES_MAX: usize = 65_536;

/// See the module. All bounds are exclusive.
#[derive(Debug)]
pub(crate) struct Holes {
    /// The greatest number read.
    top: i64,
    /// By the number below.
    holes: BTreeMap<i64, Hole>,
    patience_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Hole {
    /// The number above.
    above: i64,
    seen_ns: u64,
    /// The first transaction id not given out when patience had ended.
    settled_by: Option<u64>,
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Greater than all before.
    Ahead,
    /// One that had been left out.
    Late,
    /// Read before, or given up.
    Known,
}

impl Holes {
    /// Knows these numbers, in growing order, and looks for those left out between them.
    pub(crate) fn new(known: &[i64], now_ns: u64, patience_ns: u64) -> Self {
        let first = known.first().copied().unwrap_or(i64::MIN);
        let mut holes = Self { top: first, holes: BTreeMap::new(), patience_ns };
        for number in known {
            holes.read(*number, now_ns);
        }
        holes
    }

    /// The greatest number read.
    pub(crate) fn top(&self) -> i64 {
        self.top
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.holes.len()
    }

    /// Takes a number that was read.
    pub(crate) fn read(&mut self, number: i64, now_ns: u64) -> Reading {
        if number > self.top {
            self.add(self.top, number, now_ns);
            self.top = number;
            return Reading::Ahead;
        }
        let Some((&below, &hole)) = self.holes.range(..number).next_back() else {
            return Reading::Known;
        };
        if number >= hole.above {
            return Reading::Known;
        }
        self.holes.remove(&below);
        if number - 1 > below {
            self.holes.insert(below, Hole { above: number, ..hole });
        }
        // Who gives numbers out in blocks goes on above: patience begins anew.
        self.add(number, hole.above, now_ns);
        Reading::Late
    }

    /// The holes to look into: those seen lately, or `all`.
    pub(crate) fn to_ask(&self, now_ns: u64, all: bool) -> impl Iterator<Item = (i64, i64)> {
        let asked = move |hole: &Hole| all || !self.is_old(hole, now_ns);
        self.holes
            .iter()
            .filter(move |(_, hole)| asked(hole))
            .map(|(below, hole)| (*below, hole.above))
    }

    /// Forgets what can't be filled any more, after the answer to [`Self::to_ask`] with these
    /// arguments. The answer's snapshot: every transaction with an id below `xmin` had ended, no
    /// id from `xmax` on had been given out.
    pub(crate) fn settle(&mut self, now_ns: u64, all: bool, (xmin, xmax): (u64, u64)) {
        let patience_ns = self.patience_ns;
        self.holes.retain(|_, hole| match hole.settled_by {
            Some(settled_by) => !(all && xmin >= settled_by),
            None => {
                if now_ns.saturating_sub(hole.seen_ns) >= patience_ns {
                    hole.settled_by = Some(xmax);
                }
                true
            }
        });
    }

    fn is_old(&self, hole: &Hole, now_ns: u64) -> bool {
        now_ns.saturating_sub(hole.seen_ns) >= self.patience_ns
    }

    fn add(&mut self, below: i64, above: i64, now_ns: u64) {
        if above - 1 > below {
            self.holes.insert(below, Hole { above, seen_ns: now_ns, settled_by: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_left_out_are_taken_once() {
        let mut holes = Holes::new(&[3, 6], 0, 10);
        assert_eq!(holes.to_ask(0, false).collect::<Vec<_>>(), [(3, 6)]);
        let read: Vec<_> = [4, 4, 2, 9, 5, 7, 9].map(|number| holes.read(number, 1)).to_vec();
        use Reading::{Ahead, Known, Late};
        assert_eq!(read, [Late, Known, Known, Ahead, Late, Late, Known]);
        assert_eq!(holes.to_ask(1, false).collect::<Vec<_>>(), [(7, 9)]);
    }

    #[test]
    fn a_hole_is_kept_while_a_transaction_runs_that_may_fill_it() {
        let mut holes = Holes::new(&[1, 3], 0, 10);
        // Patience ends at 10, when ids up to 99 have been given out; 42 runs until then.
        for now in 0..=10 {
            holes.settle(now, true, (42, 100));
        }
        assert_eq!(holes.to_ask(11, false).count(), 0, "old ones are asked for less often");
        holes.settle(60, true, (99, 120));
        assert_eq!(holes.len(), 1);
        holes.settle(61, false, (100, 121));
        assert_eq!(holes.len(), 1, "nobody had looked into it");
        holes.settle(61, true, (100, 121));
        assert_eq!(holes.len(), 0);
    }

    #[test]
    fn the_ends_of_the_numbers_are_no_trap() {
        let mut holes = Holes::new(&[], 0, 10);
        for number in [i64::MAX, i64::MIN + 1, 0, i64::MAX - 1] {
            holes.read(number, 0);
        }
        let asked: Vec<_> = holes.to_ask(0, true).collect();
        assert_eq!(asked, [(i64::MIN + 1, 0), (0, i64::MAX - 1)]);
    }

    proptest! {
        /// A table where numbers are drawn in order and shown in any order, some never: polled at
        /// any time, each row is new exactly once.
        #[test]
        fn every_row_is_new_exactly_once(
            delays in prop::collection::vec(prop::option::weighted(0.9, 0_u64..40), 1..60),
            every in 1_u64..7,
        ) {
            let mut holes = Holes::new(&[], 0, 5);
            let mut taken = BTreeMap::new();
            // Transaction number k begins at k, shows row k at k + its delay, or ends without.
            let end = |k: usize| k as u64 + delays[k].unwrap_or(20);
            for now in (0..delays.len() as u64 + 60).step_by(every as usize) {
                let visible: BTreeSet<i64> = (0..delays.len())
                    .filter(|k| delays[*k].is_some() && end(*k) <= now)
                    .map(|k| k as i64)
                    .collect();
                let running = (0..delays.len()).filter(|k| (*k as u64) <= now && end(*k) > now);
                let xmax = now.min(delays.len() as u64) + 1;
                let xmin = running.map(|k| k as u64).min().unwrap_or(xmax);
                let top = holes.top();
                let asked: Vec<_> = holes.to_ask(now, true).collect();
                for number in visible {
                    let inside = |(below, above): &(i64, i64)| *below < number && number < *above;
                    if number > top || asked.iter().any(inside) {
                        prop_assert_ne!(holes.read(number, now), Reading::Known);
                        *taken.entry(number).or_insert(0) += 1;
                    }
                }
                holes.settle(now, true, (xmin, xmax));
            }
            let shown = delays.iter().flatten().count();
            prop_assert_eq!(taken.len(), shown);
            prop_assert!(taken.values().all(|count| *count == 1));
            prop_assert_eq!(holes.len(), 0);
        }
    }
}
