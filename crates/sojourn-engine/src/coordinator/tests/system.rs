//! Whole runs over a system of the test's own: each message that is published makes it emit events.
//! What the report must then say is known beforehand.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use sojourn_broker::{
    BrokerError, Connect, Outcome, Publisher, PublisherSettings, RawMessage, Registry, Sink, Tap,
    TapInfo,
};
use sojourn_clock::now_ns;
use sojourn_metrics::{SeriesKey, SeriesPhase, names};
use sojourn_plan::Channel;
use sojourn_testkit::{Reply, Request, Responder, Server, response};

use crate::testing::{Run, plan, run};

/// A message: headers and payload.
#[derive(Clone, Debug)]
struct Event {
    headers: Vec<(String, Vec<u8>)>,
    payload: Vec<u8>,
}

/// What the system emits for the n-th message, from 0.
type React = fn(u64, &Event) -> Vec<Event>;

#[derive(Clone)]
struct System {
    react: React,
    taken: Arc<Mutex<(u64, VecDeque<Event>)>>,
}

impl Connect for System {
    fn tap(&self, _channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(Listening { system: self.clone(), seen_ns: now_ns() }))
    }

    fn publisher(
        &self,
        _channel: &Channel,
        settings: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        Ok(Box::new(Publishing { system: self.clone(), settings, outcomes: Vec::new() }))
    }
}

struct Listening {
    system: System,
    seen_ns: u64,
}

impl Tap for Listening {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        Ok(TapInfo::default())
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        std::thread::sleep(timeout);
        let events: Vec<Event> = self.system.taken.lock().unwrap().1.drain(..).collect();
        for event in &events {
            let headers = event.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
            sink.message(&RawMessage {
                stamp_ns: now_ns(),
                topic: "events",
                key: None,
                headers,
                payload: &event.payload,
                position: None,
            });
        }
        self.seen_ns = now_ns();
        Ok(())
    }

    fn watermark_ns(&self) -> u64 {
        self.seen_ns
    }
}

struct Publishing {
    system: System,
    settings: PublisherSettings,
    outcomes: Vec<Outcome>,
}

impl Publisher for Publishing {
    fn try_publish(
        &mut self,
        token: u64,
        _topic: &str,
        _key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), value.to_vec())).collect();
        let command = Event { headers, payload: payload.to_vec() };
        let mut taken = self.system.taken.lock().unwrap();
        let number = taken.0;
        taken.0 += 1;
        taken.1.extend((self.system.react)(number, &command));
        drop(taken);
        self.outcomes.push(Outcome { token, acked_ns: now_ns(), error: None });
        (self.settings.wake)();
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        outcomes.append(&mut self.outcomes);
    }
}

/// An event about the command's order.
fn event(command: &Event, kind: &str, mut more: Value) -> Event {
    let order: Value = serde_json::from_slice(&command.payload).unwrap();
    more["type"] = kind.into();
    more["id"] = order["id"].clone();
    Event { headers: Vec::new(), payload: more.to_string().into_bytes() }
}

/// A machine that is busy with something else voids none of these runs.
const HEALTH: &str =
    "health: { lag_p99_max: 1h, tap_behind_max: 1h, silent_max: 1h, busy_max: 100% }";

/// Twenty orders in a second, with these stages.
fn run_with(stages: &str, react: React) -> Run {
    run_plan("", stages, react)
}

fn run_plan(more: &str, stages: &str, react: React) -> Run {
    let text = format!(
        r#"
name: orders
{more}
channels: {{ orders: {{ nats: {{ url: "nats://127.0.0.1:4222", subjects: [orders.new] }} }} }}
journeys:
  order:
    root:
      publish: {{ to: orders, json: {{ id: "{{{{ key }}}}" }} }}
      key: "{{{{ uuid() }}}}"
    stages:
{stages}
    within: 2s
load:
  - {{ journey: order, rate: 20/s, steady: 1s, drain: 1s }}
{HEALTH}
"#
    );
    let registry = Registry::new().with("nats", System { react, taken: Arc::default() });
    run(&plan(&text, "http://127.0.0.1:1"), &registry, |_| {})
}

