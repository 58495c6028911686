//! Scripts whose users are in generators that dial in: started in a folder of their own, where no
//! file of the script is.

mod losses;
mod refusals;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sojourn_clock::{Anchor, now_ns};
use sojourn_testkit::{Output, Program, Running, TempDir, free_port, sojourn, temp_dir};

use crate::common::until;
use crate::k6_processes;

/// A script beside its target, a coordinator that has been started, and generators that have.
struct Desk {
    here: k6_processes::Desk,
    elsewhere: TempDir,
    port: u16,
}

impl Desk {
    /// `BASE` in the script is the target's URL.
    fn new(script: &str) -> Self {
        let here = k6_processes::Desk::new(script);
        Self { here, elsewhere: temp_dir().unwrap(), port: free_port().unwrap() }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.here.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A coordinator of so many generators.
    fn coordinator(&self, script: &str, count: usize, flags: &[&str]) -> Program {
        let (listen, count) = (format!("127.0.0.1:{}", self.port), count.to_string());
        let words = ["coordinator", script, "--quiet", "--summary-export", "summary.json"];
        let fleet = ["--listen", &listen, "--key-file", "fleet.key", "--generators", &count];
        let words = words.iter().chain(&fleet).chain(flags);
        sojourn(words).in_dir(self.here.folder.path()).timeout(Duration::from_secs(120))
    }

    /// Starts it, and waits until it listens.
    fn start(&self, coordinator: Program) -> Running {
        let coordinator = coordinator.start().unwrap();
        until("it listens", || std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok());
        coordinator
    }

    /// A generator without any file but the key.
    fn generator(&self) -> Program {
        self.generator_at(self.port)
    }

    /// One that dials another port.
    fn generator_at(&self, port: u16) -> Program {
        let (join, key) = (format!("127.0.0.1:{port}"), self.here.folder.path());
        let key = key.join("fleet.key").display().to_string();
        let words = ["generator", "--join", &join, "--key-file", &key];
        sojourn(words).in_dir(self.elsewhere.path()).timeout(Duration::from_secs(120))
    }

    /// Starts both, and waits for the load.
    fn begin(&self, count: usize, flags: &[&str]) -> (Running, Vec<Running>) {
        let coordinator = self.start(self.coordinator("test.js", count, flags));
        let generators = (0..count).map(|_| self.generator().start().unwrap()).collect();
        until("the load has begun", || self.here.book.paths().len() > 30);
        (coordinator, generators)
    }

    /// Runs the script with so many generators; their outputs come second.
    fn run(&self, script: &str, count: usize, flags: &[&str]) -> (Output, Vec<Output>) {
        self.run_with(self.coordinator(script, count, flags), count)
    }

    fn run_with(&self, coordinator: Program, count: usize) -> (Output, Vec<Output>) {
        let coordinator = self.start(coordinator);
        let mut generators = Vec::new();
        for number in 0..count {
            // Seconds and hours wrong, but for the first one.
            let wrong_ns = [0, 3_700_000_000, -7_200_000_000_000i64][number % 3].to_string();
            let generator = self.generator().env("SOJOURN_TEST_CLOCK_OFFSET_NS", wrong_ns);
            generators.push(generator.start().unwrap());
        }
        let output = coordinator.wait().unwrap();
        let generators = generators.into_iter().map(|it| it.wait().unwrap()).collect();
        (output, generators)
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.here.folder.path().join(name)).unwrap()
    }

    fn count(&self, metric: &str) -> usize {
        count(&self.here.folder.path().join("summary.json"), metric)
    }
}

/// A metric's count in a summary; 0 where it has no samples.
pub(crate) fn count(summary: &Path, metric: &str) -> usize {
    let summary: Value = serde_json::from_slice(&std::fs::read(summary).unwrap()).unwrap();
    summary["metrics"][metric]["count"].as_f64().unwrap_or(0.0) as usize
}

