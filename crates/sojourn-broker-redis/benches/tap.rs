//! What a message costs: redis-rs that does nothing with it, our tap, our tap with a router.
//!
//! `cargo bench -p sojourn-broker-redis`. Prints lines of name, value, unit. Processor time is that
//! of the reading thread, user and system; the server and the writer are others. The median of
//! rounds that take turns, since other load only adds time.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its server is its own")]

use std::hint::black_box;
use std::time::Duration;

use redis::Value;
use serde_json::json;
use sojourn_broker::{RawMessage, Router, Sink, Tap};
use sojourn_broker_redis::RedisTap;
use sojourn_clock::{now_ns, thread_cpu};
use sojourn_plan::{
    Channel, Check, Connector, Decoder, Expect, Journey, JsonPath, PathStep, Plan, RedisChannel,
    RedisSource, Selector, Server, Stage, StageKind, StageSource, Test,
};
use sojourn_services::{Redis, Service};

const MESSAGES: usize = 100_000;
const ROUNDS: usize = 5;

fn main() {
    let server = Redis::start().unwrap();
    let mut system = connect(&server);
    for words in [
        vec!["CONFIG", "SET", "appendonly", "no"],
        vec!["CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 0 0"],
    ] {
        run(&mut system, &words);
    }
    let names = ["stream_redis_rs", "stream_tap", "stream_tap_router"];
    measure(&server, &names, |server, name| match name {
        "stream_redis_rs" => bare_stream(server),
        name => tap(server, RedisSource::Streams(vec!["s".to_owned()]), name),
    });
    let names = ["pubsub_redis_rs", "pubsub_tap", "pubsub_tap_router"];
    measure(&server, &names, |server, name| match name {
        "pubsub_redis_rs" => bare_pubsub(server),
        name => tap(server, RedisSource::Channels(vec!["s".to_owned()]), name),
    });
}

/// What a round used: processor time and time passed, nanoseconds.
type Used = (u64, u64);

fn measure(server: &Redis, names: &[&str], round: impl Fn(&Redis, &str) -> Used) {
    let mut used = vec![Vec::new(); names.len()];
    for _ in 0..ROUNDS {
        for (name, used) in names.iter().zip(&mut used) {
            run(&mut connect(server), &["DEL", "s"]);
            fill(server, "XADD", 1);
            used.push(round(server, name));
        }
    }
    for (name, mut used) in names.iter().zip(used) {
        used.sort_unstable();
        let (cpu_ns, passed_ns) = used[ROUNDS / 2];
        let each = |ns: u64| ns as f64 / MESSAGES as f64;
        println!("{name}_cpu {:.0} ns/message", each(cpu_ns));
        println!("{name}_per_core {:.0} messages/s", 1e9 / each(cpu_ns));
        println!("{name}_rate {:.0} messages/s", 1e9 / each(passed_ns));
    }
}

/// The reading thread's use until `MESSAGES` were read.
fn used(read: impl FnOnce()) -> Used {
    let (cpu, begun) = (thread_cpu(), now_ns());
    read();
    let (cpu_after, ended) = (thread_cpu(), now_ns());
    (cpu_after.since(&cpu).cpu_ns, ended - begun)
}

fn bare_stream(server: &Redis) -> Used {
    fill(server, "XADD", MESSAGES);
    let mut client = connect(server);
    let mut last = "0-0".to_owned();
    used(|| {
        let mut read = 0;
        while read < MESSAGES {
            let words = ["XREAD", "COUNT", "1000", "STREAMS", "s", &last];
            let Value::Array(streams) = run(&mut client, &words) else { panic!() };
            let Value::Array(stream) = &streams[0] else { panic!() };
            let Value::Array(entries) = &stream[1] else { panic!() };
            read += entries.len();
            let Some(Value::Array(entry)) = entries.last() else { panic!() };
            last = redis::from_redis_value(entry[0].clone()).unwrap();
            black_box(&streams);
        }
    })
}

fn bare_pubsub(server: &Redis) -> Used {
    let mut client = connect(server);
    let mut subscription = client.as_pubsub();
    subscription.subscribe("s").unwrap();
    fill(server, "PUBLISH", MESSAGES);
    used(|| {
        for _ in 0..MESSAGES {
            black_box(subscription.get_message().unwrap());
        }
    })
}

fn tap(server: &Redis, source: RedisSource, name: &str) -> Used {
    let command = match source {
        RedisSource::Streams(_) => "XADD",
        _ => "PUBLISH",
    };
    let host = "127.0.0.1".to_owned();
    let server_named = Server { host, port: server.port(), ..Server::default() };
    let field = (command == "XADD").then(|| "data".to_owned());
    let channel = RedisChannel { server: server_named, source, field };
    let mut tap = RedisTap::new(&channel).unwrap();
    tap.open().unwrap();
    fill(server, command, MESSAGES);
    let router = name.ends_with("router").then(|| Router::new(&plan(channel), 0, "run-1"));
    let mut counter = Counter { router, messages: 0 };
    used(|| {
        while counter.messages < MESSAGES {
            tap.poll(Duration::from_millis(100), &mut counter).unwrap();
        }
        assert!(tap.take_gaps().is_empty());
    })
}

struct Counter {
    router: Option<Router>,
    messages: usize,
}

impl Sink for Counter {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.messages += 1;
        match &mut self.router {
            None => drop(black_box(message.payload.len())),
            Some(router) => {
                let observation = router.observe(message).unwrap();
                assert_eq!(observation.candidates.len(), 1);
                black_box(observation);
            }
        }
    }
}

/// Adds or publishes messages, and returns when the server has them all.
fn fill(server: &Redis, command: &str, messages: usize) {
    let mut client = connect(server);
    for first in (0..messages).step_by(1_000) {
        let mut pipe = redis::pipe();
        for number in first..messages.min(first + 1_000) {
            let payload = json!({
                "type": "PaymentSettled", "aggregateId": format!("pay:{number:036}"),
                "amount": number, "currency": "GBP", "occurredAt": "2026-01-01T00:00:00.000Z",
            });
            let entry = ["*", "sojourn-run", "run-1", "data"];
            let entry = if command == "XADD" { &entry[..] } else { &[] };
            pipe.cmd(command).arg("s").arg(entry).arg(payload.to_string());
        }
        pipe.query::<Value>(&mut client).unwrap();
    }
}

fn connect(server: &Redis) -> redis::Connection {
    redis::Client::open(server.url()).unwrap().get_connection().unwrap()
}

fn run(client: &mut redis::Connection, words: &[&str]) -> Value {
    let mut command = redis::Cmd::new();
    for word in words {
        command.arg(word);
    }
    command.query(client).unwrap()
}

fn plan(channel: RedisChannel) -> Plan {
    let stage = Stage {
        name: "settled".to_owned(),
        source: StageSource::Event {
            channel: 0,
            matches: vec![Check {
                text: String::new(),
                selector: Selector::Type,
                test: Test::Equals(json!("PaymentSettled")),
            }],
            checks: Vec::new(),
            key: Selector::Body(JsonPath {
                text: "$.aggregateId".to_owned(),
                plain: Some(vec![PathStep::Name("aggregateId".to_owned())]),
                compiled: serde_json_path::JsonPath::parse("$.aggregateId").unwrap(),
            }),
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
            connector: Connector::Redis(channel),
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
