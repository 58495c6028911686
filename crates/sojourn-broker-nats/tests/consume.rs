//! Members of groups.

use std::time::Duration;

use serde_json::json;
use sojourn_broker::Consumer as _;
use sojourn_broker_nats::NatsConsumer;
use sojourn_clock::now_ns;
use sojourn_services::{Nats, Service as _};

use crate::support::{Keeper, PATIENCE_NS, channel};
use crate::system::System;

const WAIT: Duration = Duration::from_millis(100);

fn consume_until(consumer: &mut NatsConsumer, keeper: &mut Keeper, count: usize) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while keeper.0.len() < count {
        assert!(now_ns() < deadline_ns, "{} of {count}", keeper.0.len());
        let before = keeper.0.len();
        let taken = consumer.consume(7, WAIT, keeper).unwrap();
        assert_eq!(keeper.0.len() - before, taken);
        assert!(taken <= 7);
    }
    assert_eq!(keeper.0.len(), count);
}

#[test]
fn a_durable_consumer_shares_and_commits() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s.>"]);
    system.publish("s.a", b"before");
    system.flush();
    let settings = channel(nats.port(), &["s.>"], Some("S"));
    let mut consumer = NatsConsumer::new(&settings, "billing").unwrap();
    let mut keeper = Keeper::default();
    assert_eq!(consumer.assigned(), 0);
    assert_eq!(consumer.consume(10, Duration::ZERO, &mut keeper).unwrap(), 0);
    assert_eq!(consumer.assigned(), 1);
    for number in 0..20 {
        system.publish_with("s.a", &[("n", "1")], format!("{number}").as_bytes());
    }
    system.flush();
    consume_until(&mut consumer, &mut keeper, 20);
    assert_eq!(keeper.0[0].headers, [("n".to_owned(), b"1".to_vec())]);
    assert_eq!(system.consumer("S", "billing")["num_ack_pending"], 20);
    consumer.commit().unwrap();
    let state = system.consumer("S", "billing");
    assert_eq!((&state["num_ack_pending"], &state["num_pending"]), (&json!(0), &json!(0)));
    assert_eq!(state["ack_floor"]["stream_seq"], 21);
    // What was not committed goes to another member at once when this one leaves.
    for number in 20..30 {
        system.publish("s.a", format!("{number}").as_bytes());
    }
    system.flush();
    consume_until(&mut consumer, &mut keeper, 30);
    consumer.leave();
    assert!(consumer.consume(1, WAIT, &mut keeper).is_err());
    let mut other = NatsConsumer::new(&settings, "billing").unwrap();
    let mut again = Keeper::default();
    consume_until(&mut other, &mut again, 10);
    let mut texts = again.texts();
    texts.sort();
    assert_eq!(texts, (20..30).map(|number| number.to_string()).collect::<Vec<_>>());
    other.commit().unwrap();
    assert_eq!(system.consumer("S", "billing")["num_ack_pending"], 0);
}

#[test]
fn a_queue_group_shares() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    let settings = channel(nats.port(), &["a.*"], None);
    let mut members: Vec<_> =
        (0..2).map(|_| NatsConsumer::new(&settings, "workers").unwrap()).collect();
    let mut keeper = Keeper::default();
    for member in &mut members {
        member.consume(1, Duration::ZERO, &mut keeper).unwrap();
    }
    for number in 100..200 {
        system.publish("a.b", format!("{number}").as_bytes());
    }
    system.flush();
    let deadline_ns = now_ns() + PATIENCE_NS;
    while keeper.0.len() < 100 {
        assert!(now_ns() < deadline_ns);
        for member in &mut members {
            member.consume(100, Duration::from_millis(5), &mut keeper).unwrap();
            member.commit().unwrap();
        }
    }
    let mut texts = keeper.texts();
    texts.sort();
    assert_eq!(texts, (100..200).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[test]
fn of_a_server_that_is_away_nothing_comes_and_then_the_rest() {
    let mut nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s"]);
    system.durable("S", "d");
    for number in 0..10 {
        system.ask_publish("s", &format!("{number}"));
    }
    let settings = channel(nats.port(), &["s"], Some("S"));
    let mut consumer = NatsConsumer::new(&settings, "d").unwrap();
    let mut keeper = Keeper::default();
    consume_until(&mut consumer, &mut keeper, 7);
    consumer.commit().unwrap();
    nats.kill();
    assert_eq!(consumer.consume(7, WAIT, &mut keeper).unwrap(), 0);
    assert_eq!(consumer.assigned(), 0);
    nats.restart().unwrap();
    consume_until(&mut consumer, &mut keeper, 10);
    consumer.commit().unwrap();
    assert_eq!(keeper.texts(), (0..10).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_joined() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    let consume = |stream, group: &str| {
        let settings = channel(nats.port(), &["s"], Some(stream));
        NatsConsumer::new(&settings, group)
            .and_then(|mut consumer| consumer.consume(1, WAIT, &mut Keeper::default()))
            .unwrap_err()
            .message
    };
    assert!(consume("S", "a.b").contains("cannot name a group"));
    assert!(consume("S", "g").contains("no stream `S`"));
    system.stream("S", &["s"]);
    let config = json!({ "durable_name": "pushed", "deliver_subject": "to", "ack_policy": "none" });
    system.ask("CONSUMER.DURABLE.CREATE.S.pushed", json!({ "stream_name": "S", "config": config }));
    assert!(consume("S", "pushed").contains("pushes"));
}
