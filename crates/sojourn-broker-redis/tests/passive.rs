//! The system's consumers and the server are the same with and without taps.

use redis::Value;
use sojourn_broker::Backlog;
use sojourn_broker_redis::{RedisBacklog, RedisTap};
use sojourn_services::Redis;

use crate::support::*;

/// What two consumers of a group take and acknowledge, and what the server says afterwards.
fn play(redis: &Redis, mut taps: Vec<RedisTap>) -> (Vec<String>, Vec<String>) {
    let mut system = client(redis);
    let mut took = Vec::new();
    for number in 0..200 {
        add(&mut system, "s", "n", &number.to_string());
        for tap in &mut taps {
            sojourn_broker::Tap::poll(tap, std::time::Duration::ZERO, &mut Feed::default())
                .unwrap();
        }
        let member = ["one", "two"][number % 2];
        let words = format!("XREADGROUP GROUP g {member} COUNT 1 STREAMS s >");
        let read = run(&mut system, &words);
        let Value::Array(read) = read else { panic!("{read:?}") };
        let text = format!("{read:?}");
        let Value::Array(stream) = &read[0] else { panic!("{text}") };
        let Value::Array(entries) = &stream[1] else { panic!("{text}") };
        let Value::Array(entry) = &entries[0] else { panic!("{text}") };
        took.push(format!("{member} {:?}", entry[1]));
        if number % 3 > 0 {
            let id: String = redis::from_redis_value(entry[0].clone()).unwrap();
            run(&mut system, &format!("XACK s g {id}"));
        }
    }
    let mut said = Vec::new();
    for command in ["XLEN s", "KEYS *", "PUBSUB CHANNELS", "PUBSUB NUMPAT", "DBSIZE"] {
        said.push(format!("{command} {:?}", run(&mut system, command)));
    }
    let Value::Array(groups) = run(&mut system, "XINFO GROUPS s") else { panic!() };
    assert_eq!(groups.len(), 1);
    let group: Vec<Value> = redis::from_redis_value(groups[0].clone()).unwrap();
    // Name, members, pending, lag; ids are times.
    said.extend([1, 3, 5, 11].map(|at| format!("{:?}", group[at])));
    (took, said)
}

#[test]
fn consumers_take_the_same_with_and_without_taps() {
    let prepare = || {
        let redis = Redis::start().unwrap();
        run(&mut client(&redis), "XGROUP CREATE s g $ MKSTREAM");
        redis
    };
    let alone = prepare();
    let without = play(&alone, Vec::new());
    let watched = prepare();
    let taps = (0..3).map(|_| open(&streams(&watched, &["s"]))).collect();
    let mut backlog = RedisBacklog::new(&streams(&watched, &["s"]), &["g".to_owned()]).unwrap();
    backlog.read(std::time::Duration::from_secs(10), &mut Vec::new()).unwrap();
    let with = play(&watched, taps);
    assert_eq!(without, with);
}
