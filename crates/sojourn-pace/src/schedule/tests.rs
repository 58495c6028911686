//! Schedules against independent ground truth: hand-computed instants, numeric integration of the
//! intensity as its words define it, and statistics of the Poisson process.

use proptest::prelude::*;

use super::*;
use crate::{Segment, Share};

pub(super) const SECOND: u64 = 1_000_000_000;

pub(super) fn line(from_per_s: f64, to_per_s: f64, seconds: f64) -> Segment {
    Segment::Linear { from_per_s, to_per_s, duration_ns: (seconds * 1e9) as u64 }
}

fn sine(mean_per_s: f64, amplitude_per_s: f64, period_s: f64, phase: f64, seconds: f64) -> Segment {
    Segment::Sine {
        mean_per_s,
        amplitude_per_s,
        period_ns: (period_s * 1e9) as u64,
        phase,
        duration_ns: (seconds * 1e9) as u64,
    }
}

pub(super) fn schedule(segments: &[Segment], arrivals: Arrivals) -> Schedule {
    let profile = Profile { segments: segments.to_vec() };
    Schedule::new(profile, arrivals, 42, None)
}

pub(super) fn all(mut schedule: Schedule) -> Vec<u64> {
    (0..).map_while(|k| schedule.at(k)).collect()
}

/// Evenly paced arrivals of `segments` must be exactly `expected` many, and the first ones at
/// `first_ns`.
fn check_constant(segments: &[Segment], expected: usize, first_ns: &[u64]) {
    let paced = schedule(segments, Arrivals::Constant);
    let (count, end) = (paced.expected_count(), paced.duration_ns());
    let instants = all(paced);
    assert_eq!(instants.len(), expected, "{segments:?}");
    assert_eq!(count, expected as f64, "{segments:?}");
    assert_eq!(&instants[..first_ns.len()], first_ns, "{segments:?}");
    assert!(instants.is_sorted(), "{segments:?}");
    assert!(instants.iter().all(|&at| at < end), "{segments:?}");
}

#[test]
fn constant_rates_give_exact_counts_and_instants() {
    check_constant(&[line(100.0, 100.0, 30.0)], 3000, &[0, 10_000_000, 20_000_000]);
    check_constant(&[line(3.0, 3.0, 2.0)], 6, &[0, 333_333_333, 666_666_667, SECOND]);
    check_constant(&[line(12.0 / 3600.0, 12.0 / 3600.0, 3600.0)], 12, &[0, 300 * SECOND]);
    check_constant(&[line(90.0 / 60.0, 90.0 / 60.0, 10.0)], 15, &[0, 666_666_667]);
    // Half an arrival more than two: the third is due, and comes.
    check_constant(&[line(0.5, 0.5, 5.0)], 3, &[0, 2 * SECOND, 4 * SECOND]);
}

#[test]
fn the_last_of_many_arrivals_is_where_arithmetic_puts_it() {
    let mut paced = schedule(&[line(100_000.0, 100_000.0, 86_400.0)], Arrivals::Constant);
    assert_eq!(paced.expected_count(), 8_640_000_000.0);
    assert_eq!(paced.at(8_639_999_999), Some(86_399_999_990_000));
    assert_eq!(paced.at(8_640_000_000), None);
    // A thousand segments of a tenth of an arrival each: no error builds up over them.
    check_constant(&vec![line(0.1, 0.1, 1.0); 1000], 100, &[0, 10 * SECOND]);
}

#[test]
fn pauses_and_empty_segments_hold_no_arrival() {
    let pause = line(0.0, 0.0, 10.0);
    let work = line(10.0, 10.0, 1.0);
    // Arrival 0 at the first instant with a positive rate.
    check_constant(&[pause.clone(), work.clone()], 10, &[10 * SECOND]);
    let instants = all(schedule(&[work.clone(), pause, work.clone()], Arrivals::Constant));
    assert_eq!(instants[9], 900_000_000);
    assert_eq!(instants[10], 11 * SECOND);
    check_constant(&[line(5.0, 5.0, 0.0), work, line(5.0, 5.0, 0.0)], 10, &[0]);
    check_constant(&[], 0, &[]);
    check_constant(&[line(0.0, 0.0, 3.0)], 0, &[]);
}

