//! Sojourn's figures against a queue of known theory: M/M/1 and M/M/3 at three loads, by
//! `sojourn mock`'s own queue and its truth file. Prints one `name value unit` a line.
//!
//! Each load runs for 20 s, in five rounds, each with its own arrivals and services, at most 5,000
//! a second; with `SOJOURN_ORACLE_SECONDS=80` the six loads have two million services together.
//! Figures are medians of the rounds: a round in which the machine stood still says nothing of a
//! queue. Request by request, what Sojourn measured is compared with
//! the truth (`added`: the network and both processes; and its parts: until the mock has the
//! request, until it has handed the answer to the kernel, until Sojourn has read it); the truth
//! with a replay of Lindley's recursion; the truth's mean and 99th percentile, and Sojourn's less
//! the median of what was added, with those of theory, within the interval that a round's length
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

/// Most arrivals a second, and most services of a server. A service of 100 µs is hardly longer than
/// what a client and a kernel take to bring an arrival: the queue of those would be measured too.
const RATE_PER_S: u64 = 5_000;
/// How long each load lasts unless it is said, all its rounds together.
const SECONDS: u64 = 20;
const ROUNDS: u64 = 5;
/// Files are in memory where they may be: a disk that is written to moved the queue's own mean by a
/// tenth, since arrivals that wait for it come in bursts.
const IN_MEMORY: &str = "/dev/shm";
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
    steady: \"${MILLISECONDS}ms\"
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
            let load = Load { servers, percent };
            let milliseconds = seconds * 1_000 / ROUNDS;
            let measure = |round| measure(load, milliseconds, round, spin);
            let rounds: Vec<Round> = (0..ROUNDS).map(measure).collect();
            holds &= tell_all(load, &rounds);
        }
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How many servers are asked, and how much of their time.
#[derive(Clone, Copy)]
struct Load {
    servers: u32,
    percent: u32,
}

impl Load {
    fn rate_per_s(self) -> u64 {
        RATE_PER_S.min(RATE_PER_S * u64::from(self.servers * self.percent) / 100)
    }

    fn theory(self) -> Mmc {
        let Self { servers, percent } = self;
        let utilization = f64::from(percent) / 100.0;
        let service_us = utilization * f64::from(servers) / self.rate_per_s() as f64 * 1e6;
        Mmc { servers, utilization, service_mean: service_us }
    }
}

/// One line of the truth, as far as it matters here.
struct Truth {
    arrival_ns: u64,
    start_ns: u64,
    finish_ns: u64,
    /// `finish_ns` where nobody was left to send to.
    sent_ns: u64,
}

/// What a round of a load came to.
#[derive(Default)]
struct Round {
    services: u64,
    /// Services of which Sojourn has no figures.
    unmeasured: u64,
    lindley_mismatches: u64,
    /// Name and value, µs.
    figures: Vec<(String, f64)>,
    limits: Vec<Limit>,
}

/// A figure and where it must be, µs.
struct Limit {
    what: String,
    figure_us: f64,
    from_us: f64,
    to_us: f64,
}

/// Runs a round of a load.
fn measure(load: Load, milliseconds: u64, round: u64, spin: bool) -> Round {
    let folder = tempfile::tempdir_in(IN_MEMORY).or_else(|_| tempfile::tempdir()).unwrap();
    let truth_path = folder.path().join("truth.ndjson");
    let theory = load.theory();
    let mock = start(&theory, round, spin, &truth_path);
    let seed = 7 + round;
    let run_file = folder.path().join("run.sojourn");
    let run = run(&mock.url(""), load.rate_per_s(), milliseconds, seed, spin, &run_file);
    let lines = mock.finish().truth.unwrap().unwrap();
    let truth = read(&truth_path);
    assert_eq!(truth.len() as u64, lines);

    let compared = Compared::of(&run, &truth);
    let mut of = Round {
        services: lines,
        unmeasured: lines - compared.added_ns.len() as u64,
        lindley_mismatches: lindley_mismatches(load.servers, &truth),
        ..Round::default()
    };
    of.quantiles("added", &compared.added_ns);
    let parts = ["added_to_arrival", "added_to_sent", "added_to_read"];
    for (part, ns) in parts.iter().zip(&compared.parts_ns) {
        of.quantiles(part, ns);
    }
    of.limit(
        "agreement p99",
        quantile_us(&compared.added_ns, 0.99),
        (0.0, ADDED_NS_MAX as f64 / 1e3),
    );
    let Mmc { servers, utilization, service_mean } = theory;
    let offered = utilization * f64::from(servers);
    let exact_us = mmc_response_quantile(servers, offered, service_mean, 0.99);
    let mean_us = theory.mean_response_interval(truth.len() as u64, Z).center;
    of.figure("mean_theory", mean_us);
    of.figure("p99_theory", exact_us);
    let mut truth_ns: Vec<u64> =
        truth.iter().map(|record| record.finish_ns - record.arrival_ns).collect();
    truth_ns.sort_unstable();
    of.against(&theory, "truth", &truth_ns, 0);
    // What the network and both processes added is no part of the queue.
    let usual_ns = compared.added_ns[compared.added_ns.len() / 2];
    of.against(&theory, "measured", &compared.measured_ns, usual_ns);
    of
}

