//! `sojourn mock` as a process: what it costs, how it stops, and what its truth says of a run.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use rdkafka::mocking::MockCluster;
use serde_json::Value;
use sojourn_record::Verdict;
use sojourn_testkit::{
    QueueModel, Running, TempDir, TruthRecord, free_port, sojourn, temp_dir, theory::Mm1,
};

use crate::common::{self, until};

/// A mock in a folder of its own.
pub(crate) struct Mocked {
    running: Running,
    pub(crate) address: SocketAddr,
    folder: TempDir,
}

impl Mocked {
    /// Starts it with these files and arguments, and waits until it answers.
    pub(crate) fn start(files: &[(&str, &str)], arguments: &[&str]) -> Self {
        let folder = temp_dir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let address = SocketAddr::from(([127, 0, 0, 1], free_port().unwrap()));
        let listen = address.to_string();
        let usual = ["mock", "--listen", &listen, "--quiet"];
        let all = usual.iter().chain(arguments);
        let running = sojourn(all).in_dir(folder.path()).timeout(Duration::from_secs(300));
        let running = running.start().unwrap();
        let mocked = Self { running, address, folder };
        until("it listens", || TcpStream::connect(mocked.address).is_ok());
        mocked
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    pub(crate) fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n"))
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.get("/_sojourn/metrics");
        let prefix = format!("sojourn_mock_{name} ");
        text.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap().parse().unwrap()
    }

    /// Where a file of its folder lies.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Ends it and reads the truth that it was told to write to `truth.ndjson`.
    pub(crate) fn truth(self) -> Vec<TruthRecord> {
        self.running.terminate().unwrap();
        let output = self.running.wait().unwrap();
        assert_eq!(output.code, Some(0), "{output}");
        let truth = truth(&self.folder.path().join("truth.ndjson"));
        assert!(output.stderr.contains(&format!("truth: {} requests", truth.len())), "{output}");
        truth
    }

    /// Its memory that is really there, bytes.
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.running.pid()));
        let status = status.unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

/// As many descriptors as this process may have: how many connections can be opened from here.
fn connections_max() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: limit, maximum: limit }).unwrap();
    usize::try_from(limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX).saturating_sub(500)
}

#[test]
fn one_line_is_a_mock() {
    let body = r#"{"status":"captured"}"#;
    let arguments = [
        "--respond",
        "body.json",
        "--latency",
        "20ms",
        "--status",
        "201",
        "--header",
        "X-Mock: yes",
    ];
    let mock = Mocked::start(&[("body.json", body)], &arguments);
    for request in [
        "GET / HTTP/1.1\r\n\r\n",
        "POST /any/path?x=1 HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc",
        "PURGE /x HTTP/1.1\r\n\r\n",
    ] {
        let answer = mock.ask(request);
        assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
        assert!(answer.ends_with(body) && answer.contains("X-Mock: yes\r\n"), "{answer}");
        assert!(answer.contains("content-type: application/json\r\n"), "{answer}");
        assert!(answer.contains("server-timing: hold;dur=20, real;dur=2"), "{answer}");
    }
    std::fs::write(mock.folder.path().join("body.json"), "changed, and longer").unwrap();
    until("the new body is served", || mock.get("/").ends_with("changed, and longer"));
}

