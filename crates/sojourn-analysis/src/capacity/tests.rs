//! Whole searches, in simulated time, against queues of known capacity.

use super::{
    queue::{Dice, Law, Queue},
    *,
};

/// A search to its end: every step is asked of `system`. Fails when it takes too many steps.
fn search(settings: Settings, mut system: impl FnMut(&Step) -> Observation) -> Search {
    let mut search = Search::new(settings);
    while let Some(step) = search.step().copied() {
        search.observe(&system(&step));
        assert!(search.tried().len() <= 60);
    }
    search
}

fn queue(arrivals: Law, service: Law, servers: usize, service_s: f64) -> Queue {
    Queue { arrivals, service, servers, service_s, beside_s: 0.0 }
}

fn of_queue(queue: Queue, settings: Settings, seed: u64) -> Search {
    let mut dice = Dice::new(seed);
    search(settings, |step| queue.observe(step, &mut dice).0)
}

/// Searches of one queue from several seeds: how far off each is, and its simulated minutes.
fn errors(queue: Queue, settings: &Settings, seeds: u64) -> Vec<(f64, f64)> {
    (0..seeds)
        .map(|seed| {
            let search = of_queue(queue, settings.clone(), seed + 1);
            let End::Found { narrowed, confirmed, .. } = search.end() else {
                panic!("{:?}", search.end());
            };
            assert!(narrowed && confirmed, "{:?}", search.end());
            let off = search.end().capacity_per_s().unwrap() / queue.capacity_per_s() - 1.0;
            let ns: u64 =
                search.tried().iter().map(|it| it.step.warmup_ns + it.step.steady_ns).sum();
            (off, ns as f64 / 60e9)
        })
        .collect()
}

fn assert_within(name: &str, errors: &[(f64, f64)], bound: f64) {
    let worst = errors.iter().map(|(off, _)| off.abs()).fold(0.0, f64::max);
    let mean = errors.iter().map(|(off, _)| off).sum::<f64>() / errors.len() as f64;
    let minutes = errors.iter().map(|(_, minutes)| minutes).sum::<f64>() / errors.len() as f64;
    println!("{name}: mean {:+.2} %, worst {:.2} %, {minutes:.1} min", mean * 100.0, worst * 100.0);
    assert!(worst <= bound, "{name}: {errors:?}");
}

#[test]
fn queues_of_known_capacity_are_within_five_per_cent() {
    use Law::{Constant, Exponential};
    for (name, queue) in [
        ("M/M/1 100/s", queue(Exponential, Exponential, 1, 0.01)),
        ("M/M/4 200/s", queue(Exponential, Exponential, 4, 0.02)),
        ("M/D/4 200/s", queue(Exponential, Constant, 4, 0.02)),
        ("D/D/4 200/s", queue(Constant, Constant, 4, 0.02)),
        ("D/M/4 1000/s", queue(Constant, Exponential, 4, 0.004)),
        ("M/M/16 2000/s", queue(Exponential, Exponential, 16, 0.008)),
    ] {
        let settings = Settings::new(queue.capacity_per_s() / 7.3);
        assert_within(name, &errors(queue, &settings, 10), 0.05);
    }
}

#[test]
fn the_first_rate_may_lie_anywhere() {
    let queue = queue(Law::Exponential, Law::Exponential, 4, 0.004);
    for share in [0.003, 0.09, 0.5, 0.9, 1.0, 1.1, 3.0, 12.0] {
        let settings = Settings::new(queue.capacity_per_s() * share);
        assert_within(&format!("from {share}"), &errors(queue, &settings, 5), 0.05);
    }
}

#[test]
fn long_journeys_are_no_backlog() {
    // Ten seconds besides, at 4,000 in flight at the limit.
    let queue = Queue { beside_s: 10.0, ..queue(Law::Exponential, Law::Exponential, 4, 0.01) };
    let settings = Settings::new(queue.capacity_per_s() / 4.0);
    assert_within("10 s journeys", &errors(queue, &settings, 5), 0.05);
}

#[test]
fn a_coarser_precision_takes_less_time() {
    let queue = queue(Law::Exponential, Law::Exponential, 4, 0.02);
    let fine = Settings::new(30.0);
    let coarse = Settings { precision: 0.1, ..fine.clone() };
    let minutes = |settings| errors(queue, settings, 5).iter().map(|it| it.1).sum::<f64>();
    assert!(minutes(&coarse) < minutes(&fine) / 2.0);
    assert_within("± 10 %", &errors(queue, &coarse, 10), 0.15);
}

