//! Which number a load entry's journeys have.
//!
//! An arrival is one journey or a batch of them. Journeys are numbered from 0 in the order of
//! arrivals, without a gap, whichever generator starts them: journey k takes row k of a data
//! source.

use sojourn_plan::{Load, Plan};

use super::choice::pick_journey;

/// The numbers of one load entry's journeys.
#[derive(Debug)]
pub(super) struct Numbers {
    /// The journeys of every arrival, where all start as many.
    each: Option<u64>,
    /// The arrival counted up to, and the number of its first journey.
    counted: (u64, u64),
}

impl Numbers {
    /// Of every load entry.
    pub(super) fn of(plan: &Plan) -> Vec<Self> {
        let of_entry = |load: &Load| {
            let mut sizes = load.journeys.iter().map(|&(place, _)| journeys_of(plan, place));
            let first = sizes.next().unwrap_or(1);
            Self { each: sizes.all(|size| size == first).then_some(first), counted: (0, 0) }
        };
        plan.load.iter().map(of_entry).collect()
    }

    /// The number of the first journey of arrival `k`. Arrivals are asked for in their order: those
    /// between the last one and this, which other generators start, are counted on the way.
    pub(super) fn first_of(&mut self, plan: &Plan, entry: u16, k: u64) -> u64 {
        if let Some(each) = self.each {
            return k.saturating_mul(each);
        }
        let load = &plan.load[usize::from(entry)];
        let (mut arrival, mut number) = self.counted;
        if arrival > k {
            (arrival, number) = (0, 0);
        }
        while arrival < k {
            let kind = pick_journey(load, plan.seed, entry, arrival);
            number += journeys_of(plan, usize::from(kind));
            arrival += 1;
        }
        self.counted = (arrival, number);
        number
    }
}

fn journeys_of(plan: &Plan, journey: usize) -> u64 {
    u64::from(plan.journeys[journey].per_arrival())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;

    const MIXED: &str = "
journeys:
  single: { root: { http: { url: /e, json: {} } } }
  batch: { root: { batch: 10, http: { url: /e, json: {} } } }
load:
  - { rate: 1/s, steady: 1s }
  - { journey: batch, rate: 1/s, steady: 1s }
";

    #[test]
    fn journeys_are_numbered_without_a_gap_whoever_starts_them() {
        let plan = plan(MIXED, "http://127.0.0.1:1");
        let ranges = |generator: u64, of: u64| {
            let mut numbers = Numbers::of(&plan);
            let own = (0..1_000).filter(move |k| k % of == generator);
            let range = |k: u64| {
                let first = numbers[0].first_of(&plan, 0, k);
                let kind = pick_journey(&plan.load[0], plan.seed, 0, k);
                (first, journeys_of(&plan, usize::from(kind)))
            };
            own.map(range).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = (0..3).flat_map(|generator| ranges(generator, 3)).collect();
        all.sort_unstable();
        assert_eq!(all, ranges(0, 1));
        let mut next = 0;
        for (first, size) in &all {
            assert_eq!(*first, next);
            next += size;
        }
        let singles = all.iter().filter(|(_, size)| *size == 1).count();
        assert!((400..600).contains(&singles), "{singles}");
        // Asked again, or of one size, they are the same.
        let mut numbers = Numbers::of(&plan);
        let asked = [999, 3, 3].map(|k| numbers[0].first_of(&plan, 0, k));
        assert_eq!(asked, [all[999].0, all[3].0, all[3].0]);
        assert_eq!(numbers[1].first_of(&plan, 1, 7), 70);
    }
}
