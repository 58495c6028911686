//! Taps of core NATS.

use sojourn_broker::Tap as _;
use sojourn_services::{Nats, Service as _};

use crate::support::{Keeper, poll_for, settle, tap};
use crate::system::System;

#[test]
fn everything_after_open_and_nothing_before_it() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.publish("a.b", b"before");
    system.flush();
    let mut tap = tap(&nats, &["a.*", "c.>"], None);
    let opened_ns = tap.watermark_ns();
    system.publish("a.b", b"1");
    system.publish_with("c.d.e", &[("Type", "paid"), ("type", "x:y"), ("empty", "")], b"");
    system.publish("a.b.c", b"not ours");
    system.publish("c", b"not ours");
    let big = vec![b'x'; 1_000_000];
    system.publish("c.big", &big);
    system.publish_with("a.k", &[("sojourn-key", "k1"), ("Nats-Msg-Id", "m1")], b"{}");
    system.flush();
    let mut keeper = Keeper::default();
    poll_for(&mut tap, &mut keeper, 4);
    settle(&mut tap, &mut keeper);
    let [first, second, third, fourth] = keeper.0.as_slice() else { panic!() };
    assert_eq!((first.topic.as_str(), first.text().as_str()), ("a.b", "1"));
    assert!(first.stamp_ns > opened_ns && first.stamp_ns < tap.watermark_ns());
    assert!(first.headers.is_empty() && first.key.is_none() && first.position.is_none());
    assert_eq!((second.topic.as_str(), second.payload.len()), ("c.d.e", 0));
    let header = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
    let expect = [header("Type", "paid"), header("type", "x:y"), header("empty", "")];
    assert_eq!(second.headers, expect);
    assert_eq!(third.payload, big);
    assert_eq!(fourth.key.as_deref(), Some(&b"k1"[..]));
    assert_eq!(fourth.headers, [header("Nats-Msg-Id", "m1"), header("message-id", "m1")]);
}

#[test]
fn subjects_that_overlap_bring_a_message_once() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    let mut tap = tap(&nats, &["a.>", "a.b", "*.b", "a.b"], None);
    for number in 0..50 {
        system.publish("a.b", format!("ab{number}").as_bytes());
        system.publish("c.b", format!("cb{number}").as_bytes());
        system.publish("a.c", format!("ac{number}").as_bytes());
    }
    system.flush();
    let mut keeper = Keeper::default();
    poll_for(&mut tap, &mut keeper, 150);
    settle(&mut tap, &mut keeper);
    let mut texts = keeper.texts();
    texts.sort();
    texts.dedup();
    assert_eq!((texts.len(), keeper.0.len()), (150, 150));
}