#[test]
fn wrong_usage_names_what_is_wrong() {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("bad.yaml"), "routes:\n  - { route: /a, stats: 1 }\n")
        .unwrap();
    std::fs::write(folder.path().join("api.yaml"), "swagger: '2.0'\n").unwrap();
    for (arguments, expected) in [
        (
            vec!["bad.yaml"],
            "bad.yaml:2:18: unknown field `stats` in a route\n  hint: did you mean `status`?",
        ),
        (vec!["none.yaml"], "cannot read none.yaml"),
        (
            vec!["--openapi", "api.yaml"],
            "api.yaml is not an OpenAPI 3 description: it is Swagger 2.0",
        ),
        (
            vec!["--latency", "expo(2ms)"],
            "--latency: there is no law `expo`\nhint: did you mean `exp`?",
        ),
        (vec!["--queue", "mm1:rate=0"], "--queue: `0` is not a rate"),
        (vec!["--truth", "t"], "--truth without a queue has nothing to tell"),
        (vec!["--queue", "mm1:rate=5", "--tls"], "a queue behind TLS is not kept"),
        (vec!["--listen", "127.0.0.1:1"], "cannot serve at 127.0.0.1:1"),
        (vec!["--respond", "none.json"], "cannot read none.json"),
        (
            vec!["--queue", "mm1:rate=5", "--listen", "127.0.0.1:0", "--truth", "none/t"],
            "cannot write none/t: No such file",
        ),
        (vec!["--connections", "0"], "0 is not in 1..="),
        (vec!["--tls-cert", "none.pem", "--tls-key", "none.pem"], "none.pem: "),
    ] {
        // Root may listen anywhere: then another address is none of ours.
        let arguments =
            arguments.into_iter().map(|it| if it == "127.0.0.1:1" { "192.0.2.1:80" } else { it });
        let expected = expected.replace("127.0.0.1:1", "192.0.2.1:80");
        let arguments: Vec<&str> = std::iter::once("mock").chain(arguments).collect();
        let output = sojourn(&arguments).in_dir(folder.path()).run().unwrap();
        assert_eq!(output.code, Some(2), "{arguments:?}: {output}");
        assert!(output.stderr.contains(&expected), "{arguments:?}: {output}");
    }
    let schema = sojourn(["mock", "--schema"]).run().unwrap();
    let schema: Value = serde_json::from_str(&schema.stdout).unwrap();
    assert_eq!(schema["title"], "Sojourn mock file");
}

#[test]
fn a_terminated_mock_answers_what_it_holds() {
    let mock = Mocked::start(&[], &["--latency", "700ms"]);
    let mut held: Vec<TcpStream> = (0..200).map(|_| mock.connect()).collect();
    for stream in &mut held {
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    }
    until("all are read", || mock.metric("requests_total") >= 200);
    mock.running.terminate().unwrap();
    for stream in &mut held {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer:?}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
    }
    let output = mock.running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("still held 0"), "{output}");
    assert!(!output.stderr.contains("panicked"), "{output}");
}

#[test]
fn a_mock_that_holds_too_long_ends_when_its_time_is_up() {
    let mock = Mocked::start(&[], &["--latency", "1h", "--drain", "300ms"]);
    let mut held = mock.connect();
    held.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    until("it is read", || mock.metric("requests_total") >= 1);
    mock.running.terminate().unwrap();
    let output = mock.running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("still held 1"), "{output}");
}

/// Ten thousand connections, half of them in the middle of a head.
#[test]
fn idle_connections_cost_little_and_harm_nobody() {
    let mock = Mocked::start(&[], &[]);
    let count = connections_max().min(10_000);
    let before = mock.resident();
    let idle: Vec<TcpStream> = (0..count)
        .map(|number| {
            let mut stream = mock.connect();
            if number % 2 == 1 {
                stream.write_all(b"GET / HTTP/1.1\r\nx-half: a").unwrap();
            }
            stream
        })
        .collect();
    until("all are open", || mock.metric("connections_open") >= count as u64);
    let each = mock.resident().saturating_sub(before) / count as u64;
    println!("{each} bytes for each of {count} idle connections");
    assert!(each < 2048, "{each} bytes for each idle connection");
    assert!(mock.get("/").starts_with("HTTP/1.1 200 OK\r\n"));
    drop(idle);
    until("all are gone", || mock.metric("connections_open") <= 2);
}

#[test]
fn a_held_request_costs_less_than_four_kilobytes() {
    let mock = Mocked::start(&[], &["--latency", "1h", "--drain", "1ms"]);
    let count = connections_max().min(8_000);
    let before = mock.resident();
    let held: Vec<TcpStream> = (0..count)
        .map(|_| {
            let mut stream = mock.connect();
            let request =
                b"GET /some/path?with=query HTTP/1.1\r\nhost: test\r\naccept: */*\r\n\r\n";
            stream.write_all(request).unwrap();
            stream
        })
        .collect();
    until("all are held", || mock.metric("requests_held") == count as u64);
    let each = mock.resident().saturating_sub(before) / count as u64;
    println!("{each} bytes for each of {count} held requests");
    assert!(each < 4096, "{each} bytes for each held request");
    drop(held);
}