/// A steady counter of the orders.
fn counter(run: &Run, metric: &str, tags: &[(&str, &str)]) -> u64 {
    let tags: Vec<_> = [("journey", "order")].into_iter().chain(tags.iter().copied()).collect();
    run.file.store.counter(&SeriesKey::new(metric, &tags, SeriesPhase::Steady))
}

#[test]
fn failed_journeys_are_counted_by_the_systems_reason_and_kept_with_it() {
    let stages = r#"
      - { name: done, on: orders, match: { type: Done }, key: $.id }
      - { name: dead, on: orders, match: { type: Dead }, key: $.id, failure: true, reason: $.why }
"#;
    let run = run_with(stages, |number, command| match number % 4 {
        0 => vec![event(command, "Dead", json!({ "why": "no funds" }))],
        1 if number == 1 => vec![event(command, "Dead", json!({}))],
        _ => vec![event(command, "Done", json!({})), event(command, "Done", json!({}))],
    });
    assert_eq!(run.causes(), "");
    let by = |reason| {
        let tags = [("what", "stage dead"), ("reason", reason)];
        counter(&run, names::JOURNEYS_FAILED_BY, &tags)
    };
    assert_eq!((counter(&run, names::JOURNEYS_FAILED, &[]), by("no funds"), by("")), (6, 5, 1));
    let kept = run.file.journeys.iter().filter_map(|journey| journey.reason.as_deref());
    let mut kept: Vec<&str> = kept.collect();
    kept.sort_unstable();
    assert_eq!(kept[0], "stage dead was reached");
    assert_eq!(kept[1..], ["stage dead was reached: no funds"; 5]);
    // Each event came twice.
    let done = [("stage", "done")];
    assert_eq!(counter(&run, names::STAGE_MATCHED, &done), 14);
    let again = [("stage", "done"), ("kind", "unknown")];
    assert_eq!(counter(&run, names::STAGE_DUPLICATES, &again), 14);
}

#[test]
fn a_journey_completes_by_one_of_its_alternatives_and_a_second_is_shown() {
    let stages = r#"
      - { name: paid, on: orders, match: { type: Paid }, key: $.id }
      - { name: refunded, on: orders, match: { type: Refunded }, key: $.id }
      - { one_of: [paid, refunded] }
"#;
    let run = run_with(stages, |number, command| match number {
        // One in five is refunded; the third order is both.
        2 => vec![event(command, "Paid", json!({})), event(command, "Refunded", json!({}))],
        number if number % 5 == 4 => vec![event(command, "Refunded", json!({}))],
        _ => vec![event(command, "Paid", json!({}))],
    });
    assert_eq!(run.causes(), "");
    assert_eq!(counter(&run, names::JOURNEYS_COMPLETED, &[]), 20);
    let taken = |stage| {
        let tags = [("journey", "order"), ("stage", stage)];
        let key = SeriesKey::new(names::BRANCH_DURATION, &tags, SeriesPhase::Steady);
        run.file.store.trend(&key).map_or(0, sojourn_metrics::Histogram::count)
    };
    assert_eq!((taken("paid"), taken("refunded")), (16, 4));
    let second = |stage| counter(&run, names::STAGE_SECOND_BRANCH, &[("stage", stage)]);
    assert_eq!((second("paid"), second("refunded")), (0, 1));
}

