//! Simulated queues: exhausted ones are named, others are not.

use super::*;

const SECOND: u64 = 1_000_000_000;

/// Deterministic noise in 0..1.
fn noise(k: u64) -> f64 {
    let mixed = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// A journey's instants, seconds: the points before, between and after its stages.
type Journey = Vec<f64>;

/// First come, first served by so many at once; `work_s` of each. Where `begins` is set, the
/// beginning of the work is a point of its own.
fn serve(journeys: &mut [Journey], at_once: usize, begins: bool, work_s: impl Fn(u64) -> f64) {
    let mut free_s = vec![0.0f64; at_once];
    journeys.sort_by(|a, b| a.last().unwrap().total_cmp(b.last().unwrap()));
    for (journey, k) in journeys.iter_mut().zip(0..) {
        let came_s = *journey.last().unwrap();
        let server = (0..at_once).min_by(|a, b| free_s[*a].total_cmp(&free_s[*b])).unwrap();
        let begun_s = came_s.max(free_s[server]);
        free_s[server] = begun_s + work_s(k);
        if begins {
            journey.push(begun_s);
        }
        journey.push(free_s[server]);
    }
}

/// Poisson arrivals at a rate.
fn arrivals(per_s: f64, seconds: f64) -> Vec<Journey> {
    let mut at_s = 0.0;
    (0..)
        .map(|k| {
            at_s -= (1.0 - noise(k * 7 + 3)).ln() / per_s;
            vec![at_s]
        })
        .take_while(|journey| journey[0] < seconds)
        .collect()
}

fn timelines(journeys: &[Journey], names: &[&str], seconds: u64) -> Vec<StageTimeline> {
    let of_stage = |stage: usize, name: &str| {
        let second = |start_s: u64| {
            let is_in = |at_s: f64| at_s >= start_s as f64 && at_s < (start_s + 1) as f64;
            let waits = |at_s: f64| {
                let is_between =
                    |journey: &&Journey| journey[stage] <= at_s && journey[stage + 1] > at_s;
                journeys.iter().filter(is_between).count() as f64
            };
            let mut hops: Vec<f64> = journeys
                .iter()
                .filter(|journey| is_in(journey[stage + 1]))
                .map(|journey| (journey[stage + 1] - journey[stage]) * 1e9)
                .collect();
            hops.sort_by(f64::total_cmp);
            let at = |q: f64| hops[(q * (hops.len() - 1) as f64) as usize];
            let most = (0..50).map(|part| waits(start_s as f64 + f64::from(part) / 50.0));
            StageSecond {
                start_ns: start_s * SECOND,
                end_ns: (start_s + 1) * SECOND,
                entered: journeys.iter().filter(|journey| is_in(journey[stage])).count() as u64,
                left: hops.len() as u64,
                waiting: Some(waits((start_s + 1) as f64)),
                waiting_max: Some(most.fold(0.0, f64::max)),
                hop_ns: (!hops.is_empty()).then(|| [at(0.0), at(0.5), at(0.95)]),
            }
        };
        StageTimeline {
            stage: name.to_owned(),
            after: if stage == 0 { "root".to_owned() } else { names[stage - 1].to_owned() },
            seconds: (0..seconds).map(second).collect(),
        }
    };
    names.iter().enumerate().map(|(stage, name)| of_stage(stage, name)).collect()
}

fn of(stages: &[StageTimeline], seconds: u64) -> Option<Saturation> {
    let window = Window { from_ns: 5 * SECOND, to_ns: seconds * SECOND };
    saturation(stages, &window, &growths(stages, &window), &[])
}

fn passes(journeys: &mut [Journey], work_s: f64) {
    serve(journeys, 2_000, false, |_| work_s);
}

#[test]
fn the_stage_whose_four_places_are_taken_is_named_with_its_four() {
    for (per_s, seconds) in [(230.0, 20), (230.0, 60), (400.0, 30)] {
        let mut journeys = arrivals(per_s, seconds as f64);
        passes(&mut journeys, 0.02);
        serve(&mut journeys, 4, false, |_| 0.02);
        passes(&mut journeys, 0.02);
        let found =
            of(&timelines(&journeys, &["created", "settled", "completed"], seconds), seconds);
        let found = found.expect("grows");
        assert_eq!(found.stage, "settled");
        assert!(found.others.is_empty(), "{found:?}");
        assert!((found.left_per_s - 200.0).abs() < 4.0, "{found:?}");
        let Some(Exhausted::Throughput { at_once: Some(at_once), .. }) = found.exhausted else {
            panic!("{found:?}")
        };
        assert!((at_once - 4.0).abs() < 0.2, "{found:?}");
    }
}

#[test]
fn the_level_between_begun_and_done_shows_the_limit_itself() {
    let mut journeys = arrivals(150.0, 30.0);
    // Exponential work of 50 ms, five at once: 100/s.
    serve(&mut journeys, 5, true, |k| -0.05 * (1.0 - noise(k * 11 + 5)).ln());
    let found = of(&timelines(&journeys, &["begun", "done"], 30), 30).expect("grows");
    assert_eq!((found.stage.as_str(), found.growing.as_str()), ("done", "begun"));
    let Some(Exhausted::Level { at_once: 5, share }) = found.exhausted else { panic!("{found:?}") };
    assert!(share > 0.95);
}

#[test]
fn a_system_with_room_is_not_named() {
    for per_s in [20.0, 100.0, 160.0] {
        let mut journeys = arrivals(per_s, 60.0);
        serve(&mut journeys, 4, false, |_| 0.02);
        assert_eq!(of(&timelines(&journeys, &["completed"], 60), 60), None, "{per_s}/s");
    }
}

#[test]
fn a_pipeline_that_fills_up_is_not_named() {
    for seconds in [20, 30, 60] {
        let mut journeys = arrivals(50.0, seconds as f64);
        serve(&mut journeys, 2_000, false, |k| 5.0 + 4.0 * noise(k * 13 + 1));
        assert_eq!(of(&timelines(&journeys, &["completed"], seconds), seconds), None);
    }
}

/// Every twentieth journey is lost on its way: those who wait for it grow, and nothing else.
#[test]
fn a_loss_grows_but_exhausts_nothing() {
    let mut journeys = arrivals(100.0, 40.0);
    passes(&mut journeys, 0.02);
    for journey in journeys.iter_mut().skip(3).step_by(20) {
        *journey.last_mut().unwrap() = f64::INFINITY;
    }
    let found = of(&timelines(&journeys, &["completed"], 40), 40).expect("grows");
    assert_eq!(found.exhausted, None);
}

/// A stage that stops altogether grows, and shows no capacity.
#[test]
fn a_stage_that_stands_still_shows_no_capacity() {
    let mut journeys = arrivals(100.0, 40.0);
    serve(&mut journeys, 2_000, false, |k| if k < 300 { 0.02 } else { 1e6 });
    let found = of(&timelines(&journeys, &["completed"], 40), 40).expect("grows");
    assert_eq!(found.exhausted, None);
    assert!(found.began_ns > 3 * SECOND && found.began_ns < 9 * SECOND, "{found:?}");
}

#[test]
fn nothing_measured_shows_nothing() {
    assert_eq!(of(&[], 30), None);
    assert_eq!(of(&timelines(&[], &["completed"], 30), 30), None);
}
