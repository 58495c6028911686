//! What a sample costs where it is recorded, merged and asked for. One line per figure.

#![expect(clippy::print_stdout, reason = "a benchmark's result")]

use std::hint::black_box;

use sojourn_clock::now_ns;
use sojourn_metrics::{
    Histogram, IntervalHistogram, Kind, Recorder, SeriesKey, SeriesPhase, Snapshot,
};
use sojourn_pace::random_unit;

const SAMPLES: usize = 1 << 16;
const ROUNDS: usize = 60;

fn main() {
    // Log-normal around 20 ms, drawn beforehand: the spread of a real response time.
    let samples: Vec<u64> = (0..SAMPLES as u64)
        .map(|k| {
            let (u, v) = (random_unit(1, 2, k), random_unit(1, 3, k));
            let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos();
            (2e7 * (0.6 * normal).exp()) as u64
        })
        .collect();

    let mut interval = IntervalHistogram::default();
    report("histogram_record", "ns/op", SAMPLES, || {
        samples.iter().for_each(|&value| interval.record(value));
    });

    let mut recorder = Recorder::new(0);
    let series: Vec<_> = (0..8)
        .map(|i| {
            let name = format!("step {i}");
            let key = SeriesKey::new("t", &[("step", &name)], SeriesPhase::Steady);
            recorder.series(Kind::Trend, key)
        })
        .collect();
    report("recorder_record_8_series", "ns/op", SAMPLES, || {
        for (at, &value) in samples.iter().enumerate() {
            recorder.record(series[at % 8], value);
        }
    });

    let mut spare = None;
    report("recorder_take_8_series", "ns/op", 1, || {
        series.iter().for_each(|&id| recorder.record(id, samples[0]));
        let mut taken: Snapshot = recorder.take(1, spare.take());
        taken.recycle();
        spare = Some(taken);
    });

    let mut merged = Histogram::new();
    report("histogram_merge_interval", "ns/op", 1, || {
        merged.merge_interval(&interval);
    });
    report("histogram_quantile", "ns/op", 1, || {
        black_box(merged.quantile(black_box(0.99)));
    });
    let mut bytes = Vec::new();
    report("histogram_encode", "ns/op", 1, || {
        bytes.clear();
        merged.encode(&mut bytes);
    });
    report("histogram_decode", "ns/op", 1, || {
        black_box(Histogram::decode(&bytes));
    });
}

/// The best of some rounds: what the code costs, not what the neighbours do.
fn report(name: &str, unit: &str, operations: usize, mut run: impl FnMut()) {
    let best = (0..ROUNDS)
        .map(|_| {
            let start = now_ns();
            run();
            now_ns() - start
        })
        .min()
        .unwrap_or(0);
    println!("{name} {:.2} {unit}", best as f64 / operations as f64);
}
