//! What a message costs the tap, over a real Redis, beside redis-rs reading for nothing
//! (`client`): of a stream and of a channel. `cargo bench -p sojourn-broker-redis`;
//! `sojourn-tap-cost` says what the figures are.
//!
//! The messages are in the server before they are read.
#![allow(clippy::unwrap_used, reason = "its server is its own")]

use std::hint::black_box;

use redis::Value;
use sojourn_broker_redis::Redis as RedisConnector;
use sojourn_plan::{Connector, Plan, RedisChannel, RedisSource, Server};
use sojourn_services::{Redis, Service};
use sojourn_tap_cost::{
    Cost, Order, Publisher, RUN_ID, Round, Used, When, event, measured, missing, plan,
    publish_if_asked,
};

const MESSAGES: u64 = 100_000;
const KEY: &str = "s";

fn main() {
    publish_if_asked(publish);
    let server = Redis::start().unwrap();
    let mut system = connect(&server.url());
    for words in [
        vec!["CONFIG", "SET", "appendonly", "no"],
        vec!["CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 0 0"],
    ] {
        run(&mut system, &words);
    }
    let filling = |command| {
        let address = format!("{command} {}", server.url());
        Publisher { address, when: When::Before }
    };

    let (plan, publisher) = (plan_of(&server, RedisSource::Streams), filling("XADD"));
    let mut cost = Cost::new("redis-stream", MESSAGES);
    cost.way("client", |round| client_of_stream(&server.url(), &publisher, round));
    cost.taps(&RedisConnector, &plan, &publisher);
    cost.run();

    let (plan, publisher) = (plan_of(&server, RedisSource::Channels), filling("PUBLISH"));
    let mut cost = Cost::new("redis-pubsub", MESSAGES);
    cost.way("client", |round| client_of_channel(&server.url(), &publisher, round));
    cost.taps(&RedisConnector, &plan, &publisher);
    missing(
        "redis",
        "Redis has no tool that reads in bulk: redis-benchmark asks, redis-cli prints",
    );
    cost.run();
}

fn client_of_stream(url: &str, publisher: &Publisher, round: Round) -> Used {
    let mut client = connect(url);
    run(&mut client, &["DEL", KEY]);
    let mut last = "0-0".to_owned();
    measured(
        || publisher.start(round.messages),
        || {
            let mut read = 0;
            while read < round.messages {
                let words = ["XREAD", "COUNT", "1000", "STREAMS", KEY, &last];
                let Value::Array(streams) = run(&mut client, &words) else { panic!() };
                let Value::Array(stream) = &streams[0] else { panic!() };
                let Value::Array(entries) = &stream[1] else { panic!() };
                read += entries.len() as u64;
                let Some(Value::Array(entry)) = entries.last() else { panic!() };
                last = redis::from_redis_value(entry[0].clone()).unwrap();
                black_box(&streams);
            }
        },
    )
}

fn client_of_channel(url: &str, publisher: &Publisher, round: Round) -> Used {
    let mut client = connect(url);
    let mut subscription = client.as_pubsub();
    subscription.subscribe(KEY).unwrap();
    measured(
        || publisher.start(round.messages),
        || {
            for _ in 0..round.messages {
                black_box(subscription.get_message().unwrap());
            }
        },
    )
}

/// Adds or publishes, a thousand at a time.
fn publish(order: &Order) {
    let (command, url) = order.address.split_once(' ').unwrap();
    let mut client = connect(url);
    let mut first = 0;
    while first < order.messages {
        let mut pipe = redis::pipe();
        for number in first..order.messages.min(first + 1_000) {
            let entry = ["*", "sojourn-run", RUN_ID, "data"];
            let entry = if command == "XADD" { &entry[..] } else { &[] };
            pipe.cmd(command).arg(KEY).arg(entry).arg(event(number));
        }
        pipe.query::<Value>(&mut client).unwrap();
        first += 1_000;
    }
}

fn plan_of(server: &Redis, source: fn(Vec<String>) -> RedisSource) -> Plan {
    let (host, port) = ("127.0.0.1".to_owned(), server.port());
    let source = source(vec![KEY.to_owned()]);
    let field = matches!(source, RedisSource::Streams(_)).then(|| "data".to_owned());
    let server = Server { host, port, ..Server::default() };
    plan(Connector::Redis(RedisChannel { server, source, field }))
}

fn connect(url: &str) -> redis::Connection {
    redis::Client::open(url).unwrap().get_connection().unwrap()
}

fn run(client: &mut redis::Connection, words: &[&str]) -> Value {
    let mut command = redis::Cmd::new();
    for word in words {
        command.arg(word);
    }
    command.query(client).unwrap()
}
