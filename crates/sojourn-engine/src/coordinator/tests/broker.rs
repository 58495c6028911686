//! Whole runs over a broker of the test's own: what is published is seen, refused or never
//! acknowledged; connections are lost; backlogs are told.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use sojourn_broker::{
    Backlog, BrokerError, Connect, Figure, Gap, Outcome, Publisher, PublisherSettings, RawMessage,
    Reading, Recovery, Registry, Sink, Tap, TapInfo,
};
use sojourn_clock::now_ns;
use sojourn_metrics::{SeriesKey, SeriesPhase, names};
use sojourn_plan::Channel;
use sojourn_record::Verdict;

use crate::testing::{Run, plan, run};

const PLAN: &str = r#"
name: orders
channels:
  orders: { nats: { url: "nats://127.0.0.1:4222", subjects: [orders.new] }, backlog: [billing] }
journeys:
  order:
    root:
      publish: { to: orders, key: "{{ key }}", headers: { kind: new }, json: { id: "{{ key }}" } }
      key: "{{ uuid() }}"
    stages:
      - { name: seen, on: orders, match: { header.kind: new }, key: $.id }
    within: 2s
load:
  - { journey: order, rate: 20/s, steady: 1s, drain: 1s }
health: { lag_p99_max: 5s, silent_max: 5s, tap_behind_max: 5s }
"#;

/// What the broker does with messages.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Manner {
    Takes,
    Refuses,
    SaysNothing,
    IsFull,
}

/// A message as published: topic, headers, payload.
type Sent = (String, Vec<(String, Vec<u8>)>, Vec<u8>);

#[derive(Clone)]
struct Broker {
    manner: Manner,
    gap: Option<Recovery>,
    messages: Arc<Mutex<VecDeque<Sent>>>,
}

impl Connect for Broker {
    fn tap(&self, _channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(Listening { broker: self.clone(), polls: 0, seen_ns: now_ns() }))
    }

    fn publisher(
        &self,
        _channel: &Channel,
        settings: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        Ok(Box::new(Publishing { broker: self.clone(), settings, outcomes: Vec::new() }))
    }

    fn backlog(&self, channel: &Channel) -> Result<Option<Box<dyn Backlog>>, BrokerError> {
        Ok(Some(Box::new(Waiting(channel.backlog[0].clone()))))
    }
}

struct Listening {
    broker: Broker,
    polls: u32,
    seen_ns: u64,
}

impl Tap for Listening {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        Ok(TapInfo::default())
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        std::thread::sleep(timeout);
        self.polls += 1;
        let messages: Vec<Sent> = self.broker.messages.lock().unwrap().drain(..).collect();
        for (topic, headers, payload) in &messages {
            let headers = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
            sink.message(&RawMessage {
                stamp_ns: now_ns(),
                topic,
                key: None,
                headers,
                payload,
                position: None,
            });
        }
        self.seen_ns = now_ns();
        Ok(())
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        let now = now_ns();
        let recovery = self.broker.gap.filter(|_| self.polls == 300);
        recovery
            .map(|recovery| Gap { from_ns: now - 200_000_000, to_ns: now, recovery })
            .into_iter()
            .collect()
    }

    fn watermark_ns(&self) -> u64 {
        self.seen_ns
    }
}

struct Publishing {
    broker: Broker,
    settings: PublisherSettings,
    outcomes: Vec<Outcome>,
}

impl Publisher for Publishing {
    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        _key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        let manner = self.broker.manner;
        if manner == Manner::IsFull {
            return Err("the queue is full".to_owned());
        }
        if manner == Manner::Takes {
            let headers =
                headers.iter().map(|(name, value)| ((*name).to_owned(), value.to_vec())).collect();
            let sent = (topic.to_owned(), headers, payload.to_vec());
            self.broker.messages.lock().unwrap().push_back(sent);
        }
        let error = (manner == Manner::Refuses).then(|| "no permission".to_owned());
        if manner != Manner::SaysNothing {
            self.outcomes.push(Outcome { token, acked_ns: now_ns(), error });
            (self.settings.wake)();
        }
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        outcomes.append(&mut self.outcomes);
    }
}

