//! Poisoned roots against a small system that writes down what it was sent: one that answers
//! requests, and one that takes messages.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use serde_json::Value;
use sojourn_broker::{RawMessage, Sink};
use sojourn_clock::now_ns;
use sojourn_metrics::{SeriesKey, SeriesPhase, names};
use sojourn_record::Verdict;
use sojourn_testkit::{Reply, Request, Responder, Server, response};

use super::broker::{Manner, run_with};
use crate::testing::{Run, plan, run, taps};

const PAYMENTS: &str = r#"
name: payments
channels:
  events: { webhook: {} }
journeys:
  payment:
    root:
      http: { method: POST, url: /, json: { id: "{{ key }}", amount: "{{ int(1, 9) }}" } }
      key: "{{ uuid() }}"
      retry: { attempts: 3, on: 503, backoff: 1ms }
      poison: { share: 30%, set: { amount: none } }
    stages:
      - { name: paid, on: events, match: { type: Paid }, key: $.id }
      - { name: dead, on: events, match: { type: Dead }, key: $.id, failure: true, reason: $.why }
    within: 2s
load: { journey: payment, rate: 60/s, steady: 1s, drain: 3s }
thresholds:
  - failed == 0
  - lost == 0
  - duplicates == 0
  - completed == 100%
  - poison.contained == 100%
  - poison.completed == 0
  - poison.containment.max < 2s
health: { lag_p99_max: 5s, silent_max: 5s, tap_behind_max: 5s }
"#;

/// What the system was sent, by the payment's id, and the events that it has yet to tell.
#[derive(Clone, Default)]
struct System {
    bodies: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
    events: Arc<Mutex<VecDeque<String>>>,
}