#[test]
fn each_journey_waits_for_as_many_members_as_it_is_told() {
    let stages = r#"
      - { name: packed, on: orders, match: { type: Packed }, key: $.id }
      - { name: shipped, on: orders, match: { type: Shipped }, key: $.id, member: $.box,
          expect: { from: $.boxes, of: packed } }
"#;
    let run = run_with(stages, |number, command| {
        let boxes: Vec<u64> = (0..number % 4).collect();
        let mut events = vec![event(command, "Packed", json!({ "boxes": boxes }))];
        // The last box of the 20th never comes; every box is told twice.
        let shipped = boxes.iter().filter(|&&one| number != 19 || one != 2);
        for one in shipped {
            let told = event(command, "Shipped", json!({ "box": one }));
            events.extend([told.clone(), told]);
        }
        events
    });
    assert_eq!(run.causes(), "");
    assert_eq!(counter(&run, names::JOURNEYS_COMPLETED, &[]), 19);
    // The run ends before its deadline.
    let reasons: Vec<_> =
        run.file.journeys.iter().filter_map(|kept| kept.reason.as_deref()).collect();
    assert_eq!(reasons, ["not seen: stage shipped (2 of 3 members)"]);
    let shipped = [("stage", "shipped")];
    assert_eq!(counter(&run, names::STAGE_MATCHED, &shipped), 5 * (1 + 2 + 3) - 1);
    assert_eq!(counter(&run, names::STAGE_REACHED, &shipped), 19);
    let tags = [("journey", "order"), ("stage", "shipped")];
    let key = SeriesKey::new(names::STAGE_FIRST_MEMBER, &tags, SeriesPhase::Steady);
    // Five orders have no box, and so no first one.
    let first = run.file.store.trend(&key).map_or(0, sojourn_metrics::Histogram::count);
    assert_eq!(first, 14);
}

#[test]
fn later_events_are_found_by_the_key_that_an_earlier_one_yields() {
    let stages = r#"
      - { name: accepted, on: orders, match: { type: Accepted }, key: $.id,
          rekey: { from: $.psp, as: "psp:{}" } }
      - { name: captured, on: orders, match: { type: Captured },
          key: { from: $.psp, as: "psp:{}" } }
      - { name: settled, on: orders, match: { type: Settled },
          key: { from: $.psp, as: "psp:{}" } }
"#;
    let run = run_with(stages, |number, command| {
        // The last two orders get one reference; every third is captured before it is accepted.
        let psp = json!({ "psp": number.min(18) });
        let mut events =
            ["Accepted", "Captured", "Settled"].map(|kind| event(command, kind, psp.clone()));
        if number % 3 == 0 {
            events.swap(0, 1);
        }
        // The payment service knows nothing of orders.
        let mut events = events.to_vec();
        for event in &mut events {
            let mut value: Value = serde_json::from_slice(&event.payload).unwrap();
            if value["type"] != "Accepted" {
                value["id"] = Value::Null;
                event.payload = value.to_string().into_bytes();
            }
        }
        events
    });
    assert_eq!(run.causes(), "");
    // The first of the two had ended, so its reference passed on to the second.
    assert_eq!(counter(&run, names::JOURNEYS_COMPLETED, &[]), 20);
    assert_eq!(counter(&run, names::KEY_REUSED, &[]), 0);
    let matched = ["accepted", "captured", "settled"].map(|stage| [("stage", stage)]);
    assert_eq!(matched.map(|tags| counter(&run, names::STAGE_MATCHED, &tags)), [20; 3]);
}

