//! What a message costs the tap, over a real RabbitMQ. `cargo bench -p sojourn-broker-amqp`;
//! `sojourn-tap-cost` says what the figures are.
//!
//! All messages are in the tap's queue before it is polled.
#![allow(clippy::unwrap_used, reason = "its broker is its own")]

use sojourn_broker_amqp::Amqp;
use sojourn_plan::{AmqpChannel, Connector, Plan, Server};
use sojourn_services::{RabbitMq, Service};
use sojourn_tap_cost::{Cost, Publisher, When, missing, plan, publish_by, publish_if_asked};

fn main() {
    publish_if_asked(|order| publish_by(&Amqp, &plan_of(&order.address), "pay", order));
    let rabbit = RabbitMq::start().unwrap();
    let publisher = Publisher { address: rabbit.port().to_string(), when: When::Before };
    let plan = plan_of(&publisher.address);
    let mut cost = Cost::new("amqp", 100_000);
    cost.taps(&Amqp, &plan, &publisher);
    missing("amqp", "RabbitMQ has no tool that reads in bulk but PerfTest (Java, not packaged)");
    cost.run();
}

fn plan_of(port: &str) -> Plan {
    let (host, port) = ("127.0.0.1".to_owned(), port.parse().unwrap());
    plan(Connector::Amqp(AmqpChannel {
        server: Server { host, port, ..Server::default() },
        exchange: "amq.fanout".to_owned(),
        routing: vec!["#".to_owned()],
        management: None,
        mandatory: true,
    }))
}
