//! Publishing: each message one outcome, and the server has what was acknowledged.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use redis::Value;
use sojourn_broker::{Outcome, Publisher, PublisherSettings};
use sojourn_broker_redis::RedisPublisher;
use sojourn_clock::now_ns;
use sojourn_plan::{RedisChannel, RedisSource, Secret};
use sojourn_services::{CutProxy, Redis, Service};

use crate::support::*;

fn publisher(channel: &RedisChannel, queue_max: usize) -> RedisPublisher {
    let how = PublisherSettings { queue_max, ..PublisherSettings::default() };
    RedisPublisher::new(channel, how).unwrap()
}

/// Waits for so many outcomes.
fn outcomes(publisher: &mut RedisPublisher, count: usize) -> Vec<Outcome> {
    let mut all = Vec::new();
    wait_until("all outcomes", || {
        publisher.poll(&mut all);
        all.len() >= count
    });
    assert_eq!(all.len(), count);
    all
}

#[test]
fn entries_are_added_in_order_and_acknowledged_one_by_one() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    let wakes = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&wakes);
    let wake: Arc<dyn Fn() + Send + Sync> =
        Arc::new(move || _ = count.fetch_add(1, Ordering::SeqCst));
    let how = PublisherSettings { queue_max: 1_000, wake, ..PublisherSettings::default() };
    let channel = with_field(streams(&redis, &["s"]), "data");
    let mut publisher = RedisPublisher::new(&channel, how).unwrap();
    let begun = now_ns();
    for token in 0..1_000_u64 {
        let payload = token.to_string();
        let headers = [("h", b"v".as_slice())];
        publisher.try_publish(token, "s", Some(b"k"), &headers, payload.as_bytes()).unwrap();
    }
    let refusal = publisher.try_publish(0, "s", None, &[], b"").unwrap_err();
    assert_eq!(refusal, "1000 messages wait for the server");
    let outcomes = outcomes(&mut publisher, 1_000);
    let now = now_ns();
    assert!(outcomes.iter().map(|outcome| outcome.token).eq(0..1_000));
    assert!(outcomes.iter().all(|o| o.error.is_none() && (begun..now).contains(&o.acked_ns)));
    assert!(wakes.load(Ordering::SeqCst) > 0);
    let entries: Vec<(String, Vec<String>)> =
        redis::cmd("XRANGE").arg("s").arg("-").arg("+").query(&mut system).unwrap();
    assert_eq!(entries.len(), 1_000);
    for (token, (_, fields)) in entries.iter().enumerate() {
        assert_eq!(fields[..], ["key", "k", "h", "v", "data", &token.to_string()]);
    }
    // There is room again.
    publisher.try_publish(7, "s", None, &[], b"").unwrap();
}

