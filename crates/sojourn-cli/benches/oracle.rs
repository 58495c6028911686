//! Sojourn's figures against a queue of known theory: M/M/1 and M/M/3 at three loads, by
//! `sojourn mock`'s own queue and its truth file. Prints one `name value unit` a line.
//!
//! Each load runs for 20 s with 5,000 arrivals a second; with `SOJOURN_ORACLE_SECONDS=67` the six
//! have two million services together. Request by request, what Sojourn measured is compared with
//! the truth (`added`: the network and both processes; and its parts: until the mock has the
//! request, until it has handed the answer to the kernel, until Sojourn has read it); the truth
//! with a replay of Lindley's recursion; the truth's mean and 99th percentile, and Sojourn's less
//! the median of what was added, with those of theory, within the interval that the run's length
//! allows. Each limit is judged on a line of its own that begins with `verdict`, and one that is
//! missed makes the exit code 1. With `SOJOURN_ORACLE_SPIN=1` neither the mock nor the generator
//! ever sleeps.
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark: it prints, and may fail"
)]

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use sojourn_broker::Registry;
use sojourn_engine::{RunOptions, Stop};
use sojourn_mock::{Latency, Mock, MockOptions, Queue, QueueModel, Respond, Source, Watched};
use sojourn_plan::{Files, Overrides};
use sojourn_record::RunFile;
use sojourn_testkit::theory::{Interval, Mmc, mmc_response_quantile};

const RATE_PER_S: u64 = 5_000;
/// How long each load lasts unless it is said.
const SECONDS: u64 = 20;
/// All of twelve intervals hold in 99.9 of 100 runs of theory's own queue: two sides of a normal
/// law beyond it have 0.0001 each.
const Z: f64 = 3.9;
/// How much more Sojourn may measure than the truth says, 99 times of 100.
const ADDED_NS_MAX: u64 = 200_000;

const PLAN: &str = "
name: oracle
target: ${TARGET}
journeys:
  request:
    root: { http: GET /, expect: { status: 200 }, key: body.id }
load:
  - journey: request
    arrivals: poisson
    rate: \"${RATE}/s\"
    steady: \"${SECONDS}s\"
    drain: 20s
health:
  lag_p99_max: 60s
  lag_share_max: 100%
  missed_max: 100%
  delivered_min: 0%
  busy_max: 100%
";

