//! The guide's scripts, run: k6's beside the system that they ask, sessions as they are shown or
//! with what they lack. And what is made of a run by a template, or in Python.

use std::net::TcpStream;

use sojourn_testkit::services::{Kafka, Mosquitto};
use sojourn_testkit::{Output, Program, free_port};

use super::{
    blocks::{Block, all},
    page,
    written::Desk,
};
use crate::{common::until, mock::Mocked};

/// The script that has this in it, with other words where it is to be short or lacks something.
fn script(part: &str, replaced: &[(&str, &str)]) -> Block {
    let is_one = |block: &Block| block.language == "js" && block.text.contains(part);
    let mut block = all().into_iter().find(is_one).unwrap_or_else(|| panic!("no {part}"));
    for (from, to) in replaced {
        assert!(block.text.contains(from), "{}: no {from}", block.place());
        block.text = block.text.replace(from, to);
    }
    block
}

/// Runs a script, once, as k6 does.
fn run_k6(desk: &Desk, block: &Block) -> Program {
    let file = desk.write(block, &block.text, "js");
    desk.sojourn(&["k6", "run", &file, "--vus", "1", "--iterations", "1"])
}

fn assert_ran(block: &Block, output: &Output) {
    assert_eq!(output.code, Some(0), "{}: {output}", block.place());
    // A script whose iteration throws ends well all the same.
    for word in ["Error", "error"] {
        assert!(!output.stderr.contains(word), "{}: {output}", block.place());
    }
}

#[test]
fn every_script_is_one_of_those_that_are_run() {
    let known = [
        "journey(id).expect([paid",
        "SCHEMA_TYPE_STRING",
        "k6/x/mqtt",
        "OrderShipped' } });\nexport",
        "television",
        "definition.addChannel(",
        "defines.env",
        "orders.take(10",
    ];
    let scripts: Vec<Block> = all().into_iter().filter(|it| it.language == "js").collect();
    for block in &scripts {
        assert!(known.iter().any(|it| block.text.contains(it)), "{} is not run", block.place());
    }
    assert_eq!(scripts.len(), known.len());
}

#[test]
fn k6_scripts_that_follow_orders() {
    let desk = Desk::new();
    let block = script("journey(id).expect([paid", &[]);
    let output = run_k6(&desk, &block).run().unwrap();
    assert_ran(&block, &output);
    // The amount of the event that was waited for.
    assert!(format!("{}{}", output.stdout, output.stderr).contains("42"), "{output}");
}

#[test]
fn k6_scripts_whose_events_are_webhooks() {
    let desk = Desk::new();
    let address = format!("127.0.0.1:{}", free_port().unwrap());
    let elided = [("/* http.post(…) */", "const id = '7';"), ("127.0.0.1:9000", &address)];
    let block = script("OrderShipped' } });\nexport", &elided);
    let running = run_k6(&desk, &block).start().unwrap();
    until("it listens", || TcpStream::connect(&address).is_ok());
    let url = format!("http://{address}/hooks");
    let event = r#"{"type":"OrderShipped","order":"7"}"#;
    let post = Program::new("curl").args(["-s", "--fail", "-d", event, &url]).run().unwrap();
    assert_eq!(post.code, Some(0), "{post}");
    let output = running.wait().unwrap();
    assert_ran(&block, &output);
    assert!(output.stdout.contains("completed"), "{output}");
}

#[test]
fn k6_scripts_with_modules_of_brokers() {
    let desk = Desk::new();
    let mut block = script("SCHEMA_TYPE_STRING", &[]);
    block.text.push_str("export default function () {}\n");
    assert_ran(&block, &run_k6(&desk, &block).run().unwrap());
    let broker = Mosquitto::start().unwrap();
    let url = broker.url();
    let block = script("k6/x/mqtt", &[("mqtt://127.0.0.1:1883", &url)]);
    assert_ran(&block, &run_k6(&desk, &block).run().unwrap());
}

/// Takes what its own `setup` has published.
#[test]
fn k6_scripts_that_consume() {
    let desk = Desk::new();
    let kafka = Kafka::shared().unwrap();
    let replaced = [
        ("127.0.0.1:9092", kafka.bootstrap()),
        ("orders.events", "guide.consumed".to_owned()),
        ("['bills']", "['guide.bills']".to_owned()),
        ("group: 'billing'", "group: 'billing', start: 'earliest'".to_owned()),
        ("'1s'", "'20s'".to_owned()),
        (
            "    publish(bills",
            "    console.log(`billed ${order.json().id}`);\n    publish(bills".to_owned(),
        ),
    ];
    let replaced: Vec<_> = replaced.iter().map(|(from, to)| (*from, to.as_str())).collect();
    let mut block = script("orders.take(10", &replaced);
    block.text.push_str(
        "export function setup() {\n  publish(bills, { topic: 'guide.consumed', key: 'k', body: { \
         id: 7 } });\n}\n",
    );
    let output = run_k6(&desk, &block).run().unwrap();
    assert_ran(&block, &output);
    assert!(output.stderr.contains("billed 7"), "{output}");
}