/// A body of any size is not held in memory, however slowly it is read.
#[test]
fn a_client_that_does_not_read_costs_no_more_than_its_socket() {
    let mock = Mocked::start(&[], &[]);
    let before = mock.resident();
    let lazy: [TcpStream; 20] = std::array::from_fn(|_| {
        let mut stream = mock.connect();
        stream.write_all(b"GET /respond-with/bytes?size=4000000000 HTTP/1.1\r\n\r\n").unwrap();
        stream
    });
    until("all are begun", || mock.metric("requests_total") >= 20);
    let grown = mock.resident().saturating_sub(before);
    assert!(grown < 8_000_000, "{grown} bytes for {} answers", lazy.len());
}

#[test]
fn the_staircase_states_what_it_found() {
    let arguments = [
        "mock",
        "selfcheck",
        "--latency",
        "20ms",
        "--bound",
        "10s",
        "--from",
        "100",
        "--to",
        "150",
        "--step",
        "300ms",
    ];
    let output = sojourn(arguments).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let highest = output.stdout.lines().find(|line| line.starts_with("highest: "));
    assert!(highest.unwrap().starts_with("highest: 150 requests/s with "), "{output}");
    assert!(output.stdout.contains("Little's law: connections = rate × hold"), "{output}");
    let rates = output.stdout.lines().filter(|line| line.trim_start().starts_with("1"));
    assert_eq!(rates.count(), 2, "{output}");
}