fn main() -> ExitCode {
    let seconds = std::env::var("SOJOURN_ORACLE_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    let spin = std::env::var("SOJOURN_ORACLE_SPIN").is_ok_and(|text| text == "1");
    let mut holds = true;
    for servers in [1, 3] {
        for percent in [50, 70, 90] {
            holds &= measure(servers, percent, seconds, spin);
        }
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One line of the truth, as far as it matters here.
struct Truth {
    arrival_ns: u64,
    start_ns: u64,
    finish_ns: u64,
    /// `finish_ns` where nobody was left to send to.
    sent_ns: u64,
}

/// Runs one load, prints its figures and judges them; whether all limits hold.
fn measure(servers: u32, percent: u32, seconds: u64, spin: bool) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let truth_path = folder.path().join("truth.ndjson");
    let utilization = f64::from(percent) / 100.0;
    let service_ns = utilization * f64::from(servers) / RATE_PER_S as f64 * 1e9;
    let mock = start(servers, service_ns, spin, &truth_path);
    let run = run(&mock.url(""), seconds, spin, &folder.path().join("run.sojourn"));
    let lines = mock.finish().truth.unwrap().unwrap();
    let truth = read(&truth_path);
    assert_eq!(truth.len() as u64, lines);

    let mismatches = lindley_mismatches(servers, &truth);
    let compared = Compared::of(&run, &truth);
    let name = format!("oracle.mm{servers}_{percent}");
    println!("{name}.services {} requests", truth.len());
    println!("{name}.unmeasured {} requests", truth.len() - compared.added_ns.len());
    println!("{name}.lindley_mismatches {mismatches} requests");
    tell(&name, "added", &compared.added_ns);
    let parts = ["added_to_arrival", "added_to_sent", "added_to_read"];
    for (part, ns) in parts.iter().zip(&compared.parts_ns) {
        tell(&name, part, ns);
    }
    let mut judge = Judge { name: &name, holds: true };
    judge.limit("mismatches with Lindley's recursion", mismatches as f64, (0.0, 0.0), "");
    let agreement_us = quantile_us(&compared.added_ns, 0.99);
    judge.limit("agreement p99", agreement_us, (0.0, ADDED_NS_MAX as f64 / 1e3), "us");
    let theory = Mmc { servers, utilization, service_mean: service_ns / 1e3 };
    let offered = utilization * f64::from(servers);
    let exact_us = mmc_response_quantile(servers, offered, theory.service_mean, 0.99);
    let mean_us = theory.mean_response_interval(truth.len() as u64, Z).center;
    println!("{name}.mean_theory {mean_us:.2} us");
    println!("{name}.p99_theory {exact_us:.2} us");
    let mut truth_ns: Vec<u64> =
        truth.iter().map(|record| record.finish_ns - record.arrival_ns).collect();
    truth_ns.sort_unstable();
    judge.against(&theory, "truth", &truth_ns, 0);
    // What the network and both processes added is no part of the queue.
    let usual_ns = compared.added_ns[compared.added_ns.len() / 2];
    judge.against(&theory, "measured", &compared.measured_ns, usual_ns);
    judge.holds
}

/// How many of the truth's instants are not those of the recursion.
fn lindley_mismatches(servers: u32, truth: &[Truth]) -> usize {
    let mut model = QueueModel::new(NonZeroUsize::new(servers as usize).unwrap(), usize::MAX);
    let differs = |record: &&Truth| {
        let slot = model.admit(record.arrival_ns, record.finish_ns - record.start_ns).unwrap();
        (slot.start_ns, slot.finish_ns) != (record.start_ns, record.finish_ns)
    };
    truth.iter().filter(differs).count()
}

/// What Sojourn measured beside the truth, each in order of size.
struct Compared {
    measured_ns: Vec<u64>,
    added_ns: Vec<u64>,
    /// Where it was added: from the client's stamp to the mock's arrival, from the service's end to
    /// the answer handed to the kernel, from there to the client's stamp.
    parts_ns: [Vec<u64>; 3],
}

impl Compared {
    fn of(run: &RunFile, truth: &[Truth]) -> Self {
        let by_key: HashMap<String, &Truth> =
            truth.iter().enumerate().map(|(id, record)| (id.to_string(), record)).collect();
        let (mut measured_ns, mut added_ns) = (Vec::new(), Vec::new());
        let mut parts_ns: [Vec<u64>; 3] = Default::default();
        let start_ns = run.identity.start_monotonic_ns;
        for journey in &run.journeys {
            let record = journey.key.as_deref().and_then(|key| by_key.get(key));
            // One that failed, on a machine that stood still for long, has no key or no end.
            let (Some(record), Some(t2_ns)) = (record, journey.t2_ns) else {
                eprintln!("failed: {:?}", journey.reason);
                continue;
            };
            let service_ns = t2_ns - journey.t1_ns;
            measured_ns.push(service_ns);
            added_ns.push(service_ns - (record.finish_ns - record.arrival_ns));
            // The truth's instants are the clock's, a run's count from its start.
            parts_ns[0].push(record.arrival_ns.saturating_sub(start_ns + journey.t1_ns));
            parts_ns[1].push(record.sent_ns.saturating_sub(record.finish_ns));
            parts_ns[2].push((start_ns + t2_ns).saturating_sub(record.sent_ns));
        }
        for all in parts_ns.iter_mut().chain([&mut measured_ns, &mut added_ns]) {
            all.sort_unstable();
        }
        Self { measured_ns, added_ns, parts_ns }
    }
}

/// Holds figures of a load against limits.
struct Judge<'n> {
    name: &'n str,
    holds: bool,
}

impl Judge<'_> {
    /// Judges a figure, and says so: `verdict LOAD: LIMIT: FIGURE UNIT in FROM to TO: holds`.
    fn limit(&mut self, what: &str, figure: f64, (from, to): (f64, f64), unit: &str) {
        let holds = (from..=to).contains(&figure);
        self.holds &= holds;
        let verdict = if holds { "holds" } else { "MISSED" };
        let load = self.name;
        println!("verdict {load}: {what}: {figure:.1} {unit} in {from:.1} to {to:.1}: {verdict}");
    }

    /// Judges mean and 99th percentile, less what is no part of the queue.
    fn against(&mut self, theory: &Mmc, whose: &str, sorted_ns: &[u64], usual_ns: u64) {
        let (count, usual_us) = (sorted_ns.len() as u64, usual_ns as f64 / 1e3);
        let name = self.name;
        let mean_us = sorted_ns.iter().sum::<u64>() as f64 / count as f64 / 1e3 - usual_us;
        println!("{name}.mean_{whose} {mean_us:.2} us");
        let Interval { center, half_width } = theory.mean_response_interval(count, Z);
        let whole = (center - half_width, center + half_width);
        self.limit(&format!("mean, {whose}"), mean_us, whole, "us");
        let p99_us = quantile_us(sorted_ns, 0.99) - usual_us;
        println!("{name}.p99_{whose} {p99_us:.2} us");
        let range = theory.response_quantile_range(0.99, count, Z);
        self.limit(&format!("p99, {whose}"), p99_us, range, "us");
    }
}

