//! Ten minutes of 200 generators with 100 series each, merged as a coordinator does it: from the
//! bytes that their processes send, once a second each, to the run file, and that file's report.
//! One line per figure; fails above the limits that the project has set itself. Time is simulated,
//! and what is counted is processor time of the coordinator's side alone.

#![expect(clippy::print_stdout, reason = "a benchmark's result")]

use std::{
    error::Error,
    path::{Path, PathBuf},
};

use sojourn_clock::{now_ns, thread_cpu};
use sojourn_engine::{Merging, RunOptions};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, Snapshot};
use sojourn_pace::random_unit;
use sojourn_plan::{Files, Overrides, Plan};
use sojourn_record::{RunFile, Summary, Verdict};
use sojourn_report::{ReportModel, render};

const GENERATORS: u32 = 200;
const STEPS: usize = 20;
/// Of each step: with them each generator has 100 series, all of them distributions.
const METRICS: [&str; 5] =
    ["step.response", "step.service", "step.blocked", "step.wait", "step.receive"];
/// Samples of a series in a second: a generator makes 200 requests.
const SAMPLES: u64 = 10;
const SECONDS: u64 = 600;
const MINUTE: u64 = 60;
const SECOND_NS: u64 = 1_000_000_000;
/// Distinct generators; the others are like them.
const DISTINCT: u64 = 8;
/// Samples are taken from a table.
const DRAWN: u64 = 1 << 16;

/// What the coordinator may take of a core.
const SHARE_MAX: f64 = 0.2;
/// What one series of one generator may take in one second.
const DELTA_US_MAX: f64 = 10.0;
/// How much more memory the second half may take than the first. Distributions take more room as
/// ever rarer values come, ever more slowly; a leak would add as much each minute.
const GROWTH_MAX: f64 = 1.05;
/// What the report may take.
const REPORT_S_MAX: f64 = 1.0;

const PLAN: &str = "
name: merge
target: http://127.0.0.1:1
journeys: { visit: { root: { http: GET / } } }
load: { rate: 1/s, steady: 600s }
";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("run.sojourn");
    let mut missed = merge(path.clone())?;
    missed.extend(report(&path)?);
    if missed.is_empty() { Ok(()) } else { Err(missed.join("; ").into()) }
}

/// Simulates the run; which limits were missed.
fn merge(path: PathBuf) -> Result<Vec<String>, Box<dyn Error>> {
    let (plan, options) = (plan()?, RunOptions::new(path, "merge".to_owned()));
    let mut merging = Merging::new(&plan, &options, GENERATORS).map_err(|it| it.to_string())?;
    let mut generators = Generators::new();
    let (mut spent_ns, mut bytes, mut of_minutes_mb) = (0, 0, Vec::new());
    for second in 0..SECONDS {
        let messages = generators.second(second)?;
        bytes += messages.iter().map(Vec::len).sum::<usize>();
        let began_ns = thread_cpu().cpu_ns;
        for message in &messages {
            merging.take(message)?;
        }
        merging.end_second().map_err(|it| it.to_string())?;
        spent_ns += thread_cpu().cpu_ns - began_ns;
        drop(messages);
        if second % MINUTE == MINUTE - 1 {
            of_minutes_mb.push(memory_kb("VmRSS")? as f64 / 1e3);
        }
    }
    assert_eq!(merging.defects(), Vec::<String>::new());
    let figures = merging.finish(&summary()).map_err(|it| it.to_string())?;
    for (key, _) in figures.series() {
        let samples = figures.trend(key).map_or(0, |it| it.count());
        assert_eq!(samples, u64::from(GENERATORS) * SECONDS * SAMPLES, "{key}");
    }
    let deltas = (METRICS.len() * STEPS) as u64 * u64::from(GENERATORS) * SECONDS;
    let share = spent_ns as f64 / (SECONDS * SECOND_NS) as f64;
    let delta_us = spent_ns as f64 / 1e3 / deltas as f64;
    let most = |minutes: &[f64]| minutes.iter().copied().fold(0.0, f64::max);
    let (first, second) = of_minutes_mb.split_at(of_minutes_mb.len() / 2);
    let (first_mb, second_mb) = (most(first), most(second));
    println!("merge_processor_share {:.2} %", share * 100.0);
    println!("merge_delta {delta_us:.2} µs");
    println!("merge_received {:.2} MB/s", bytes as f64 / 1e6 / SECONDS as f64);
    println!("merge_memory_minute_1 {:.1} MB", of_minutes_mb[0]);
    println!("merge_memory_first_half {first_mb:.1} MB");
    println!("merge_memory_second_half {second_mb:.1} MB");
    let limits = [
        (share <= SHARE_MAX, format!("more than {} % of a core", SHARE_MAX * 100.0)),
        (delta_us <= DELTA_US_MAX, format!("more than {DELTA_US_MAX} µs a delta")),
        (second_mb <= first_mb * GROWTH_MAX, "memory grows with the run".to_owned()),
    ];
    Ok(limits.into_iter().filter(|(holds, _)| !holds).map(|(_, words)| words).collect())
}

