//! Keyspace notifications.

use sojourn_broker::Tap;
use sojourn_broker_redis::RedisTap;
use sojourn_plan::RedisSource;
use sojourn_services::{PASSWORD, Redis, Service, USER};

use crate::support::*;

#[test]
fn a_server_that_does_not_tell_of_keys_is_an_error_with_the_line_to_run() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    let channel = channel_at(redis.port(), RedisSource::Keyspace(owned(&["order:*"])));
    for (set, line) in [("", "KA"), ("K", "KA"), ("El", "lEK"), ("E", "EKA")] {
        run_all(&mut system, &["CONFIG", "SET", "notify-keyspace-events", set]);
        let error = RedisTap::new(&channel).unwrap().open().unwrap_err();
        assert!(error.message.contains("it does not tell of keys"), "{error}");
        let hint = error.hint.unwrap();
        let line = format!("`redis-cli CONFIG SET notify-keyspace-events {line}`");
        assert!(hint.contains(&line), "`{set}`: {hint}");
        // It is as it was.
        let flags = run(&mut system, "CONFIG GET notify-keyspace-events");
        assert!(!format!("{flags:?}").contains("KA"), "{flags:?}");
    }
}

#[test]
fn keys_are_keys_and_events_types() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    run(&mut system, "CONFIG SET notify-keyspace-events Kg$");
    run(&mut system, "SELECT 2");
    run(&mut system, "SET order:0 before");
    let names = owned(&["order:*", "order:1"]);
    let mut channel = channel_at(redis.port(), RedisSource::Keyspace(names));
    channel.server.path = "2".to_owned();
    let mut tap = open(&channel);
    for command in ["SET order:1 x", "SET other y", "DEL order:1", "RPUSH order:2 z"] {
        run(&mut system, command);
    }
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 2);
    poll_past_now(&mut tap, &mut feed);
    // Lists were not asked for (`l`).
    assert_eq!(feed.texts(), ["set", "del"]);
    for kept in &feed.0 {
        assert_eq!(kept.key.as_deref(), Some(b"order:1".as_slice()));
        assert_eq!(kept.topic, "__keyspace@2__:order:1");
        assert_eq!(kept.headers, [("type".to_owned(), kept.payload.clone())]);
    }
}

#[test]
fn a_server_that_hides_its_settings_is_listened_to_and_that_is_said() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    run(&mut system, "CONFIG SET notify-keyspace-events KA");
    run(&mut system, &format!("ACL SETUSER {USER} on >{PASSWORD} -@all +@pubsub +ping +select"));
    let channel = as_user(channel_at(redis.port(), RedisSource::Keyspace(owned(&["*"]))));
    let mut tap = RedisTap::new(&channel).unwrap();
    let info = tap.open().unwrap();
    assert!(info.listens_to.contains("does not let us see"), "{}", info.listens_to);
    run(&mut system, "SET k v");
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 1);
    assert_eq!(feed.texts(), ["set"]);
}
