//! Changes of level, stalls and correlations: the rates of false alarms, and whether real ones are
//! found, in noise of which each second resembles the one before.

use rand::rngs::StdRng;
use rand_distr::{Distribution, Normal, Poisson};
use sojourn_analysis::{
    change::{Point, change},
    correlate::correlate,
    stall::{Second, stalls},
};

use crate::chance;

const SECOND: u64 = 1_000_000_000;

/// Log-normal noise about one whose logarithm is autoregressive.
fn noise(n: usize, persistence: f64, deviation: f64, chance: &mut StdRng) -> Vec<f64> {
    let normal = Normal::new(0.0, deviation).expect("a deviation");
    let fresh = (1.0 - persistence * persistence).sqrt();
    let mut level = normal.sample(chance);
    (0..n)
        .map(|_| {
            level = persistence * level + fresh * normal.sample(chance);
            level.exp()
        })
        .collect()
}

fn points(values: &[f64]) -> Vec<Point> {
    values.iter().zip(0..).map(|(&value, at)| Point { at_ns: at * SECOND, value }).collect()
}

#[test]
fn noise_has_no_change() {
    for persistence in [0.0, 0.5, 0.8, 0.9] {
        for n in [40, 60, 300, 1_200] {
            let runs = 2_000;
            let false_alarms = (0..runs)
                .filter(|run| {
                    let values = noise(n, persistence, 0.5, &mut chance(*run));
                    change(&points(&values)).is_some()
                })
                .count();
            eprintln!("persistence {persistence}, {n} seconds: {false_alarms} of {runs}");
            assert!(
                false_alarms <= 20,
                "persistence {persistence}, {n} seconds: {false_alarms} of {runs}"
            );
        }
    }
}

#[test]
fn a_doubling_is_found_where_it_was() {
    for (persistence, n, least) in [(0.0, 60, 180), (0.5, 120, 160), (0.8, 600, 155)] {
        let found = (0..200)
            .filter(|run| {
                let mut values = noise(n, persistence, 0.2, &mut chance(*run));
                values[n / 3..].iter_mut().for_each(|value| *value *= 2.0);
                change(&points(&values)).is_some_and(|change| {
                    let off = change.at_ns.abs_diff(n as u64 / 3 * SECOND);
                    off <= (n as u64 / 40).max(5) * SECOND && change.after > 1.5 * change.before
                })
            })
            .count();
        eprintln!("persistence {persistence}, {n} seconds: {found} of 200");
        assert!(found >= least, "persistence {persistence}, {n} seconds: {found} of 200");
    }
}

#[test]
fn random_completions_do_not_stall() {
    for (per_s, bursts) in [(0.5, 1u64), (2.0, 1), (20.0, 1), (1_000.0, 1), (5.0, 4)] {
        let false_alarms = (0..1_000)
            .filter(|run| {
                let chance = &mut chance(*run);
                let poisson = Poisson::new(per_s).unwrap();
                let second = |at: u64| Second {
                    start_ns: at * SECOND,
                    end_ns: (at + 1) * SECOND,
                    arrived: (per_s * bursts as f64) as u64 + 1,
                    completed: poisson.sample(chance) as u64 * bursts,
                };
                let seconds: Vec<Second> = (0..120).map(second).collect();
                !stalls(&seconds, 120 * SECOND).is_empty()
            })
            .count();
        assert!(false_alarms <= 5, "{per_s}/s: {false_alarms} of 1,000");
    }
}

#[test]
fn independent_series_do_not_correlate() {
    for (a, b) in [(0.0, 0.0), (0.5, 0.9), (0.8, 0.8), (0.9, 0.9), (0.97, 0.97)] {
        for n in [30, 60, 300, 1_200] {
            let false_alarms = (0..500)
                .filter(|run| {
                    let chance = &mut chance(*run);
                    let [one, other] = [a, b].map(|persistence| -> Vec<Option<f64>> {
                        noise(n, persistence, 0.5, chance).into_iter().map(Some).collect()
                    });
                    correlate(&one, &other).is_some()
                })
                .count();
            eprintln!("{a} and {b}, {n} seconds: {false_alarms} of 500");
            assert!(false_alarms <= 5, "{a} and {b}, {n} seconds: {false_alarms} of 500");
        }
    }
}

#[test]
fn a_hop_that_follows_a_backlog_is_found() {
    let found = (0..200)
        .filter(|run| {
            let chance = &mut chance(*run);
            let backlog = noise(300, 0.8, 0.5, chance);
            let own = noise(300, 0.3, 0.2, chance);
            let leader: Vec<_> = backlog.iter().copied().map(Some).collect();
            let follower: Vec<_> =
                (0..300usize).map(|at| Some(backlog[at.saturating_sub(2)] * own[at])).collect();
            correlate(&leader, &follower).is_some_and(|found| found.lag == 2 && found.r > 0.7)
        })
        .count();
    assert!(found >= 190, "{found} of 200");
}