struct Waiting(String);

impl Backlog for Waiting {
    fn read(&mut self, _timeout: Duration, out: &mut Vec<Reading>) -> Result<(), BrokerError> {
        out.push(Reading { of: self.0.clone(), figure: Figure::Waiting, value: 7.0 });
        Ok(())
    }
}

pub(super) fn run_with(text: &str, manner: Manner, gap: Option<Recovery>) -> Run {
    let broker = Broker { manner, gap, messages: Arc::default() };
    let registry = Registry::new().with("nats", broker);
    run(&plan(text, "http://127.0.0.1:1"), &registry, |_| {})
}

fn counter(run: &Run, metric: &str, tags: &[(&str, &str)]) -> u64 {
    run.file.store.counter(&SeriesKey::new(metric, tags, SeriesPhase::Steady))
}

fn requests(run: &Run, status: &str) -> u64 {
    let tags = [("journey", "order"), ("step", "root"), ("status", status)];
    counter(run, names::STEP_REQUESTS, &tags)
}

#[test]
fn a_published_root_starts_a_journey_that_is_followed_to_its_end() {
    let run = run_with(PLAN, Manner::Takes, None);
    assert_eq!(run.causes(), "");
    assert_eq!(run.summary.verdict, Verdict::Pass);
    assert_eq!(counter(&run, names::JOURNEYS_COMPLETED, &[("journey", "order")]), 20);
    assert_eq!(requests(&run, "acknowledged"), 20);
    let tags = [("channel", "orders"), ("of", "billing"), ("figure", "waiting")];
    let key = SeriesKey::new(names::BACKLOG, &tags, SeriesPhase::Any);
    assert_eq!(run.file.store.gauge(&key), Some((7.0, 7.0, 7.0)));
}

#[test]
fn what_the_broker_refuses_or_never_acknowledges_is_a_failed_root() {
    let refused = run_with(PLAN, Manner::Refuses, None);
    assert_eq!(requests(&refused, "refused"), 20);
    let tags = [("journey", "order"), ("step", "root"), ("reason", "no permission")];
    assert_eq!(counter(&refused, names::STEP_FAILED, &tags), 20);
    let failed = |run: &Run| counter(run, names::JOURNEYS_ROOT_FAILED, &[("journey", "order")]);
    assert_eq!(failed(&refused), 20);

    let text = PLAN.replace("to: orders,", "to: orders, timeout: 100ms,");
    let silent = run_with(&text, Manner::SaysNothing, None);
    assert_eq!((requests(&silent, "timeout"), failed(&silent)), (20, 20));
    assert_eq!(silent.causes(), "");
}

#[test]
fn a_publisher_without_a_place_is_our_own_limit_and_voids_the_run() {
    let run = run_with(PLAN, Manner::IsFull, None);
    assert_eq!(run.summary.verdict, Verdict::Void);
    assert!(run.causes().contains("generator saturated"), "{}", run.causes());
}

#[test]
fn a_lost_connection_voids_the_run_unless_the_broker_kept_what_came() {
    let missed = run_with(PLAN, Manner::Takes, Some(Recovery::Missed));
    assert_eq!(missed.summary.verdict, Verdict::Void);
    let causes = missed.causes();
    assert!(causes.contains("tap orders had no connection for 0.2 s"), "{causes}");
    assert!(causes.contains("may have been missed"), "{causes}");

    let resumed = run_with(PLAN, Manner::Takes, Some(Recovery::Resumed { messages: 3 }));
    assert_eq!(resumed.causes(), "");
    let notes = resumed.summary.notes.join("\n");
    assert!(notes.contains("3 events are stamped up to 0.2 s after they came"), "{notes}");
}