#[test]
fn ramps_follow_the_quadratic() {
    // Λ(t) = t²/2 · 2: arrival k at √k seconds.
    let up = all(schedule(&[line(0.0, 20.0, 10.0)], Arrivals::Constant));
    assert_eq!(up.len(), 100);
    for (k, &at) in up.iter().enumerate() {
        assert_eq!(at, ((k as f64).sqrt() * 1e9).round() as u64);
    }
    // Down is up in a mirror: k arrivals are left at 10 − √k.
    let down = all(schedule(&[line(20.0, 0.0, 10.0)], Arrivals::Constant));
    assert_eq!(down.len(), 100);
    for (k, &at) in down.iter().enumerate() {
        let expected_s = 10.0 - (100.0 - k as f64).sqrt();
        assert!((at as f64 - expected_s * 1e9).abs() <= 1.0, "{k}: {at}");
    }
}

#[test]
fn sine_waves_hold_their_mean_and_wait_while_floored() {
    check_constant(&[sine(100.0, 50.0, 10.0, 0.3, 60.0)], 6000, &[0]);
    check_constant(&[sine(10.0, 10.0, 1.0, 0.0, 5.0)], 50, &[0]);
    // max(0, sin): 2·a/(2π)·P per wave = a/π for P = 1 s; the second half of each wave is silent.
    let waves =
        all(schedule(&[sine(0.0, 10.0 * std::f64::consts::PI, 1.0, 0.0, 3.0)], Arrivals::Constant));
    assert_eq!(waves.len(), 30);
    assert_eq!([waves[0], waves[10], waves[20]], [0, SECOND, 2 * SECOND]);
    assert_eq!(waves[5], 250_000_000);
    assert!(waves.iter().all(|at| at % SECOND <= 500_000_000));
    // A negative swing starts with the trough.
    let mirrored = all(schedule(
        &[sine(0.0, -10.0 * std::f64::consts::PI, 1.0, 0.0, 1.0)],
        Arrivals::Constant,
    ));
    assert_eq!(mirrored[0], 500_000_000);
    check_constant(&[sine(-5.0, 4.0, 1.0, 0.0, 9.0)], 0, &[]);
    check_constant(&[sine(5.0, 0.0, 1.0, 0.0, 2.0)], 10, &[0, 200_000_000]);
}

#[test]
fn random_steps_are_repeatable_and_within_bounds() {
    let steps = [Segment::RandomSteps {
        min_per_s: 50.0,
        max_per_s: 150.0,
        every_ns: SECOND,
        duration_ns: 100 * SECOND + 1,
    }];
    let instants = all(schedule(&steps, Arrivals::Constant));
    assert_eq!(instants, all(schedule(&steps, Arrivals::Constant)));
    let mut distinct = std::collections::BTreeSet::new();
    for second in 0..100 {
        let within = |at: &&u64| **at / SECOND == second;
        let count = instants.iter().filter(within).count();
        assert!((50..=150).contains(&count), "second {second}: {count}");
        distinct.insert(count);
    }
    assert!(distinct.len() > 30, "{distinct:?}");
    // Mean 100 per second, standard deviation of a uniform draw 28.9: four sigma over 100 draws.
    assert!((instants.len() as f64 - 10_000.0).abs() < 4.0 * 289.0);
}

