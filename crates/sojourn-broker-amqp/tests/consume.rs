//! A consumer of one of the system's queues.

use std::time::Duration;

use serde_json::json;
use sojourn_broker::Consumer;
use sojourn_broker_amqp::AmqpConsumer;
use sojourn_services::Service;

use crate::system::{Kept, System, channel, rabbit, soon};

fn consume(consumer: &mut dyn Consumer, kept: &mut Kept, count: usize) {
    soon("messages", || {
        let wanted = count - kept.0.len();
        let before = kept.0.len();
        let taken = consumer.consume(wanted, Duration::from_millis(20), kept).unwrap();
        assert_eq!(kept.0.len(), before + taken);
        (kept.0.len() == count).then_some(())
    });
}

#[test]
fn a_queue_that_is_missing_is_not_made() {
    let rabbit = rabbit();
    let mut consumer =
        AmqpConsumer::new(&channel(&rabbit, "amq.topic", &["#"]), "c.nowhere").unwrap();
    let error = consumer.consume(1, Duration::from_millis(20), &mut Kept::default()).unwrap_err();
    assert!(error.message.contains("no queue `c.nowhere`"), "{error}");
    assert!(!System::of(&rabbit).queues().contains(&"c.nowhere".to_owned()));
}

#[test]
fn a_lost_connection_is_told_at_the_commit() {
    let mut rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("c.lost", "fanout");
    system.queue("c.lost.q", "c.lost", "");
    system.publish("c.lost", "k", &json!({"delivery_mode": 2}), "twice");
    let mut consumer = AmqpConsumer::new(&channel(&rabbit, "c.lost", &["#"]), "c.lost.q").unwrap();
    let mut kept = Kept::default();
    consume(&mut consumer, &mut kept, 1);
    rabbit.kill();
    // Of a broker that is away nothing comes.
    assert_eq!(consumer.consume(1, Duration::from_millis(20), &mut kept).unwrap(), 0);
    assert!(consumer.commit().unwrap_err().message.contains("comes again"));
    rabbit.restart().unwrap();
    consume(&mut consumer, &mut kept, 2);
    consumer.commit().unwrap();
    assert_eq!(kept.texts(), ["twice", "twice"]);
}
