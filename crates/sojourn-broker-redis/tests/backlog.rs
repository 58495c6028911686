//! Backlog: the figures are what the test put there.

use std::time::Duration;

use sojourn_broker::{Backlog, BrokerError, Figure, Reading};
use sojourn_broker_redis::RedisBacklog;
use sojourn_services::Redis;

use crate::support::*;

fn read(redis: &Redis, names: &[&str], groups: &[&str]) -> (Vec<Reading>, Option<BrokerError>) {
    let mut backlog = RedisBacklog::new(&streams(redis, names), &owned(groups)).unwrap();
    let mut readings = Vec::new();
    let outcome = backlog.read(Duration::from_secs(10), &mut readings);
    (readings, outcome.err())
}

fn value(readings: &[Reading], of: &str, figure: Figure) -> Option<f64> {
    let mut found = readings.iter().filter(|reading| reading.of == of && reading.figure == figure);
    let value = found.next().map(|reading| reading.value);
    assert!(found.next().is_none());
    value
}

#[test]
fn kept_waiting_unacknowledged_and_the_age_of_the_oldest() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    run(&mut system, "XGROUP CREATE s g $ MKSTREAM");
    run(&mut system, "XGROUP CREATE s other $ MKSTREAM");
    let mut ids = Vec::new();
    for number in 0..10 {
        ids.push(add(&mut system, "s", "n", &number.to_string()));
    }
    run(&mut system, "XREADGROUP GROUP g m COUNT 7 STREAMS s >");
    run(&mut system, &format!("XACK s g {} {}", ids[0], ids[1]));
    let (readings, error) = read(&redis, &["s"], &["g", "other"]);
    assert_eq!(error, None);
    let figure = |of, figure| value(&readings, of, figure);
    assert_eq!(figure("s", Figure::Kept), Some(10.0));
    assert_eq!(figure("g", Figure::Unacknowledged), Some(5.0));
    assert_eq!(figure("g", Figure::Waiting), Some(3.0));
    assert_eq!(figure("other", Figure::Unacknowledged), Some(0.0));
    assert_eq!(figure("other", Figure::Waiting), Some(10.0));
    assert_eq!(readings.len(), 7);
    // Ages grow with the server's clock, by which ids are made: two hours back is two hours old.
    assert!(figure("g", Figure::OldestAgeMs).unwrap() < 3_600_000.0);
    let old = ids[0].split('-').next().unwrap().parse::<u64>().unwrap() - 7_200_000;
    run(&mut system, "XGROUP CREATE aged g $ MKSTREAM");
    run(&mut system, &format!("XADD aged {old}-0 n 1"));
    let (readings, error) = read(&redis, &["aged", "s"], &["g"]);
    assert_eq!(error, None);
    let waiting = value(&readings, "g aged", Figure::OldestAgeMs).unwrap();
    assert!((7_199_000.0..10_800_000.0).contains(&waiting), "{waiting}");
    run(&mut system, "XREADGROUP GROUP g m COUNT 7 STREAMS aged >");
    let (readings, _) = read(&redis, &["aged", "s"], &["g"]);
    assert_eq!(value(&readings, "g aged", Figure::Waiting), Some(0.0));
    assert!(value(&readings, "g aged", Figure::OldestAgeMs).unwrap() >= waiting);
    run(&mut system, &format!("XACK aged g {old}-0"));
    let (readings, _) = read(&redis, &["aged", "s"], &["g"]);
    assert_eq!(value(&readings, "g aged", Figure::OldestAgeMs), Some(0.0));
    assert_eq!(value(&readings, "g s", Figure::Unacknowledged), Some(5.0));
}

#[test]
fn what_cannot_be_told_is_said_and_the_rest_is_told() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    run(&mut system, "XGROUP CREATE s workers $ MKSTREAM");
    let (readings, error) = read(&redis, &["s"], &["worker"]);
    let error = error.unwrap();
    assert!(error.message.contains("there is no group `worker`"), "{error}");
    assert_eq!(error.hint.as_deref(), Some("there is `workers`"));
    assert_eq!(value(&readings, "s", Figure::Kept), Some(0.0));
    // Entries deleted one by one: the server does not know the lag, so they are counted.
    let ids: Vec<_> = (0..3).map(|_| add(&mut system, "s", "n", "1")).collect();
    run(&mut system, &format!("XDEL s {}", ids[1]));
    let (readings, error) = read(&redis, &["s"], &["workers"]);
    assert_eq!((error, value(&readings, "workers", Figure::Waiting)), (None, Some(2.0)));
    // A group that began in the middle, as most do; and then too many.
    run(&mut system, "XGROUP CREATE s late $");
    for (more, expect) in [(700, Some(700.0)), (9_300, None)] {
        let mut pipe = redis::pipe();
        for _ in 0..more {
            pipe.cmd("XADD").arg("s").arg("*").arg("n").arg("1");
        }
        pipe.query::<redis::Value>(&mut system).unwrap();
        let (readings, error) = read(&redis, &["s"], &["late"]);
        assert_eq!(value(&readings, "late", Figure::Waiting), expect);
        assert_eq!(value(&readings, "late", Figure::Unacknowledged), Some(0.0));
        assert_eq!(error.is_some(), expect.is_none(), "{error:?}");
    }
    let error = RedisBacklog::new(&channels(&redis, &["c"]), &owned(&["g"])).unwrap_err();
    assert!(error.message.contains("only streams have a backlog"), "{error}");
}
