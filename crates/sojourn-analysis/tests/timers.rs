//! Timers: who waits for one is found, and nobody else.

use rand::rngs::StdRng;
use rand_distr::{Exp, Gamma, LogNormal, Normal, Uniform, Weibull};
use sojourn_analysis::timer::{HopSamples, KeptHop, Pattern, Timer, timers};
use sojourn_metrics::Histogram;

use crate::{chance, draws};

const SECOND: f64 = 1e9;

type Draw = Box<dyn Fn(&mut StdRng) -> f64>;

/// How many samples, and how many runs of as many.
const SIZES: [(usize, u64); 6] =
    [(30, 600), (50, 400), (100, 400), (1_000, 100), (10_000, 20), (100_000, 4)];

fn histogram(n: usize, draw: &Draw, chance: &mut StdRng) -> Histogram {
    let mut histogram = Histogram::new();
    (0..n).for_each(|_| histogram.record((draw(chance) * SECOND).max(0.0) as u64));
    histogram
}

/// The timers of one hop that is known by its histogram alone.
fn alone(histogram: &Histogram) -> Vec<Timer> {
    timers(&[HopSamples { stage: "s".into(), hops: Some(histogram), kept: Vec::new() }])
}

/// In how many of the runs a timer is found, of any period that `is_right` accepts.
fn found(n: usize, runs: u64, draw: &Draw, is_right: impl Fn(f64) -> bool) -> u64 {
    let is_found = |run: &u64| {
        let found = alone(&histogram(n, draw, &mut chance(*run)));
        found.iter().any(|timer| is_right(timer.period_ns / SECOND))
    };
    (0..runs).filter(is_found).count() as u64
}

#[test]
fn work_of_the_usual_kinds_is_no_timer() {
    let kinds: Vec<(String, Draw)> = [0.5, 1.0, 2.0, 4.0, 30.0]
        .map(|k| (format!("gamma {k}"), draws(Gamma::new(k, 1.0 / k).unwrap())))
        .into_iter()
        .chain(
            [1.5, 2.0, 3.0].map(|k| (format!("weibull {k}"), draws(Weibull::new(1.0, k).unwrap()))),
        )
        .chain([0.001, 0.05, 0.2, 0.4].map(|deviation| {
            (format!("normal {deviation}"), draws(Normal::new(1.0, deviation).unwrap()))
        }))
        .chain([0.05, 0.3, 0.6, 1.0, 2.0].map(|sigma| {
            (format!("log-normal {sigma}"), draws(LogNormal::new(0.0, sigma).unwrap()))
        }))
        .chain([("exponential".into(), draws(Exp::new(50.0).unwrap()))])
        .chain([("constant".into(), Box::new(|_: &mut StdRng| 0.02) as Draw)])
        .collect();
    for (name, draw) in &kinds {
        for (n, runs) in SIZES {
            let false_alarms = found(n, runs, draw, |_| true);
            let most = runs / 100;
            assert!(false_alarms <= most, "{name}: {false_alarms} of {runs} at {n} samples");
        }
    }
}

#[test]
fn a_wait_for_the_next_tick_is_found_with_its_period() {
    let near = |period: f64| (period / 5.0 - 1.0).abs() < 0.06;
    let bare: Draw = draws(Uniform::new(0.0, 5.0).unwrap());
    let service = Exp::new(1.0 / 0.15).unwrap();
    let wait = Uniform::new(0.0, 5.0).unwrap();
    let with_work: Draw = Box::new(move |chance| {
        rand_distr::Distribution::sample(&wait, chance)
            + rand_distr::Distribution::sample(&service, chance)
    });
    for (n, runs, least) in
        [(60, 300, 0.75), (100, 300, 0.9), (1_000, 100, 1.0), (100_000, 20, 1.0)]
    {
        let times = found(n, runs, &bare, near);
        assert!(times as f64 >= least * runs as f64, "{times} of {runs} at {n} samples");
    }
    for (n, runs, least) in [(100, 300, 0.8), (1_000, 100, 0.97), (100_000, 20, 1.0)] {
        let times = found(n, runs, &with_work, near);
        assert!(times as f64 >= least * runs as f64, "with work: {times} of {runs} at {n}");
    }
}

