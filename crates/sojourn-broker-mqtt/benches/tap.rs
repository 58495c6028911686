//! What a message costs the tap, over a real Mosquitto, beside a client that reads the bytes and
//! throws them away, and `mosquitto_sub`. `cargo bench -p sojourn-broker-mqtt`; `sojourn-tap-cost`
//! says what the figures are.
//!
//! Messages are read while they are published: whoever reads is woken as often as there is
//! something.
#![allow(clippy::unwrap_used, reason = "its broker is its own")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use sojourn_broker_mqtt::Mqtt;
use sojourn_plan::{Connector, MqttChannel, MqttVersion, Plan, Server};
use sojourn_services::{Mosquitto, Service};
use sojourn_tap_cost::{
    Cost, Publisher, Round, Used, When, event, measured, missing, on_path, plan, publish_by,
    publish_if_asked, tool,
};

const TOPIC: &str = "bench";
/// So long without a message: there are no more.
const QUIET: Duration = Duration::from_millis(500);

fn main() {
    // Acknowledged, so that the broker has all when the publisher goes.
    publish_if_asked(|order| publish_by(&Mqtt, &plan_of(&order.address, 1), TOPIC, order));
    // What is not taken yet is not dropped.
    let mosquitto = Mosquitto::dropping_nothing().unwrap();
    let at = mosquitto.port();
    let port = at.to_string();
    let publisher = &Publisher { address: port.clone(), when: When::Meanwhile };
    let plan = plan_of(&port, 0);
    let mut cost = Cost::new("mqtt", 200_000);
    // No baseline: who does less reads less at a time, is woken more often, and costs more by that.
    cost.way("bytes", |round| bytes(at, publisher, round));
    cost.taps(&Mqtt, &plan, publisher);
    match on_path(&["mosquitto_sub"]) {
        None => missing("mqtt", "`mosquitto_sub` is not on PATH (Debian: mosquitto-clients)"),
        Some(program) => cost.way("mosquitto_sub", move |round| {
            let count = round.messages.to_string();
            let mut command = Command::new(&program);
            command.args(["-h", "127.0.0.1", "-p", &port, "-t", TOPIC, "-q", "0", "-C", &count]);
            // It ends after so many; what is published before it is subscribed is not among them.
            let used = tool(&mut command, || publisher.start(20 * round.messages));
            await_quiet(at);
            used
        }),
    }
    cost.run();
}

/// Subscribes.
fn subscribed(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"\x10\x10\0\x04MQTT\x04\x02\0\0\0\x04bare").unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    stream.write_all(b"\x82\x0a\0\x01\0\x05bench\0").unwrap();
    stream.read_exact(&mut [0; 5]).unwrap();
    stream
}

/// A publisher was ended before its last message: what the broker still had of it is nobody's.
fn await_quiet(port: u16) {
    let mut stream = subscribed(port);
    stream.set_read_timeout(Some(QUIET)).unwrap();
    let mut buffer = vec![0; 64 << 10];
    while matches!(stream.read(&mut buffer), Ok(1..)) {}
}

/// Reads and counts bytes, nothing else.
fn bytes(port: u16, publisher: &Publisher, round: Round) -> Used {
    let mut stream = subscribed(port);
    // Type, two bytes of length, the topic with its own length, the payload.
    let length = |number: u64| (3 + 2 + TOPIC.len() + event(number).len()) as u64;
    let expected: u64 = (0..round.messages).map(length).sum();
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    measured(
        || publisher.start(round.messages),
        || {
            while bytes < expected {
                bytes += stream.read(&mut buffer).unwrap() as u64;
            }
        },
    )
}

fn plan_of(port: &str, qos: u8) -> Plan {
    let (host, port) = ("127.0.0.1".to_owned(), port.parse().unwrap());
    plan(Connector::Mqtt(MqttChannel {
        server: Server { host, port, ..Server::default() },
        filters: vec![TOPIC.to_owned()],
        qos,
        version: MqttVersion::V3,
        ..MqttChannel::default()
    }))
}
