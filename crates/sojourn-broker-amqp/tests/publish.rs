//! What becomes of published messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use sojourn_broker::{Publisher, PublisherSettings};
use sojourn_broker_amqp::AmqpPublisher;
use sojourn_clock::now_ns;
use sojourn_plan::AmqpChannel;
use sojourn_services::closed_port;

use crate::system::{System, channel, outcomes, rabbit};

fn publisher(channel: &AmqpChannel) -> AmqpPublisher {
    AmqpPublisher::new(channel, PublisherSettings::default()).unwrap()
}

#[test]
fn messages_arrive_as_given_and_each_is_confirmed_once() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("p.all", "topic");
    system.queue("p.all.q", "p.all", "a.#");
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    let wake = Arc::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let how = PublisherSettings { queue_max: 2_000, wake, ..PublisherSettings::default() };
    let mut publisher = AmqpPublisher::new(&channel(&rabbit, "p.all", &["#"]), how).unwrap();
    let begun_ns = now_ns();
    let headers: [(&str, &[u8]); 4] =
        [("type", b"Paid"), ("message-id", b"m"), ("x-own", b"v"), ("sojourn-run", b"r")];
    for token in 0..2_000_u64 {
        let payload = token.to_string();
        publisher.try_publish(token, "a.b", Some(b"key"), &headers, payload.as_bytes()).unwrap();
    }
    assert!(publisher.try_publish(9, "a", None, &[], b"").unwrap_err().contains("2000 messages"));
    let mut told = outcomes(&mut publisher, 2_000);
    assert!(told.iter().all(|one| one.error.is_none() && one.acked_ns > begun_ns));
    told.sort_by_key(|one| one.token);
    assert!(told.iter().enumerate().all(|(index, one)| one.token == index as u64));
    assert!(woken.load(Ordering::SeqCst) > 0);
    let taken = system.take("p.all.q", 3_000);
    assert_eq!(taken.len(), 2_000);
    for (index, message) in taken.iter().enumerate() {
        assert_eq!(message["payload"], index.to_string());
    }
    let first = &taken[0];
    assert_eq!(first["routing_key"], "a.b");
    assert_eq!(
        first["properties"],
        json!({
            "type": "Paid", "message_id": "m", "correlation_id": "key", "delivery_mode": 2,
            "headers": {"x-own": "v", "sojourn-run": "r"},
        })
    );
}

#[test]
fn what_no_queue_takes_is_an_error_unless_that_is_allowed() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("p.some", "topic");
    system.queue("p.some.q", "p.some", "taken");
    let mut channel = channel(&rabbit, "p.some", &["#"]);
    let mut one = publisher(&channel);
    for token in 0..300 {
        let key = if token % 3 == 0 { "taken" } else { "untaken" };
        one.try_publish(token, key, None, &[], b"the same").unwrap();
    }
    for told in outcomes(&mut one, 300) {
        let expect = (told.token % 3 != 0).then_some("no queue takes it");
        assert_eq!(told.error.as_deref(), expect, "{}", told.token);
    }
    assert_eq!(system.take("p.some.q", 1_000).len(), 100);
    channel.mandatory = false;
    let mut other = publisher(&channel);
    other.try_publish(1, "untaken", None, &[], b"").unwrap();
    assert_eq!(outcomes(&mut other, 1)[0].error, None);
}

#[test]
fn a_queue_by_its_name_over_the_default_exchange() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.queue("p.default", "", "");
    let mut publisher = publisher(&channel(&rabbit, "", &["#"]));
    publisher.try_publish(1, "p.default", None, &[], b"to the queue").unwrap();
    publisher.try_publish(2, "p.nobody", None, &[], b"to nobody").unwrap();
    let mut told = outcomes(&mut publisher, 2);
    told.sort_by_key(|one| one.token);
    assert_eq!(told[0].error, None);
    assert_eq!(told[1].error.as_deref(), Some("no queue takes it"));
    assert_eq!(system.take("p.default", 9)[0]["payload"], "to the queue");
}

#[test]
fn a_queue_that_is_full_refuses() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("p.full", "fanout");
    system.ask("DELETE", "queues/%2f/p.full.q", &serde_json::Value::Null);
    let full = json!({"durable": true, "arguments":
        {"x-max-length": 1, "x-overflow": "reject-publish"}});
    system.ask("PUT", "queues/%2f/p.full.q", &full);
    system.ask("POST", "bindings/%2f/e/p.full/q/p.full.q", &json!({"routing_key": ""}));
    let mut publisher = publisher(&channel(&rabbit, "p.full", &["#"]));
    publisher.try_publish(0, "", None, &[], b"fits").unwrap();
    assert_eq!(outcomes(&mut publisher, 1)[0].error, None);
    for token in 1..10 {
        publisher.try_publish(token, "", None, &[], b"does not").unwrap();
        let told = outcomes(&mut publisher, 1);
        if token > 1 {
            assert_eq!(told[0].error.as_deref(), Some("refused by the broker"));
        }
    }
    system.delete("queues/%2f/p.full.q");
}

#[test]
fn what_the_broker_forbids_and_where_nobody_is_have_their_words() {
    let rabbit = rabbit();
    let mut channel = channel(&rabbit, "p.nowhere", &["#"]);
    let mut missing = publisher(&channel);
    missing.try_publish(1, "k", None, &[], b"").unwrap();
    assert_eq!(outcomes(&mut missing, 1)[0].error.as_deref(), Some("no such exchange"));
    channel.exchange = "amq.rabbitmq.log".to_owned();
    let mut internal = publisher(&channel);
    internal.try_publish(1, "k", None, &[], b"").unwrap();
    assert!(outcomes(&mut internal, 1)[0].error.is_some());
    channel.exchange = "amq.topic".to_owned();
    channel.server.port = closed_port().unwrap();
    let mut nobody = publisher(&channel);
    for token in 0..3 {
        nobody.try_publish(token, "k", None, &[], b"").unwrap();
    }
    for told in outcomes(&mut nobody, 3) {
        assert_eq!(told.error.as_deref(), Some("no connection to the broker"));
    }
}

#[test]
fn what_cannot_be_sent_is_refused_at_once() {
    let rabbit = rabbit();
    let mut publisher = publisher(&channel(&rabbit, "amq.topic", &["#"]));
    let long = "x".repeat(256);
    let mut refused = |topic: &str, key: Option<&[u8]>, header: (&str, &[u8])| {
        publisher.try_publish(1, topic, key, &[header], b"").unwrap_err()
    };
    assert!(refused(&long, None, ("a", b"")).contains("routing key"));
    assert!(refused("k", Some(long.as_bytes()), ("a", b"")).contains("255"));
    assert!(refused("k", None, (&long, b"")).contains("255"));
    assert!(refused("k", None, ("priority", b"high")).contains("numbers"));
    assert!(refused("k", None, ("x", &vec![b'x'; 140_000])).contains("128 KiB"));
}