fn quantile_us(sorted_ns: &[u64], at: f64) -> f64 {
    let place = (sorted_ns.len().saturating_sub(1) as f64 * at) as usize;
    sorted_ns.get(place).map_or(f64::NAN, |ns| *ns as f64 / 1e3)
}

/// Prints quantiles.
fn tell(name: &str, what: &str, sorted_ns: &[u64]) {
    for (quantile, at) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
        println!("{name}.{what}_{quantile} {:.1} us", quantile_us(sorted_ns, at));
    }
}

fn start(servers: u32, service_ns: f64, spin: bool, truth: &Path) -> Mock {
    let queue = Queue {
        servers: NonZeroUsize::new(servers as usize).unwrap(),
        service: Latency::Exponential { mean_ns: service_ns },
        waiting_max: usize::MAX,
    };
    let respond = Respond {
        file: None,
        status: 200,
        headers: Vec::new(),
        latency: Latency::Fixed(0),
        queue: Some(queue),
        query_overrides: false,
        seed: 11,
    };
    let book = Watched::new(Source::Respond(respond)).read().unwrap();
    let options = MockOptions {
        listen: ([127, 0, 0, 1], 0).into(),
        threads: NonZeroUsize::MIN,
        connections_max: 100_000,
        truth: Some(truth.to_path_buf()),
        run_id: "oracle".to_owned(),
        connectors: Arc::default(),
        tls: None,
        spin,
    };
    Mock::start(book, &options).unwrap()
}

fn run(target: &str, seconds: u64, spin: bool, path: &Path) -> RunFile {
    struct NoFiles;
    impl Files for NoFiles {
        fn read(&self, path: &Path) -> std::io::Result<String> {
            std::fs::read_to_string(path)
        }
        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }
    let environment = [
        ("TARGET", target.to_owned()),
        ("RATE", RATE_PER_S.to_string()),
        ("SECONDS", seconds.to_string()),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let overrides = Overrides { environment, seed: Some(7), ..Overrides::default() };
    let plan = sojourn_plan::read("oracle.yaml", PLAN, &NoFiles, &overrides).unwrap();
    let mut options = RunOptions::new(path.to_path_buf(), "oracle".into());
    options.keep_all = true;
    options.client.spin = spin;
    let registry = Registry::new();
    sojourn_engine::run(&plan, &options, &registry, &Stop::default(), &mut |_| {}).unwrap();
    RunFile::open(path).unwrap()
}

/// The truth in the order of ids.
fn read(path: &Path) -> Vec<Truth> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut records: Vec<(u64, Truth)> = text
        .lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let at = |name: &str| record[name].as_u64().unwrap();
            let truth = Truth {
                arrival_ns: at("arrival_ns"),
                start_ns: at("start_ns"),
                finish_ns: at("finish_ns"),
                sent_ns: record["sent_ns"].as_u64().unwrap_or_else(|| at("finish_ns")),
            };
            (at("id"), truth)
        })
        .collect();
    records.sort_unstable_by_key(|(id, _)| *id);
    records.into_iter().map(|(_, record)| record).collect()
}
