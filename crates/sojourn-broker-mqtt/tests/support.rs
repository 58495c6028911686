//! A channel of a server, a sink that keeps everything, and waiting for conditions.

use std::time::Duration;

use sojourn_broker::{Outcome, Publisher, PublisherSettings, RawMessage, Sink, Tap};
use sojourn_broker_mqtt::{MqttPublisher, MqttTap};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{MqttChannel, MqttVersion, Secret, Server};
use sojourn_services::{Mosquitto, PASSWORD, Service, USER};

pub(crate) const PATIENCE_NS: u64 = 60 * SECOND_NS;
const TICK: Duration = Duration::from_millis(20);

/// A channel on the open port.
pub(crate) fn channel(mosquitto: &Mosquitto, filter: &str) -> MqttChannel {
    at_port(mosquitto.port(), filter)
}

pub(crate) fn at_port(port: u16, filter: &str) -> MqttChannel {
    MqttChannel {
        server: Server { host: "127.0.0.1".to_owned(), port, ..Server::default() },
        filters: vec![filter.to_owned()],
        qos: 1,
        ..MqttChannel::default()
    }
}

/// One on the port with passwords, with the right one.
pub(crate) fn with_password(mosquitto: &Mosquitto, filter: &str) -> MqttChannel {
    let mut channel = at_port(mosquitto.port_with_password(), filter);
    channel.server.user = Some(USER.to_owned());
    channel.server.password = Some(Secret::new(PASSWORD));
    channel
}

/// Both versions with every quality of service.
pub(crate) fn each_way(channel: &MqttChannel) -> Vec<MqttChannel> {
    let versions = [MqttVersion::V3, MqttVersion::V5];
    let ways = versions.into_iter().flat_map(|version| (0..=2).map(move |qos| (version, qos)));
    ways.map(|(version, qos)| MqttChannel { version, qos, ..channel.clone() }).collect()
}

/// One message, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) payload: Vec<u8>,
    pub(crate) stamp_ns: u64,
}

impl Kept {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.payload).into_owned()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Keep(pub(crate) Vec<Kept>);

impl Keep {
    pub(crate) fn texts(&self) -> Vec<String> {
        self.0.iter().map(Kept::text).collect()
    }
}

impl Sink for Keep {
    fn message(&mut self, message: &RawMessage<'_>) {
        let headers = message.headers.iter();
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        self.0.push(Kept {
            topic: message.topic.to_owned(),
            key: message.key.map(<[u8]>::to_vec),
            headers: headers.map(|(name, value)| ((*name).to_owned(), text(value))).collect(),
            payload: message.payload.to_vec(),
            stamp_ns: message.stamp_ns,
        });
    }
}

pub(crate) fn opened(channel: &MqttChannel) -> MqttTap {
    let mut tap = MqttTap::new(channel).unwrap();
    tap.open().unwrap();
    tap
}

pub(crate) fn poll_until(
    tap: &mut MqttTap,
    keep: &mut Keep,
    until: impl Fn(&MqttTap, &Keep) -> bool,
) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !until(tap, keep) {
        assert!(now_ns() < deadline_ns, "it does not come: {} so far", keep.0.len());
        tap.poll(TICK, keep).unwrap();
    }
}

/// Everything published before has come when this has: the last message of all, as brokers keep
/// the order of one publisher.
pub(crate) fn poll_to_end(tap: &mut MqttTap, keep: &mut Keep) {
    poll_until(tap, keep, |_, keep| keep.0.last().is_some_and(|last| last.payload == b"end"));
    keep.0.pop();
}

pub(crate) fn publisher(channel: &MqttChannel) -> MqttPublisher {
    MqttPublisher::new(channel, PublisherSettings::default()).unwrap()
}

pub(crate) fn outcomes(publisher: &mut MqttPublisher, count: usize) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    wait_for(|| {
        publisher.poll(&mut outcomes);
        outcomes.len() >= count
    });
    outcomes
}

pub(crate) fn wait_for(mut condition: impl FnMut() -> bool) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !condition() {
        assert!(now_ns() < deadline_ns, "it does not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Publishes texts one after the other and waits until the broker has all of them.
pub(crate) fn publish(publisher: &mut MqttPublisher, topic: &str, texts: &[&str]) {
    for (token, text) in (0..).zip(texts) {
        publisher.try_publish(token, topic, None, &[], text.as_bytes()).unwrap();
    }
    for outcome in outcomes(publisher, texts.len()) {
        assert_eq!(outcome.error, None);
    }
}