#[test]
fn steps_are_found_with_their_period() {
    let noise = Normal::new(0.02, 0.03).unwrap();
    let work = LogNormal::new(0.0, 0.8).unwrap();
    let steps: Draw = Box::new(move |chance| {
        let work: f64 = rand_distr::Distribution::sample(&work, chance);
        work.ceil() + rand_distr::Distribution::sample(&noise, chance)
    });
    let near = |period: f64| (period - 1.0).abs() < 0.02;
    for (n, runs, least) in
        [(50, 300, 0.95), (100, 300, 1.0), (1_000, 100, 1.0), (100_000, 20, 1.0)]
    {
        let times = found(n, runs, &steps, near);
        assert!(times as f64 >= least * runs as f64, "{times} of {runs} at {n} samples");
    }
}

/// Work that has two speeds is no timer, unless the slower happens to take twice the faster.
#[test]
fn two_speeds_of_work_are_no_steps() {
    let fast = Normal::new(0.02, 0.001).unwrap();
    let slow = Normal::new(0.25, 0.01).unwrap();
    let work: Draw = Box::new(move |chance| {
        let of = if rand::RngExt::random_bool(chance, 0.7) { &fast } else { &slow };
        rand_distr::Distribution::sample(of, chance)
    });
    assert_eq!(found(300, 300, &work, |_| true), 0);
}

/// Journeys through a relay that polls every `poll_s`: the hops' histograms and what was kept.
struct Relayed {
    hops: Vec<Histogram>,
    kept: Vec<Vec<KeptHop>>,
}

/// `works` is each stage's work before its event waits for the next poll; none at the first.
fn relayed(arrivals_s: &[f64], poll_s: f64, works: &[Draw], chance: &mut StdRng) -> Relayed {
    let jitter = Exp::new(1.0 / 0.004).expect("a rate");
    let phase_s = 0.37 * poll_s;
    let mut relayed = Relayed {
        hops: works.iter().map(|_| Histogram::new()).collect(),
        kept: works.iter().map(|_| Vec::new()).collect(),
    };
    for t0_s in arrivals_s {
        let mut at_s = t0_s + 0.000_1;
        for (stage, work) in works.iter().enumerate() {
            let done_s = at_s + work(chance);
            let tick_s = ((done_s - phase_s) / poll_s).ceil() * poll_s + phase_s;
            let seen_s = tick_s + rand_distr::Distribution::sample(&jitter, chance);
            relayed.hops[stage].record(((seen_s - at_s) * SECOND) as u64);
            relayed.kept[stage].push(KeptHop {
                t0_ns: (t0_s * SECOND) as u64,
                from_ns: (at_s * SECOND) as u64,
                seen_ns: (seen_s * SECOND) as u64,
            });
            at_s = seen_s;
        }
    }
    relayed
}

fn of(relayed: &Relayed, names: &[&str], kept: usize) -> Vec<Timer> {
    let hops: Vec<HopSamples<'_>> = names
        .iter()
        .zip(relayed.hops.iter().zip(&relayed.kept))
        .map(|(name, (hops, all))| HopSamples {
            stage: (*name).into(),
            hops: Some(hops),
            kept: all.iter().step_by(all.len().div_ceil(kept)).copied().collect(),
        })
        .collect();
    timers(&hops)
}

fn constant_work(s: f64) -> Draw {
    Box::new(move |_| s)
}

/// One payment a second for half a minute: 5 s polls, 5 to 9 s of work at the end.
#[test]
fn the_published_experiment_names_its_poll() {
    for run in 0..200 {
        let chance = &mut chance(run);
        let offset_s = rand::RngExt::random_range(chance, 0.0..5.0);
        let arrivals: Vec<f64> = (0..30).map(|k| f64::from(k) + offset_s).collect();
        let works = [
            constant_work(0.003),
            constant_work(0.3),
            constant_work(0.3),
            draws(Uniform::new(5.02, 9.0).unwrap()),
        ];
        let relayed = relayed(&arrivals, 5.0, &works, chance);
        let found = of(&relayed, &["initiated", "created", "settled", "completed"], 100);
        assert_eq!(found.len(), 1, "run {run}: {found:?}");
        assert!((found[0].period_ns / SECOND - 5.0).abs() < 0.02, "run {run}: {found:?}");
        let steps: Vec<_> = found[0].hops.iter().map(|hop| hop.pattern.usual_steps()).collect();
        assert_eq!(steps, [None, Some(1), Some(1), Some(2)], "run {run}: {found:?}");
        assert!(matches!(found[0].hops[0].pattern, Pattern::Spread { .. }));
    }
}