/// How many of the truth's instants are not those of the recursion.
fn lindley_mismatches(servers: u32, truth: &[Truth]) -> u64 {
    let mut model = QueueModel::new(NonZeroUsize::new(servers as usize).unwrap(), usize::MAX);
    let differs = |record: &&Truth| {
        let slot = model.admit(record.arrival_ns, record.finish_ns - record.start_ns).unwrap();
        (slot.start_ns, slot.finish_ns) != (record.start_ns, record.finish_ns)
    };
    truth.iter().filter(differs).count() as u64
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

impl Round {
    fn figure(&mut self, name: &str, us: f64) {
        self.figures.push((name.to_owned(), us));
    }

    fn quantiles(&mut self, what: &str, sorted_ns: &[u64]) {
        for (quantile, at) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
            self.figure(&format!("{what}_{quantile}"), quantile_us(sorted_ns, at));
        }
    }

    fn limit(&mut self, what: &str, figure_us: f64, (from_us, to_us): (f64, f64)) {
        self.limits.push(Limit { what: what.to_owned(), figure_us, from_us, to_us });
    }

    /// Holds mean and 99th percentile, less what is no part of the queue, against theory.
    fn against(&mut self, theory: &Mmc, whose: &str, sorted_ns: &[u64], usual_ns: u64) {
        let (count, usual_us) = (sorted_ns.len() as u64, usual_ns as f64 / 1e3);
        let mean_us = sorted_ns.iter().sum::<u64>() as f64 / count as f64 / 1e3 - usual_us;
        self.figure(&format!("mean_{whose}"), mean_us);
        let Interval { center, half_width } = theory.mean_response_interval(count, Z);
        let whole = (center - half_width, center + half_width);
        self.limit(&format!("mean, {whose}"), mean_us, whole);
        let p99_us = quantile_us(sorted_ns, 0.99) - usual_us;
        self.figure(&format!("p99_{whose}"), p99_us);
        self.limit(
            &format!("p99, {whose}"),
            p99_us,
            theory.response_quantile_range(0.99, count, Z),
        );
    }
}

/// Prints what a load came to, by the medians of its rounds, and judges it; whether all limits
/// hold. A limit's line is `verdict LOAD: LIMIT: FIGURE UNIT in FROM to TO: holds`.
fn tell_all(load: Load, rounds: &[Round]) -> bool {
    let name = format!("oracle.mm{}_{}", load.servers, load.percent);
    let mut holds = true;
    let mut judge = |what: &str, figure: f64, (from, to): (f64, f64), unit: &str| {
        let is_in = (from..=to).contains(&figure);
        holds &= is_in;
        let verdict = if is_in { "holds" } else { "MISSED" };
        println!("verdict {name}: {what}: {figure:.1} {unit} in {from:.1} to {to:.1}: {verdict}");
    };
    let sum = |of: fn(&Round) -> u64| rounds.iter().map(of).sum::<u64>();
    let mismatches = sum(|round| round.lindley_mismatches);
    println!("{name}.arrivals_per_s {} requests", load.rate_per_s());
    println!("{name}.services {} requests", sum(|round| round.services));
    println!("{name}.unmeasured {} requests", sum(|round| round.unmeasured));
    println!("{name}.lindley_mismatches {mismatches} requests");
    judge("mismatches with Lindley's recursion", mismatches as f64, (0.0, 0.0), "");
    for (at, (figure, _)) in rounds[0].figures.iter().enumerate() {
        println!("{name}.{figure} {:.2} us", median(rounds, |round| round.figures[at].1));
    }
    for (at, limit) in rounds[0].limits.iter().enumerate() {
        let of = |part: fn(&Limit) -> f64| median(rounds, |round| part(&round.limits[at]));
        let range = (of(|limit| limit.from_us), of(|limit| limit.to_us));
        judge(&limit.what, of(|limit| limit.figure_us), range, "us");
    }
    holds
}

fn median(rounds: &[Round], of: impl Fn(&Round) -> f64) -> f64 {
    let mut all: Vec<f64> = rounds.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn quantile_us(sorted_ns: &[u64], at: f64) -> f64 {
    let place = (sorted_ns.len().saturating_sub(1) as f64 * at) as usize;
    sorted_ns.get(place).map_or(f64::NAN, |ns| *ns as f64 / 1e3)
}

fn start(theory: &Mmc, round: u64, spin: bool, truth: &Path) -> Mock {
    let queue = Queue {
        servers: NonZeroUsize::new(theory.servers as usize).unwrap(),
        service: Latency::Exponential { mean_ns: theory.service_mean * 1e3 },
        waiting_max: usize::MAX,
    };
    let respond = Respond {
        file: None,
        status: 200,
        headers: Vec::new(),
        latency: Latency::Fixed(0),
        queue: Some(queue),
        query_overrides: false,
        seed: 11 + round,
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

fn run(
    target: &str,
    rate_per_s: u64,
    milliseconds: u64,
    seed: u64,
    spin: bool,
    path: &Path,
) -> RunFile {
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
        ("RATE", rate_per_s.to_string()),
        ("MILLISECONDS", milliseconds.to_string()),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let overrides = Overrides { environment, seed: Some(seed), ..Overrides::default() };
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
