//! Stores against plain sums: whatever the order and the split, the same totals.

use proptest::prelude::*;

use super::*;
use crate::Recorder;

fn key(metric: &str, stage: &str) -> SeriesKey {
    SeriesKey::new(metric, &[("stage", stage)], SeriesPhase::Steady)
}

/// What a test writes.
#[derive(Clone, Debug)]
enum Write {
    Count(u8, u64),
    Level(u8, i32),
    YesNo(u8, bool),
    Sample(u8, u64),
    Take,
}

fn any_write() -> impl Strategy<Value = Write> {
    prop_oneof![
        4 => (0u8..3, 0u64..1000).prop_map(|(s, n)| Write::Count(s, n)),
        4 => (0u8..3, any::<i32>()).prop_map(|(s, n)| Write::Level(s, n)),
        4 => (0u8..3, any::<bool>()).prop_map(|(s, n)| Write::YesNo(s, n)),
        8 => (0u8..3, any::<u64>(), 0u32..64).prop_map(|(s, n, by)| Write::Sample(s, n >> by)),
        1 => Just(Write::Take),
    ]
}

fn snapshots(source: u32, writes: &[Write]) -> Vec<Snapshot> {
    let mut recorder = Recorder::new(source);
    let mut taken: Vec<Snapshot> = Vec::new();
    for write in writes.iter().chain([&Write::Take]) {
        let name = |s: &u8| s.to_string();
        match write {
            Write::Count(s, n) => {
                let id = recorder.series(Kind::Counter, key("c", &name(s)));
                recorder.add(id, *n);
            }
            Write::Level(s, n) => {
                let id = recorder.series(Kind::Gauge, key("g", &name(s)));
                recorder.set(id, f64::from(*n));
            }
            Write::YesNo(s, yes) => {
                let id = recorder.series(Kind::Rate, key("r", &name(s)));
                recorder.rate(id, *yes);
            }
            Write::Sample(s, n) => {
                let id = recorder.series(Kind::Trend, key("t", &name(s)));
                recorder.record(id, *n);
            }
            Write::Take => {
                // Every other spare comes back unemptied.
                let spare = taken.last().cloned();
                taken.push(recorder.take(taken.len() as u64 + 1, spare));
            }
        }
    }
    taken
}

