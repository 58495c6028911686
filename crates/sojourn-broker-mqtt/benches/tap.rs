//! Messages per second and processor time per message: of a bare client that only reads bytes, and
//! of the tap with a router behind it.
//!
//! `cargo bench -p sojourn-broker-mqtt` starts a Mosquitto and prints `name value unit` lines. The
//! processor time is that of the reading thread and of the polling one together, without the
//! publisher's.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its input is its own")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use sojourn_broker::{Publisher, PublisherSettings, RawMessage, Router, Sink, Tap};
use sojourn_broker_mqtt::{MqttPublisher, MqttTap};
use sojourn_clock::now_ns;
use sojourn_plan::{MqttChannel, Plan, Server};
use sojourn_services::{Mosquitto, Service};

const MESSAGES: u64 = 200_000;
/// What is under way at once: a broker drops what a subscriber has not taken.
const BURST: u64 = 500;
const PAYLOAD: &[u8] = br#"{"type":"PaymentSettled","amount":12,"currency":"GBP",
"aggregateId":"pay:00000000-0000-4000-8000-000000000001",
"occurredAt":"2026-01-01T00:00:00.000Z"}"#;

struct Routed {
    router: Router,
    count: u64,
}

impl Sink for Routed {
    fn message(&mut self, message: &RawMessage<'_>) {
        std::hint::black_box(self.router.observe(message));
        self.count += 1;
    }
}

fn main() {
    let mosquitto = Mosquitto::start().unwrap();
    let port = mosquitto.port();
    let channel = MqttChannel {
        server: Server { host: "127.0.0.1".to_owned(), port, ..Server::default() },
        filters: vec!["bench".to_owned()],
        qos: 0,
        ..MqttChannel::default()
    };
    bare(&channel, port);
    tap(&channel);
}

/// Reads and counts bytes, nothing else.
fn bare(channel: &MqttChannel, port: u16) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"\x10\x10\0\x04MQTT\x04\x02\0\0\0\x04bare").unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    stream.write_all(b"\x82\x0a\0\x01\0\x05bench\0").unwrap();
    stream.read_exact(&mut [0; 5]).unwrap();
    // Two bytes of length each: fixed header, topic, payload.
    let each = (3 + 2 + 5 + PAYLOAD.len()) as u64;
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    let mut sender = Sender::new(channel);
    measure("bare", &mut sender, |until| {
        while bytes < until * each {
            bytes += stream.read(&mut buffer).unwrap() as u64;
        }
    });
}

fn tap(channel: &MqttChannel) {
    let mut tap = MqttTap::new(channel).unwrap();
    tap.open().unwrap();
    let mut routed = Routed { router: Router::new(&Plan::default(), 0, "run"), count: 0 };
    let mut sender = Sender::new(channel);
    measure("tap", &mut sender, |until| {
        while routed.count < until {
            tap.poll(Duration::from_millis(100), &mut routed).unwrap();
        }
    });
}

struct Sender {
    publisher: MqttPublisher,
    sent: u64,
}

impl Sender {
    fn new(channel: &MqttChannel) -> Self {
        let publisher = MqttPublisher::new(channel, PublisherSettings::default()).unwrap();
        Self { publisher, sent: 0 }
    }

    fn burst(&mut self) {
        let mut outcomes = Vec::new();
        for _ in 0..BURST {
            self.publisher.try_publish(self.sent, "bench", None, &[], PAYLOAD).unwrap();
            self.sent += 1;
        }
        while (outcomes.len() as u64) < BURST {
            self.publisher.poll(&mut outcomes);
            std::thread::yield_now();
        }
    }
}

/// Publishes in bursts and lets `take` wait for each; times the taking threads by their names.
fn measure(name: &str, sender: &mut Sender, mut take: impl FnMut(u64)) {
    let began_ns = now_ns();
    let mut took_ns = 0;
    let reader_ns = thread_ns("mqtt-tap");
    while sender.sent < MESSAGES {
        sender.burst();
        let before_ns = sojourn_clock::thread_cpu().cpu_ns;
        take(sender.sent);
        took_ns += sojourn_clock::thread_cpu().cpu_ns - before_ns;
    }
    let reader_ns = thread_ns("mqtt-tap") - reader_ns;
    let seconds = (now_ns() - began_ns) as f64 / 1e9;
    println!("{name}_rate {:.0} messages/s", MESSAGES as f64 / seconds);
    let cpu_ns = (took_ns + reader_ns) as f64 / MESSAGES as f64;
    println!("{name}_cpu {cpu_ns:.0} ns/message");
    println!("{name}_capacity {:.0} messages/s/core", 1e9 / cpu_ns);
}

/// Processor time of this process's threads of that name, nanoseconds.
fn thread_ns(name: &str) -> u64 {
    let mut total = 0;
    for thread in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let read = |file| std::fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        if read("comm").trim() == name {
            let spent = read("schedstat");
            total += spent.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    total
}
