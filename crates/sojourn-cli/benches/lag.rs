//! How late the generator sends: paced arrivals against a server that answers at once, and the
//! demo. Prints one `name value unit` a line.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark: it prints, and may fail"
)]

use sojourn_broker::Registry;
use sojourn_demo::{Demo, DemoConfig};
use sojourn_engine::{RunOptions, Stop};
use sojourn_metrics::{SeriesKey, SeriesPhase};
use sojourn_plan::{Files, Overrides};
use sojourn_record::RunFile;
use sojourn_testkit::{Reply, Request, Responder, Server, response};

const API: &str = "
name: lag
target: ${TARGET}
journeys:
  get:
    root: { http: { method: GET, url: / }, expect: { status: 200 } }
load:
  - { journey: get, rate: \"${RATE}\", warmup: 1s, steady: 10s }
";
const PAYMENTS: &str = include_str!("../../../examples/payments.yaml");

fn main() {
    let server = Server::start(AtOnce).unwrap();
    let target = server.url("");
    for rate in [1_000, 10_000] {
        let rate_text = format!("{rate}/s");
        measure(&format!("lag.{rate}_per_s"), API, &[("TARGET", &target), ("RATE", &rate_text)]);
    }
    let demo = Demo::start(DemoConfig::default()).unwrap();
    let environment = [
        ("TARGET", demo.api_url()),
        ("KAFKA", demo.brokers()),
        ("STEADY", "10s"),
        ("WARMUP", "2s"),
    ];
    measure("lag.demo_50_per_s", PAYMENTS, &environment);
    demo.stop().unwrap();
}

/// Answers every request at once.
struct AtOnce;

impl Responder for AtOnce {
    fn respond(&mut self, _request: &Request<'_>) -> Reply {
        Reply::now(response(200, "text/plain", b"hello, sojourn\n"))
    }
}

/// Makes a run and prints its lag.
fn measure(name: &str, text: &str, environment: &[(&str, &str)]) {
    struct NoFiles;
    impl Files for NoFiles {
        fn read(&self, path: &std::path::Path) -> std::io::Result<String> {
            std::fs::read_to_string(path)
        }
        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }
    let environment =
        environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let overrides = Overrides { environment, ..Overrides::default() };
    let plan = sojourn_plan::read("bench.yaml", text, &NoFiles, &overrides).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sojourn");
    let registry = Registry::new().with("kafka", sojourn_broker_kafka::Kafka);
    let options = RunOptions::new(path.clone(), "bench".into());
    sojourn_engine::run(&plan, &options, &registry, &Stop::default(), &mut |_| {}).unwrap();
    let run = RunFile::open(&path).unwrap();
    let lag = run.store.trend(&SeriesKey::new("lag", &[], SeriesPhase::Steady)).unwrap();
    for (label, q) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
        println!("{name}.{label} {:.1} µs", lag.quantile(q).unwrap() as f64 / 1e3);
    }
}
