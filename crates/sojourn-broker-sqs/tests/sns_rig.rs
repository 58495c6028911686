//! Moto for the shared promises: a topic, of which each tap makes a queue of its own.
//!
//! It keeps all in memory: after a restart neither the topic nor the tap's queue is there, so the
//! promises of restarts are kept by the tap of a queue alone. It is one Python: a thousand messages
//! take it seconds.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::MutexGuard;

use serde_json::{Value, json};
use sojourn_broker::Connect;
use sojourn_broker_sqs::Sqs;
use sojourn_conformance::{Abilities, Message, Rig, System, Wrong, dead_address, wait_until};
use sojourn_plan::{Channel, Secret, SqsChannel, SqsCredentials, SqsSource};
use sojourn_services::{Moto, Service};

use crate::client::{create, post, queues, take, unacknowledged};
use crate::rig::channel;
use crate::sns_client::{create_topic, publish, subscribe, subscribed};

/// Gets a copy of what is published.
const STORE: &str = "store";
const SYSTEM: &str = "system";

/// A server with a topic and nothing else but a queue that keeps what the topic sends.
pub(crate) struct SnsRig {
    server: MutexGuard<'static, Moto>,
    pub(crate) topic: String,
    pub(crate) store: String,
}

impl SnsRig {
    pub(crate) fn standard() -> Self {
        Self::new("events", STORE)
    }

    pub(crate) fn fifo() -> Self {
        Self::new("events.fifo", "store.fifo")
    }

    fn new(name: &str, store: &str) -> Self {
        let server = Moto::shared().unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()));
        post(address, "/moto-api/reset", "", "");
        let topic = create_topic(address, name);
        let store = create(address, store, json!({}));
        subscribe(address, &topic, &store, &[("RawMessageDelivery", "true")]);
        Self { server, topic, store }
    }

    pub(crate) fn sns(&self, topic: &str, through: Option<SocketAddr>) -> SqsChannel {
        topic_at(through.unwrap_or_else(|| self.address()), topic, "anybody", "anything")
    }
}

/// A topic, asked for with these keys.
pub(crate) fn topic_at(server: SocketAddr, topic: &str, id: &str, secret: &str) -> SqsChannel {
    let (id, secret) = (id.to_owned(), Secret::new(secret));
    SqsChannel {
        endpoint: Some(format!("http://{server}")),
        region: Some("us-east-1".to_owned()),
        source: SqsSource::Topic(topic.to_owned()),
        credentials: Some(SqsCredentials { id, secret, token: None }),
        ..SqsChannel::default()
    }
}

impl Rig for SnsRig {
    fn connector(&self) -> &dyn Connect {
        &Sqs
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        channel(self.sns(&self.topic, through))
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.server.port()))
    }

    fn kill(&mut self) {
        self.server.kill();
    }

    fn restart(&mut self) {
        self.server.restart().unwrap();
        let name = self.topic.rsplit(':').next().unwrap().to_owned();
        assert_eq!(create_topic(self.address(), &name), self.topic);
    }

    fn publish(&mut self, messages: &[Message]) {
        publish(self.address(), &self.topic, messages);
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            keeps_a_past: true,
            forgets_what_is_read: true,
            // Not even those of a group: two who ask at a time are given them side by side.
            unordered: true,
            binary: false,
            empty: false,
            payload_bytes_max: 200_000,
            stall_noticed: std::time::Duration::from_secs(4),
            ..Abilities::default()
        }
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        let (address, dead) = (self.address(), dead_address());
        let place = format!("sns at {address}");
        let missing = format!("{}x", self.topic);
        let wrong = |what, sqs, says: &[&str]| Wrong {
            what,
            channel: channel(sqs),
            says: says.iter().map(|word| (*word).to_owned()).collect(),
            secret: Some("anything".to_owned()),
        };
        vec![
            wrong("the topic", self.sns(&missing, None), &[&place, "no topic", &missing]),
            wrong("the ARN", self.sns("events", None), &["`events`", "ARN", "arn:aws:sns"]),
            wrong("the address", self.sns(&self.topic, Some(dead)), &[&dead.to_string(), "sqs"]),
        ]
    }

    /// A consumer that gets its messages wrapped, unlike the tap.
    fn system(&mut self) -> Option<Box<dyn System>> {
        let server = self.address();
        let url = create(server, SYSTEM, json!({}));
        subscribe(server, &self.topic, &url, &[]);
        Some(Box::new(Worker { server, url }))
    }

    fn footprint(&mut self) -> Vec<String> {
        let mut left = queues(self.address());
        left.extend(subscribed(self.address()));
        left
    }

    fn unacknowledged(&mut self) -> Vec<(&'static str, u64)> {
        unacknowledged(self.address(), &create(self.address(), SYSTEM, json!({})))
    }

    fn stored(&mut self) -> Option<Vec<u64>> {
        let mut numbers = Vec::new();
        loop {
            let taken = take(self.address(), &self.store, 10, 0);
            if taken.is_empty() {
                return Some(numbers);
            }
            numbers.extend(taken.iter().filter_map(|payload| payload["n"].as_u64()));
        }
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
            numbers.extend(taken.iter().filter_map(|notification| {
                let message: Value =
                    serde_json::from_str(notification["Message"].as_str()?).ok()?;
                message["n"].as_u64()
            }));
            numbers.len() == count
        });
        numbers
    }
}
