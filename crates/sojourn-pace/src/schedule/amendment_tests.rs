//! Amended schedules against hand-computed instants and numeric integration.

use super::tests::{SECOND, all, any_segment, intensity, line, schedule};
use super::*;
use crate::{Segment, Share};
use proptest::prelude::*;

fn amendment(from_s: f64, rate_factor: f64) -> Amendment {
    Amendment { from_ns: (from_s * 1e9) as u64, rate_factor }
}

fn amended(segments: &[Segment], arrivals: Arrivals, amendments: &[Amendment]) -> Schedule {
    let mut schedule = schedule(segments, arrivals);
    for amendment in amendments {
        assert!(schedule.amend(*amendment), "{amendment:?}");
    }
    schedule
}

#[test]
fn a_rate_doubles_halves_and_pauses_at_its_instant() {
    let constant = [line(100.0, 100.0, 10.0)];
    let doubled = amended(&constant, Arrivals::Constant, &[amendment(5.0, 2.0)]);
    assert_eq!((doubled.expected_count(), doubled.duration_ns()), (1500.0, 10 * SECOND));
    let instants = all(doubled);
    assert_eq!(instants.len(), 1500);
    assert_eq!(instants[499..503], [4_990_000_000, 5_000_000_000, 5_005_000_000, 5_010_000_000]);
    assert_eq!(instants[1499], 9_995_000_000);
    // A pause of three seconds; what was due in it is not made up for.
    let paused = [amendment(3.0, 0.0), amendment(6.0, 1.0)];
    let instants = all(amended(&constant, Arrivals::Constant, &paused));
    assert_eq!(instants.len(), 700);
    assert_eq!(instants[299..302], [2_990_000_000, 6_000_000_000, 6_010_000_000]);
    // For good, and from the first moment.
    assert_eq!(all(amended(&constant, Arrivals::Constant, &[amendment(3.0, 0.0)])).len(), 300);
    assert_eq!(all(amended(&constant, Arrivals::Constant, &[amendment(0.0, 0.0)])).len(), 0);
    let tenth = amended(&constant, Arrivals::Constant, &[amendment(0.0, 0.1)]);
    assert_eq!(all(tenth)[..3], [0, 100_000_000, 200_000_000]);
    // The last word counts; beyond the end there is nothing to amend.
    let words = [amendment(5.0, 9.0), amendment(5.0, 3.0), amendment(10.0, 7.0)];
    assert_eq!(all(amended(&constant, Arrivals::Constant, &words)).len(), 2000);
}

#[test]
fn factors_whose_division_rounds_count_exactly() {
    for factor in [0.1, 0.3, 1.0 / 3.0, 0.7, 1.1, 3.0, 7.0, 1e-6, 1e3] {
        let segments = [line(50.0, 50.0, 20.0)];
        let schedule = amended(&segments, Arrivals::Constant, &[amendment(10.0, factor)]);
        let count = schedule.expected_count();
        // Levels 0, 1, 2 … below 500 + 500 · factor, of which rounding may not make one more.
        let exact = 500.0 + 500.0 * factor;
        assert_eq!(count, (exact - exact * 1e-12).ceil(), "{factor}");
        assert_eq!(all(schedule).len() as f64, count, "{factor}");
    }
}

#[test]
fn a_recording_is_replayed_faster_slower_or_not_at_all() {
    let offsets: Arc<[u64]> = [0, 1, 2, 3, 4, 6].map(|s| s * SECOND).into();
    let replay = |amendments: &[Amendment]| {
        let schedule = amended(&[], Arrivals::Replay(Arc::clone(&offsets)), amendments);
        let (count, end) = (schedule.expected_count(), schedule.duration_ns());
        let instants = all(schedule);
        assert_eq!(count, instants.len() as f64);
        assert_eq!(instants.last().copied().unwrap_or(0), end);
        instants
    };
    let seconds = |instants: Vec<u64>| instants.into_iter().map(|at| at as f64 / 1e9);
    let check = |amendments: &[Amendment], expected: &[f64]| {
        assert!(seconds(replay(amendments)).eq(expected.iter().copied()), "{amendments:?}");
    };
    check(&[], &[0.0, 1.0, 2.0, 3.0, 4.0, 6.0]);
    check(&[amendment(2.0, 2.0)], &[0.0, 1.0, 2.0, 2.5, 3.0, 4.0]);
    check(&[amendment(2.5, 0.5), amendment(4.5, 2.0)], &[0.0, 1.0, 2.0, 3.5, 4.75, 5.75]);
    check(&[amendment(1.5, 0.0), amendment(10.0, 1.0)], &[0.0, 1.0, 10.5, 11.5, 12.5, 14.5]);
    check(&[amendment(1.5, 0.0)], &[0.0, 1.0]);
}

#[test]
fn what_is_no_amendment_changes_nothing() {
    let mut paced = schedule(&[line(10.0, 10.0, 10.0)], Arrivals::Constant);
    assert!(paced.amend(amendment(5.0, 2.0)));
    for wrong in [
        amendment(4.0, 1.0),
        amendment(6.0, -1.0),
        amendment(6.0, f64::NAN),
        amendment(6.0, f64::INFINITY),
    ] {
        assert!(!paced.amend(wrong), "{wrong:?}");
    }
    assert_eq!(all(paced.clone()).len(), 150);
    let taken = (0..).take_while(|_| paced.amend(amendment(5.0, 1.0))).count();
    assert!((1_000..100_000).contains(&taken), "{taken}: there is a bound");
}

