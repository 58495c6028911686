//! A member of a group.

use std::time::Duration;

use redis::Value;
use sojourn_broker::{Connect, Consumer};
use sojourn_broker_redis::RedisConsumer;
use sojourn_services::{Redis, Service};

use crate::support::*;

fn consume(consumer: &mut RedisConsumer, feed: &mut Feed, count: usize) {
    wait_until("all messages", || {
        consumer.consume(10, Duration::from_millis(20), feed).unwrap();
        feed.0.len() >= count
    });
    assert_eq!(feed.0.len(), count);
}

fn pending(redis: &Redis) -> Value {
    let Value::Array(said) = run(&mut client(redis), "XPENDING s g") else { panic!() };
    said[0].clone()
}

#[test]
fn members_share_the_stream_and_what_is_committed_is_acknowledged() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    add(&mut system, "s", "data", "before");
    let channel = with_field(streams(&redis, &["s"]), "data");
    let mut one = RedisConsumer::new(&channel, "g").unwrap();
    let mut two = RedisConsumer::new(&channel, "g").unwrap();
    let (mut first, mut second) = (Feed::default(), Feed::default());
    for member in [&mut one, &mut two] {
        assert_eq!(member.assigned(), 0);
        assert_eq!(member.consume(10, Duration::from_millis(1), &mut first).unwrap(), 0);
        assert_eq!(member.assigned(), 1);
    }
    for number in 0..20 {
        add(&mut system, "s", "data", &number.to_string());
    }
    assert_eq!(one.consume(12, Duration::from_secs(5), &mut first).unwrap(), 12);
    consume(&mut two, &mut second, 8);
    assert!(first.texts().iter().copied().eq((0..12).map(|n| n.to_string())));
    assert!(second.texts().iter().copied().eq((12..20).map(|n| n.to_string())));
    assert!(first.0.iter().all(|kept| kept.position.is_none()));
    assert_eq!(pending(&redis), Value::Int(20));
    one.commit().unwrap();
    assert_eq!(pending(&redis), Value::Int(8));
    two.commit().unwrap();
    assert_eq!(pending(&redis), Value::Int(0));
    one.commit().unwrap();
    // Nothing is left of one that owes nothing.
    one.leave();
    let members = run(&mut system, "XINFO CONSUMERS s g");
    assert_eq!(members.as_sequence().unwrap().len(), 1);
    assert!(one.consume(1, Duration::ZERO, &mut first).is_err());
    assert_eq!(one.assigned(), 0);
}

#[test]
fn what_was_not_committed_comes_again_to_another() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    run(&mut system, "XGROUP CREATE s g $ MKSTREAM");
    let channel = with_field(streams(&redis, &["s"]), "data");
    let mut one = RedisConsumer::new(&channel, "g").unwrap();
    for number in 0..6 {
        add(&mut system, "s", "data", &number.to_string());
    }
    let mut first = Feed::default();
    assert_eq!(one.consume(3, Duration::from_secs(5), &mut first).unwrap(), 3);
    one.commit().unwrap();
    assert_eq!(one.consume(3, Duration::from_secs(5), &mut first).unwrap(), 3);
    one.leave();
    let mut two = RedisConsumer::new(&channel, "g").unwrap();
    let mut second = Feed::default();
    consume(&mut two, &mut second, 3);
    assert_eq!(second.texts(), ["3", "4", "5"]);
    two.commit().unwrap();
    assert_eq!(pending(&redis), Value::Int(0));
}

#[test]
fn a_server_that_is_away_gives_nothing_and_then_goes_on() {
    let mut redis = Redis::start().unwrap();
    run(&mut client(&redis), "XGROUP CREATE s g $ MKSTREAM");
    let mut consumer =
        RedisConsumer::new(&with_field(streams(&redis, &["s"]), "data"), "g").unwrap();
    let mut feed = Feed::default();
    consumer.consume(1, Duration::from_millis(1), &mut feed).unwrap();
    redis.kill();
    assert_eq!(consumer.consume(1, Duration::from_millis(1), &mut feed).unwrap(), 0);
    assert_eq!(consumer.consume(1, Duration::from_millis(1), &mut feed).unwrap(), 0);
    redis.restart().unwrap();
    add(&mut client(&redis), "s", "data", "1");
    consume(&mut consumer, &mut feed, 1);
    consumer.commit().unwrap();
    assert_eq!(pending(&redis), Value::Int(0));
}

#[test]
fn what_cannot_be_consumed_says_so() {
    let redis = Redis::start().unwrap();
    let error = RedisConsumer::new(&channels(&redis, &["c"]), "g").unwrap_err();
    assert!(error.message.contains("only streams have consumer groups"), "{error}");
    let mut consumer = RedisConsumer::new(&streams(&redis, &["s"]), "g").unwrap();
    let error = consumer.consume(1, Duration::ZERO, &mut Feed::default()).unwrap_err();
    assert!(error.message.contains("there is no stream `s`"), "{error}");
    // Made ready, twice for all it matters, it can.
    for _ in 0..2 {
        sojourn_broker_redis::Redis.provision(&named(streams(&redis, &["s"])), "g").unwrap();
    }
    assert_eq!(consumer.consume(1, Duration::ZERO, &mut Feed::default()).unwrap(), 0);
}
