//! What a tap sees, and that nobody sees it.

use std::time::Duration;

use serde_json::{Value, json};
use sojourn_broker::{Consumer, Publisher, PublisherSettings, RawMessage, Tap};
use sojourn_broker_amqp::{AmqpConsumer, AmqpPublisher, AmqpTap};

use crate::system::{Kept, System, channel, outcomes, rabbit, soon};

#[test]
fn what_was_published_before_is_not_seen_and_everything_after_is() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("t.order", "topic");
    system.queue("t.order.q", "t.order", "#");
    let mut tap = AmqpTap::new(&channel(&rabbit, "t.order", &["#"])).unwrap();
    system.publish("t.order", "before", &json!({}), "before");
    let info = tap.open().unwrap();
    assert!(info.listens_to.contains("topic exchange t.order"), "{}", info.listens_to);
    let properties = json!({
        "message_id": "m-1", "correlation_id": "c-1", "type": "Paid", "delivery_mode": 2,
        "content_type": "application/json", "app_id": "shop", "priority": 3,
        "headers": {"x-text": "é", "x-number": 42, "x-true": true, "x-in": {"side": [1, "two"]}},
    });
    for number in 0..100 {
        system.publish("t.order", "order.paid", &properties, &format!("{number}"));
    }
    let mut kept = Kept::default();
    kept.until(&mut tap, 100);
    let numbers: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    assert_eq!(kept.texts(), numbers);
    let seen = &kept.0[7];
    assert_eq!((seen.topic.as_str(), seen.key.as_deref()), ("order.paid", Some(&b"c-1"[..])));
    for (name, value) in [
        ("message-id", "m-1"),
        ("correlation-id", "c-1"),
        ("type", "Paid"),
        ("content-type", "application/json"),
        ("app-id", "shop"),
        ("delivery-mode", "2"),
        ("priority", "3"),
        ("x-text", "é"),
        ("x-number", "42"),
        ("x-true", "true"),
        ("x-in.side.0", "1"),
        ("x-in.side.1", "two"),
        ("exchange", "t.order"),
    ] {
        assert_eq!(seen.header(name), Some(value), "{name}");
    }
    assert!(kept.0.windows(2).all(|two| two[0].stamp_ns <= two[1].stamp_ns));
    // The system's own queue has the same and the one before; the tap's queue goes with the tap.
    let own: Vec<_> = system.take("t.order.q", 1000);
    assert_eq!(own.len(), 101);
    assert!(own.iter().all(|message| message["redelivered"] == false));
    assert_eq!(own[1]["properties"]["headers"]["x-number"], 42);
    let is_ours = |name: &String| name.starts_with("amq.gen");
    soon("the tap's queue", || system.queues().iter().any(is_ours).then_some(()));
    drop(tap);
    soon("the end of the tap's queue", || (!system.queues().iter().any(is_ours)).then_some(()));
}

/// The tap's queue is exclusive, so that nobody else can take from it, and deletes itself. Both go
/// with the connection, so each is asked for by itself.
#[test]
fn nobody_else_can_use_the_taps_queue_which_deletes_itself() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("t.own", "fanout");
    let settings = channel(&rabbit, "t.own", &["#"]);
    let mut tap = AmqpTap::new(&settings).unwrap();
    tap.open().unwrap();
    let bindings = || system.ask("GET", "exchanges/%2f/t.own/bindings/source", &Value::Null).1;
    let name =
        soon("the tap's binding", || bindings()[0]["destination"].as_str().map(str::to_owned));
    let path = format!("queues/%2f/{name}");
    let (status, queue) = system.ask("GET", &path, &Value::Null);
    assert_eq!(status, 200, "{queue}");
    assert_eq!((&queue["exclusive"], &queue["auto_delete"]), (&json!(true), &json!(true)));
    // A queue that is neither, to be sure that the management would say so.
    system.queue("t.own.q", "t.own", "#");
    let (_, other) = system.ask("GET", "queues/%2f/t.own.q", &Value::Null);
    assert_eq!((&other["exclusive"], &other["auto_delete"]), (&json!(false), &json!(false)));
    let how = json!({"count": 1, "ackmode": "ack_requeue_false", "encoding": "auto"});
    let (status, answer) = system.ask("POST", &format!("{path}/get"), &how);
    assert!(status == 400 && answer.to_string().contains("RESOURCE_LOCKED"), "{status} {answer}");
    let mut consumer = AmqpConsumer::new(&settings, &name).unwrap();
    let mut kept = Kept::default();
    let error = consumer.consume(1, Duration::from_secs(10), &mut kept).unwrap_err();
    assert!(error.message.contains("RESOURCE_LOCKED"), "{error:?}");
    system.publish("t.own", "k", &json!({}), "after all");
    kept.until(&mut tap, 1);
    assert_eq!(kept.texts(), ["after all"]);
}