/// The same totals without histograms, recorders or stores.
fn check_totals(store: &Store, sources: &[Vec<Write>]) {
    for s in 0u8..3 {
        let name = s.to_string();
        let all = || sources.iter().flatten();
        let count: u64 = all()
            .map(|w| {
                if let Write::Count(i, n) = w
                    && *i == s
                {
                    *n
                } else {
                    0
                }
            })
            .sum();
        assert_eq!(store.counter(&key("c", &name)), count);
        let yes_no = |is: bool| {
            all().filter(|w| matches!(w, Write::YesNo(i, yes) if *i == s && *yes == is)).count()
                as u64
        };
        assert_eq!(store.rate(&key("r", &name)), (yes_no(true), yes_no(false)));
        let mut expected = Histogram::new();
        for write in all() {
            if let Write::Sample(i, n) = write
                && *i == s
            {
                expected.record(*n);
            }
        }
        let trend = store.trend(&key("t", &name)).cloned().unwrap_or_default();
        assert_eq!(trend, expected);
        let levels = |writes: &Vec<Write>| -> Vec<f64> {
            let of = |w: &Write| {
                matches!(w, Write::Level(i, _) if *i == s).then(|| match w {
                    Write::Level(_, n) => f64::from(*n),
                    _ => 0.0,
                })
            };
            writes.iter().filter_map(of).collect()
        };
        let per_source: Vec<_> = sources.iter().map(levels).filter(|l| !l.is_empty()).collect();
        let sum = |of: fn(&[f64]) -> f64| per_source.iter().map(|l| of(l)).sum::<f64>();
        let expected = (!per_source.is_empty()).then(|| {
            (
                sum(|l| l[l.len() - 1]),
                sum(|l| l.iter().copied().fold(f64::INFINITY, f64::min)),
                sum(|l| l.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            )
        });
        assert_eq!(store.gauge(&key("g", &name)), expected);
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_whatever_the_order(
        sources in prop::collection::vec(prop::collection::vec(any_write(), 0..60), 1..4),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 200),
    ) {
        let mut queues: Vec<_> = sources
            .iter()
            .enumerate()
            .map(|(source, writes)| snapshots(source as u32, writes).into_iter().peekable())
            .collect();
        let mut store = Store::new();
        for pick in picks {
            let at = pick.index(queues.len());
            if let Some(snapshot) = queues[at].next() {
                prop_assert_eq!(store.apply(&snapshot), Ok(()));
            }
        }
        for snapshot in queues.into_iter().flatten() {
            prop_assert_eq!(store.apply(&snapshot), Ok(()));
        }
        check_totals(&store, &sources);
    }

    #[test]
    fn stores_of_sources_and_of_stretches_add_up(
        sources in prop::collection::vec(prop::collection::vec(any_write(), 0..60), 1..4),
    ) {
        // Each source its own store, all with the number 0, merged: sources stay apart.
        let mut merged = Store::new();
        // One window per snapshot of each source, appended: time adds up.
        let mut appended = Store::new();
        for (number, writes) in sources.iter().enumerate() {
            let mut own = Store::new();
            for snapshot in snapshots(0, writes) {
                prop_assert_eq!(own.apply(&snapshot), Ok(()));
            }
            merged.merge(&own);
            let mut window = Store::new();
            for snapshot in snapshots(number as u32, writes) {
                window.reset();
                prop_assert_eq!(window.apply(&snapshot), Ok(()));
                appended.append(&window);
            }
        }
        check_totals(&merged, &sources);
        check_totals(&appended, &sources);
    }

    #[test]
    fn figures_survive_their_encoding(writes in prop::collection::vec(any_write(), 0..60)) {
        let mut store = Store::new();
        for source in 0..3 {
            for snapshot in snapshots(source, &writes) {
                prop_assert_eq!(store.apply(&snapshot), Ok(()));
            }
        }
        for (_, figure) in store.figures() {
            let mut bytes = Vec::new();
            figure.encode(&mut bytes);
            for cut in 0..bytes.len() {
                prop_assert_eq!(Figure::decode(&mut &bytes[..cut]), None);
            }
            prop_assert_eq!(Figure::decode(&mut bytes.as_slice()), Some(figure.clone()));
        }
    }

    #[test]
    fn garbage_is_no_figure(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        if let Some(figure) = Figure::decode(&mut bytes.as_slice()) {
            let mut store = Store::new();
            store.append_figure(&key("x", "y"), &figure);
            let again = store.clone();
            store.merge(&again);
        }
    }
}

#[test]
fn a_lost_snapshot_is_an_error_and_the_rest_is_kept() {
    let writes =
        [Write::Count(0, 1), Write::Take, Write::Count(0, 2), Write::Take, Write::Count(0, 4)];
    let taken = snapshots(3, &writes);
    let mut store = Store::new();
    store.apply(&taken[0]).unwrap();
    let refusal = store.apply(&taken[2]).unwrap_err();
    assert_eq!(refusal, "snapshot 1 of source 3 was lost: the next one is 2");
    assert_eq!(store.apply(&taken[1]).unwrap_err(), "snapshot 1 of source 3 came again");
    assert_eq!(store.counter(&key("c", "0")), 5);
}

#[test]
fn contradictions_are_errors() {
    let mut store = Store::new();
    store.append_figure(&key("c", "0"), &Figure::Rate { yes: 1, no: 0 });
    let taken = snapshots(0, &[Write::Count(0, 1)]);
    assert!(store.apply(&taken[0]).unwrap_err().contains("another kind"));
    assert_eq!(store.rate(&key("c", "0")), (1, 0));
    let unnamed = Snapshot {
        values: vec![(SeriesId(u32::MAX), crate::Value::Counter(1))],
        source: 9,
        ..Snapshot::default()
    };
    assert!(store.apply(&unnamed).unwrap_err().contains("unknown"));
    let huge = Snapshot {
        new_series: vec![(SeriesId(u32::MAX), Kind::Counter, key("z", "z"))],
        source: 10,
        ..Snapshot::default()
    };
    assert!(store.apply(&huge).unwrap_err().contains("more series"));
}

#[test]
fn selections_find_a_metrics_series_by_their_tags() {
    let mut store = Store::new();
    let mut put = |metric: &str, tags: &[(&str, &str)], phase, n| {
        store.append_figure(&SeriesKey::new(metric, tags, phase), &Figure::Counter(n));
    };
    use SeriesPhase::{Steady, WarmUp};
    put("m", &[("journey", "a"), ("stage", "x")], Steady, 1);
    put("m", &[("journey", "b"), ("stage", "x")], Steady, 2);
    put("m", &[("journey", "b"), ("stage", "y")], Steady, 4);
    put("m", &[("journey", "b"), ("stage", "y")], WarmUp, 8);
    put("m.longer", &[("journey", "b")], Steady, 16);
    put("l", &[("journey", "b")], Steady, 32);
    assert_eq!(store.sum("m", &[], Steady), 7);
    assert_eq!(store.sum("m", &[("stage", "x")], Steady), 3);
    assert_eq!(store.sum("m", &[("journey", "b"), ("stage", "y")], Steady), 4);
    assert_eq!(store.sum("m", &[], WarmUp), 8);
    assert_eq!(store.sum("none", &[], Steady), 0);
}