#[test]
fn replay_and_limit() {
    let offsets: Arc<[u64]> = vec![5, 1, 9].into();
    let mut replay = schedule(&[line(1.0, 1.0, 1.0)], Arrivals::Replay(offsets));
    assert_eq!([replay.at(0), replay.at(2), replay.at(3)], [Some(1), Some(9), None]);
    assert_eq!((replay.duration_ns(), replay.expected_count()), (9, 3.0));
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let profile = Profile { segments: vec![line(100.0, 100.0, 1.0)] };
        let mut limited = Schedule::new(profile, arrivals, 1, Some(7));
        assert_eq!(limited.expected_count(), 7.0);
        assert!(limited.at(6).is_some() && limited.at(7).is_none());
    }
}

#[test]
fn poisson_gaps_are_exponential() {
    // Kolmogorov and Smirnov: the greatest distance between the gaps' distribution and 1 − e^(−x),
    // times √n, stays below 1.63 in 99 of 100 samples.
    let instants = all(schedule(&[line(1000.0, 1000.0, 20.0)], Arrivals::Poisson));
    let mut before = 0;
    let mut gaps: Vec<f64> =
        instants.iter().map(|&at| (at - std::mem::replace(&mut before, at)) as f64 / 1e6).collect();
    gaps.sort_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let distance = gaps
        .iter()
        .enumerate()
        .map(|(i, gap)| {
            let expected = 1.0 - (-gap).exp();
            (expected - i as f64 / n).abs().max((expected - (i + 1) as f64 / n).abs())
        })
        .fold(0.0, f64::max);
    assert!(distance * n.sqrt() < 1.63, "{}", distance * n.sqrt());
}

#[test]
fn poisson_counts_have_the_profiles_mean_and_variance() {
    let profile = [line(0.0, 40.0, 5.0), sine(20.0, 30.0, 2.0, 0.1, 5.0)];
    let mean = schedule(&profile, Arrivals::Poisson).expected_count();
    let runs = 400;
    let counts: Vec<f64> = (0..runs)
        .map(|seed| {
            let segments = profile.to_vec();
            all(Schedule::new(Profile { segments }, Arrivals::Poisson, seed, None)).len() as f64
        })
        .collect();
    let measured = counts.iter().sum::<f64>() / runs as f64;
    let sigma = (mean / runs as f64).sqrt();
    assert!((measured - mean).abs() < 4.0 * sigma, "{measured} {mean}");
    // A Poisson count's variance is its mean; the variance of that estimate is about 2·mean²/n.
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / runs as f64;
    let spread = mean * (2.0 / runs as f64).sqrt();
    assert!((variance - mean).abs() < 4.0 * spread, "{variance} {mean}");
}

#[test]
fn a_poisson_walk_can_go_back_and_past_the_end() {
    let forward = all(schedule(&[line(50.0, 50.0, 2.0)], Arrivals::Poisson));
    let mut jumping = schedule(&[line(50.0, 50.0, 2.0)], Arrivals::Poisson);
    assert_eq!(jumping.at(u64::MAX), None);
    for k in [50, 3, 3, 4, 0, 70, 2] {
        assert_eq!(jumping.at(k), forward.get(k as usize).copied(), "{k}");
    }
}

/// The intensity as its words define it, for numeric integration.
pub(super) fn intensity(segments: &[Segment], t_s: f64) -> f64 {
    let mut start_s = 0.0;
    for segment in segments {
        let (length_s, rate) = match *segment {
            Segment::Linear { from_per_s, to_per_s, duration_ns } => {
                let length = duration_ns as f64 / 1e9;
                (length, from_per_s + (to_per_s - from_per_s) * (t_s - start_s) / length)
            }
            Segment::Sine { mean_per_s, amplitude_per_s, period_ns, phase, duration_ns } => {
                let turns = (t_s - start_s) / (period_ns as f64 / 1e9) + phase;
                let wave = mean_per_s + amplitude_per_s * (std::f64::consts::TAU * turns).sin();
                (duration_ns as f64 / 1e9, wave.max(0.0))
            }
            Segment::RandomSteps { .. } => unreachable!("not generated here"),
        };
        if t_s < start_s + length_s {
            return rate;
        }
        start_s += length_s;
    }
    0.0
}