#[test]
fn the_trace_that_a_message_carries_is_looked_for_in_every_event() {
    let stages = r#"
      - { name: taken, on: orders, match: { type: Taken }, key: $.id }
      - { name: packed, on: orders, match: { type: Packed }, key: $.id }
      - { name: shipped, on: orders, match: { type: Shipped }, key: $.id }
"#;
    let run = run_plan("trace: true", stages, |number, command| {
        let mut taken = event(command, "Taken", json!({}));
        taken.headers = command.headers.clone();
        let mut packed = event(command, "Packed", json!({}));
        if number % 2 == 0 {
            let other = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_vec();
            packed.headers = vec![("ce-traceparent".to_owned(), other)];
        }
        vec![taken, packed, event(command, "Shipped", json!({}))]
    });
    assert_eq!(run.causes(), "");
    let trace = |stage| {
        ["own", "other", "none"].map(|context| {
            counter(&run, names::STAGE_TRACE, &[("stage", stage), ("context", context)])
        })
    };
    assert_eq!(trace("taken"), [20, 0, 0]);
    assert_eq!(trace("packed"), [0, 10, 10]);
    assert_eq!(trace("shipped"), [0, 0, 20]);
    let mut ids: Vec<_> =
        run.file.journeys.iter().filter_map(|kept| kept.trace_id.as_deref()).collect();
    assert_eq!(ids.len(), run.file.journeys.len());
    assert!(ids.iter().all(|id| id.len() == 32));
    ids.sort_unstable();
    ids.dedup();
    assert!(ids.len() >= 20, "{ids:?}");
    // A journey without a trace sends none.
    let untraced = run_with(stages, |_, command| {
        let mut taken = event(command, "Taken", json!({}));
        taken.headers = command.headers.clone();
        vec![taken]
    });
    let tags = [("stage", "taken"), ("context", "own")];
    assert_eq!(counter(&untraced, names::STAGE_TRACE, &tags), 0);
}

/// An order service whose answers say how many lines there are; its events carry the trace.
struct Api(System);

impl Responder for Api {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let trace = request.header("ce-traceparent");
        assert_eq!(trace, request.header("traceparent"));
        let trace = trace.map(|value| ("ce_traceparent".to_owned(), value.to_vec()));
        let mut taken = self.0.taken.lock().unwrap();
        taken.0 += 1;
        let (id, lines) = (taken.0, taken.0 % 3 + 1);
        for line in 0..lines {
            let payload = json!({ "type": "Shipped", "id": id, "line": line }).to_string();
            let headers = trace.clone().into_iter().collect();
            taken.1.push_back(Event { headers, payload: payload.into_bytes() });
        }
        let answer = json!({ "id": id, "lines": lines }).to_string();
        Reply::now(response(200, "application/json", answer.as_bytes()))
    }
}

#[test]
fn an_answer_tells_how_many_members_there_are_and_a_request_carries_the_trace() {
    let system = System { react: |_, _| Vec::new(), taken: Arc::default() };
    let target = Server::start(Api(system.clone())).unwrap();
    let text = format!(
        r#"
name: orders
channels: {{ orders: {{ nats: {{ url: "nats://127.0.0.1:4222", subjects: [orders.new] }} }} }}
journeys:
  order:
    root:
      http: {{ method: POST, url: /orders, headers: {{ ce-type: order.placed, ce-id: "{{{{ uuid() }}}}" }} }}
      key: body.id
      trace: true
    stages:
      - {{ name: shipped, on: orders, match: {{ type: Shipped }}, key: $.id, member: $.line,
          expect: {{ from: body.lines, of: root }} }}
    within: 2s
load:
  - {{ journey: order, rate: 20/s, steady: 1s, drain: 1s }}
{HEALTH}
"#
    );
    let registry = Registry::new().with("nats", system);
    let run = run(&plan(&text, &target.url("")), &registry, |_| {});
    assert_eq!(run.causes(), "");
    assert_eq!(counter(&run, names::JOURNEYS_COMPLETED, &[]), 20);
    // Orders 1 to 20 have 2, 3, 1, 2, 3, … lines.
    let lines: u64 = (1..=20).map(|number| number % 3 + 1).sum();
    let own = [("stage", "shipped"), ("context", "own")];
    let shipped = [("stage", "shipped")];
    let matched = counter(&run, names::STAGE_MATCHED, &shipped);
    assert_eq!((matched, counter(&run, names::STAGE_TRACE, &own)), (lines, lines));
    assert_eq!(counter(&run, names::STAGE_REACHED, &shipped), 20);
}
