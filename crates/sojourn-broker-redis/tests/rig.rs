//! A server of one's own with a stream or a channel, spoken to by redis-rs.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use redis::Value;
use sojourn_broker::Connect;
use sojourn_conformance::{Abilities, Message, Rig, System, Wrong, dead_address};
use sojourn_plan::{Channel, RedisSource, Secret};
use sojourn_services::{Redis, RedisOptions, Service};

use crate::support::{add, as_user, channel_at, client, named, owned, run, with_field};

const STREAM: &str = "events.numbered";
const GROUP: &str = "system";

fn address(redis: &Redis) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, redis.port()))
}

fn number(payload: &[u8]) -> Option<u64> {
    serde_json::from_slice::<serde_json::Value>(payload).ok()?.get("n")?.as_u64()
}

/// What is wrong with any channel.
fn wrong(redis: &Redis, locked: &Redis, source: &RedisSource) -> Vec<Wrong> {
    let at = |port, source: &RedisSource| channel_at(port, source.clone());
    let dead = dead_address();
    let mut database = at(redis.port(), source);
    database.server.path = "99".to_owned();
    let mut password = as_user(at(locked.port(), source));
    password.server.password = Some(Secret::new("hunter2"));
    let none = at(locked.port(), source);
    let cases = [
        ("the address", at(dead.port(), source), vec![dead.to_string()], None),
        ("the database", database, vec![address(redis).to_string(), "99".to_owned()], None),
        ("the password", password, vec![address(locked).to_string()], Some("hunter2".to_owned())),
        ("no password", none, vec![address(locked).to_string()], None),
    ];
    cases
        .into_iter()
        .map(|(what, settings, mut says, secret)| {
            says.push("redis".to_owned());
            Wrong { what, channel: named(settings), says, secret }
        })
        .collect()
}

fn locked() -> Redis {
    Redis::start_with(RedisOptions { password: true }).unwrap()
}

/// What is there by name, but for the consumers' connections.
fn footprint(redis: &Redis) -> Vec<String> {
    let mut system = client(redis);
    ["KEYS *", "PUBSUB CHANNELS", "PUBSUB NUMPAT"]
        .iter()
        .map(|command| format!("{command} {:?}", run(&mut system, command)))
        .collect()
}

/// A server, and one that asks for passwords where that is needed.
pub(crate) struct StreamRig(Redis, Option<Redis>);

impl StreamRig {
    pub(crate) fn new() -> Self {
        let redis = Redis::start().unwrap();
        add(&mut client(&redis), STREAM, "data", "{}");
        Self(redis, None)
    }

    fn source() -> RedisSource {
        RedisSource::Streams(owned(&[STREAM]))
    }
}

impl Rig for StreamRig {
    fn connector(&self) -> &dyn Connect {
        &sojourn_broker_redis::Redis
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        let port = through.unwrap_or_else(|| self.address()).port();
        named(with_field(channel_at(port, Self::source()), "data"))
    }

    fn address(&self) -> SocketAddr {
        address(&self.0)
    }

    fn kill(&mut self) {
        self.0.kill();
    }

    fn restart(&mut self) {
        self.0.restart().unwrap();
    }

    fn publish(&mut self, messages: &[Message]) {
        let mut pipe = redis::pipe();
        for message in messages {
            let command = pipe.cmd("XADD").arg(STREAM).arg("*").arg("key").arg(&message.key);
            for (name, value) in &message.headers {
                command.arg(name).arg(value);
            }
            command.arg("data").arg(&message.payload);
        }
        let ids: Vec<String> = pipe.query(&mut client(&self.0)).unwrap();
        assert_eq!(ids.len(), messages.len());
    }

    fn abilities(&self) -> Abilities {
        Abilities { keeps_a_past: true, ..Abilities::default() }
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        let mut all = wrong(&self.0, self.1.insert(locked()), &Self::source());
        let mut missing = self.channel(None);
        missing.connector = sojourn_plan::Connector::Redis(channel_at(
            self.0.port(),
            RedisSource::Streams(owned(&["events.numbred"])),
        ));
        let says = ["redis", "`events.numbred`", STREAM, &self.address().to_string()];
        all.push(Wrong { what: "the stream", channel: missing, says: owned(&says), secret: None });
        all
    }

    /// A message makes its stream.
    fn stops_publishers(&self, wrong: &Wrong) -> bool {
        wrong.what != "the stream"
    }

