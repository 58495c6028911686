//! Taps polled until something holds, with messages kept as they came.

use std::time::Duration;

use sojourn_broker::{
    BrokerError, Gap, Outcome, Position, Publisher, PublisherSettings, RawMessage, Sink, Tap,
};
use sojourn_broker_nats::{NatsPublisher, NatsTap};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{NatsChannel, Secret, Server};
use sojourn_services::{Nats, Service as _};

pub(crate) const PATIENCE_NS: u64 = 40 * SECOND_NS;

/// A message that outlives its poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) stamp_ns: u64,
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) payload: Vec<u8>,
    pub(crate) position: Option<Position>,
}

impl Kept {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.payload.clone()).unwrap()
    }
}

#[derive(Default)]
pub(crate) struct Keeper(pub(crate) Vec<Kept>);

impl Sink for Keeper {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.0.push(Kept {
            stamp_ns: message.stamp_ns,
            topic: message.topic.to_owned(),
            key: message.key.map(ToOwned::to_owned),
            headers: message
                .headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.to_vec()))
                .collect(),
            payload: message.payload.to_vec(),
            position: message.position,
        });
    }
}

impl Keeper {
    pub(crate) fn texts(&self) -> Vec<String> {
        self.0.iter().map(Kept::text).collect()
    }

    pub(crate) fn sequences(&self) -> Vec<u64> {
        self.0.iter().map(|kept| kept.position.unwrap().offset).collect()
    }
}

/// A channel of this server.
pub(crate) fn channel(port: u16, subjects: &[&str], stream: Option<&str>) -> NatsChannel {
    NatsChannel {
        server: Server { host: "127.0.0.1".to_owned(), port, ..Server::default() },
        subjects: subjects.iter().map(|subject| (*subject).to_owned()).collect(),
        stream: stream.map(ToOwned::to_owned),
        ..NatsChannel::default()
    }
}

pub(crate) fn with_login(mut channel: NatsChannel, user: &str, password: &str) -> NatsChannel {
    channel.server.user = Some(user.to_owned());
    channel.server.password = Some(Secret::new(password));
    channel
}

pub(crate) fn tap(nats: &Nats, subjects: &[&str], stream: Option<&str>) -> NatsTap {
    opened(&channel(nats.port(), subjects, stream))
}

pub(crate) fn opened(channel: &NatsChannel) -> NatsTap {
    let mut tap = NatsTap::new(channel).unwrap();
    tap.open().unwrap();
    tap
}

pub(crate) fn open_error(channel: &NatsChannel) -> BrokerError {
    NatsTap::new(channel).and_then(|mut tap| tap.open()).unwrap_err()
}

/// Polls until the condition holds.
pub(crate) fn poll_until(tap: &mut NatsTap, keeper: &mut Keeper, done: impl Fn(&Keeper) -> bool) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !done(keeper) {
        assert!(now_ns() < deadline_ns, "{} messages, {tap:?}", keeper.0.len());
        tap.poll(Duration::from_millis(20), keeper).unwrap();
    }
}

pub(crate) fn poll_for(tap: &mut NatsTap, keeper: &mut Keeper, count: usize) {
    poll_until(tap, keeper, |keeper| keeper.0.len() >= count);
    assert_eq!(keeper.0.len(), count);
}

/// Polls until a gap has ended.
pub(crate) fn poll_gap(tap: &mut NatsTap, keeper: &mut Keeper) -> Gap {
    let deadline_ns = now_ns() + PATIENCE_NS;
    loop {
        assert!(now_ns() < deadline_ns, "no gap, {tap:?}");
        tap.poll(Duration::from_millis(20), keeper).unwrap();
        if let [gap] = tap.take_gaps().as_slice() {
            return gap.clone();
        }
    }
}

/// Everything sent until now has been handed over: the watermark has passed this instant.
pub(crate) fn settle(tap: &mut NatsTap, keeper: &mut Keeper) {
    let now = now_ns();
    let deadline_ns = now + PATIENCE_NS;
    while tap.watermark_ns() <= now {
        assert!(now_ns() < deadline_ns);
        tap.poll(Duration::from_millis(5), keeper).unwrap();
    }
}

pub(crate) fn publisher(channel: &NatsChannel) -> NatsPublisher {
    NatsPublisher::new(channel, PublisherSettings::default()).unwrap()
}

pub(crate) fn outcomes(publisher: &mut NatsPublisher, count: usize) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let deadline_ns = now_ns() + PATIENCE_NS;
    while outcomes.len() < count {
        assert!(now_ns() < deadline_ns, "{} of {count} outcomes", outcomes.len());
        publisher.poll(&mut outcomes);
        std::thread::sleep(Duration::from_millis(1));
    }
    outcomes
}
