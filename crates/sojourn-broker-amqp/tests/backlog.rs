//! Figures of the system's queues.

use std::time::Duration;

use serde_json::json;
use sojourn_broker::{Backlog, Connect, Consumer, Figure, Reading};
use sojourn_broker_amqp::{Amqp, AmqpBacklog, AmqpConsumer};
use sojourn_plan::{Channel, Connector, Decoder, Secret};

use crate::system::{Kept, System, channel, management, rabbit, soon};

const LONG: Duration = Duration::from_secs(20);

fn reading(of: &str, figure: Figure, value: f64) -> Reading {
    Reading { of: of.to_owned(), figure, value }
}

#[test]
fn ready_and_unacknowledged_are_what_was_put_there() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("l.some", "fanout");
    system.queue("l.some.q", "l.some", "");
    system.queue("l.idle.q", "", "");
    for _ in 0..7 {
        system.publish("l.some", "k", &json!({}), "x");
    }
    let mut channel = channel(&rabbit, "l.some", &["#"]);
    let queues = ["l.some.q".to_owned(), "l.idle.q".to_owned()];
    let mut bare = AmqpBacklog::new(&channel, &queues).unwrap();
    let mut readings = Vec::new();
    bare.read(LONG, &mut readings).unwrap();
    let (some, idle) = ("l.some.q", "l.idle.q");
    assert_eq!(
        readings,
        [reading(some, Figure::Waiting, 7.0), reading(idle, Figure::Waiting, 0.0)]
    );
    // A consumer takes all seven and acknowledges three.
    let mut consumer = AmqpConsumer::new(&channel, some).unwrap();
    let mut kept = Kept::default();
    soon("three messages", || {
        consumer.consume(3 - kept.0.len(), Duration::from_millis(20), &mut kept).unwrap();
        (kept.0.len() == 3).then_some(())
    });
    consumer.commit().unwrap();
    channel.management = Some(management(&rabbit));
    let mut backlog = AmqpBacklog::new(&channel, &queues).unwrap();
    soon("the management's figures", || {
        let mut readings = Vec::new();
        backlog.read(LONG, &mut readings).unwrap();
        let expect = [
            reading(some, Figure::Waiting, 0.0),
            reading(some, Figure::Unacknowledged, 4.0),
            reading(idle, Figure::Waiting, 0.0),
            reading(idle, Figure::Unacknowledged, 0.0),
        ];
        (readings == expect).then_some(())
    });
    drop(consumer);
}

#[test]
fn what_the_system_gives_up_is_waiting_in_the_dead_letter_queue() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    let (failing, dead) = ("l.failing.q", "l.dead.q");
    system.queue(dead, "", "");
    system.ask("DELETE", &format!("queues/%2f/{failing}"), &json!(null));
    let arguments = json!({"x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead});
    let settings = json!({"durable": true, "arguments": arguments});
    let (status, answer) = system.ask("PUT", &format!("queues/%2f/{failing}"), &settings);
    assert!((200..300).contains(&status), "{status} {answer}");
    for _ in 0..5 {
        system.publish("", failing, &json!({}), "x");
    }
    let queues = [failing.to_owned(), dead.to_owned()];
    let mut backlog = AmqpBacklog::new(&channel(&rabbit, "amq.topic", &["#"]), &queues).unwrap();
    let mut wait_for_figures = |waiting: f64, given_up: f64| {
        let expect =
            [reading(failing, Figure::Waiting, waiting), reading(dead, Figure::Waiting, given_up)];
        soon("both queues' figures", || {
            let mut readings = Vec::new();
            backlog.read(LONG, &mut readings).unwrap();
            (readings == expect).then_some(())
        });
    };
    wait_for_figures(5.0, 0.0);
    // The system takes two and rejects them.
    let how = json!({"count": 2, "ackmode": "reject_requeue_false", "encoding": "auto"});
    system.ask("POST", &format!("queues/%2f/{failing}/get"), &how);
    wait_for_figures(3.0, 2.0);
    for queue in [failing, dead] {
        system.delete(&format!("queues/%2f/{queue}"));
    }
}

#[test]
fn a_queue_that_is_missing_is_told_and_the_others_are_read() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.queue("l.there", "", "");
    let queues = ["l.nowhere".to_owned(), "l.there".to_owned()];
    let mut channel = channel(&rabbit, "amq.topic", &["#"]);
    let mut backlog = AmqpBacklog::new(&channel, &queues).unwrap();
    for _ in 0..3 {
        let mut readings = Vec::new();
        let error = backlog.read(LONG, &mut readings).unwrap_err();
        assert!(error.message.contains("no queue `l.nowhere`"), "{error}");
        assert_eq!(readings, [reading("l.there", Figure::Waiting, 0.0)]);
    }
    assert!(!system.queues().contains(&"l.nowhere".to_owned()));
    let mut wrong = management(&rabbit);
    wrong.password = Some(Secret::new("hunter2"));
    channel.management = Some(wrong);
    let mut backlog = AmqpBacklog::new(&channel, &queues[1..]).unwrap();
    let mut readings = Vec::new();
    let error = backlog.read(LONG, &mut readings).unwrap_err();
    assert!(error.message.contains("refuses the user"), "{error}");
    assert!(!format!("{error:?} {backlog:?}").contains("hunter2"));
    assert_eq!(readings.len(), 1);
}

#[test]
fn a_channel_that_names_no_queue_has_no_backlog() {
    let rabbit = rabbit();
    let mut channel = Channel {
        name: "orders".to_owned(),
        connector: Connector::Amqp(channel(&rabbit, "amq.topic", &["#"])),
        decoder: Decoder::Auto,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    };
    assert!(Amqp.backlog(&channel).unwrap().is_none());
    channel.backlog.push("q".to_owned());
    assert!(Amqp.backlog(&channel).unwrap().is_some());
    assert!(Amqp.tap(&channel).is_ok());
}