#[test]
fn an_object_becomes_fields_and_anything_else_is_refused() {
    let redis = Redis::start().unwrap();
    let mut publisher = publisher(&streams(&redis, &["s"]), 10);
    let payload = br#"{"type":"Paid","amount":5,"to":{"iban":"x"}}"#;
    publisher.try_publish(1, "s", None, &[], payload).unwrap();
    let refusal = publisher.try_publish(2, "s", None, &[], b"text").unwrap_err();
    assert!(refusal.contains("JSON object"), "{refusal}");
    assert_eq!(outcomes(&mut publisher, 1)[0].error, None);
    let entries: Vec<(String, Vec<String>)> =
        redis::cmd("XRANGE").arg("s").arg("-").arg("+").query(&mut client(&redis)).unwrap();
    assert_eq!(entries[0].1, ["type", "Paid", "amount", "5", "to", r#"{"iban":"x"}"#]);
}

#[test]
fn pub_sub_carries_the_payload_and_nobody_listening_is_no_error() {
    let redis = Redis::start().unwrap();
    let mut publisher = publisher(&channels(&redis, &["c"]), 10);
    publisher.try_publish(1, "c", None, &[("h", b"v")], b"unheard").unwrap();
    assert_eq!(outcomes(&mut publisher, 1)[0].error, None);
    let mut tap = open(&channels(&redis, &["c"]));
    publisher.try_publish(2, "c", Some(b"k"), &[("h", b"v")], b"heard").unwrap();
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 1);
    assert_eq!(feed.texts(), ["heard"]);
    assert_eq!(outcomes(&mut publisher, 1)[0].token, 2);
    let keyspace = channel_at(redis.port(), RedisSource::Keyspace(owned(&["*"])));
    let error = RedisPublisher::new(&keyspace, PublisherSettings::default()).err().unwrap();
    assert!(error.message.contains("nothing can be published"), "{error}");
}

#[test]
fn a_refusal_is_the_message_s_and_the_next_goes_on() {
    let redis = Redis::start().unwrap();
    run(&mut client(&redis), "SET text t");
    let channel = with_field(streams(&redis, &["s"]), "data");
    let mut publisher = publisher(&channel, 10);
    for (token, topic) in ["s", "text", "s"].into_iter().enumerate() {
        publisher.try_publish(token as u64, topic, None, &[], b"x").unwrap();
    }
    let outcomes = outcomes(&mut publisher, 3);
    let errors: Vec<_> = outcomes.iter().map(|outcome| outcome.error.as_deref()).collect();
    let refusal = "WRONGTYPE Operation against a key holding the wrong kind of value";
    assert_eq!(errors, [None, Some(refusal), None]);
}

#[test]
fn what_was_in_flight_fails_with_its_connection_and_later_ones_go_on_another() {
    let redis = Redis::start().unwrap();
    let proxy = CutProxy::start(SocketAddr::from(([127, 0, 0, 1], redis.port()))).unwrap();
    let source = RedisSource::Streams(owned(&["s"]));
    let mut publisher = publisher(&with_field(channel_at(proxy.port(), source), "data"), 100);
    publisher.try_publish(0, "s", None, &[], b"0").unwrap();
    assert_eq!(outcomes(&mut publisher, 1)[0].error, None);
    proxy.stall();
    for token in 1..=10 {
        publisher.try_publish(token, "s", None, &[], b"lost").unwrap();
    }
    let sent = proxy.figures().to_server_bytes;
    proxy.cut();
    let lost = outcomes(&mut publisher, 10);
    assert_eq!(proxy.figures().to_server_bytes, sent);
    assert!(lost.iter().map(|outcome| outcome.token).eq(1..=10));
    for outcome in lost {
        let error = outcome.error.unwrap();
        assert!(error.starts_with("connection lost: "), "{error}");
    }
    proxy.resume();
    // Messages that find no connection fail; sooner or later there is one.
    let mut token = 100;
    wait_until("another connection", || {
        token += 1;
        publisher.try_publish(token, "s", None, &[], b"later").unwrap();
        outcomes(&mut publisher, 1)[0].error.is_none()
    });
    // Nothing was sent twice.
    let length = run(&mut client(&redis), "XLEN s");
    assert_eq!(length, Value::Int(2));
}

#[test]
fn without_a_server_each_message_says_why() {
    let redis = Redis::start().unwrap();
    let mut nobody = with_field(streams(&redis, &["s"]), "data");
    nobody.server.port = sojourn_services::closed_port().unwrap();
    let mut wrong = as_user(with_field(streams(&redis, &["s"]), "data"));
    wrong.server.password = Some(Secret::new("hunter2"));
    for (channel, expect) in
        [(nobody, "cannot connect: connection refused"), (wrong, "cannot connect: it refuses user")]
    {
        let mut publisher = publisher(&channel, 5);
        for token in 0..5 {
            publisher.try_publish(token, "s", None, &[], b"x").unwrap();
        }
        for outcome in outcomes(&mut publisher, 5) {
            let error = outcome.error.unwrap();
            assert!(error.starts_with(expect) && !error.contains("hunter2"), "{error}");
        }
    }
}

#[test]
fn more_bytes_than_the_bound_are_refused() {
    let mut redis = Redis::start().unwrap();
    let mut publisher = publisher(&with_field(streams(&redis, &["s"]), "data"), 1_000);
    publisher.try_publish(0, "s", None, &[], b"x").unwrap();
    assert_eq!(outcomes(&mut publisher, 1)[0].error, None);
    redis.pause();
    let large = vec![b'x'; 10 << 20];
    let taken =
        (1..20).take_while(|token| publisher.try_publish(*token, "s", None, &[], &large).is_ok());
    assert_eq!(taken.count(), 6);
    redis.resume();
    let outcomes = outcomes(&mut publisher, 6);
    assert!(outcomes.iter().all(|outcome| outcome.error.is_none()), "{outcomes:?}");
    redis.stop();
}
