//! What a message costs the tap, against a real ElasticMQ: requests, answers, decoding, deletions.
//! `cargo bench -p sojourn-broker-sqs`; `sojourn-tap-cost` says what the figures are.
#![allow(clippy::unwrap_used, reason = "its server is its own")]

use sojourn_broker::Connect as _;
use sojourn_broker_sqs::Sqs;
use sojourn_plan::{Connector, Plan, SqsChannel, SqsSource};
use sojourn_services::ElasticMq;
use sojourn_tap_cost::{Cost, Publisher, When, missing, plan, publish_by, publish_if_asked};

const QUEUE: &str = "bench";

fn main() {
    publish_if_asked(|order| publish_by(&Sqs, &plan_of(&order.address), QUEUE, order));
    let server = ElasticMq::start().unwrap();
    let publisher = Publisher { address: server.url(), when: When::Before };
    let plan = plan_of(&publisher.address);
    Sqs.provision(&plan.channels[0], QUEUE).unwrap();
    // A message costs 7 to 17 µs: by so much more in one round than in the next.
    let mut cost = Cost::new("sqs", 4_000).rounds(61).told_apart();
    cost.taps(&Sqs, &plan, &publisher);
    missing("sqs", "there is no tool that reads a queue in bulk");
    cost.run();
}

fn plan_of(url: &str) -> Plan {
    plan(Connector::Sqs(SqsChannel {
        endpoint: Some(url.to_owned()),
        source: SqsSource::Queue(QUEUE.to_owned()),
        discard: true,
        ..SqsChannel::default()
    }))
}