/// With a module, files that it opens, a secret, a variable that it names, what `setup` returns.
pub(crate) const WHOLE: &str = r#"
import http from 'k6/http';
import exec from 'k6/execution';
import secrets from 'k6/secrets';
import { SharedArray } from 'k6/data';
import { greet } from './lib/greet.js';
const rows = new SharedArray('rows', () => JSON.parse(open('./data/rows.json')));
export const options = { systemTags: ['scenario', 'iter', 'vu'], scenarios: {
  shared: { executor: 'shared-iterations', vus: 7, iterations: 41 },
  each: { executor: 'per-vu-iterations', vus: 5, iterations: 3 },
} };
export function setup() { http.get('BASE/setup'); return { word: 'made' }; }
export default async function (data) {
  const { scenario } = exec;
  const row = rows[scenario.iterationInTest % rows.length];
  const secret = await secrets.get('word');
  const words = [greet(data.word), __ENV.REGION, __ENV.OWN, row, secret.length];
  http.get(`BASE/${scenario.name}/${scenario.iterationInTest}/${words.join('-')}`);
}
export function teardown(data) { http.get(`BASE/teardown/${data.word}`); }
export function handleSummary(data) {
  return { stdout: `handled ${data.metrics.iterations.values.count}\n`,
    'made.json': JSON.stringify(data.setup_data) };
}
"#;