/// Makes the report of the run file, as text.
fn report(path: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut fastest_ns = u64::MAX;
    for _ in 0..3 {
        let began_ns = now_ns();
        let text = render::text(&ReportModel::from_run(&RunFile::open(path)?), false);
        fastest_ns = fastest_ns.min(now_ns() - began_ns);
        assert!(text.contains("visit"), "{text}");
    }
    let seconds = fastest_ns as f64 / 1e9;
    println!("merge_run_file {:.1} MB", std::fs::metadata(path)?.len() as f64 / 1e6);
    println!("merge_report {seconds:.3} s");
    let is_slow = seconds >= REPORT_S_MAX;
    Ok(is_slow.then(|| format!("the report took {REPORT_S_MAX} s or more")).into_iter().collect())
}

/// The other side.
struct Generators {
    recorders: Vec<Recorder>,
    series: Vec<SeriesId>,
    spares: Vec<Option<Snapshot>>,
    drawn_ns: Vec<u64>,
}

impl Generators {
    fn new() -> Self {
        let mut recorders: Vec<_> = (0..DISTINCT).map(|it| Recorder::new(it as u32)).collect();
        let keys = (0..STEPS).flat_map(|step| METRICS.map(|metric| (step, metric)));
        let keys: Vec<_> = keys
            .map(|(step, metric)| {
                let step = format!("step {step}");
                let tags = [("journey", "visit"), ("step", step.as_str())];
                SeriesKey::new(metric, &tags, SeriesPhase::Steady)
            })
            .collect();
        let mut series = Vec::new();
        for recorder in &mut recorders {
            // The same numbers in each of them.
            series = keys.iter().map(|key| recorder.series(Kind::Trend, key.clone())).collect();
        }
        let spares = (0..DISTINCT).map(|_| None).collect();
        Self { recorders, series, spares, drawn_ns: (0..DRAWN).map(response_ns).collect() }
    }

    /// What the processes of all send of a second.
    fn second(&mut self, second: u64) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        let mut messages = Vec::new();
        for (distinct, recorder) in (0..).zip(&mut self.recorders) {
            let mut k = (second * DISTINCT + distinct) * 7_919;
            for series in &self.series {
                for _ in 0..SAMPLES {
                    recorder.record(*series, self.drawn_ns[(k % DRAWN) as usize]);
                    k += 1;
                }
            }
            let spare = self.spares[distinct as usize].take();
            let mut snapshot = recorder.take((second + 1) * SECOND_NS, spare);
            for generator in (distinct as u32..GENERATORS).step_by(DISTINCT as usize) {
                snapshot.source = generator;
                messages.push(Merging::sent(generator, snapshot.clone())?);
            }
            snapshot.recycle();
            self.spares[distinct as usize] = Some(snapshot);
        }
        Ok(messages)
    }
}

/// Log-normal around 20 ms.
fn response_ns(k: u64) -> u64 {
    let (u, v) = (random_unit(1, 2, k), random_unit(1, 3, k));
    let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    (2e7 * (0.6 * normal).exp()) as u64
}

fn plan() -> Result<Plan, Box<dyn Error>> {
    struct NoFiles;
    impl Files for NoFiles {
        fn read(&self, _path: &Path) -> std::io::Result<String> {
            Err(std::io::ErrorKind::NotFound.into())
        }
        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }
    let read = sojourn_plan::read("merge.yaml", PLAN, &NoFiles, &Overrides::default());
    read.map_err(|errors| errors.to_string().into())
}

fn summary() -> Summary {
    Summary {
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
    }
}

fn memory_kb(line: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let found = status.lines().find_map(|it| it.strip_prefix(line)?.strip_prefix(':'));
    let number = found.and_then(|it| it.split_whitespace().next()).ok_or("no such line")?;
    Ok(number.parse()?)
}
