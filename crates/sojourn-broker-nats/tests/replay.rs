//! Reading again.

use std::time::Duration;

use serde_json::json;
use sojourn_broker::{BrokerError, PositionRange, Span, Tap as _};
use sojourn_broker_nats::NatsTap;
use sojourn_services::{Nats, Service as _};

use crate::support::{Keeper, poll_for, tap};
use crate::system::System;

const TIMEOUT: Duration = Duration::from_secs(20);

fn positions(from: u64, to: u64) -> Span {
    Span::Positions(vec![PositionRange { partition: 0, from, to }])
}

fn replayed(tap: &mut NatsTap, span: &Span) -> Result<Vec<u64>, BrokerError> {
    let mut keeper = Keeper::default();
    let count = tap.replay(span, TIMEOUT, &mut keeper)?;
    assert_eq!(count, keeper.0.len() as u64);
    Ok(keeper.sequences())
}

#[test]
fn stretches_by_sequence() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s.>"]);
    let mut tap = tap(&nats, &["s.a", "s.b"], Some("S"));
    for number in 1..=300 {
        system.publish(["s.a", "s.b", "s.c"][number % 3], b"x");
    }
    system.flush();
    let mut keeper = Keeper::default();
    poll_for(&mut tap, &mut keeper, 200);
    let ours = |from: u64, to: u64| (from..to).filter(|n| n % 3 != 2).collect::<Vec<_>>();
    for (from, to) in [(1, 301), (10, 20), (0, 5), (299, 1_000), (300, 301)] {
        let expect = ours(from.max(1), to.min(301));
        assert_eq!(replayed(&mut tap, &positions(from, to)).unwrap(), expect, "{from} to {to}");
    }
    for (from, to) in [(5, 5), (20, 10), (400, 500)] {
        assert!(replayed(&mut tap, &positions(from, to)).unwrap().is_empty(), "{from} to {to}");
    }
    let other = Span::Positions(vec![PositionRange { partition: 3, from: 1, to: 2 }]);
    assert!(replayed(&mut tap, &other).unwrap_err().message.contains("no partition 3"));
    // The subscription stays where it is.
    system.publish("s.a", b"after");
    poll_for(&mut tap, &mut keeper, 201);
    assert!(tap.take_gaps().is_empty());
    system.ask("STREAM.PURGE.S", json!({ "seq": 101 }));
    assert_eq!(replayed(&mut tap, &positions(101, 103)).unwrap(), ours(101, 103));
    let error = replayed(&mut tap, &positions(100, 103)).unwrap_err();
    assert!(error.message.contains("deleted") && error.message.contains("101"), "{error}");
}

#[test]
fn stretches_by_time() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s"]);
    for _ in 0..30 {
        system.ask_publish("s", "x");
        // Another millisecond, so that the broker's dates tell them apart.
        std::thread::sleep(Duration::from_millis(2));
    }
    let dated: Vec<u64> = (1..=30)
        .map(|seq| {
            let message = system.ask("STREAM.MSG.GET.S", json!({ "seq": seq }));
            let time: jiff::Timestamp =
                message["message"]["time"].as_str().unwrap().parse().unwrap();
            u64::try_from(time.as_nanosecond()).unwrap()
        })
        .collect();
    let mut tap = tap(&nats, &["s"], Some("S"));
    let begin_ms = dated[0] / 1_000_000;
    for (from, to) in [(0, 10), (3, 25), (0, 1_000_000), (20, 20), (7, 3), (900_000, 1_000_000)] {
        let (from_unix_ms, to_unix_ms) = (begin_ms + from, begin_ms + to);
        let inside = |ns: u64| ns >= from_unix_ms * 1_000_000 && ns < to_unix_ms * 1_000_000;
        let expect: Vec<u64> =
            (1..).zip(&dated).filter(|(_, ns)| inside(**ns)).map(|(seq, _)| seq).collect();
        let span = Span::Time { from_unix_ms, to_unix_ms };
        assert_eq!(replayed(&mut tap, &span).unwrap(), expect, "{from} to {to}");
    }
    system.ask("STREAM.PURGE.S", json!({ "seq": 11 }));
    let span = |from_unix_ms| Span::Time { from_unix_ms, to_unix_ms: u64::MAX / 2_000_000 };
    let from_ms = dated[10] / 1_000_000 + 1;
    assert!(!replayed(&mut tap, &span(from_ms)).unwrap().is_empty());
    assert!(replayed(&mut tap, &span(begin_ms)).unwrap_err().message.contains("deleted"));
}

#[test]
fn core_nats_has_no_past() {
    let nats = Nats::start().unwrap();
    let mut tap = tap(&nats, &["a"], None);
    let error = replayed(&mut tap, &positions(1, 2)).unwrap_err();
    assert!(error.message.contains("core NATS keeps no messages"), "{error}");
}
