//! ElasticMQ for the shared promises.
//!
//! It keeps its queues in memory: a restart loses them with their messages, and the rig makes them
//! anew, as empty as they are then.

use std::cell::{Cell, RefCell};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::MutexGuard;

use serde_json::json;
use sojourn_broker::Connect;
use sojourn_broker_sqs::Sqs;
use sojourn_conformance::{Abilities, Message, Rig, System, Wrong, dead_address, wait_until};
use sojourn_plan::{Channel, Connector, Decoder, SqsChannel, SqsSource};
use sojourn_services::{ElasticMq, Service};

use crate::client::{ask, create, queues, send, take, unacknowledged};

/// The queue of the consumers' promises: a group is a queue.
const GROUP: &str = "conformance";
const SYSTEM: &str = "system";
/// Gets a copy of what is published by the connector.
const STORE: &str = "store";

/// A server with a queue for the tap and others for the system, each of which gets every message,
/// as from a topic.
pub(crate) struct SqsRig {
    server: MutexGuard<'static, ElasticMq>,
    events: &'static str,
    /// Each channel has a queue of its own, for promises with several taps.
    several: Cell<bool>,
    made: RefCell<Vec<String>>,
    killed: bool,
}

impl SqsRig {
    pub(crate) fn standard() -> Self {
        Self::new("events")
    }

    pub(crate) fn fifo() -> Self {
        Self::new("events.fifo")
    }

    fn new(events: &'static str) -> Self {
        let server = ElasticMq::shared().unwrap();
        let (several, made) = (Cell::new(false), RefCell::new(Vec::new()));
        let rig = Self { server, events, several, made, killed: false };
        for url in queues(rig.address()) {
            ask(rig.address(), "DeleteQueue", &json!({ "QueueUrl": url }));
        }
        for name in [events, GROUP, STORE] {
            rig.make(name);
        }
        rig
    }

    pub(crate) fn make(&self, name: &str) -> String {
        self.made.borrow_mut().push(name.to_owned());
        create(self.address(), name, json!({}))
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://localhost:{}/000000000000/{name}", self.server.port())
    }

    pub(crate) fn sqs(&self, queue: &str, through: Option<SocketAddr>) -> SqsChannel {
        let server = through.unwrap_or_else(|| self.address());
        SqsChannel {
            endpoint: Some(format!("http://{server}")),
            region: Some("us-east-1".to_owned()),
            credentials: None,
            source: SqsSource::Queue(queue.to_owned()),
            discard: true,
            publish: vec![queue.to_owned(), STORE.to_owned()],
        }
    }
}

pub(crate) fn channel(sqs: SqsChannel) -> Channel {
    Channel {
        name: "events".to_owned(),
        connector: Connector::Sqs(sqs),
        decoder: Decoder::Auto,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    }
}

impl Rig for SqsRig {
    fn connector(&self) -> &dyn Connect {
        &Sqs
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        let mut queue = self.events.to_owned();
        if self.several.get() {
            queue = format!("tap-{}", self.made.borrow().len());
            self.make(&queue);
        }
        channel(self.sqs(&queue, through))
    }

    fn topic(&self) -> String {
        self.events.to_owned()
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.server.port()))
    }

    fn kill(&mut self) {
        self.killed = true;
        self.server.kill();
    }

    fn restart(&mut self) {
        self.server.restart().unwrap();
        for name in self.made.borrow().iter() {
            create(self.address(), name, json!({}));
        }
    }

    fn publish(&mut self, messages: &[Message]) {
        for name in self.made.borrow().iter().filter(|name| *name != STORE) {
            send(self.address(), &self.url(name), messages);
        }
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            keeps_a_past: true,
            forgets_by_restart: true,
            forgets_what_is_read: true,
            unordered: !self.events.ends_with(".fifo"),
            binary: false,
            empty: false,
            payload_bytes_max: 200_000,
            stall_noticed: std::time::Duration::from_secs(4),
            // The server keeps three copies of each in 256 MiB.
            flood: (10_000, 2_000),
            ..Abilities::default()
        }
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        let (address, dead) = (self.address(), dead_address());
        let place = format!("sqs at {address}");
        create(address, "failures", json!({}));
        let arn = "arn:aws:sqs:us-east-1:000000000000:failures";
        let policy = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": 3 }).to_string();
        create(address, "billing", json!({ "RedrivePolicy": policy }));
        let full = create(address, "full", json!({}));
        send(address, &full, &[Message::numbered(1)]);
        let keeps = |queue: &str| SqsChannel { discard: false, ..self.sqs(queue, None) };
        let wrong = |what, sqs, says: &[&str]| Wrong {
            what,
            channel: channel(sqs),
            says: says.iter().map(|word| (*word).to_owned()).collect(),
            secret: None,
        };
        vec![
            wrong("the queue", self.sqs("eventsx", None), &[&place, "`eventsx`", "`events`"]),
            wrong("the address", self.sqs("events", Some(dead)), &[&dead.to_string(), "sqs"]),
            wrong("a queue of consumers", keeps("billing"), &[&place, "billing", "redrive"]),
            wrong("a queue of failures", keeps("failures"), &[&place, "failures", "dead letter"]),
            wrong("messages that wait", keeps("full"), &[&place, "`full`", "discard: true"]),
        ]
    }

    fn stops_publishers(&self, wrong: &Wrong) -> bool {
        ["the queue", "the address"].contains(&wrong.what)
    }

    fn system(&mut self) -> Option<Box<dyn System>> {
        self.several.set(true);
        let url = self.make(SYSTEM);
        Some(Box::new(Worker { server: self.address(), url }))
    }

    fn footprint(&mut self) -> Vec<String> {
        let taps = self.made.borrow().clone();
        let is_of_tap = |url: &String| {
            taps.iter().any(|name| name.starts_with("tap-") && url.ends_with(name.as_str()))
        };
        queues(self.address()).into_iter().filter(|url| !is_of_tap(url)).collect()
    }

    fn unacknowledged(&mut self) -> Vec<(&'static str, u64)> {
        unacknowledged(self.address(), &self.url(SYSTEM))
    }

    fn stored(&mut self) -> Option<Vec<u64>> {
        if self.killed {
            return None;
        }
        let mut numbers = Vec::new();
        loop {
            let taken = take(self.address(), &self.url(STORE), 10, 0);
            if taken.is_empty() {
                return Some(numbers);
            }
            numbers.extend(taken.iter().filter_map(|payload| payload["n"].as_u64()));
        }
    }

    fn backlog(&self) -> Option<String> {
        Some(SYSTEM.to_owned())
    }
}

/// The system's own consumer.
struct Worker {
    server: SocketAddr,
    url: String,
}

impl System for Worker {
    fn take(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        wait_until("the system's messages", || {
            let taken = take(self.server, &self.url, count - numbers.len(), 1);
            numbers.extend(taken.iter().filter_map(|payload| payload["n"].as_u64()));
            numbers.len() == count
        });
        numbers
    }
}