    fn system(&mut self) -> Option<Box<dyn System>> {
        let mut system = client(&self.0);
        run(&mut system, &format!("XGROUP CREATE {STREAM} {GROUP} $"));
        Some(Box::new(Member(system)))
    }

    fn footprint(&mut self) -> Vec<String> {
        let mut all = footprint(&self.0);
        let mut system = client(&self.0);
        let groups = run(&mut system, &format!("XINFO GROUPS {STREAM}"));
        let Value::Array(groups) = groups else { panic!("{groups:?}") };
        for group in groups {
            let group: Vec<Value> = redis::from_redis_value(group).unwrap();
            // Name, consumers, pending.
            all.push(format!("{:?} {:?} {:?}", group[1], group[3], group[5]));
        }
        all
    }

    fn stored(&mut self) -> Option<Vec<u64>> {
        let range = run(&mut client(&self.0), &format!("XRANGE {STREAM} - +"));
        let entries: Vec<(String, Vec<Vec<u8>>)> = redis::from_redis_value(range).unwrap();
        Some(entries.iter().filter_map(|(_, fields)| number(fields.last()?)).collect())
    }

    fn backlog(&self) -> Option<String> {
        Some(GROUP.to_owned())
    }
}

/// The system's own member of a group.
struct Member(redis::Connection);

impl System for Member {
    fn take(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let left = count - numbers.len();
            let words =
                format!("XREADGROUP GROUP {GROUP} one COUNT {left} BLOCK 5000 STREAMS {STREAM} >");
            let Value::Array(read) = run(&mut self.0, &words) else { break };
            type Entries = Vec<(String, Vec<Vec<u8>>)>;
            for stream in read {
                let (_, entries): (String, Entries) = redis::from_redis_value(stream).unwrap();
                for (id, fields) in entries {
                    numbers.extend(number(fields.last().unwrap()));
                    run(&mut self.0, &format!("XACK {STREAM} {GROUP} {id}"));
                }
            }
        }
        numbers
    }
}

/// A server, and one that asks for passwords where that is needed.
pub(crate) struct PubSubRig(Redis, Option<Redis>);

impl PubSubRig {
    pub(crate) fn new() -> Self {
        Self(Redis::start().unwrap(), None)
    }

    /// A name and a pattern that fit the same: each message is to come once.
    fn source() -> RedisSource {
        RedisSource::Channels(owned(&[STREAM, "events.*"]))
    }
}

impl Rig for PubSubRig {
    fn connector(&self) -> &dyn Connect {
        &sojourn_broker_redis::Redis
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        let port = through.unwrap_or_else(|| self.address()).port();
        named(channel_at(port, Self::source()))
    }

    fn address(&self) -> SocketAddr {
        address(&self.0)
    }

    fn kill(&mut self) {
        self.0.kill();
    }

    fn restart(&mut self) {
        self.0.restart().unwrap();
    }

    fn publish(&mut self, messages: &[Message]) {
        let mut pipe = redis::pipe();
        for message in messages {
            pipe.cmd("PUBLISH").arg(STREAM).arg(&message.payload);
        }
        pipe.query::<Value>(&mut client(&self.0)).unwrap();
    }

    fn abilities(&self) -> Abilities {
        Abilities { keys: false, headers: false, ..Abilities::default() }
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        wrong(&self.0, self.1.insert(locked()), &Self::source())
    }

    fn system(&mut self) -> Option<Box<dyn System>> {
        let mut connection = client(&self.0);
        let (ready, is_ready) = sync_channel(1);
        let (heard, hears) = sync_channel(10_000);
        std::thread::spawn(move || {
            let mut subscription = connection.as_pubsub();
            subscription.subscribe(STREAM).unwrap();
            ready.send(()).unwrap();
            while let Ok(message) = subscription.get_message() {
                if heard.send(number(message.get_payload_bytes()).unwrap()).is_err() {
                    return;
                }
            }
        });
        is_ready.recv().unwrap();
        Some(Box::new(Subscriber(hears)))
    }

    fn footprint(&mut self) -> Vec<String> {
        footprint(&self.0)
    }
}

/// The system's own subscriber, on a thread that ends with its server.
struct Subscriber(Receiver<u64>);

impl System for Subscriber {
    fn take(&mut self, count: usize) -> Vec<u64> {
        let next = || self.0.recv_timeout(Duration::from_secs(10)).ok();
        std::iter::from_fn(next).take(count).collect()
    }
}
