//! What a message costs the tap, over a real nats-server: of core NATS and of a stream.
//! `cargo bench -p sojourn-broker-nats`; `sojourn-tap-cost` says what the figures are.
//!
//! Messages are read while they are published.
#![allow(clippy::unwrap_used, reason = "its server is its own")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::json;
use sojourn_broker_nats::Nats as NatsConnector;
use sojourn_plan::{Connector, NatsChannel, Plan, Server};
use sojourn_services::{Nats, Service as _};
use sojourn_tap_cost::{
    Cost, Order, Publisher, RUN_ID, When, event, missing, on_path, plan, publish_if_asked, tool,
};

const MESSAGES: u64 = 400_000;
const CORE: &str = "core.a";
const STREAM: &str = "stream.a";

fn main() {
    publish_if_asked(flood);
    let nats = Nats::start().unwrap();
    create_stream(nats.port());
    let flooding = |subject| {
        let address = format!("{} {subject}", nats.port());
        Publisher { address, when: When::Meanwhile }
    };

    let (plan, publisher, url) = (plan_of(nats.port(), CORE, None), &flooding(CORE), nats.url());
    let mut cost = Cost::new("nats", MESSAGES);
    cost.taps(&NatsConnector, &plan, publisher);
    match on_path(&["nats"]) {
        None => missing("nats", "`nats` (natscli, for `nats bench sub`) is not on PATH"),
        Some(program) => cost.way("nats-bench", move |round| {
            let mut command = Command::new(&program);
            command.args(["--server", &url, "bench", "sub", CORE, "--no-progress"]);
            command.args(["--msgs", &round.messages.to_string()]);
            // It ends after so many; what is published before it is subscribed is not among them.
            tool(&mut command, || publisher.start(20 * round.messages))
        }),
    }
    cost.run();

    let (plan, publisher) = (plan_of(nats.port(), STREAM, Some("S")), flooding(STREAM));
    let mut cost = Cost::new("nats-stream", MESSAGES);
    cost.taps(&NatsConnector, &plan, &publisher);
    cost.run();
}

fn plan_of(port: u16, subject: &str, stream: Option<&str>) -> Plan {
    plan(Connector::Nats(NatsChannel {
        server: Server { host: "127.0.0.1".to_owned(), port, ..Server::default() },
        subjects: vec![subject.to_owned()],
        stream: stream.map(ToOwned::to_owned),
        ..NatsChannel::default()
    }))
}

fn create_stream(port: u16) {
    let config = json!({
        "name": "S", "subjects": ["stream.>"], "storage": "memory", "retention": "limits",
        "max_msgs": 1_000_000, "discard": "old", "num_replicas": 1, "max_age": 0,
        "max_bytes": -1, "max_consumers": -1,
    });
    let mut control = Control::connect(port);
    control.send(&format!(
        "SUB answer 1\r\nPUB $JS.API.STREAM.CREATE.S answer {}\r\n{config}\r\n",
        config.to_string().len()
    ));
    control.line_with("MSG answer");
}

/// Publishes all at once, as fast as the server takes it.
fn flood(order: &Order) {
    let (port, subject) = order.address.split_once(' ').unwrap();
    let mut control = Control::connect(port.parse().unwrap());
    let headers = format!("NATS/1.0\r\nsojourn-run: {RUN_ID}\r\n\r\n");
    let mut number = 0;
    while number < order.messages {
        let mut batch = String::new();
        for number in number..order.messages.min(number + 1_000) {
            let payload = event(number);
            let total = headers.len() + payload.len();
            batch += &format!("HPUB {subject} {} {total}\r\n{headers}{payload}\r\n", headers.len());
        }
        number += 1_000;
        control.send(&batch);
        // The server drops whoever publishes much faster than it reads.
        control.send("PING\r\n");
        control.line_with("PONG");
    }
}

/// A plain connection.
struct Control(BufReader<TcpStream>);

impl Control {
    fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut control = Self(BufReader::new(stream));
        control.line_with("INFO");
        control.send("CONNECT {\"verbose\":false,\"headers\":true}\r\n");
        control
    }

    fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn line_with(&mut self, begin: &str) {
        let mut line = String::new();
        while !line.starts_with(begin) {
            line.clear();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "no {begin}");
        }
    }
}
