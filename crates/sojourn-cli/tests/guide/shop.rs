//! What the pages speak of: an API at 127.0.0.1:8080 whose events are on Kafka at 127.0.0.1:9092,
//! files that they name, and a shell that has `sojourn`.

use std::{
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    time::Duration,
};

use rdkafka::{mocking::MockCluster, producer::DefaultProducerContext};
use sojourn_testkit::{Output, Program, TempDir, free_port, sojourn_path, temp_dir};

use super::{page::Command, run_files};
use crate::{common::until, mock::Mocked};

/// Where the pages have the API, the broker and the mock.
const API: &str = "127.0.0.1:8080";
const KAFKA: &str = "127.0.0.1:9092";
const MOCK: &str = "127.0.0.1:9900";
/// Durations that pages show, and what they are here.
const DURATIONS: [(&str, &str); 3] = [(" 60s", " 1s"), (" 30s", " 1s"), (" 10s", " 1s")];
/// The names that pages give to two runs' files.
const TWO_RUNS: [[&str; 2]; 2] = [["main", "this"], ["real", "mocked"]];
/// Of a thing: the number of the request that made it.
const ID: &str = "thing-{{ seq(1000) }}";
const BODY: &str = r#"{"status":"captured"}"#;

/// The system, and a folder to work in.
pub(super) struct Shop {
    api: Mocked,
    kafka: MockCluster<'static, DefaultProducerContext>,
    folder: TempDir,
}

impl Shop {
    /// With everything that pages name but do not make.
    pub(super) fn open() -> Self {
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
             - {{ route: GET /, status: 200 }}\n"
        );
        let api = Mocked::start(&[("shop.yaml", &routes)], &["shop.yaml"]);
        let shop = Self { api, kafka, folder: temp_dir().unwrap() };
        shop.write("body.json", BODY);
        shop.write("targets.txt", &format!("GET http://{}/\n", shop.api.address));
        shop.link_programs();
        shop
    }

    /// Puts `sojourn` on the path, as `cargo run` too, and a `kubectl` that only remembers.
    fn link_programs(&self) {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        std::os::unix::fs::symlink(examples, self.path("examples")).unwrap();
        std::fs::create_dir(self.path("bin")).unwrap();
        std::os::unix::fs::symlink(sojourn_path(), self.path("bin/sojourn")).unwrap();
        let cargo =
            "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec sojourn \"$@\"\n";
        let kubectl = "#!/bin/sh\necho \"$@\" >> kubectl.txt\n";
        for (name, text) in [("bin/cargo", cargo), ("bin/kubectl", kubectl)] {
            self.write(name, text);
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(self.path(name), executable).unwrap();
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The journey file that the tour makes, where a page only uses it.
    pub(super) fn has_a_journey(&self) {
        let is_init = |command: &Command| command.line.starts_with("sojourn init");
        let init = super::commands("docs/tour.md").into_iter().find(is_init).unwrap();
        let output = self.run(&init);
        assert_eq!(output.code, Some(0), "{output}");
        self.shorten_journey();
        for _ in 0..2 {
            let run = Command { place: String::new(), line: "sojourn run journey.yaml".to_owned() };
            let output = self.run(&run);
            assert_eq!(output.code, Some(0), "{output}");
            self.name_run_file();
        }
    }

    /// Makes the durations of a journey file short; and a busy machine is none of the page's.
    pub(super) fn shorten_journey(&self) {
        let text = self.read("journey.yaml");
        let short = text.replace("warmup: 5s, steady: 30s", "warmup: 1s, steady: 11s");
        assert_ne!(text, short);
        let health = "health: { lag_p99_max: 10s, tap_behind_max: 60s, silent_max: 60s }\n";
        self.write("journey.yaml", &(short + health));
    }

    /// Gives the run file that was just written the names that pages have for two: the first of
    /// a page is both, every later one the second.
    pub(super) fn name_run_file(&self) {
        let is_own = |path: &PathBuf| {
            let stem = path.file_stem().unwrap_or_default();
            !TWO_RUNS.iter().flatten().any(|name| stem == *name)
        };
        let newest = run_files(self.folder.path()).into_iter().rfind(is_own).unwrap();
        for [first, second] in TWO_RUNS.map(|names| names.map(|it| format!("{it}.sojourn"))) {
            if !self.path(&first).exists() {
                std::fs::copy(&newest, self.path(&first)).unwrap();
            }
            std::fs::copy(&newest, self.path(&second)).unwrap();
        }
    }

    /// The command with this machine's addresses and short durations.
    fn here(&self, line: &str, mock: &str) -> String {
        let here = line
            .replace(API, &self.api.address.to_string())
            .replace(KAFKA, &self.kafka.bootstrap_servers())
            .replace(MOCK, mock);
        let here = DURATIONS.iter().fold(here, |line, (long, short)| line.replace(long, short));
        let more = match here.split_whitespace().collect::<Vec<_>>().as_slice() {
            [.., "demo"] => " --warmup 1s --steady 11s",
            // The step is as short as can be, and there is only one.
            ["sojourn", "search", ..] => " --step 5s --from 20/s --to 20/s",
            _ => "",
        };
        here + more
    }

    fn shell(&self, line: &str) -> Program {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.path("bin").display());
        let shell = Program::new("sh").args(["-c", line]).in_dir(self.folder.path());
        shell.env("PATH", &path).timeout(Duration::from_secs(240))
    }

    /// Runs a command to its end.
    pub(super) fn run(&self, command: &Command) -> Output {
        self.shell(&self.here(&command.line, MOCK)).run().unwrap()
    }

    /// Starts a mock, asks it, and ends it.
    pub(super) fn mock_answers(&self, command: &Command) {
        let address = format!("127.0.0.1:{}", free_port().unwrap());
        let line = self.here(&command.line, &address);
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
        if command.line.contains("--respond") {
            assert!(answer.ends_with(BODY), "{}: {answer}", command.line);
        }
        running.terminate().unwrap();
        let output = running.wait().unwrap();
        assert_eq!(output.code, Some(0), "{}: {output}", command.line);
    }
}
