//! Sojourn's figures against a queue of known theory: M/M/1 and M/M/3 at three loads, by
//! `sojourn mock`'s own queue and its truth file. Prints one `name value unit` a line.
//!
//! Each load runs for 60 s with 5,000 arrivals a second; `SOJOURN_ORACLE_SECONDS=400` makes two
//! million services of each. Request by request, what Sojourn measured is compared with the truth
//! (`added`: the network and both processes; and its parts: until the mock has the request, until
//! it has handed the answer to the kernel, until Sojourn has read it); the truth with a replay of
//! Lindley's recursion; both means with the one of theory, within the interval that the run's
//! length allows. With `SOJOURN_ORACLE_SPIN=1` neither the mock nor the generator ever sleeps.
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark: it prints, and may fail"
)]

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use sojourn_broker::Registry;
use sojourn_engine::{RunOptions, Stop};
use sojourn_mock::{Latency, Mock, MockOptions, Queue, QueueModel, Respond, Source, Watched};
use sojourn_plan::{Files, Overrides};
use sojourn_record::RunFile;
use sojourn_testkit::theory;

const RATE_PER_S: u64 = 5_000;
/// 99.9 % of runs of the theory's own queue lie within.
const Z: f64 = 3.29;

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

fn main() {
    let seconds = std::env::var("SOJOURN_ORACLE_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(60);
    let spin = std::env::var("SOJOURN_ORACLE_SPIN").is_ok_and(|text| text == "1");
    for servers in [1, 3] {
        for percent in [50, 70, 90] {
            measure(servers, percent, seconds, spin);
        }
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

fn measure(servers: u32, percent: u32, seconds: u64, spin: bool) {
    let folder = tempfile::tempdir().unwrap();
    let truth_path = folder.path().join("truth.ndjson");
    let utilization = f64::from(percent) / 100.0;
    let service_ns = utilization * f64::from(servers) / RATE_PER_S as f64 * 1e9;
    let mock = start(servers, service_ns, spin, &truth_path);
    let run = run(&mock.url(""), seconds, spin, &folder.path().join("run.sojourn"));
    let lines = mock.finish().truth.unwrap().unwrap();
    let truth = read(&truth_path);
    assert_eq!(truth.len() as u64, lines);

    let mut model = QueueModel::new(NonZeroUsize::new(servers as usize).unwrap(), usize::MAX);
    let differs = |record: &&Truth| {
        let slot = model.admit(record.arrival_ns, record.finish_ns - record.start_ns).unwrap();
        (slot.start_ns, slot.finish_ns) != (record.start_ns, record.finish_ns)
    };
    let mismatches = truth.iter().filter(differs).count();

    let by_key: HashMap<String, &Truth> =
        truth.iter().enumerate().map(|(id, record)| (id.to_string(), record)).collect();
    let mut added_ns: Vec<u64> = Vec::with_capacity(truth.len());
    // Where it was added: from the client's stamp to the mock's arrival, from the service's end to
    // the answer handed to the kernel, from there to the client's stamp.
    let mut parts_ns: [Vec<u64>; 3] = Default::default();
    let mut measured_ns = 0_u64;
    let start_ns = run.identity.start_monotonic_ns;
    for journey in &run.journeys {
        let record = journey.key.as_deref().and_then(|key| by_key.get(key));
        // One that failed, on a machine that stood still for long, has no key or no end.
        let (Some(record), Some(t2_ns)) = (record, journey.t2_ns) else {
            eprintln!("failed: {:?}", journey.reason);
            continue;
        };
        let service_ns = t2_ns - journey.t1_ns;
        measured_ns += service_ns;
        added_ns.push(service_ns - (record.finish_ns - record.arrival_ns));
        // The truth's instants are the clock's, a run's count from its start.
        parts_ns[0].push(record.arrival_ns.saturating_sub(start_ns + journey.t1_ns));
        parts_ns[1].push(record.sent_ns.saturating_sub(record.finish_ns));
        parts_ns[2].push((start_ns + t2_ns).saturating_sub(record.sent_ns));
    }
    let count = truth.len() as f64;
    let truth_ns: u64 = truth.iter().map(|record| record.finish_ns - record.arrival_ns).sum();
    let offered = utilization * f64::from(servers);
    let expected_us = theory::mmc_mean_response(servers, offered, service_ns) / 1e3;
    let name = format!("oracle.mm{servers}_{percent}");
    println!("{name}.services {count} requests");
    println!("{name}.unmeasured {} requests", truth.len() - added_ns.len());
    println!("{name}.lindley_mismatches {mismatches} requests");
    println!("{name}.mean_theory {expected_us:.2} us");
    if servers == 1 {
        let mm1 = theory::Mm1 { utilization, service_mean: service_ns / 1e3 };
        let interval = mm1.mean_response_interval(truth.len() as u64, Z);
        println!("{name}.mean_theory_within {:.2} us", interval.half_width);
    }
    println!("{name}.mean_truth {:.2} us", truth_ns as f64 / count / 1e3);
    println!("{name}.mean_measured {:.2} us", measured_ns as f64 / added_ns.len() as f64 / 1e3);
    tell(&name, "added", added_ns);
    for (part, ns) in ["added_to_arrival", "added_to_sent", "added_to_read"].iter().zip(parts_ns) {
        tell(&name, part, ns);
    }
}

/// Prints quantiles.
fn tell(name: &str, what: &str, mut all_ns: Vec<u64>) {
    all_ns.sort_unstable();
    for (quantile, at) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
        let place = ((all_ns.len() - 1) as f64 * at) as usize;
        println!("{name}.{what}_{quantile} {:.1} us", all_ns[place] as f64 / 1e3);
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