#[test]
fn keys_are_bound_as_the_exchange_understands_them() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    for (kind, routing, sees) in [
        ("topic", &["order.*", "x.#"][..], &["order.paid", "x", "x.y.z"][..]),
        ("fanout", &["#"], &["order.paid", "order.paid.late", "x", "x.y.z", "other"]),
        ("headers", &["#"], &["order.paid", "order.paid.late", "x", "x.y.z", "other"]),
        ("direct", &["order.paid", "x"], &["order.paid", "x"]),
    ] {
        let name = format!("t.{kind}");
        system.exchange(&name, kind);
        let mut tap = AmqpTap::new(&channel(&rabbit, &name, routing)).unwrap();
        tap.open().unwrap();
        for key in ["order.paid", "order.paid.late", "x", "x.y.z", "other"] {
            system.publish(&name, key, &json!({}), key);
        }
        let mut kept = Kept::default();
        kept.until(&mut tap, sees.len());
        assert_eq!(kept.texts(), sees, "{kind}");
        system.delete(&format!("exchanges/%2f/{name}"));
    }
}

#[test]
fn long_and_empty_payloads_come_as_they_were_sent() {
    let rabbit = rabbit();
    System::of(&rabbit).exchange("t.size", "fanout");
    let channel = channel(&rabbit, "t.size", &["#"]);
    let mut tap = AmqpTap::new(&channel).unwrap();
    tap.open().unwrap();
    let mut publisher = AmqpPublisher::new(&channel, PublisherSettings::default()).unwrap();
    // Around one frame's length, several frames, and nothing.
    let lengths = [0, 1, 131_063, 131_064, 131_065, 262_128, 3_000_000, 0, 20_000_000, 5];
    let byte = |index: usize| (index * 31 % 251) as u8;
    for (token, length) in lengths.iter().enumerate() {
        let payload: Vec<u8> = (0..*length).map(byte).collect();
        publisher.try_publish(token as u64, "k", None, &[], &payload).unwrap();
    }
    assert!(outcomes(&mut publisher, lengths.len()).iter().all(|one| one.error.is_none()));
    let mut kept = Kept::default();
    kept.until(&mut tap, lengths.len());
    for (seen, length) in kept.0.iter().zip(lengths) {
        assert_eq!(seen.payload.len(), length);
        assert!(seen.payload.iter().enumerate().all(|(index, found)| *found == byte(index)));
    }
}

#[test]
fn a_slow_reader_is_behind_and_misses_nothing() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("t.slow", "fanout");
    let channel = channel(&rabbit, "t.slow", &["#"]);
    let mut tap = AmqpTap::new(&channel).unwrap();
    tap.open().unwrap();
    let mut kept = Kept::default();
    let how = PublisherSettings { queue_max: 100_000, ..PublisherSettings::default() };
    let mut publisher = AmqpPublisher::new(&channel, how).unwrap();
    // More than sockets hold: the rest waits in the tap's queue.
    for token in 0..20_000 {
        publisher.try_publish(token, "k", None, &[], &[b'x'; 2_000]).unwrap();
    }
    outcomes(&mut publisher, 20_000);
    let ready = || {
        let (_, queues) = system.ask("GET", "queues", &Value::Null);
        let queues = queues.as_array().unwrap().clone();
        let ours = queues.iter().find(|q| q["name"].as_str().unwrap().starts_with("amq.gen"));
        ours.and_then(|queue| queue["messages_ready"].as_u64()).filter(|ready| *ready > 0)
    };
    let ready = soon("what waits in the tap's queue", ready);
    assert!(ready < 20_000, "{ready}");
    // The first question about the queue is answered while messages still wait.
    soon("being behind", || {
        tap.poll(Duration::ZERO, &mut kept).unwrap();
        tap.behind_ns().filter(|behind_ns| *behind_ns > 0 || kept.0.len() == 20_000)
    });
    kept.until(&mut tap, 20_000);
    soon("having caught up", || {
        tap.poll(Duration::from_millis(5), &mut kept).unwrap();
        (tap.behind_ns() == Some(0)).then_some(())
    });
    assert_eq!(kept.0.len(), 20_000);
}

#[test]
fn mass_transit_on_its_fanout_is_decoded_by_the_router() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    let exchange = "Pay.Events:PaymentCreated";
    system.exchange(exchange, "fanout");
    let mut tap = AmqpTap::new(&channel(&rabbit, exchange, &["#"])).unwrap();
    tap.open().unwrap();
    let envelope = json!({
        "messageId": "m-9", "messageType": ["urn:message:Pay.Events:PaymentCreated"],
        "message": {"aggregateId": "pay-1"},
    });
    let properties = json!({"content_type": "application/vnd.masstransit+json"});
    system.publish(exchange, "", &properties, &envelope.to_string());
    let mut kept = Kept::default();
    kept.until(&mut tap, 1);
    let seen = &kept.0[0];
    let headers = seen.headers.iter().map(|(n, v)| (n.as_str(), v.as_bytes())).collect();
    let message = RawMessage {
        stamp_ns: 1,
        topic: &seen.topic,
        key: None,
        headers,
        payload: &seen.payload,
        position: None,
    };
    let decoded = sojourn_broker::decode(&sojourn_plan::Decoder::Auto, &message).unwrap();
    assert_eq!(decoded.event_type.as_deref(), Some("Pay.Events:PaymentCreated"));
    assert_eq!(decoded.message_id.as_deref(), Some("m-9"));
    assert_eq!(decoded.body.unwrap()["aggregateId"], "pay-1");
}
