//! The tap's own delay: from sending a message to the tap's stamp, over librdkafka's mock cluster.
//!
//! `cargo bench -p sojourn-broker-kafka`. The sender waits for each instant of a steady 190/s, so
//! that what is shown is the path's delay and not a queue's.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its cluster is its own")]

use std::time::Duration;

use rdkafka::mocking::MockCluster;
use sojourn_broker::{Publisher, PublisherSettings, RawMessage, Sink, Tap};
use sojourn_broker_kafka::{KafkaPublisher, KafkaTap};
use sojourn_clock::{MILLISECOND_NS, now_ns, sleep_until};
use sojourn_plan::KafkaChannel;

const MESSAGES: u64 = 1_000;
/// Not a multiple of any wait measured: the phases must mix.
const INTERVAL_NS: u64 = 5_270_000;

fn main() {
    println!("fetch.wait.max.ms   sent to stamped, microseconds: p50, p90, p99, max");
    for wait_ms in [1, 2, 5, 20] {
        let mut delays_us = measure(wait_ms);
        delays_us.sort_unstable();
        let at = |quantile: f64| {
            let rank = (quantile * delays_us.len() as f64).ceil() as usize;
            delays_us[rank.max(1) - 1]
        };
        println!("{wait_ms:>17} {:>8} {:>8} {:>8} {:>8}", at(0.5), at(0.9), at(0.99), at(1.0));
    }
}

fn measure(wait_ms: u32) -> Vec<u64> {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("events", 4, 1).unwrap();
    let kafka = KafkaChannel {
        brokers: cluster.bootstrap_servers(),
        topics: vec!["events".to_owned()],
        properties: vec![("fetch.wait.max.ms".to_owned(), wait_ms.to_string())],
    };
    let mut tap = KafkaTap::new(kafka.clone());
    tap.open().unwrap();
    let sender = std::thread::spawn(move || {
        let plain = KafkaChannel { properties: Vec::new(), ..kafka };
        let mut publisher = KafkaPublisher::new(&plain, PublisherSettings::default()).unwrap();
        let mut outcomes = Vec::new();
        let begun_ns = now_ns() + 100 * MILLISECOND_NS;
        for number in 0..MESSAGES {
            sleep_until(begun_ns + number * INTERVAL_NS);
            let key = number.to_be_bytes();
            let sent = now_ns().to_be_bytes();
            publisher.try_publish(number, "events", Some(&key), &[], &sent).unwrap();
            publisher.poll(&mut outcomes);
        }
        while outcomes.len() < MESSAGES as usize {
            publisher.poll(&mut outcomes);
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let mut delays = Delays(Vec::new());
    while delays.0.len() < MESSAGES as usize {
        tap.poll(Duration::from_millis(10), &mut delays).unwrap();
    }
    sender.join().unwrap();
    // The first messages wait for connections, metadata and the producer's id.
    delays.0.split_off(50)
}

struct Delays(Vec<u64>);

impl Sink for Delays {
    fn message(&mut self, message: &RawMessage<'_>) {
        let sent_ns = u64::from_be_bytes(message.payload.try_into().unwrap());
        self.0.push((message.stamp_ns - sent_ns) / 1_000);
    }
}
