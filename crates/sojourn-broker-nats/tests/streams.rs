//! Taps of streams.

use serde_json::json;
use sojourn_broker::Tap as _;
use sojourn_clock::SECOND_NS;
use sojourn_services::{Nats, Service as _};

use crate::support::{Keeper, PATIENCE_NS, open_error, poll_for, settle, tap};
use crate::system::System;

#[test]
fn messages_come_in_order_with_their_sequences() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s.>"]);
    for number in 1..=3 {
        system.publish("s.a", format!("before {number}").as_bytes());
    }
    system.flush();
    let mut tap = tap(&nats, &["s.>"], Some("S"));
    system.publish_with("s.a", &[("type", "paid"), ("Nats-Msg-Id", "m")], b"4");
    system.publish("s.b", b"");
    let big = vec![b'y'; 1_000_000];
    system.publish("s.c", &big);
    system.flush();
    let mut keeper = Keeper::default();
    poll_for(&mut tap, &mut keeper, 3);
    settle(&mut tap, &mut keeper);
    assert_eq!(keeper.sequences(), [4, 5, 6]);
    assert_eq!(keeper.0[0].headers[0], ("type".to_owned(), b"paid".to_vec()));
    assert_eq!(keeper.0[1].payload, b"");
    assert_eq!(keeper.0[2].payload, big);
    assert!(tap.behind_ns().is_some_and(|ns| ns < SECOND_NS), "it keeps up");
}

#[test]
fn of_several_subjects_only_those() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s.>"]);
    let mut one = tap(&nats, &["s.a.*"], Some("S"));
    let mut two = tap(&nats, &["s.a.*", "s.b"], Some("S"));
    for subject in ["s.a.1", "s.c", "s.b", "s.a", "s.a.2"] {
        system.publish(subject, subject.as_bytes());
    }
    system.flush();
    for (tap, expect) in
        [(&mut one, &["s.a.1", "s.a.2"][..]), (&mut two, &["s.a.1", "s.b", "s.a.2"])]
    {
        let mut keeper = Keeper::default();
        poll_for(tap, &mut keeper, expect.len());
        settle(tap, &mut keeper);
        assert_eq!(keeper.texts(), expect);
    }
}

#[test]
fn durable_consumers_are_left_alone_and_nothing_stays_behind() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s.>"]);
    system.durable("S", "billing");
    let mut round = |with_tap: bool| {
        let mut tap = with_tap.then(|| tap(&nats, &["s.>"], Some("S")));
        for number in 0..100 {
            system.publish("s.a", format!("{number}").as_bytes());
        }
        system.flush();
        let taken = system.take("S", "billing", 60, 40);
        if let Some(tap) = &mut tap {
            poll_for(tap, &mut Keeper::default(), 100);
        }
        let state = system.consumer("S", "billing");
        let figure = |name: &str| state[name].as_u64().unwrap();
        let payloads: Vec<_> = taken.into_iter().map(|got| got.payload).collect();
        let rest = system.take("S", "billing", 40, 40);
        assert_eq!(rest.len(), 40);
        (payloads, figure("num_pending"), figure("num_redelivered"), figure("num_waiting"))
    };
    let without = round(false);
    assert_eq!(round(true), without);
    // The tap is gone, and so is its consumer.
    let deadline_ns = sojourn_clock::now_ns() + PATIENCE_NS;
    while system.consumers("S") > 1 {
        assert!(sojourn_clock::now_ns() < deadline_ns);
    }
    assert_eq!(system.consumer("S", "billing")["num_ack_pending"], 40);
}

#[test]
fn a_consumer_that_is_deleted_is_made_anew_and_nothing_is_lost() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s"]);
    let mut tap = tap(&nats, &["s"], Some("S"));
    system.publish("s", b"1");
    let mut keeper = Keeper::default();
    poll_for(&mut tap, &mut keeper, 1);
    let names = system.ask("CONSUMER.NAMES.S", json!({}));
    let name = names["consumers"][0].as_str().unwrap().to_owned();
    system.ask(&format!("CONSUMER.DELETE.S.{name}"), json!({}));
    system.publish("s", b"2");
    system.flush();
    let gap = crate::support::poll_gap(&mut tap, &mut keeper);
    assert_eq!(gap.recovery, sojourn_broker::Recovery::Resumed { messages: 1 });
    assert_eq!(keeper.texts(), ["1", "2"]);
}

#[test]
fn a_work_queue_is_not_read_from() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream_with("Q", &["q"], json!({ "retention": "workqueue" }));
    system.durable("Q", "worker");
    let error = open_error(&crate::support::channel(nats.port(), &["q"], Some("Q")));
    assert!(error.hint.as_deref().unwrap().contains("work queue"), "{error:?}");
    // By the subject itself it can be listened to.
    let mut tap = tap(&nats, &["q"], None);
    system.publish("q", b"1");
    poll_for(&mut tap, &mut Keeper::default(), 1);
    assert_eq!(system.take("Q", "worker", 1, 1).len(), 1);
}
