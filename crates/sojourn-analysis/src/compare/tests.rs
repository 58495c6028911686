//! False alarms, power and limits of comparisons, on runs whose truth is known.

use super::*;
use crate::compare::draws::Draws;

/// Samples of a run of `blocks` blocks: log-normal, whose level wanders from block to block by
/// `wander` with correlation `memory`, all of them `factor` times as long.
struct Run {
    samples: usize,
    blocks: usize,
    wander: f64,
    memory: f64,
    factor: f64,
}

const STEADY: Run = Run { samples: 200, blocks: 30, wander: 0.05, memory: 0.0, factor: 1.0 };

impl Run {
    fn of(&self, seed: u64) -> Vec<Block> {
        let mut draws = Draws::new(seed);
        let mut normal = move || {
            let uniform = (draws.below(1 << 40) as f64 + 0.5) / (1_u64 << 40) as f64;
            crate::student::normal_quantile(uniform)
        };
        let mut level = 0.0;
        let block = |_| {
            let fresh = (1.0 - self.memory * self.memory).sqrt() * normal();
            level = self.memory * level + fresh;
            let mut values: Vec<u64> = (0..self.samples)
                .map(|_| {
                    let log = 0.5 * normal() + self.wander * level;
                    let value = 20e6 * self.factor * log.exp();
                    // As coarse as a histogram's bins.
                    let step = 10f64.powf(value.log10().floor() - 2.0);
                    ((value / step).round() * step) as u64
                })
                .collect();
            values.sort_unstable();
            let bins = values.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64));
            Block { bins: bins.collect(), beyond: 0 }
        };
        (0..self.blocks).map(block).collect()
    }
}

/// Of so many pairs, those in which any quantile is said to differ.
fn alarms(before: &Run, after: &Run, tolerance: f64, pairs: u64) -> u64 {
    let differs = |pair: &u64| {
        let (first, second) = (before.of(2 * pair + 1), after.of(1_000_003 * (pair + 1)));
        [0.5, 0.95, 0.99].into_iter().any(|q| {
            let change = quantile_change(&first, &second, q, 3).expect("samples");
            change.finding(Worse::Greater, tolerance) != Finding::NoDifference
        })
    };
    (0..pairs).filter(differs).count() as u64
}

#[test]
fn two_runs_of_the_same_are_said_to_differ_in_one_of_twenty_at_most() {
    for (name, run) in [
        ("independent", STEADY),
        ("few blocks", Run { blocks: 10, ..STEADY }),
        ("many blocks", Run { blocks: 60, samples: 50, ..STEADY }),
        ("no wander", Run { wander: 0.0, ..STEADY }),
        ("blocks that resemble their neighbours", Run { memory: 0.5, ..STEADY }),
    ] {
        let found = alarms(&run, &run, 0.0, 150);
        // 5 % of 150 and two standard errors of the count.
        assert!(found <= 13, "{name}: {found} of 150");
    }
}

#[test]
fn a_tolerance_makes_false_alarms_rarer() {
    assert!(alarms(&STEADY, &STEADY, 0.05, 200) <= 3);
}

#[test]
fn a_known_shift_is_seen_with_its_direction_and_inside_its_interval() {
    for (factor, expected) in [(1.2, Finding::Worse), (0.8, Finding::Better)] {
        let shifted = Run { factor, ..STEADY };
        let (mut seen, mut inside) = (0, 0);
        for pair in 0..100 {
            let (first, second) = (STEADY.of(7 * pair + 5), shifted.of(900_001 * (pair + 1)));
            let change = quantile_change(&first, &second, 0.5, 9).expect("samples");
            seen += u64::from(change.finding(Worse::Greater, 0.05) == expected);
            let [low, high] = change.interval;
            inside += u64::from((low..=high).contains(&(factor - 1.0)));
        }
        assert!(seen >= 95, "{factor}: seen {seen} of 100");
        assert!(inside >= 95, "{factor}: inside {inside} of 100");
    }
}

#[test]
fn a_change_within_the_tolerance_is_no_finding_however_sure() {
    let change = Change { before: 100.0, after: 104.0, change: 0.04, interval: [0.03, 0.05] };
    assert_eq!(change.finding(Worse::Greater, 0.05), Finding::NoDifference);
    assert_eq!(change.finding(Worse::Greater, 0.01), Finding::Worse);
    assert_eq!(change.finding(Worse::Smaller, 0.01), Finding::Better);
    let unsure = Change { after: 150.0, change: 0.5, interval: [-0.01, 1.0], ..change };
    assert_eq!(unsure.finding(Worse::Greater, 0.05), Finding::NoDifference);
}

#[test]
fn what_has_no_quantile_is_not_compared() {
    let full = STEADY.of(1);
    let empty = vec![Block::default(); 30];
    assert_eq!(quantile_change(&full, &empty, 0.5, 1), None);
    let mut lost = full.clone();
    lost.iter_mut().for_each(|block| block.beyond = 20);
    assert!(quantile_change(&full, &lost, 0.5, 1).is_some());
    assert_eq!(quantile_change(&full, &lost, 0.95, 1), None, "p95 lies among the lost");
}

#[test]
fn the_same_figure_to_the_digit_has_the_resolution_as_its_interval() {
    let constant = vec![Block { bins: vec![(5_000_000, 100)], beyond: 0 }; 20];
    let change = quantile_change(&constant, &constant, 0.5, 1).expect("samples");
    assert_eq!(change.change, 0.0);
    assert!(change.interval[0] > -0.003 && change.interval[1] < 0.003);
}

#[test]
fn rates_and_shares() {
    let steady: Vec<(u64, f64)> = (0..30).map(|k| (98 + k % 5, 1.0)).collect();
    let less: Vec<(u64, f64)> = (0..30).map(|k| (88 + k % 5, 1.0)).collect();
    let change = rate_change(&steady, &less, 5).expect("events");
    assert_eq!(change.finding(Worse::Smaller, 0.05), Finding::Worse);
    let same = rate_change(&steady, &steady, 5).expect("events");
    assert_eq!(same.finding(Worse::Smaller, 0.0), Finding::NoDifference);
    assert_eq!(rate_change(&steady, &[(0, 1.0); 30], 5), None);

    let none = vec![(0, 100); 30];
    let one: Vec<_> = (0..30).map(|k| (u64::from(k == 3), 100)).collect();
    let one = share_change(&none, &one, 5).expect("requests");
    assert_eq!(one.finding(Worse::Greater, 0.05), Finding::NoDifference, "one of 3,000 is chance");
    let many: Vec<_> = (0..30).map(|k| (2 + k % 2, 100)).collect();
    let many = share_change(&none, &many, 5).expect("requests");
    assert_eq!(many.finding(Worse::Greater, 0.05), Finding::Worse);
    // All in one second: blocks say that this may come again or not.
    let burst: Vec<_> = (0..30).map(|k| (if k == 3 { 75 } else { 0 }, 100)).collect();
    let burst = share_change(&none, &burst, 5).expect("requests");
    assert_eq!(burst.finding(Worse::Greater, 0.05), Finding::NoDifference);
}

#[test]
fn intervals_are_cut_into_blocks_of_like_length() {
    assert_eq!(grouping(9), None);
    assert_eq!(grouping(10).map(|blocks| blocks.len()), Some(10));
    let blocks = grouping(3_600).expect("enough");
    assert_eq!(blocks.last(), Some(&59));
    let of_first = blocks.iter().filter(|block| **block == 0).count();
    assert_eq!(of_first, 60);
}
