//! The first channel that a broker's page shows, listened to on a real one. The others, which name
//! hosts that are not there, are read and made by `src/published/`.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use sojourn_testkit::services::{Mosquitto, Nats, Postgres, Redis};

use super::{
    blocks::{Block, blocks, page},
    written::Desk,
};

/// The first block of a page, with a URL that is there in place of its own.
fn first(page_name: &str, from: &str, to: &str) -> Block {
    let mut block = blocks(page_name, &page(page_name)).remove(0);
    assert!(block.text.contains(from), "{}: no {from}", block.place());
    block.text = block.text.replace(from, to);
    block
}

/// Listens to a channel of a block for a second.
fn watch(block: &Block, channel: &str, says: &str) {
    let desk = Desk::new();
    let file = desk.write(block, &block.text, "yaml");
    let secrets = ["NATS", "MQTT", "REDIS", "KAFKA"].map(|it| format!("{it}_PASSWORD=none"));
    let given = secrets.iter().flat_map(|it| ["-e", it.as_str()]);
    let words: Vec<&str> =
        ["watch", &file, channel, "--for", "1s"].into_iter().chain(given).collect();
    let output = desk.sojourn(&words).run().unwrap();
    assert_eq!(output.code, Some(0), "{}: {output}", block.place());
    assert!(output.stderr.contains(says), "{}: no {says}: {output}", block.place());
}

#[test]
fn kafka() {
    watch(&first("docs/brokers/kafka.md", "payments.events", "payments.events"), "events", "kafka");
}

#[test]
fn nats() {
    let broker = Nats::start().unwrap();
    let url = broker.url();
    let block = first("docs/brokers/nats.md", "nats://127.0.0.1:4222", &url);
    watch(&block, "events", "orders.*");
}

#[test]
fn mqtt() {
    let broker = Mosquitto::start().unwrap();
    let url = broker.url();
    let block = first("docs/brokers/mqtt.md", "mqtt://127.0.0.1:1883", &url);
    watch(&block, "events", "payments/+/events");
}

#[test]
fn redis() {
    let broker = Redis::start().unwrap();
    let url = broker.url();
    // Consumers make the streams.
    let mut stream = TcpStream::connect(url.trim_start_matches("redis://")).unwrap();
    let make = |name: &str| format!("XGROUP CREATE {name} billing $ MKSTREAM\r\n");
    let words = ["orders", "refunds"].map(make).concat() + "QUIT\r\n";
    stream.write_all(words.as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert_eq!(said, "+OK\r\n".repeat(3));
    let block = first("docs/brokers/redis.md", "redis://127.0.0.1:6379", &url);
    watch(&block, "orders", "redis");
}

#[test]
fn postgres() {
    let broker = Postgres::start().unwrap();
    let shown = "postgres://load:${PGPASSWORD:-none}@127.0.0.1/shop";
    let url = broker.url();
    let block = first("docs/brokers/postgres.md", shown, &url);
    watch(&block, "told", "refunds");
}
