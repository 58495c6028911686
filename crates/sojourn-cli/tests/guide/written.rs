//! The guide's journey files, mock files and scripts, run: files as they stand there, parts of
//! files within the plain file that `src/published/` makes of them. Those that need other brokers
//! than a plain Kafka are in [`super::brokers`].

use std::{cell::OnceCell, path::PathBuf};

use rdkafka::mocking::MockCluster;
use serde_json::Value;
use sojourn_testkit::services::Prometheus;
use sojourn_testkit::{Program, Running, Server, TempDir, free_port, sojourn, temp_dir};

use super::{
    blocks::{Block, all},
    brokers,
    files::{RELAY, has_group},
    here::GROUP,
    system::{PARTITIONS, System, TOPICS, Taker},
    whole::whole_journey_file,
};
use crate::{common::alone, mock::Mocked};

/// Where the guide has the system and its broker.
const API: &str = "127.0.0.1:8080";
const KAFKA: &str = "127.0.0.1:9092";
/// Where webhooks come to.
const HOOKS: &str = "127.0.0.1:9000";
/// Where Prometheus is.
const PROMETHEUS: &str = "https://prometheus.internal:9090";
/// Files that examples name.
const FILES: [(&str, &str); 3] = [
    ("users.csv", "id,name,age\n1,Ann,30\n2,Bob,41\n"),
    ("stations.csv", "id,name\n7,seven\n"),
    ("instants.txt", "0\n0.5\n2\n"),
];
/// How many are run at once: most of the time they wait.
const AT_ONCE: usize = 4;
/// A busy machine is none of the page's.
const PATIENT: &str =
    "health: { lag_p99_max: 10s, tap_behind_max: 60s, silent_max: 60s, missed_max: 100% }\n";

/// The system, and a folder to work in.
pub(super) struct Desk {
    folder: TempDir,
    system: Server,
    kafka: String,
    prometheus: OnceCell<Prometheus>,
    _taker: Taker,
    _cluster: MockCluster<'static, rdkafka::producer::DefaultProducerContext>,
}