/// A mock as an asynchronous third party: it accepts, and says later by an event that it is done.
#[test]
fn a_journey_through_a_mock_that_publishes_its_event() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("third-party.events", 4, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    let file = format!(
        "
channels:
  events: {{ kafka: {{ brokers: {brokers:?}, topics: [third-party.events] }} }}
routes:
  - route: POST /charges
    status: 202
    latency: 5ms
    json: {{ id: '{{{{ body.order }}}}' }}
    callbacks:
      - after: uniform(20ms, 60ms)
        publish:
          to: events
          key: '{{{{ body.order }}}}'
          json: {{ type: ChargeSettled, order: '{{{{ body.order }}}}' }}
"
    );
    let mock = Mocked::start(&[("mocks.yaml", &file)], &["mocks.yaml"]);
    let plan = common::plan(
        "
name: third-party
target: ${TARGET}
channels:
  events: { kafka: { brokers: \"${KAFKA}\", topics: [third-party.events] } }
journeys:
  charge:
    root:
      http: { method: POST, url: /charges, json: { order: \"{{ uuid() }}\" } }
      expect: { status: 202 }
      key: { from: body.id }
    stages:
      - { name: settled, on: events, match: { type: ChargeSettled }, key: $.order }
    within: 20s
load:
  - { journey: charge, rate: 50/s, steady: 4s, drain: 20s }
health: { lag_p99_max: 60s, tap_behind_max: 60s, silent_max: 60s }
",
        &[("TARGET", &format!("http://{}", mock.address)), ("KAFKA", &brokers)],
    );
    let run = common::run(&plan, |options| options.keep_all = true);
    assert_eq!(run.summary.verdict, Verdict::Pass, "{:?}", run.summary);
    assert_eq!(run.file.journeys.len(), 200);
    for journey in &run.file.journeys {
        let settled_ns = journey.stages.first().and_then(|stage| stage.seen_ns);
        assert!(settled_ns.is_some(), "{journey:?}");
    }
    assert_eq!(mock.metric("callbacks_done_total"), 200);
}

const PLAN: &str = r#"
name: oracle
target: ${TARGET}
journeys:
  request:
    root: { http: GET /, expect: { status: 200 }, key: body.id }
load:
  - { journey: request, arrivals: poisson, rate: "${RATE}/s", steady: 5s, drain: 20s }
health: { lag_p99_max: 60s, silent_max: 60s, missed_max: 100%, delivered_min: 0% }
"#;

/// A run against the queue, and the queue's truth: the same requests, none lost, each in order.
#[test]
fn a_run_agrees_with_the_truth_request_by_request() {
    for (queue, servers, rate) in [("mm1:rate=1000", 1, 700), ("mmc:servers=3,rate=400", 3, 840)] {
        let _turn = common::alone();
        let mock = Mocked::start(&[], &["--queue", queue, "--truth", "truth.ndjson"]);
        let target = format!("http://{}", mock.address);
        let plan = common::plan(PLAN, &[("TARGET", &target), ("RATE", &rate.to_string())]);
        let run = common::run(&plan, |options| options.keep_all = true);
        let told = format!("{queue}: {:?}", run.summary);
        assert_eq!(run.summary.verdict, Verdict::Pass, "{told}");
        let truth = mock.truth();
        assert_is_lindley(&truth, servers);
        let start_ns = run.file.identity.start_monotonic_ns;
        let mut left: BTreeMap<String, &TruthRecord> =
            truth.iter().map(|record| (record.id.to_string(), record)).collect();
        let mut added_ns = Vec::new();
        for journey in &run.file.journeys {
            let key = journey.key.as_deref().unwrap_or_default();
            let record =
                left.remove(key).unwrap_or_else(|| panic!("no request {key}: {journey:?}"));
            let [t0_ns, t1_ns, t2_ns] =
                [journey.t0_ns, journey.t1_ns, journey.t2_ns.unwrap_or(0)].map(|ns| start_ns + ns);
            let instants =
                [t0_ns, t1_ns, record.arrival_ns, record.start_ns, record.finish_ns, t2_ns];
            assert!(instants.is_sorted(), "request {key}: {instants:?}");
            added_ns.push((t2_ns - t1_ns) - (record.finish_ns - record.arrival_ns));
        }
        assert!(left.is_empty(), "never measured: {:?}", left.keys());
        added_ns.sort_unstable();
        let at = |q: f64| added_ns[((added_ns.len() - 1) as f64 * q) as usize] / 1000;
        println!("{queue}: added to the truth p50 {} us, p99 {} us", at(0.5), at(0.99));
        if servers == 1 {
            let count = truth.len() as u64;
            let responses = truth.iter().map(|record| record.finish_ns - record.arrival_ns);
            let mean_ms = responses.sum::<u64>() as f64 / count as f64 / 1e6;
            let interval =
                Mm1 { utilization: 0.7, service_mean: 1.0 }.mean_response_interval(count, 3.5);
            assert!(interval.contains(mean_ms), "{mean_ms} outside {interval:?}");
        }
    }
}

/// The truth by id.
fn truth(path: &Path) -> Vec<TruthRecord> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut records: Vec<TruthRecord> = text
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            let at = |name: &str| record[name].as_u64().unwrap();
            TruthRecord {
                id: at("id"),
                arrival_ns: at("arrival_ns"),
                start_ns: at("start_ns"),
                finish_ns: at("finish_ns"),
                sent_ns: record["sent_ns"].as_u64(),
            }
        })
        .collect();
    records.sort_by_key(|record| record.id);
    records
}

/// Starts and finishes follow from arrivals and services alone (Lindley's recursion for several
/// servers, by the model that is itself tested against a search).
fn assert_is_lindley(truth: &[TruthRecord], servers: usize) {
    let mut model = QueueModel::new(NonZeroUsize::new(servers).unwrap(), usize::MAX);
    for record in truth {
        let slot = model.admit(record.arrival_ns, record.finish_ns - record.start_ns).unwrap();
        assert_eq!((slot.start_ns, slot.finish_ns), (record.start_ns, record.finish_ns));
        assert!(record.sent_ns.is_some_and(|sent_ns| sent_ns >= record.finish_ns), "{record:?}");
    }
}