impl Desk {
    /// Of [`WHOLE`], with all that it reads.
    fn whole() -> Self {
        let desk = Self::new(WHOLE);
        desk.write("lib/greet.js", "export const greet = (word) => `hello-${word}`;\n");
        desk.write("data/rows.json", r#"["x", "y", "z"]"#);
        desk.write("words.txt", "word=hidden\n");
        desk.write("config.json", r#"{ "tags": { "build": "7" } }"#);
        desk
    }

    /// What iterations of [`WHOLE`] have asked for.
    fn iterations(&self) -> BTreeSet<String> {
        let paths = self.here.book.paths();
        let once: BTreeSet<String> = paths.iter().cloned().collect();
        assert_eq!(once.len(), paths.len(), "{paths:?}");
        once.into_iter().filter(|it| !it.contains("/setup") && !it.contains("down")).collect()
    }
}

const WHOLE_FLAGS: [&str; 6] =
    ["-e", "OWN=own", "--secret-source=file=words.txt", "-c", "config.json", "--no-color"];

/// Generators whose clocks are hours wrong, in an empty folder, do what one process does.
#[test]
fn they_do_what_one_process_would() {
    let desk = Desk::whole();
    let alone = sojourn(["run", "test.js", "--quiet"].iter().chain(&WHOLE_FLAGS));
    let alone = alone.in_dir(desk.here.folder.path()).env("REGION", "north").run().unwrap();
    assert_eq!(alone.code, Some(0), "{alone}");
    let by_one = desk.iterations();
    assert!(by_one.contains("/shared/1/hello-made-north-own-y-6"), "{by_one:?}");

    desk.here.book.clear();
    let before = Anchor::now();
    let flags = [&WHOLE_FLAGS[..], &["--out", "json=samples.json"]].concat();
    let coordinator = desk.coordinator("test.js", 3, &flags).env("REGION", "north");
    let (output, generators) = desk.run_with(coordinator, 3);
    let took_ns = now_ns() - before.monotonic_ns;
    assert_eq!(output.code, Some(0), "{output}");
    // Iterations per user have numbers that depend on who is first.
    let shared = |all: BTreeSet<String>| -> BTreeSet<String> {
        all.into_iter().filter(|it| it.starts_with("/shared/")).collect()
    };
    let by_three = desk.iterations();
    assert_eq!(by_three.len(), 41 + 15, "{by_three:?}");
    assert_eq!(shared(by_three), shared(by_one));
    assert_eq!((desk.here.book.count("/setup"), desk.here.book.count("/teardown/made")), (1, 1));
    assert_eq!(output.stdout, "handled 56\n", "{output}");
    assert_eq!(desk.file("made.json"), r#"{"word":"made"}"#);
    // Those of setup and teardown, too.
    assert_eq!((desk.count("http_reqs"), desk.count("iterations")), (58, 56));
    for generator in &generators {
        assert_eq!(generator.code, Some(0), "{generator}");
        assert!(generator.stderr.contains("everything was delivered"), "{generator}");
    }
    assert!(output.stderr.contains("3 of 3 generators joined"), "{output}");
    assert!(std::fs::read_dir(desk.elsewhere.path()).unwrap().next().is_none());
    samples_have_the_coordinators_time(&desk.file("samples.json"), before.unix_ns, took_ns);
}

/// Every sample has its tags, and was taken while the test went on.
fn samples_have_the_coordinators_time(lines: &str, from_ns: u64, took_ns: u64) {
    let mut iterations = 0;
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["type"] != "Point" || line["metric"] != "iterations" {
            continue;
        }
        iterations += 1;
        assert_eq!(line["data"]["tags"]["build"], "7", "{line}");
        let time: jiff::Timestamp = line["data"]["time"].as_str().unwrap().parse().unwrap();
        let since_ms = (time.as_nanosecond() - i128::from(from_ns)) / 1_000_000;
        assert!((-10..i128::from(took_ns / 1_000_000) + 10).contains(&since_ms), "{line}");
    }
    assert_eq!(iterations, 56);
}

/// An archive goes along as it is.
#[test]
fn an_archive_is_run_by_generators() {
    let desk = Desk::whole();
    let words = ["k6", "archive", "test.js", "-O", "test.tar", "-e", "REGION=south"];
    let words = words.iter().chain(&["--secret-source=file=words.txt"]);
    let made = sojourn(words).in_dir(desk.here.folder.path()).run().unwrap();
    assert_eq!(made.code, Some(0), "{made}");
    std::fs::remove_file(desk.here.folder.path().join("test.js")).unwrap();
    let (output, _) = desk.run("test.tar", 2, &WHOLE_FLAGS);
    assert_eq!(output.code, Some(0), "{output}");
    let asked = desk.iterations();
    assert_eq!(asked.len(), 56, "{asked:?}");
    assert!(asked.contains("/shared/2/hello-made-south-own-z-6"), "{asked:?}");
}

/// Each generator has six of the twelve samples: none of them alone breaks the threshold.
#[test]
fn a_threshold_that_only_all_samples_break_decides() {
    let script = "import { Counter } from 'k6/metrics';\nconst hits = new Counter('hits');\n\
                  export const options = { vus: 2, iterations: 12,\n  thresholds: { hits: \
                  ['count<12'] } };\nexport default function () { hits.add(1); }\n";
    let desk = Desk::new(script);
    let (output, generators) = desk.run("test.js", 2, &[]);
    assert_eq!(output.code, Some(99), "{output}");
    assert_eq!(output.stderr.matches("thresholds on metrics 'hits'").count(), 1, "{output}");
    assert_eq!(desk.count("hits"), 12);
    assert!(generators.iter().all(|it| it.code == Some(0)), "{generators:?}");
}

/// Users of all generators begin at one instant, which is a second after it was told.
#[test]
fn all_begin_at_one_instant() {
    let script = r#"
import http from 'k6/http';
import exec from 'k6/execution';
export const options = { scenarios: {
  arriving: { executor: 'constant-arrival-rate', rate: 20, duration: '2980ms', preAllocatedVUs: 12 },
} };
export default function () { http.get(`BASE/${exec.scenario.iterationInTest}`); }
"#;
    let desk = Desk::new(script);
    let (output, _) = desk.run("test.js", 3, &["--out", "csv=samples.csv"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(desk.count("iterations") + desk.count("dropped_iterations"), 60, "{output}");
    // Late by at most what a busy machine makes of it: no clock's error, which is an hour.
    let rows = desk.file("samples.csv");
    let lags = rows.lines().filter(|row| row.starts_with("iteration_lag,"));
    let lags: Vec<f64> = lags.map(|row| row.split(',').nth(2).unwrap().parse().unwrap()).collect();
    assert_eq!(lags.len(), desk.count("iterations"));
    assert!(lags.iter().all(|ms| (0.0..2_000.0).contains(ms)), "{lags:?}");
}