impl Desk {
    pub(super) fn new() -> Self {
        let cluster = MockCluster::new(1).unwrap();
        TOPICS.iter().for_each(|topic| cluster.create_topic(topic, PARTITIONS, 1).unwrap());
        let kafka = cluster.bootstrap_servers();
        let system = Server::start(System::new(&kafka)).unwrap();
        let folder = temp_dir().unwrap();
        for (name, text) in FILES {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        has_group(&folder.path().join(RELAY));
        let taker = Taker::start(&kafka);
        let prometheus = OnceCell::new();
        Self { folder, system, kafka, prometheus, _taker: taker, _cluster: cluster }
    }

    /// A file with the block's text, addresses of which are those of this machine.
    pub(super) fn write(&self, block: &Block, text: &str, ending: &str) -> String {
        let page = block.page.replace(['/', '.'], "-");
        let name = format!("{page}-{}.{ending}", block.line);
        let text = text.replace(API, &self.system.address().to_string());
        let text = text.replace(KAFKA, &self.kafka);
        let text = text.replace(HOOKS, &format!("127.0.0.1:{}", free_port().unwrap()));
        let text = text.replace(GROUP, &self.path(RELAY).display().to_string());
        let text = match text.contains(PROMETHEUS) {
            true => text.replace(PROMETHEUS, &self.prometheus().url()),
            false => text,
        };
        std::fs::write(self.folder.path().join(&name), text).unwrap();
        name
    }

    fn prometheus(&self) -> &Prometheus {
        self.prometheus.get_or_init(|| Prometheus::start("").unwrap())
    }

    pub(super) fn sojourn(&self, words: &[&str]) -> Program {
        sojourn(words).in_dir(self.folder.path())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// The blocks that are a journey file, or part of one, and are not run elsewhere.
fn journey_files() -> Vec<Block> {
    let is_yaml = |block: &Block| block.language == "yaml" && !block.page.starts_with("docs/ci/");
    let of_another = ["routes:", "requirements:", "apiVersion:"];
    let is_other = |block: &Block| {
        of_another.iter().any(|word| block.text.contains(word)) || brokers::has(block)
    };
    all().into_iter().filter(|block| is_yaml(block) && !is_other(block)).collect()
}

/// Whether a block shows channels and nothing else.
fn has_only_channels(block: &Block) -> bool {
    let is_section = |line: &&str| line.starts_with(|sign: char| sign.is_ascii_lowercase());
    block.text.lines().filter(is_section).eq(["channels:"])
}

#[test]
fn channels_shown_alone_are_listened_to() {
    let desk = Desk::new();
    let files: Vec<(String, String)> = journey_files()
        .iter()
        .filter(|block| has_only_channels(block))
        .map(|block| (block.place(), desk.write(block, &block.text, "yaml")))
        .collect();
    assert!(files.len() >= 4, "{}", files.len());
    let start = |(place, file): &(String, String)| {
        (place.clone(), desk.sojourn(&["watch", file, "--for", "1s"]).start().unwrap())
    };
    all_pass(&files, start, &[0]);
}

#[test]
fn journey_files_complete_their_journeys() {
    let desk = Desk::new();
    let files: Vec<(String, String)> = journey_files()
        .iter()
        .filter(|block| !has_only_channels(block))
        .map(|block| (block.place(), desk.write(block, &watched_shortly(block), "yaml")))
        .collect();
    assert!(files.len() >= 30, "{}", files.len());
    let start = |(place, file): &(String, String)| {
        let report = format!("{file}.json");
        let words = ["run", file, "--once", "--live", "off", "--report", &report];
        (place.clone(), desk.sojourn(&words).start().unwrap())
    };
    all_pass(&files, start, &[0]);
    for (place, file) in &files {
        let report = std::fs::read(desk.path(&format!("{file}.json"))).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        let count = &report["ledger"]["journeys_total"]["whole_run"];
        let of = |name: &str| count[name].as_u64().unwrap();
        let is_complete = of("started") > 0 && of("completed") + of("late") == of("started");
        assert!(is_complete, "{place}: {count}");
        for poison in report["poison"].as_array().into_iter().flatten() {
            assert_eq!(poison["contained"], poison["sent"], "{place}: {poison}");
        }
    }
}

/// The whole file. What must never be seen is looked out for until the deadline, and then as long
/// again: here not that long.
fn watched_shortly(block: &Block) -> String {
    let whole = whole_file(block);
    match whole.contains("never: true") {
        true => whole.replace("    within: 30s", "    within: 10s\n    linger: 1s"),
        false => whole,
    }
}

/// Runs them a few at a time, to their ends.
fn all_pass<T>(these: &[T], start: impl Fn(&T) -> (String, Running), codes: &[i32]) {
    let mut wrong = Vec::new();
    for some in these.chunks(AT_ONCE) {
        let running: Vec<_> = some.iter().map(&start).collect();
        for (place, running) in running {
            let output = running.wait().unwrap();
            if !codes.iter().any(|code| output.code == Some(*code)) {
                wrong.push(format!("{place}: {output}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn whole_file(block: &Block) -> String {
    let whole = whole_journey_file(&block.text).unwrap();
    match whole.contains("\nhealth:") || whole.starts_with("health:") {
        true => whole,
        false => whole + PATIENT,
    }
}

/// A block's load with durations of a second.
fn shortened(text: &str) -> String {
    let words = text.split_inclusive([' ', ',', '}', '\n']);
    let (mut is_duration, mut is_steady) = (false, false);
    let mut short = String::new();
    for word in words {
        let value = word.trim_end_matches([' ', ',', '}', '\n']);
        let unit = value.trim_start_matches(|sign: char| sign.is_ascii_digit());
        if is_duration && ["s", "m", "h"].contains(&unit) {
            // A spike ends within the load.
            short.push_str(if is_steady { "2s" } else { "1s" });
            short.push_str(&word[value.len()..]);
        } else {
            short.push_str(word);
        }
        let names = ["warmup:", "steady:", "drain:", "over:", "for:", "at:", "period:", "pause:"];
        is_steady = value.ends_with("steady:");
        is_duration = names.iter().any(|name| value.ends_with(name));
    }
    short
}

#[test]
fn loads_of_every_shape_are_made() {
    let desk = Desk::new();
    let loads = journey_files().into_iter().filter(|block| block.text.contains("load:"));
    let files: Vec<(String, String)> = loads
        .map(|block| {
            let short = shortened(&block.text).replace("count: 1000", "count: 20");
            let short = short.replace("12/h", "12/s").replace("3/10s", "3/s");
            let block = Block { text: short, ..block };
            (block.place(), desk.write(&block, &whole_file(&block), "yaml"))
        })
        .collect();
    assert!(files.len() >= 12, "{}", files.len());
    let _turn = alone();
    let start = |(place, file): &(String, String)| {
        (place.clone(), desk.sojourn(&["run", file, "--live", "off"]).start().unwrap())
    };
    // A machine that is too busy for a load, or for a threshold, is none of the page's.
    all_pass(&files, start, &[0, 3, 99]);
    assert!(desk.path("reports").is_dir());
}

/// What a mock answers to a request that its first route is for.
fn asked(mock: &Mocked, text: &str) -> String {
    let route = text.lines().find_map(|line| line.split_once("route: ")).unwrap().1;
    let route = route.trim_matches(['"', ' ']).split(',').next().unwrap();
    let (method, path) = route.split_once(' ').unwrap_or(("GET", route));
    let path = path.replace("{id}", "7").replace('*', "x");
    let body = r#"{"id":"7","amount":5}"#;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: mock\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    mock.ask(&request)
}

#[test]
fn mock_files_answer() {
    let desk = Desk::new();
    let is_mock = |block: &Block| block.language == "yaml" && block.text.contains("routes:");
    let files: Vec<Block> = all().into_iter().filter(is_mock).collect();
    assert!(files.len() >= 2, "{}", files.len());
    for block in files {
        let name = desk.write(&block, &block.text, "yaml");
        let text = std::fs::read_to_string(desk.path(&name)).unwrap();
        let mock = Mocked::start(&[("mocks.yaml", &text)], &["mocks.yaml"]);
        let answer = asked(&mock, &text);
        let is_routed = answer.starts_with("HTTP/1.1 ") && !answer.starts_with("HTTP/1.1 404");
        assert!(is_routed, "{}: {answer}", block.place());
    }
}
