//! What a message costs the tap, over a real RabbitMQ. `cargo bench -p sojourn-broker-amqp`;
//! `sojourn-tap-cost` says what the figures are.
//!
//! All messages are in the tap's queue before it is polled.
#![allow(clippy::unwrap_used, reason = "its broker is its own")]

use std::process::Command;

use sojourn_broker_amqp::Amqp;
use sojourn_plan::{AmqpChannel, Connector, Plan, Server};
use sojourn_services::{RabbitMq, Service};
use sojourn_tap_cost::{
    Cost, Publisher, When, missing, on_path, plan, publish_by, publish_if_asked, tool,
};

/// Messages' routing key, and the queue of the broker's own tool, which the default exchange has by
/// that.
const QUEUE: &str = "pay";
const TOOL: [&str; 2] = ["rabbitmq-perf-test", "perf-test"];
/// Behind the port, where the tool's queue is meant.
const FOR_TOOL: &str = "tool";

fn main() {
    publish_if_asked(|order| publish_by(&Amqp, &plan_of(&order.address), QUEUE, order));
    let rabbit = RabbitMq::start().unwrap();
    let address = rabbit.port().to_string();
    let for_tool = Publisher { address: format!("{address} {FOR_TOOL}"), when: When::Meanwhile };
    let url = format!("amqp://127.0.0.1:{address}");
    let publisher = Publisher { address, when: When::Before };
    let plan = plan_of(&publisher.address);
    let mut cost = Cost::new("amqp", 100_000);
    cost.taps(&Amqp, &plan, &publisher);
    match on_path(&TOOL) {
        None => missing("amqp", "`rabbitmq-perf-test` (PerfTest, Java) is not on PATH"),
        Some(program) => cost.way("perf-test", move |round| {
            let count = round.messages.to_string();
            let mut command = Command::new(&program);
            command.args(["--uri", &url]);
            command.args(["--producers", "0", "--autoack", "--cmessages", &count]);
            command.args(["--queue", QUEUE]);
            // It ends after so many; what is published before its queue is there is dropped.
            tool(&mut command, || for_tool.start(20 * round.messages))
        }),
    }
    cost.run();
}

/// At a port: to whoever listens, or to the tool's queue, if it is there.
fn plan_of(address: &str) -> Plan {
    let (port, exchange, mandatory) = match address.split_once(' ') {
        Some((port, _)) => (port, "", false),
        None => (address, "amq.fanout", true),
    };
    let (host, port) = ("127.0.0.1".to_owned(), port.parse().unwrap());
    plan(Connector::Amqp(AmqpChannel {
        server: Server { host, port, ..Server::default() },
        exchange: exchange.to_owned(),
        routing: vec!["#".to_owned()],
        management: None,
        mandatory,
    }))
}
