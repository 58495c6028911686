//! How much waits.

use std::time::Duration;

use sojourn_broker::{Backlog as _, Figure, Reading};
use sojourn_broker_nats::NatsBacklog;
use sojourn_services::{Nats, Service as _};

use crate::support::channel;
use crate::system::System;

const TIMEOUT: Duration = Duration::from_secs(10);

fn reading(of: &str, figure: Figure, value: f64) -> Reading {
    Reading { of: of.to_owned(), figure, value }
}

#[test]
fn figures_are_what_the_test_put_there() {
    let mut nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s"]);
    system.durable("S", "billing");
    system.durable("S", "shipping");
    for number in 0..50 {
        system.ask_publish("s", &format!("{number}"));
    }
    let taken = system.take("S", "billing", 20, 5);
    // Given back, three of them are given out again.
    for got in &taken[5..8] {
        system.give_back(got);
    }
    let again = system.take("S", "billing", 3, 0);
    assert_eq!(again.len(), 3);
    let settings = channel(nats.port(), &["s"], Some("S"));
    let names = ["billing".to_owned(), "shipping".to_owned()];
    let mut backlog = NatsBacklog::new(&settings, &names).unwrap();
    let expect = [
        reading("S", Figure::Kept, 50.0),
        reading("billing", Figure::Waiting, 30.0),
        reading("billing", Figure::Unacknowledged, 15.0),
        reading("billing", Figure::Redelivered, 3.0),
        reading("shipping", Figure::Waiting, 50.0),
        reading("shipping", Figure::Unacknowledged, 0.0),
        reading("shipping", Figure::Redelivered, 0.0),
    ];
    for _ in 0..2 {
        let mut readings = Vec::new();
        backlog.read(TIMEOUT, &mut readings).unwrap();
        assert_eq!(readings, expect);
    }
    // One that is missing is told of, with its likes; the others have their figures.
    let names = ["bilings".to_owned(), "shipping".to_owned()];
    let mut readings = Vec::new();
    let error = NatsBacklog::new(&settings, &names).unwrap().read(TIMEOUT, &mut readings);
    let error = error.unwrap_err();
    assert!(error.message.contains("no consumer `bilings`"), "{error}");
    assert!(error.hint.as_deref().unwrap().starts_with("it has `billing`"), "{error:?}");
    assert_eq!(readings.len(), 4);
    // Away and back.
    nats.kill();
    assert!(backlog.read(TIMEOUT, &mut Vec::new()).is_err());
    nats.restart().unwrap();
    let deadline_ns = sojourn_clock::now_ns() + crate::support::PATIENCE_NS;
    let mut readings = Vec::new();
    while backlog.read(TIMEOUT, &mut readings).is_err() {
        readings.clear();
        assert!(sojourn_clock::now_ns() < deadline_ns);
    }
    assert_eq!(readings[0], expect[0]);
}

#[test]
fn core_nats_keeps_nothing() {
    let error = NatsBacklog::new(&channel(4222, &["s"], None), &["b".to_owned()]).unwrap_err();
    assert!(error.message.contains("without `stream`"), "{error}");
}
