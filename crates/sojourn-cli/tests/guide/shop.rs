//! What the pages speak of: an API whose events are on Kafka, files that they name, and a shell
//! that has `sojourn`.

use std::{
    cell::RefCell,
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    time::Duration,
};

use rdkafka::{mocking::MockCluster, producer::DefaultProducerContext};
use serde_json::Value;
use sojourn_testkit::{Output, Program, Running, TempDir, free_port, temp_dir};

use super::{
    beside::Beside, cluster::Cluster, files::BODY, here::Addresses, page::Command, run_files,
};
use crate::{common::until, mock::Mocked};

/// The names that pages give to runs' files: of an early one and of the latest.
const RUNS: [[&str; 2]; 4] =
    [["main", "this"], ["real", "mocked"], ["before", "after"], ["nightly", "run"]];
/// What makes the first run: the journeys that pages look at are kept, whatever became of them.
const RUN: &str = "sojourn run journey.yaml --keep all";
/// Of a thing: the number of the request that made it.
const ID: &str = "pay:{{ seq(4711) }}";
/// Ten seconds of steady load are the least that is compared, and what runs have that are.
const COMPARED: &str = " -e STEADY=11s";
const COMPARED_RUNS: [&str; 4] =
    ["journey.yaml --keep", "junit.xml", "--output pr.sojourn", "--output load.sojourn"];

/// The system, and a folder to work in.
pub(super) struct Shop {
    api: Mocked,
    pub(super) kafka: MockCluster<'static, DefaultProducerContext>,
    folder: TempDir,
    /// Whether the page compares runs.
    is_compared: bool,
    pub(super) addresses: Addresses,
    /// What goes on beside the commands.
    pub(super) beside: RefCell<Vec<Beside>>,
    /// Commands that end by themselves, later.
    pub(super) awaited: RefCell<Vec<(Command, Running)>>,
    /// Processes of the system that are looked at; they end with the shop.
    pub(super) services: RefCell<Vec<Running>>,
    pub(super) cluster: RefCell<Option<Cluster>>,
}

impl Shop {
    /// With everything that pages name but do not make.
    pub(super) fn open(is_compared: bool) -> Self {
        let kafka = MockCluster::new(1).unwrap();
        kafka.create_topic("orders.events", 4, 1).unwrap();
        let brokers = kafka.bootstrap_servers();
        let event = |kind: &str, after: &str| {
            format!(
                "\n      - after: {after}\n        publish: {{ to: events, key: '{ID}', \
                 json: {{ type: {kind}, id: '{ID}' }} }}"
            )
        };
        let (created, done) = (event("ThingCreated", "20ms"), event("ThingDone", "60ms"));
        let routes = format!(
            "channels:\n  events: {{ kafka: {{ brokers: '{brokers}', topics: [orders.events] \
             }} }}\nroutes:\n  - route: POST /api/things\n    status: 201\n    \
             json: {{ id: '{ID}' }}\n    \
             callbacks:{created}{done}\n  \
             - {{ route: /, status: 200, json: {BODY} }}\n"
        );
        let api = Mocked::start(&[("shop.yaml", &routes)], &["shop.yaml"]);
        let shop = Self {
            api,
            kafka,
            folder: temp_dir().unwrap(),
            is_compared,
            addresses: Addresses::default(),
            beside: RefCell::default(),
            awaited: RefCell::default(),
            services: RefCell::default(),
            cluster: RefCell::default(),
        };
        shop.has_files();
        shop
    }

