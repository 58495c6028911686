//! What a message costs the tap's thread: taken and dropped, and routed (JSON read, key found).
//!
//! `cargo bench -p sojourn-broker-postgres`. Prints `name value unit` lines: processor time of the
//! tap's own thread per message, the median of several rounds, and messages per second of it.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its input is its own")]

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use sojourn_broker::{RawMessage, Router, Sink, Tap};
use sojourn_broker_postgres::PostgresTap;
use sojourn_clock::thread_cpu;
use sojourn_plan::{
    Channel, Check, Connector, Decoder, Expect, Journey, JsonPath, PathStep, Plan, PostgresChannel,
    PostgresSource, PostgresTable, Selector, Server, Stage, StageKind, StageSource, Test,
};
use sojourn_services::{Postgres, Service};

const MESSAGES: u64 = 100_000;
const ROUNDS: usize = 5;
const EVENT: &str = "json_build_object('type', 'PaymentSettled', 'aggregateId', \
                     'pay:00000000-0000-4000-8000-' || lpad(i::text, 12, '0'), 'amount', i, \
                     'currency', 'GBP', 'occurredAt', '2026-01-01T00:00:00.000Z')";

fn main() {
    let server = Postgres::start().unwrap();
    run(
        &server,
        "CREATE TABLE t (id bigserial PRIMARY KEY, type text, data json); \
         CREATE PUBLICATION p FOR TABLE t",
    );
    let rows = format!(
        "INSERT INTO t (type, data) SELECT 'PaymentSettled', {EVENT} \
         FROM generate_series(1, {MESSAGES}) i"
    );
    let notifications =
        format!("SELECT pg_notify('c', ({EVENT})::text) FROM generate_series(1, {MESSAGES}) i");
    let table = PostgresTable {
        name: "t".to_owned(),
        cursor: "id".to_owned(),
        every_ns: 1_000_000,
        gaps_ns: 1_000_000_000,
        ..PostgresTable::default()
    };
    for (name, source, sql, key, event_type) in [
        ("notify", PostgresSource::Notify(vec!["c".to_owned()]), &notifications, KEY, "type"),
        ("table", PostgresSource::Table(table), &rows, DATA_KEY, "type"),
        ("publication", PostgresSource::Publication("p".to_owned()), &rows, ROW_KEY, "row.type"),
    ] {
        let plan = plan(key, event_type);
        let mut bare = Bare(0);
        measure(&server, &format!("{name}_dropped"), &source, sql, &mut bare);
        let mut routed = Routed { router: Router::new(&plan, 0, "run-1"), found: 0, messages: 0 };
        measure(&server, &format!("{name}_routed"), &source, sql, &mut routed);
        assert_eq!(routed.found, routed.messages, "every message fits its stage");
    }
}

const KEY: &[&str] = &["aggregateId"];
const DATA_KEY: &[&str] = &["data", "aggregateId"];
const ROW_KEY: &[&str] = &["row", "data", "aggregateId"];

trait Counts: Sink {
    fn messages(&self) -> u64;
}

struct Bare(u64);

impl Sink for Bare {
    fn message(&mut self, message: &RawMessage<'_>) {
        std::hint::black_box(message);
        self.0 += 1;
    }
}

impl Counts for Bare {
    fn messages(&self) -> u64 {
        self.0
    }
}

struct Routed {
    router: Router,
    found: u64,
    messages: u64,
}

impl Sink for Routed {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.messages += 1;
        let observation = self.router.observe(message);
        self.found += observation.map_or(0, |observation| observation.candidates.len() as u64);
    }
}

impl Counts for Routed {
    fn messages(&self) -> u64 {
        self.messages
    }
}

fn measure(
    server: &Postgres,
    name: &str,
    source: &PostgresSource,
    sql: &str,
    sink: &mut dyn Counts,
) {
    let mut each_ns = Vec::new();
    for _ in 0..ROUNDS {
        let mut tap = PostgresTap::new(&channel(server, source.clone())).unwrap();
        tap.open().unwrap();
        run(server, sql);
        let (began, before) = (thread_cpu().cpu_ns, sink.messages());
        while sink.messages() < before + MESSAGES {
            tap.poll(Duration::from_millis(2), sink).unwrap();
        }
        each_ns.push((thread_cpu().cpu_ns - began) as f64 / MESSAGES as f64);
    }
    each_ns.sort_by(f64::total_cmp);
    let median_ns = each_ns[ROUNDS / 2];
    println!("{name}_cpu {median_ns:.0} ns/message");
    println!("{name}_rate {:.0} messages/s/core", 1e9 / median_ns);
}

fn channel(server: &Postgres, source: PostgresSource) -> PostgresChannel {
    let server = Server {
        host: "127.0.0.1".to_owned(),
        port: server.port(),
        user: Some("open".to_owned()),
        path: "postgres".to_owned(),
        ..Server::default()
    };
    PostgresChannel { server, source, outbox: None }
}

fn run(server: &Postgres, sql: &str) {
    let mut psql = Command::new("psql")
        .args([&server.url(), "--quiet", "--tuples-only"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    writeln!(psql.stdin.take().unwrap(), "{sql};").unwrap();
    assert!(psql.wait().unwrap().success());
}

fn plan(key: &[&str], event_type: &str) -> Plan {
    let path = |names: &[&str]| {
        let text = format!("$.{}", names.join("."));
        JsonPath {
            plain: Some(names.iter().map(|name| PathStep::Name((*name).to_owned())).collect()),
            compiled: serde_json_path::JsonPath::parse(&text).unwrap(),
            text,
        }
    };
    let names: Vec<_> = event_type.split('.').collect();
    let stage = Stage {
        name: "settled".to_owned(),
        source: StageSource::Event {
            channel: 0,
            matches: vec![Check {
                text: String::new(),
                selector: Selector::Body(path(&names)),
                test: Test::Equals(json!("PaymentSettled")),
            }],
            checks: Vec::new(),
            key: Selector::Body(path(key)),
            key_format: "{}".to_owned(),
        },
        kind: StageKind::Required,
        after: None,
        expect: Expect::Members(1),
        member: None,
        shared: false,
        reason: None,
        rekey: None,
    };
    Plan {
        channels: vec![Channel {
            name: "events".to_owned(),
            connector: Connector::Postgres(PostgresChannel::default()),
            decoder: Decoder::Auto,
            message_id: None,
            marker: None,
            backlog: Vec::new(),
        }],
        journeys: vec![Journey {
            name: "payment".to_owned(),
            steps: Vec::new(),
            stages: vec![stage],
            within_ns: 1,
            linger_ns: 0,
            trace: false,
            poison: None,
        }],
        ..Plan::default()
    }
}