#[test]
fn session_scripts() {
    let desk = Desk::new();
    let target = Mocked::start(&[], &[]);
    let television = target.address.to_string();
    let short = [("[280, 320]", "[2, 3]"), ("duration: 60, rate: 1.5", "duration: 1, rate: 5")];
    let mut block = script("television", &short);
    block.text = block.text.replace("127.0.0.1:9000", &television);
    let rest = format!(
        "definition.setTarget(\"http://{television}\");\n\
         definition.setArrivalPhases([{{ duration: 1, rate: 5 }}]);\n"
    );
    let mut events = script("definition.addChannel(", &[]);
    events.text.push_str(&rest);
    for block in [block, events] {
        let file = desk.write(&block, &block.text, "js");
        let output = desk.sojourn(&["run", &file, "--validate"]).run().unwrap();
        assert_eq!(output.code, Some(0), "{}: {output}", block.place());
        let output = desk.sojourn(&["run", &file, "--strict"]).run().unwrap();
        // A generator that is too busy is none of the script's.
        assert!(matches!(output.code, Some(0 | 3)), "{}: {output}", block.place());
        assert!(output.stdout.contains("JOURNEY"), "{}: {output}", block.place());
    }
    let mut block = script("defines.env", &[]);
    let session = "definition.session(\"a\", (session) => session.get(\"/\"));\n";
    block.text.push_str("definition.setArrivalPhases([{ duration: 1, rate: 5 }]);\n");
    block.text.push_str(session);
    let file = desk.write(&block, &block.text, "js");
    for (flag, host) in [("env=prod", "prod"), ("defines.env=prod", "prod"), ("x=1", "staging")] {
        let output = desk.sojourn(&["session", "curl", &file, "--define", flag]).run().unwrap();
        assert_eq!(output.code, Some(0), "{}: {output}", block.place());
        assert!(output.stdout.contains(&format!("https://{host}.example")), "{flag}: {output}");
    }
}

/// The page about reports shows a template, and a program for the figures of each second.
#[test]
fn what_is_made_of_a_run() {
    let desk = Desk::new();
    let plan = "name: payments\ntarget: http://127.0.0.1:8080\nchannels:\n  events: { kafka: { \
                brokers: '127.0.0.1:9092', topics: [events] } }\njourneys:\n  payment:\n    root: \
                { http: POST /pay, key: body.id }\n    stages: [{ name: settled, on: events, key: \
                $.id }]\n    within: 30s\nload: [{ rate: 10/s, steady: 1s }]\nhealth: { \
                lag_p99_max: 10s, tap_behind_max: 60s, silent_max: 60s }\n";
    let block = |part: &str| Block {
        page: "docs/reports.md".to_owned(),
        text: page::block("docs/reports.md", part),
        ..Block::default()
    };
    let file = desk.write(&block("pandas"), plan, "yaml");
    let output = desk.sojourn(&["run", &file, "-o", "run.sojourn"]).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let template = desk.write(&block("identity.name"), &block("identity.name").text, "tmpl");
    let message = format!("message.txt={template}");
    let words = ["report", "run.sojourn", "--report", &message, "--report", "seconds.csv"];
    let output = desk.sojourn(&words).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let read = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
    let message = read("message.txt");
    assert!(message.starts_with("payments: PASS\npayment: p50 "), "{message}");
    assert!(message.contains("0 of 10 journeys were lost."), "{message}");
    // Every column and value that the program asks for is there.
    let (program, seconds) = (block("pandas").text, read("seconds.csv"));
    let columns: Vec<&str> = seconds.lines().next().unwrap().split(',').collect();
    for column in ["metric", "phase", "start_s", "stage", "p99_ns"] {
        assert!(program.contains(column) && columns.contains(&column), "{column}: {columns:?}");
    }
    let is_hop = |line: &&str| line.contains(",stage.hop,steady,") && line.contains("settled");
    assert!(seconds.lines().any(|line| is_hop(&line)), "{seconds}");
}