    /// `HOST:PORT` of the API.
    pub(super) fn api(&self) -> String {
        self.api.address.to_string()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The journey file that the tour makes, under every name that pages have for it.
    pub(super) fn has_a_journey_file(&self) {
        let is_init = |command: &Command| command.begins("sojourn init");
        let init = super::commands("docs/tour.md").into_iter().find(is_init).unwrap();
        let output = self.run(&init);
        assert_eq!(output.code, Some(0), "{output}");
        self.shorten_journey();
        for name in ["payments.yaml", "load/journey.yaml"] {
            self.write(name, &self.read("journey.yaml"));
        }
    }

    /// The same, and a run of it, where a page only uses them.
    pub(super) fn has_a_journey(&self) {
        self.has_a_journey_file();
        let run = Command { place: String::new(), line: RUN.to_owned() };
        let output = self.run(&run);
        assert_eq!(output.code, Some(0), "{output}");
        self.name_run_file();
    }

    /// The journey file again, where a page has written another in its place.
    pub(super) fn has_journey_files(&self) {
        self.write("journey.yaml", &self.read("payments.yaml"));
    }

    /// Makes the durations of a journey file short; and a busy machine is none of the page's.
    pub(super) fn shorten_journey(&self) {
        let text = self.read("journey.yaml");
        let steady = "warmup: 1s, steady: \"${STEADY:-2s}\"";
        let short = text.replace("warmup: 5s, steady: 30s", steady);
        assert_ne!(text, short);
        let health = "health: { lag_p99_max: 10s, tap_behind_max: 60s, silent_max: 60s }\n";
        self.write("journey.yaml", &(short + health));
    }

    /// What makes a run long enough where it will be compared.
    pub(super) fn steady(&self, command: &Command) -> &'static str {
        let is_plain = command.line == "sojourn run journey.yaml";
        let is_one = is_plain || COMPARED_RUNS.iter().any(|part| command.has(part));
        if self.is_compared && is_one { COMPARED } else { "" }
    }

    /// Gives the run file that was just written the names that pages have for runs: the first of
    /// a page all of them, every later one those of the latest.
    pub(super) fn name_run_file(&self) {
        let is_own = |path: &PathBuf| {
            let stem = path.file_stem().unwrap_or_default();
            !RUNS.iter().flatten().any(|name| stem == *name)
        };
        let newest = run_files(self.folder.path()).into_iter().rfind(is_own).unwrap();
        for [first, latest] in RUNS.map(|names| names.map(|it| format!("{it}.sojourn"))) {
            if !self.path(&first).exists() {
                std::fs::copy(&newest, self.path(&first)).unwrap();
            }
            std::fs::copy(&newest, self.path(&latest)).unwrap();
        }
    }

    /// A shell's line, without what this machine's user has set.
    pub(super) fn shell(&self, line: &str) -> Program {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.path("bin").display());
        let shell = Program::new("sh").args(["-c", line]).in_dir(self.folder.path());
        let shell = shell.env("PATH", &path).timeout(Duration::from_secs(600));
        // Where runs listen for their rate, and where a user's own files are.
        let shell = shell.env("XDG_RUNTIME_DIR", self.folder.path());
        shell.env("HOME", self.folder.path()).env("MANPAGER", "cat")
    }

    /// Runs a command to its end.
    pub(super) fn run(&self, command: &Command) -> Output {
        self.on_cluster(self.shell(&self.here(command))).run().unwrap()
    }

    /// Starts a mock, asks it, and ends it.
    pub(super) fn mock_answers(&self, command: &Command) {
        let address = format!("127.0.0.1:{}", free_port().unwrap());
        let line = self.here(command).replace(super::here::MOCK, &address);
        let line = match line.contains("--listen") {
            true => line,
            false => format!("{line} --listen {address}"),
        };
        let running = self.shell(&format!("exec {line}")).start().unwrap();
        until(&command.line, || TcpStream::connect(&address).is_ok());
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let request = "GET /charges/7 HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{}: {answer}", command.line);
        if command.has("--respond") {
            assert!(answer.ends_with(BODY), "{}: {answer}", command.line);
        }
        running.terminate().unwrap();
        let output = running.wait().unwrap();
        assert_eq!(output.code, Some(0), "{}: {output}", command.line);
        if command.has("--truth truth.ndjson") {
            let shown = super::page::block("docs/mock.md", "\"arrival_ns\"");
            assert_eq!(fields(&self.read("truth.ndjson")), fields(&shown), "{}", command.line);
        }
    }
}

/// The names of the fields of the first JSON object of a text.
fn fields(text: &str) -> Vec<String> {
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    first.as_object().unwrap().keys().cloned().collect()
}
