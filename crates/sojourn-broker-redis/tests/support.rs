//! What the tests share: a channel, a feed of what came, waiting until.

use std::time::Duration;

use redis::Value;
use sojourn_broker::{Gap, RawMessage, Sink, Tap};
use sojourn_broker_redis::RedisTap;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{Channel, Decoder, RedisChannel, RedisSource, Secret, Server};
use sojourn_services::{PASSWORD, Redis, Service, USER};

/// How long anything may take, on a machine with much else to do.
pub(crate) const PATIENCE_NS: u64 = 60 * SECOND_NS;

/// A message, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) stamp_ns: u64,
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) payload: Vec<u8>,
    pub(crate) position: Option<(u64, u64)>,
}

impl Kept {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.payload).unwrap()
    }
}

/// All that came.
#[derive(Debug, Default)]
pub(crate) struct Feed(pub(crate) Vec<Kept>);

impl Sink for Feed {
    fn message(&mut self, message: &RawMessage<'_>) {
        let bytes = |bytes: &[u8]| bytes.to_vec();
        self.0.push(Kept {
            stamp_ns: message.stamp_ns,
            topic: message.topic.to_owned(),
            key: message.key.map(bytes),
            headers: message.headers.iter().map(|(n, v)| ((*n).to_owned(), bytes(v))).collect(),
            payload: message.payload.to_vec(),
            position: message.position.map(|position| (position.partition, position.offset)),
        });
    }
}

impl Feed {
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.0.iter().map(Kept::text).collect()
    }
}

/// A channel of this server, by this port.
pub(crate) fn channel_at(port: u16, source: RedisSource) -> RedisChannel {
    let host = "127.0.0.1".to_owned();
    let server = Server { host, port, ..Server::default() };
    RedisChannel { server, source, field: None }
}

pub(crate) fn streams(redis: &Redis, names: &[&str]) -> RedisChannel {
    channel_at(redis.port(), RedisSource::Streams(owned(names)))
}

pub(crate) fn channels(redis: &Redis, names: &[&str]) -> RedisChannel {
    channel_at(redis.port(), RedisSource::Channels(owned(names)))
}

pub(crate) fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A channel of a plan with these settings.
pub(crate) fn named(settings: RedisChannel) -> Channel {
    Channel {
        name: "events".to_owned(),
        connector: sojourn_plan::Connector::Redis(settings),
        decoder: Decoder::Auto,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    }
}

/// The same, as the user that every server knows.
pub(crate) fn as_user(mut channel: RedisChannel) -> RedisChannel {
    channel.server.user = Some(USER.to_owned());
    channel.server.password = Some(Secret::new(PASSWORD));
    channel
}

pub(crate) fn with_field(channel: RedisChannel, field: &str) -> RedisChannel {
    RedisChannel { field: Some(field.to_owned()), ..channel }
}

/// The system's client.
pub(crate) fn client(redis: &Redis) -> redis::Connection {
    redis::Client::open(redis.url()).unwrap().get_connection().unwrap()
}

/// Runs a command of words.
pub(crate) fn run(client: &mut redis::Connection, words: &str) -> Value {
    run_all(client, &words.split(' ').collect::<Vec<_>>())
}

/// Runs a command.
pub(crate) fn run_all<A: redis::ToRedisArgs>(client: &mut redis::Connection, words: &[A]) -> Value {
    let mut command = redis::Cmd::new();
    for word in words {
        command.arg(word);
    }
    command.query(client).unwrap()
}

/// Adds an entry with one field; its id.
pub(crate) fn add(client: &mut redis::Connection, stream: &str, name: &str, value: &str) -> String {
    redis::cmd("XADD").arg(stream).arg("*").arg(name).arg(value).query(client).unwrap()
}

pub(crate) fn open(channel: &RedisChannel) -> RedisTap {
    let mut tap = RedisTap::new(channel).unwrap();
    tap.open().unwrap();
    tap
}

/// Polls until the condition holds.
pub(crate) fn poll_until(
    tap: &mut RedisTap,
    feed: &mut Feed,
    what: &str,
    mut done: impl FnMut(&Feed, &mut RedisTap) -> bool,
) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !done(feed, tap) {
        assert!(now_ns() < deadline_ns, "never: {what}; {} messages", feed.0.len());
        tap.poll(Duration::from_millis(20), feed).unwrap();
    }
}

pub(crate) fn poll_for(tap: &mut RedisTap, feed: &mut Feed, messages: usize) {
    poll_until(tap, feed, "all messages", |feed, _| feed.0.len() >= messages);
}

/// Polls until the watermark has passed this moment: whatever came before has been handed over.
pub(crate) fn poll_past_now(tap: &mut RedisTap, feed: &mut Feed) {
    let now = now_ns();
    poll_until(tap, feed, "the watermark", |_, tap| tap.watermark_ns() > now);
}

/// Polls until a gap is over.
pub(crate) fn poll_for_gap(tap: &mut RedisTap, feed: &mut Feed) -> Gap {
    let mut gaps = Vec::new();
    poll_until(tap, feed, "a gap", |_, tap| {
        gaps.extend(tap.take_gaps());
        !gaps.is_empty()
    });
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    gaps.remove(0)
}

/// Waits until the condition holds.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !done() {
        assert!(now_ns() < deadline_ns, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