#[test]
fn a_threshold_that_fails_before_saturation_is_the_limit() {
    // Response times of M/M/1 are exponential with rate μ − λ: p99 = 4.605/(μ − λ), which is 50 ms
    // at λ = 1,000 − 92.1.
    let queue = queue(Law::Exponential, Law::Exponential, 1, 0.001);
    for seed in 1..=10 {
        let mut dice = Dice::new(seed);
        let settings = Settings { samples: 1_000, ..Settings::new(100.0) };
        let search = search(settings, |step| {
            let (mut seen, _) = queue.observe(step, &mut dice);
            if seen.p99_ns.is_some_and(|ns| ns >= 50_000_000) {
                let text = "journey.j.p99 < 50ms".to_owned();
                seen.broken.push(Broken { text, measured: "more".into() });
            }
            seen
        });
        let End::Found { limit: Limit::Threshold { text, .. }, .. } = search.end() else {
            panic!("{:?}", search.end());
        };
        assert_eq!(text, "journey.j.p99 < 50ms");
        let found = search.end().capacity_per_s().unwrap();
        assert!((found / 907.9 - 1.0).abs() < 0.06, "{seed}: {found}");
    }
}

#[test]
fn a_system_that_never_holds_says_so_with_the_lowest_rate() {
    let settings = Settings::new(80.0);
    let search = search(settings, |step| Observation {
        steady_ns: step.steady_ns,
        started: 100,
        lost: 1,
        ..Observation::default()
    });
    let End::NeverHeld { failed_per_s, limit: Limit::Lost { lost: 1, started: 100 } } =
        search.end()
    else {
        panic!("{:?}", search.end());
    };
    assert_eq!(failed_per_s, 5.0);
    assert_eq!((search.end().capacity_per_s(), search.tried().len()), (None, 3));
}

#[test]
fn where_the_generator_is_the_limit_the_capacity_is_at_least_so_much() {
    let queue = queue(Law::Exponential, Law::Exponential, 64, 0.001);
    let mut dice = Dice::new(3);
    let search = search(Settings::new(100.0), |step| {
        // The generator can do 5,000/s, and the system far more.
        let slow = Step { rate_per_s: step.rate_per_s.min(5_000.0), ..*step };
        let (mut seen, _) = queue.observe(&slow, &mut dice);
        if step.rate_per_s > 5_000.0 {
            seen.void = Some(Void { by_generator: true, cause: "generator lag p99 90 ms".into() });
        }
        seen
    });
    let End::AtLeast { held_per_s, because: AtLeast::Void { by_generator: true, .. }, confirmed } =
        search.end()
    else {
        panic!("{:?}", search.end());
    };
    assert!(confirmed);
    assert!((4_500.0..=5_000.0).contains(&held_per_s), "{held_per_s}");
    // Every wall is met twice: once may be an accident.
    let voids = search.tried().iter().filter(|it| matches!(it.judgement, Judgement::Void { .. }));
    assert_eq!(voids.count() % 2, 0);
}

#[test]
fn one_void_step_is_made_again_and_forgotten() {
    let queue = queue(Law::Constant, Law::Constant, 4, 0.02);
    let mut dice = Dice::new(4);
    let mut steps = 0;
    let search = search(Settings::new(50.0), |step| {
        steps += 1;
        let (mut seen, _) = queue.observe(step, &mut dice);
        let cause = "ledger out of balance".to_owned();
        seen.void = (steps % 3 == 0).then_some(Void { by_generator: false, cause });
        seen
    });
    let found = search.end().capacity_per_s().unwrap();
    assert!((found / 200.0 - 1.0).abs() < 0.05, "{:?}", search.end());
}

#[test]
fn a_search_that_is_void_from_the_start_is_void() {
    let search = search(Settings::new(50.0), |_| Observation {
        void: Some(Void { by_generator: false, cause: "tap lost".into() }),
        ..Observation::default()
    });
    assert_eq!(search.end(), End::Void { rate_per_s: 50.0, cause: "tap lost".into() });
    assert_eq!(search.tried().len(), 2);
}

#[test]
fn the_ceiling_is_tried_and_confirmed_and_nothing_above_it() {
    let queue = queue(Law::Exponential, Law::Exponential, 4, 0.001);
    let settings = Settings { to_per_s: 900.0, ..Settings::new(100.0) };
    let search = of_queue(queue, settings, 1);
    let expected = End::AtLeast { held_per_s: 900.0, because: AtLeast::Ceiling, confirmed: true };
    assert_eq!(search.end(), expected);
    assert!(search.tried().iter().all(|tried| tried.step.rate_per_s <= 900.0));
}