/// Every first attempt fails. A payment without a number is given up, which is told twice.
impl Responder for System {
    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        4_096
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let body = String::from_utf8_lossy(request.body).into_owned();
        let payment: Value = serde_json::from_str(&body).unwrap_or_default();
        let id = payment["id"].as_str().unwrap_or_default().to_owned();
        let mut bodies = self.bodies.lock().unwrap();
        let attempts = bodies.entry(id.clone()).or_default();
        attempts.push(body);
        if attempts.len() == 1 {
            return Reply::now(response(503, "text/plain", b"later"));
        }
        let mut events = self.events.lock().unwrap();
        if payment["amount"].is_number() {
            events.push_back(format!(r#"{{"type": "Paid", "id": "{id}"}}"#));
        } else {
            let dead = format!(r#"{{"type": "Dead", "id": "{id}", "why": "no amount"}}"#);
            events.extend([dead.clone(), dead]);
        }
        Reply::now(response(200, "text/plain", b"ok"))
    }
}

fn paid() -> (System, Run) {
    let system = System::default();
    let server = Server::start(system.clone()).unwrap();
    let events = Arc::clone(&system.events);
    let registry = taps(move |sink: &mut dyn Sink| {
        for event in events.lock().unwrap().drain(..) {
            sink.message(&RawMessage {
                stamp_ns: now_ns(),
                topic: "events",
                key: None,
                headers: Vec::new(),
                payload: event.as_bytes(),
                position: None,
            });
        }
    });
    let run = run(&plan(PAYMENTS, &server.url("")), &registry, |_| {});
    (system, run)
}

fn counter(run: &Run, metric: &str, journey: &str) -> u64 {
    let key = SeriesKey::new(metric, &[(names::JOURNEY, journey)], SeriesPhase::Steady);
    run.file.store.counter(&key)
}

#[test]
fn every_figure_of_poisoned_roots_is_what_the_system_was_sent() {
    let (system, run) = paid();
    assert_eq!((run.causes(), run.summary.verdict), (String::new(), Verdict::Pass));
    let bodies = system.bodies.lock().unwrap();
    let is_poisoned = |body: &String| body.contains(r#""amount":"none""#);
    let (poisoned, healthy): (Vec<_>, Vec<_>) =
        bodies.values().partition(|attempts| is_poisoned(&attempts[0]));
    let sent = poisoned.len() as u64;
    assert!(sent > 0 && healthy.len() > poisoned.len(), "{sent} of {}", bodies.len());
    // An attempt that is made again is the same message.
    assert!(bodies.values().all(|attempts| attempts.len() == 2 && attempts[0] == attempts[1]));
    let name = names::poisoned("payment");
    for (metric, expected) in [
        (names::JOURNEYS_SCHEDULED, sent),
        (names::JOURNEYS_STARTED, sent),
        (names::JOURNEYS_FAILED, sent),
        (names::POISON_CONTAINED, sent),
        (names::POISON_CONTAINED_LATE, 0),
        // Told twice: the second comes after the journey's end.
        (names::POISON_EVENTS_AFTER, sent),
        (names::JOURNEYS_COMPLETED, 0),
    ] {
        assert_eq!(counter(&run, metric, &name), expected, "{metric}");
    }
    let healthy = healthy.len() as u64;
    for (metric, expected) in [
        (names::JOURNEYS_STARTED, healthy),
        (names::JOURNEYS_COMPLETED, healthy),
        (names::JOURNEYS_FAILED, 0),
        (names::POISON_EVENTS_AFTER, 0),
    ] {
        assert_eq!(counter(&run, metric, "payment"), expected, "{metric}");
    }
    // What is summed over all journeys is of the healthy ones.
    let sum = |metric| run.file.store.sum(metric, &[], SeriesPhase::Steady);
    assert_eq!(sum(names::JOURNEYS_STARTED), healthy);
    assert_eq!(sum(names::JOURNEYS_FAILED), 0);
}

#[test]
fn the_same_arrivals_are_poisoned_in_every_run() {
    let bodies = || {
        let (system, _) = paid();
        let bodies = system.bodies.lock().unwrap();
        bodies.values().map(|attempts| attempts[0].clone()).collect::<Vec<_>>()
    };
    assert_eq!(bodies(), bodies());
}

/// The broker hands on what it takes: the poisoned kind is what its consumers would give up.
#[test]
fn a_published_root_is_poisoned_too() {
    let text = r#"
name: orders
channels:
  orders: { nats: { url: "nats://127.0.0.1:4222", subjects: [orders.new] }, backlog: [billing] }
journeys:
  order:
    root:
      publish: { to: orders, key: "{{ key }}", headers: { kind: new }, json: { id: "{{ key }}" } }
      key: "{{ uuid() }}"
      poison: { share: 0.4, headers: { kind: odd }, json: { id: "{{ key }}", odd: [] } }
    stages:
      - { name: seen, on: orders, match: { header.kind: new }, key: $.id }
      - { name: dead, on: orders, match: { header.kind: odd, $.odd: { present: true } }, key: $.id, failure: true }
    within: 2s
load: { journey: order, rate: 40/s, steady: 1s, drain: 3s }
thresholds: [failed == 0, completed == 100%, poison.contained == 100%]
health: { lag_p99_max: 5s, silent_max: 5s, tap_behind_max: 5s }
"#;
    let run = run_with(text, Manner::Takes, None);
    assert_eq!((run.causes(), run.summary.verdict), (String::new(), Verdict::Pass));
    let sent = counter(&run, names::JOURNEYS_STARTED, "order (poisoned)");
    let healthy = counter(&run, names::JOURNEYS_STARTED, "order");
    assert!(sent > 0 && healthy > 0 && sent + healthy == 40, "{sent} and {healthy}");
    assert_eq!(counter(&run, names::POISON_CONTAINED, "order (poisoned)"), sent);
    let shape = run.file.identity.journeys.iter().find(|shape| shape.name == "order (poisoned)");
    let poison = shape.and_then(|shape| shape.poison.clone()).expect("its shape says whose");
    assert_eq!((poison.of.as_str(), poison.share), ("order", 0.4));
}