#[test]
fn a_relay_under_random_arrivals_is_found_at_any_stage() {
    for run in 0..50 {
        let chance = &mut chance(run);
        let mut at_s = 0.0;
        let gap = Exp::new(50.0).unwrap();
        let arrivals: Vec<f64> = (0..1_000)
            .map(|_| {
                at_s += rand_distr::Distribution::sample(&gap, chance);
                at_s
            })
            .collect();
        let works = [
            draws(LogNormal::new(-5.0, 0.3).unwrap()),
            draws(LogNormal::new(-3.9, 0.6).unwrap()),
            draws(Uniform::new(0.02, 0.06).unwrap()),
        ];
        let relayed = relayed(&arrivals, 0.1, &works, chance);
        let found = of(&relayed, &["initiated", "created", "settled"], 100);
        assert_eq!(found.len(), 1, "run {run}: {found:?}");
        assert!((found[0].period_ns / SECOND - 0.1).abs() < 0.002, "run {run}: {found:?}");
        assert_eq!(found[0].hops.len(), 3, "run {run}: {found:?}");
    }
}

/// In a queue that grows the hops are spread evenly over the whole run's waits.
#[test]
fn a_queue_that_grows_is_no_timer() {
    for run in 0..100 {
        let chance = &mut chance(run);
        let noise = Exp::new(50.0).unwrap();
        let mut histogram = Histogram::new();
        let kept: Vec<KeptHop> = (0..3_000u32)
            .map(|k| {
                let from_s = f64::from(k) / 100.0;
                let hop_s = 0.02 + 0.13 * from_s + rand_distr::Distribution::sample(&noise, chance);
                histogram.record((hop_s * SECOND) as u64);
                KeptHop {
                    t0_ns: (from_s * SECOND) as u64,
                    from_ns: (from_s * SECOND) as u64,
                    seen_ns: ((from_s + hop_s) * SECOND) as u64,
                }
            })
            .collect();
        let kept = kept.into_iter().step_by(30).collect();
        let hop = HopSamples { stage: "s".into(), hops: Some(&histogram), kept };
        assert_eq!(timers(&[hop]), [], "run {run}");
    }
}

/// Arrivals at a constant rate, and work: what keeps to the arrivals' own grid is no timer.
#[test]
fn arrivals_at_a_constant_rate_are_no_timer() {
    let kinds: [Draw; 4] = [
        draws(Exp::new(5.0).unwrap()),
        draws(Normal::new(1.0, 0.002).unwrap()),
        draws(LogNormal::new(-1.0, 0.5).unwrap()),
        // Every third order waits for the next order's arrival.
        constant_work(0.25),
    ];
    for work in &kinds {
        let false_alarms = (0..300).filter(|run| {
            let chance = &mut chance(*run);
            let mut histogram = Histogram::new();
            let kept: Vec<KeptHop> = (0..100)
                .map(|k| {
                    let t0_s = f64::from(k);
                    let hop_s = work(chance).max(0.0);
                    histogram.record((hop_s * SECOND) as u64);
                    KeptHop {
                        t0_ns: (t0_s * SECOND) as u64,
                        from_ns: ((t0_s + 0.000_1) * SECOND) as u64,
                        seen_ns: ((t0_s + 0.000_1 + hop_s) * SECOND) as u64,
                    }
                })
                .collect();
            let hop = HopSamples { stage: "s".into(), hops: Some(&histogram), kept };
            !timers(&[hop]).is_empty()
        });
        let false_alarms = false_alarms.count();
        assert!(false_alarms <= 3, "{false_alarms} of 300");
    }
}

/// The same under random arrivals, with the kept journeys looked at.
#[test]
fn instants_at_random_keep_to_no_grid() {
    let kinds: [Draw; 3] = [
        draws(Exp::new(5.0).unwrap()),
        draws(Normal::new(1.0, 0.1).unwrap()),
        draws(LogNormal::new(-1.0, 0.5).unwrap()),
    ];
    for work in &kinds {
        for n in [30, 100] {
            let false_alarms = (0..400).filter(|run| {
                let chance = &mut chance(*run);
                let mut histogram = Histogram::new();
                let kept: Vec<KeptHop> = (0..n)
                    .map(|_| {
                        let from_s: f64 = rand::RngExt::random_range(chance, 0.0..120.0);
                        let hop_s = work(chance).max(0.0);
                        histogram.record((hop_s * SECOND) as u64);
                        KeptHop {
                            t0_ns: (from_s * SECOND) as u64,
                            from_ns: (from_s * SECOND) as u64,
                            seen_ns: ((from_s + hop_s) * SECOND) as u64,
                        }
                    })
                    .collect();
                let hop = HopSamples { stage: "s".into(), hops: Some(&histogram), kept };
                !timers(&[hop]).is_empty()
            });
            let false_alarms = false_alarms.count();
            assert!(false_alarms <= 4, "{false_alarms} of 400 at {n}");
        }
    }
}
