//! A publisher and the book of what became of its messages.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sojourn_broker::{BrokerError, Connect, Outcome, Publisher, PublisherSettings};
use sojourn_clock::now_ns;
use sojourn_plan::Channel;

use crate::patience::wait_until;
use crate::{Message, Rig};

/// A publisher with its book.
pub struct Publishing {
    publisher: Box<dyn Publisher>,
    topic: String,
    /// Times that it was said that there are outcomes.
    pub woken: Arc<AtomicU64>,
    /// When each message was taken, and what became of it.
    pub fates: BTreeMap<u64, Fate>,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Taken at this instant, nothing heard yet.
    Pending(u64),
    /// Acknowledged at this instant.
    Acked(u64),
    /// Failed, in the connector's words.
    Failed(String),
}

impl Publishing {
    /// A publisher to the rig's channel.
    #[track_caller]
    pub fn open(rig: &dyn Rig, through: Option<SocketAddr>, queue_max: usize) -> Self {
        Self::to(rig.connector(), &rig.channel(through), rig.topic(), queue_max)
    }

    /// A publisher to a topic of a channel.
    #[track_caller]
    pub fn to(connector: &dyn Connect, channel: &Channel, topic: String, queue_max: usize) -> Self {
        let settings = PublisherSettings { queue_max, ..PublisherSettings::default() };
        Self::with(connector, channel, topic, settings)
    }

    /// The same with other settings; their `wake` is its own.
    pub fn with(
        connector: &dyn Connect,
        channel: &Channel,
        topic: String,
        settings: PublisherSettings,
    ) -> Self {
        let woken = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&woken);
        let wake = Arc::new(move || {
            count.fetch_add(1, Ordering::Release);
        });
        let settings = PublisherSettings { wake, ..settings };
        let publisher = connector.publisher(channel, settings).unwrap();
        Self { publisher, topic, woken, fates: BTreeMap::new() }
    }

    /// Waits until it is known to work.
    pub fn ready(&mut self) -> Result<(), BrokerError> {
        self.publisher.ready(std::slice::from_ref(&self.topic))
    }

    /// Sends a message, with its number as token; errs when the publisher does not take it.
    pub fn send(&mut self, message: &Message) -> Result<(), String> {
        let headers: Vec<_> =
            message.headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
        let sent_ns = now_ns();
        let key = Some(message.key.as_bytes());
        self.publisher.try_publish(message.number, &self.topic, key, &headers, &message.payload)?;
        self.fates.insert(message.number, Fate::Pending(sent_ns));
        Ok(())
    }

    /// Takes outcomes; how many there were. Panics at one too many, or one whose instant cannot be.
    #[track_caller]
    pub fn poll(&mut self) -> usize {
        let mut outcomes = Vec::new();
        self.publisher.poll(&mut outcomes);
        for Outcome { token, acked_ns, error } in &outcomes {
            let fate = self.fates.get(token);
            let Some(Fate::Pending(sent_ns)) = fate else {
                panic!("an outcome for message {token}, of which is known: {fate:?}");
            };
            assert!((*sent_ns..=now_ns()).contains(acked_ns), "{token} {sent_ns} {acked_ns}");
            let fate = match error {
                Some(error) => Fate::Failed(error.clone()),
                None => Fate::Acked(*acked_ns),
            };
            self.fates.insert(*token, fate);
        }
        outcomes.len()
    }

    /// Waits until every message taken has its outcome.
    #[track_caller]
    pub fn settle(&mut self) {
        wait_until("every message has an outcome", || {
            self.poll();
            self.pending() == 0
        });
    }

    /// Messages without an outcome.
    pub fn pending(&self) -> usize {
        self.fates.values().filter(|fate| matches!(fate, Fate::Pending(_))).count()
    }

    /// Numbers of the messages acknowledged.
    pub fn acked(&self) -> Vec<u64> {
        let acked = self.fates.iter().filter(|(_, fate)| matches!(fate, Fate::Acked(_)));
        acked.map(|(number, _)| *number).collect()
    }

    /// What is said of those that failed.
    pub fn failures(&self) -> Vec<String> {
        let failed = self.fates.values().filter_map(|fate| match fate {
            Fate::Failed(error) => Some(error.clone()),
            _ => None,
        });
        failed.collect()
    }
}

/// Publishes by the connector's own publisher, and waits until the broker has acknowledged all.
#[track_caller]
pub fn publish_all(connector: &dyn Connect, channel: &Channel, topic: &str, all: &[Message]) {
    let mut publishing = Publishing::to(connector, channel, topic.to_owned(), 1_000);
    for message in all {
        // A full queue becomes shorter.
        wait_until("the publisher takes a message", || {
            publishing.poll();
            publishing.pending() < 1_000
        });
        publishing.send(message).unwrap();
    }
    publishing.settle();
    assert_eq!(publishing.failures(), Vec::<String>::new());
}

impl std::fmt::Debug for Publishing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Publishing").field("topic", &self.topic).finish_non_exhaustive()
    }
}