fn any_amendments() -> impl Strategy<Value = Vec<Amendment>> {
    let factor = prop_oneof![Just(0.0), Just(1.0), 0.05..8.0f64, Just(1.0 / 3.0)];
    prop::collection::vec((0.0..12.0f64, factor), 0..6).prop_map(|mut raw| {
        raw.sort_by(|a, b| a.0.total_cmp(&b.0));
        raw.into_iter().map(|(from_s, factor)| amendment(from_s, factor)).collect()
    })
}

/// The factor in force at an instant, as the words have it.
fn factor_at(amendments: &[Amendment], t_s: f64) -> f64 {
    let begun = amendments.iter().rev().find(|amendment| amendment.from_ns as f64 / 1e9 <= t_s);
    begun.map_or(1.0, |amendment| amendment.rate_factor)
}

proptest! {
    #[test]
    fn arrivals_already_reached_never_move(
        segments in prop::collection::vec(any_segment(), 1..4),
        amendments in any_amendments(),
        poisson: bool,
        recorded in prop::option::weighted(0.3, prop::collection::vec(0..12_000_000_000u64, 0..60)),
    ) {
        let arrivals = match (recorded, poisson) {
            (Some(offsets), _) => Arrivals::Replay(offsets.into()),
            (None, true) => Arrivals::Poisson,
            (None, false) => Arrivals::Constant,
        };
        let mut paced = schedule(&segments, arrivals);
        let mut before = all(paced.clone());
        for amendment in amendments {
            prop_assert!(paced.amend(amendment));
            let after = all(paced.clone());
            let reached = before.partition_point(|&at| at < amendment.from_ns);
            prop_assert_eq!(&after[..reached.min(after.len())], &before[..reached]);
            prop_assert!(after[reached..].iter().all(|&at| at >= amendment.from_ns));
            prop_assert!(after.is_sorted());
            before = after;
        }
    }

    #[test]
    fn amended_arrivals_lie_where_the_numeric_integral_passes_them(
        segments in prop::collection::vec(any_segment(), 1..4),
        amendments in any_amendments(),
    ) {
        let paced = amended(&segments, Arrivals::Constant, &amendments);
        let (count, end_ns) = (paced.expected_count(), paced.duration_ns());
        let instants = all(paced);
        prop_assert_eq!(instants.len() as f64, count);
        prop_assert!(instants.iter().all(|&at| at < end_ns));
        // Midpoint rule; a step in which the factor jumps is off by at most rate · step · jump.
        let step_s = 1e-4;
        let mut integral = 0.0;
        let mut k = 0;
        for i in 0..(end_ns as f64 / 1e9 / step_s) as u64 {
            let t_s = i as f64 * step_s;
            while k < instants.len() && instants[k] as f64 / 1e9 <= t_s {
                prop_assert!((integral - k as f64).abs() < 1.2, "{} {}", integral, k);
                k += 1;
            }
            let middle_s = t_s + step_s / 2.0;
            integral +=
                intensity(&segments, middle_s) * factor_at(&amendments, middle_s) * step_s;
        }
        prop_assert!((integral - count).abs() < 2.0, "{} {}", integral, count);
    }

    #[test]
    fn amended_shares_together_are_the_whole_in_any_order_of_asking(
        segments in prop::collection::vec(any_segment(), 1..4),
        amendments in any_amendments(),
        of in 1u32..5,
        poisson: bool,
        jumps in prop::collection::vec(0u64..3_000, 0..12),
    ) {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let mut paced = amended(&segments, arrivals, &amendments);
        let whole = all(paced.clone());
        for k in jumps {
            prop_assert_eq!(paced.at(k), whole.get(k as usize).copied());
        }
        let mut union = Vec::new();
        for index in 0..of {
            let share = Share::Stripe { index, of };
            let mut own = paced.clone();
            let mut next = share.next_from(0);
            while let Some((k, at)) = next.and_then(|k| Some((k, own.at(k)?))) {
                union.push((k, at));
                next = share.next_from(k + 1);
            }
        }
        union.sort_unstable();
        prop_assert!(union.into_iter().map(|(_, at)| at).eq(whole));
    }
}

#[test]
fn an_amended_poisson_process_has_the_amended_mean() {
    let segments = [line(20.0, 20.0, 10.0)];
    let amendments = [amendment(2.0, 3.0), amendment(6.0, 0.5)];
    let runs = 400;
    let total: usize = (0..runs)
        .map(|seed| {
            let profile = Profile { segments: segments.to_vec() };
            let mut paced = Schedule::new(profile, Arrivals::Poisson, seed, None);
            assert!(amendments.iter().all(|amendment| paced.amend(*amendment)));
            assert_eq!(paced.expected_count(), 40.0 + 240.0 + 40.0);
            all(paced).len()
        })
        .sum();
    let mean = total as f64 / runs as f64;
    assert!((mean - 320.0).abs() < 4.0 * (320.0 / runs as f64).sqrt(), "{mean}");
}