pub(super) fn any_segment() -> impl Strategy<Value = Segment> {
    prop_oneof![
        (0.0..300.0f64, 0.0..300.0f64, 0.0..5.0f64).prop_map(|(a, b, d)| line(a, b, d)),
        Just(line(0.0, 0.0, 1.5)),
        (-50.0..200.0f64, -200.0..200.0f64, 0.2..6.0f64, 0.0..1.0f64, 0.0..5.0f64)
            .prop_map(|(mean, swing, period, phase, d)| sine(mean, swing, period, phase, d)),
    ]
}

proptest! {
    #[test]
    fn every_arrival_lies_where_the_numeric_integral_passes_it(
        segments in prop::collection::vec(any_segment(), 1..5),
    ) {
        let paced = schedule(&segments, Arrivals::Constant);
        let (count, end_ns) = (paced.expected_count(), paced.duration_ns());
        let instants = all(paced);
        prop_assert_eq!(instants.len() as f64, count);
        prop_assert!(instants.is_sorted());
        prop_assert!(instants.iter().all(|&at| at < end_ns));
        // Midpoint rule; its error stays below 0.05 arrivals at this step.
        let step_s = 1e-4;
        let mut integral = 0.0;
        let mut k = 0;
        for i in 0..(end_ns as f64 / 1e9 / step_s) as u64 {
            let t_s = i as f64 * step_s;
            while k < instants.len() && instants[k] as f64 / 1e9 <= t_s {
                prop_assert!((integral - k as f64).abs() < 0.1, "{} {}", integral, k);
                k += 1;
            }
            integral += intensity(&segments, t_s + step_s / 2.0) * step_s;
        }
        prop_assert!((integral - (instants.len() as f64 - 0.5)).abs() < 0.6);
    }

    #[test]
    fn striped_shares_together_are_the_whole(
        segments in prop::collection::vec(any_segment(), 1..4),
        of in 1u32..6,
        poisson: bool,
    ) {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let mut union = Vec::new();
        for index in 0..of {
            let share = Share::Stripe { index, of };
            let mut own = schedule(&segments, arrivals.clone());
            let mut next = share.next_from(0);
            while let Some((k, at)) = next.and_then(|k| Some((k, own.at(k)?))) {
                union.push((k, at));
                next = share.next_from(k + 1);
            }
        }
        union.sort_unstable();
        let whole = all(schedule(&segments, arrivals));
        prop_assert!(union.iter().map(|&(k, _)| k).eq(0..whole.len() as u64));
        prop_assert!(union.iter().map(|&(_, at)| at).eq(whole));
    }

    #[test]
    fn no_input_makes_an_instant_outside_the_load(
        raw in prop::collection::vec(
            (0u8..3, any::<f64>(), any::<f64>(), any::<f64>(), any::<u64>(), any::<u64>()), 0..6),
        poisson: bool,
        ks in prop::collection::vec(0u64..2000, 0..20),
        far: u64,
    ) {
        let segments = raw.into_iter().map(|(kind, a, b, c, d, e)| match kind {
            0 => Segment::Linear { from_per_s: a, to_per_s: b, duration_ns: d },
            1 => Segment::Sine {
                mean_per_s: a, amplitude_per_s: b, period_ns: e, phase: c, duration_ns: d,
            },
            _ => Segment::RandomSteps {
                min_per_s: a, max_per_s: b, every_ns: e, duration_ns: d,
            },
        }).collect();
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let mut wild = Schedule::new(Profile { segments }, arrivals, far, None);
        let (count, end_ns) = (wild.expected_count(), wild.duration_ns());
        prop_assert!(count >= 0.0 && count.is_finite());
        for k in ks {
            if let Some(at) = wild.at(k) {
                prop_assert!(at < end_ns);
            }
        }
        if !poisson {
            prop_assert!(wild.at(far).is_none_or(|at| at < end_ns));
        }
    }
}
