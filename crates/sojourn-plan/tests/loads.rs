//! What load entries become.

use sojourn_pace::{Arrivals, Segment};
use sojourn_plan::{Load, Model, Think, Until};

use crate::util::{complete, plan};

const S: u64 = 1_000_000_000;

fn load(entry: &str) -> (Load, Vec<String>) {
    let plan = plan(&complete(&format!("load:\n  - {entry}\n")));
    let of_load = |warning: &String| !warning.starts_with("no stage is seen on channel");
    (plan.load[0].clone(), plan.warnings.into_iter().filter(of_load).collect())
}

fn segments(entry: &str) -> (Vec<Segment>, u64, u64) {
    let (load, _) = load(entry);
    match load.model {
        Model::Open { profile, .. } => (profile.segments, load.warmup_ns, load.steady_ns),
        Model::Closed { .. } => panic!("an open load"),
    }
}

fn linear(from_per_s: f64, to_per_s: f64, seconds: u64) -> Segment {
    Segment::Linear { from_per_s, to_per_s, duration_ns: seconds * S }
}

#[test]
fn open_loads() {
    assert_eq!(
        segments("{ rate: 90/min, warmup: 5s, steady: 30s }"),
        (vec![linear(1.5, 1.5, 35)], 5 * S, 30 * S)
    );
    assert_eq!(segments("{ rate: 50/s, count: 1000 }"), (vec![linear(50.0, 50.0, 20)], 0, 20 * S));
    assert_eq!(
        segments(
            "{ from: 10/s, stages: [{ to: 20/s, over: 5s }, { pause: 5s }, { to: 5/s, over: 5s }, \
             { rate: 7/s, for: 5s }], warmup: 8s }"
        ),
        (
            vec![
                linear(10.0, 20.0, 5),
                linear(0.0, 0.0, 5),
                linear(20.0, 5.0, 5),
                linear(7.0, 7.0, 5)
            ],
            8 * S,
            12 * S
        )
    );
    assert_eq!(
        segments("{ stages: [{ to: 20/s, over: 0s }, { to: 30/s, over: 5s }], steady: 5s }"),
        (vec![linear(20.0, 30.0, 5)], 0, 5 * S)
    );
    assert_eq!(
        segments("{ spike: { base: 0/s, peak: 9/s, at: 2s, for: 3s }, steady: 10s }"),
        (vec![linear(0.0, 0.0, 2), linear(9.0, 9.0, 3), linear(0.0, 0.0, 5)], 0, 10 * S)
    );
    let sine = Segment::Sine {
        mean_per_s: 5.0,
        amplitude_per_s: 9.0,
        period_ns: 10 * S,
        phase: 0.25,
        duration_ns: 20 * S,
    };
    assert_eq!(
        segments("{ sine: { mean: 5/s, amplitude: 9/s, period: 10s, phase: 25% }, steady: 20s }").0,
        [sine]
    );
    let random =
        Segment::RandomSteps { min_per_s: 1.0, max_per_s: 5.0, every_ns: S, duration_ns: 20 * S };
    assert_eq!(segments("{ random: { min: 1/s, max: 5/s, every: 1s }, steady: 20s }").0, [random]);
}

#[test]
fn replays() {
    let instants = |entry: &str| match load(entry) {
        (
            Load { model: Model::Open { arrivals: Arrivals::Replay(at), .. }, steady_ns, .. },
            warnings,
        ) => (at.to_vec(), steady_ns, warnings.len()),
        _ => panic!("a replay"),
    };
    assert_eq!(instants("{ file: instants.txt }"), (vec![0, S / 2, 2 * S], 2 * S + 1, 0));
    assert_eq!(
        instants("{ arrivals: replay, file: instants.txt, unit: ms, steady: 2ms }"),
        (vec![0, 500_000], 2_000_000, 1)
    );
    assert_eq!(instants("{ file: unsorted.txt, count: 1 }"), (vec![S], S + 1, 1));
}

#[test]
fn closed_loads() {
    let closed = |entry: &str| match load(entry).0 {
        Load { model: Model::Closed { stages, think, until, iterations }, steady_ns, .. } => {
            let stages =
                stages.iter().map(|stage| (stage.to, stage.over_ns / S)).collect::<Vec<_>>();
            (stages, think, until, iterations, steady_ns / S)
        }
        _ => panic!("a closed load"),
    };
    assert_eq!(
        closed("{ users: 50, warmup: 5s, steady: 30s, think: 1s }"),
        (vec![(50, 0), (50, 35)], Think::Fixed(S), Until::Journey, None, 30)
    );
    assert_eq!(
        closed(
            "{ users: { from: 5, stages: [{ to: 50, over: 30s }, { pause: 10s }, \
             { users: 20, for: 5s }] }, until: root, iterations: 9 }"
        ),
        (
            vec![(5, 0), (50, 30), (0, 0), (0, 10), (50, 0), (20, 0), (20, 5)],
            Think::None,
            Until::Root,
            Some(9),
            45
        )
    );
    let think = |text: &str| closed(&format!("{{ users: 1, steady: 1s, think: {text} }}")).1;
    assert_eq!(think("{ min: 1s, max: 3s }"), Think::Uniform(S, 3 * S));
    assert_eq!(think("{ exponential: 2s }"), Think::Exponential(2 * S));
}

#[test]
fn drains_last_as_long_as_journeys_are_watched() {
    let (usual, warnings) = load("{ rate: 1/s, steady: 5s }");
    assert_eq!((usual.drain_ns, warnings.len()), (45 * S, 0));
    let (short, warnings) = load("{ rate: 1/s, steady: 5s, drain: 10s }");
    assert_eq!((short.drain_ns, warnings.len()), (10 * S, 1));
}
