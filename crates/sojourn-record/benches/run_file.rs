//! An hour of 100 active trends (and 100 counters and gauges beside them): what a second costs to
//! write, how large the file is, how fast it opens. One line per figure.

#![expect(clippy::print_stdout, reason = "a benchmark's result")]

use std::{error::Error, path::Path};

use sojourn_clock::now_ns;
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, Store};
use sojourn_pace::random_unit;
use sojourn_record::{Identity, RunFile, RunWriter, Summary, Verdict};

const SECONDS: u64 = 3600;
const SERIES: usize = 100;
const SAMPLES_PER_SERIES: u64 = 200;
const SECOND_NS: u64 = 1_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("sojourn-bench-{}.sojourn", std::process::id()));
    let result = run(&path);
    std::fs::remove_file(&path)?;
    result
}

fn run(path: &Path) -> Result<(), Box<dyn Error>> {
    let interval_ns = write(path)?;
    println!("run_file_interval_write {:.3} ms", interval_ns as f64 / 1e6);
    let bytes = std::fs::metadata(path)?.len();
    println!("run_file_size {:.1} MB", bytes as f64 / 1e6);
    let mut open_ns = u64::MAX;
    for _ in 0..3 {
        let start = now_ns();
        let run = RunFile::open(path)?;
        open_ns = open_ns.min(now_ns() - start);
        assert_eq!(run.intervals.len() as u64, SECONDS);
    }
    println!("run_file_open {:.3} s", open_ns as f64 / 1e9);
    let mut run = RunFile::open(path)?;
    let start = now_ns();
    run.delta(1800)?;
    let delta_ns = now_ns() - start;
    println!("run_file_delta_load {:.3} ms", delta_ns as f64 / 1e6);
    crash_late_in_a_minute(path)?;
    let mut crashed_ns = u64::MAX;
    for _ in 0..3 {
        let start = now_ns();
        run = RunFile::open(path)?;
        crashed_ns = crashed_ns.min(now_ns() - start);
    }
    assert!(run.summary.is_none());
    println!("run_file_open_after_crash {:.3} s", crashed_ns as f64 / 1e9);
    Ok(())
}

/// Cuts the file where most of a minute must be added up from its seconds.
fn crash_late_in_a_minute(path: &Path) -> Result<(), Box<dyn Error>> {
    let file = std::fs::OpenOptions::new().write(true).open(path)?;
    let length = file.metadata()?.len();
    file.set_len(length / SECONDS * (SECONDS - 95))?;
    Ok(())
}

/// Writes the file; returns nanoseconds per interval, checkpoints left out.
fn write(path: &Path) -> Result<u64, Box<dyn Error>> {
    let mut writer = RunWriter::create(path, &Identity::default())?;
    let mut recorder = Recorder::new(0);
    let series: Vec<_> = (0..SERIES).map(|i| intern(&mut recorder, i)).collect();
    let mut store = Store::new();
    let mut spare = None;
    let mut spent_ns = 0;
    for second in 0..SECONDS {
        for (at, &[trend, counter, gauge]) in series.iter().enumerate() {
            for sample in 0..SAMPLES_PER_SERIES {
                let k = second * SAMPLES_PER_SERIES + sample;
                recorder.record(trend, response_ns(at as u64, k));
            }
            recorder.add(counter, SAMPLES_PER_SERIES);
            recorder.set(gauge, second as f64);
        }
        let mut snapshot = recorder.take((second + 1) * SECOND_NS, spare.take());
        store.apply(&snapshot)?;
        let start = now_ns();
        writer.interval(std::slice::from_ref(&snapshot))?;
        spent_ns += now_ns() - start;
        if second % 60 == 59 {
            writer.checkpoint(&store)?;
        }
        snapshot.recycle();
        spare = Some(snapshot);
    }
    let summary = Summary {
        verdict: Verdict::Pass,
        causes: Vec::new(),
        thresholds: Vec::new(),
        interrupted: false,
        arrivals_end_ns: SECONDS * SECOND_NS,
        load_end_ns: SECONDS * SECOND_NS,
        end_ns: SECONDS * SECOND_NS,
        drain_ns: Some(0),
        notes: Vec::new(),
        fleet: None,
    };
    writer.finish(&store, &summary)?;
    Ok(spent_ns / SECONDS)
}

fn intern(recorder: &mut Recorder, number: usize) -> [SeriesId; 3] {
    let stage = format!("stage {number}");
    let tags = [("journey", "payment"), ("stage", stage.as_str())];
    let key = |metric| SeriesKey::new(metric, &tags, SeriesPhase::Steady);
    [
        recorder.series(Kind::Trend, key("stage.hop")),
        recorder.series(Kind::Counter, key("stage.reached")),
        recorder.series(Kind::Gauge, key("stage.in_flight")),
    ]
}

/// Log-normal around 20 ms.
fn response_ns(stream: u64, k: u64) -> u64 {
    let (u, v) = (random_unit(1, stream, k), random_unit(2, stream, k));
    let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    (2e7 * (0.6 * normal).exp()) as u64
}