#[test]
fn a_system_that_collapses_under_overload_is_found_at_its_best() {
    // Up to 500/s it does everything at once; beyond it does 100/s.
    let collapsing = |step: &Step| {
        let steady_s = step.steady_ns as f64 / 1e9;
        let rise = if step.rate_per_s > 500.0 { step.rate_per_s - 100.0 } else { 0.0 };
        Observation {
            steady_ns: step.steady_ns,
            started: (step.rate_per_s * steady_s) as u64,
            levels: (0..=steady_s as u32).map(|second| rise * f64::from(second)).collect(),
            p99_ns: Some(10_000_000),
            ..Observation::default()
        }
    };
    let search = search(Settings::new(60.0), collapsing);
    let found = search.end().capacity_per_s().unwrap();
    assert!((found / 500.0 - 1.0).abs() < 0.025, "{:?}", search.end());
}

#[test]
fn what_was_held_by_luck_is_refuted_by_the_confirmation() {
    let queue = queue(Law::Constant, Law::Constant, 1, 0.01);
    let mut dice = Dice::new(1);
    let mut lucky = 1;
    let search = search(Settings::new(30.0), |step| {
        let (mut seen, _) = queue.observe(step, &mut dice);
        if step.rate_per_s > 102.0 && lucky > 0 {
            lucky -= 1;
            seen.levels.iter_mut().for_each(|level| *level = 1.0);
        }
        seen
    });
    let found = search.end().capacity_per_s().unwrap();
    assert!((found / 100.0 - 1.0).abs() < 0.05, "{:?}", search.end());
}

#[test]
fn steps_that_stall_now_and_then_do_not_lead_it_astray() {
    // For half a second of every step nothing is done, as a collector of garbage would have it.
    let queue = queue(Law::Exponential, Law::Exponential, 4, 0.004);
    for seed in 1..=5 {
        let mut dice = Dice::new(seed);
        let search = search(Settings::new(100.0), |step| {
            let (mut seen, _) = queue.observe(step, &mut dice);
            let place = (dice.unit() * seen.levels.len() as f64) as usize;
            if let Some(level) = seen.levels.get_mut(place) {
                *level += step.rate_per_s / 2.0;
            }
            seen
        });
        let found = search.end().capacity_per_s().unwrap();
        assert!((found / 1_000.0 - 1.0).abs() < 0.05, "{seed}: {:?}", search.end());
    }
}

#[test]
fn steps_of_a_forced_length_are_that_long_and_never_made_again() {
    let queue = queue(Law::Exponential, Law::Exponential, 4, 0.004);
    let settings = Settings { step_ns: Some(8_000_000_000), ..Settings::new(100.0) };
    let search = of_queue(queue, settings, 2);
    assert!(search.tried().iter().all(|tried| tried.step.steady_ns == 8_000_000_000));
    let undecided = |tried: &Tried| matches!(tried.judgement, Judgement::Undecided { .. });
    assert!(!search.tried().iter().any(undecided));
    let found = search.end().capacity_per_s().unwrap();
    assert!((found / 1_000.0 - 1.0).abs() < 0.08, "{:?}", search.end());
}

#[test]
fn a_stopped_search_ends_with_what_is_known() {
    let queue = queue(Law::Constant, Law::Constant, 4, 0.02);
    let mut dice = Dice::new(1);
    let mut search = Search::new(Settings::new(60.0));
    assert_eq!(search.end(), End::Nothing);
    let mut make = |search: &mut Search| {
        let step = *search.step().unwrap();
        search.observe(&queue.observe(&step, &mut dice).0);
    };
    make(&mut search);
    let because = AtLeast::Stopped;
    let known = End::AtLeast { held_per_s: 60.0, because, confirmed: false };
    assert_eq!(search.end(), known);
    make(&mut search);
    make(&mut search);
    search.stop();
    assert_eq!(search.step(), None);
    assert_eq!(search.observe(&Observation::default()), None);
    let End::Found { held_per_s, failed_per_s, narrowed: false, confirmed: false, .. } =
        search.end()
    else {
        panic!("{:?}", search.end());
    };
    assert_eq!((held_per_s, failed_per_s), (120.0, 240.0));
}
