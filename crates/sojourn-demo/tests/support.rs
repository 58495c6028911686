//! A client, a tap and a model of the demo: nothing here knows the demo's insides.

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{Headers, Message};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use serde_json::Value;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_demo::{
    Demo, DemoConfig, DemoCounts, Fate, FaultConfig, Faults, ServiceTime, Stage, Truth, TruthLog,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// No wait in a test lasts longer.
const PATIENCE_NS: u64 = 60 * SECOND_NS;

/// A quick demo: short polls, short work, few partitions.
pub(crate) fn quick(folder: &Path) -> DemoConfig {
    let mut config = DemoConfig {
        partitions: 4,
        truth_path: Some(folder.join("truth.ndjson")),
        psp_latency: ServiceTime::Fixed { ns: 0 },
        notification_latency: ServiceTime::Fixed { ns: 0 },
        ..DemoConfig::default()
    };
    config.relay.poll_ms = 10;
    for stage in [&mut config.created, &mut config.settled, &mut config.completed] {
        stage.service = ServiceTime::fixed_ms(1);
    }
    config
}

/// A keep-alive HTTP client.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(demo: &Demo) -> Self {
        let address = demo.api_url().strip_prefix("http://").unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Creates a payment; its key.
    pub(crate) fn pay(&mut self) -> String {
        let body = r#"{"amount": 86.10, "currency": "GBP"}"#;
        let (status, answer) = self.send("POST", "/api/payment/create", body);
        assert_eq!(status, 200, "{answer}");
        format!("pay:{}", json(&answer)["paymentId"].as_str().unwrap())
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) -> (u16, String) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: demo\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).unwrap();
        (status, String::from_utf8(answer).unwrap())
    }
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A message, as anyone sees it on a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) key: String,
    pub(crate) event_type: String,
    pub(crate) message_id: String,
    pub(crate) reason: Option<String>,
    pub(crate) payload: String,
    pub(crate) stamp_ns: u64,
}

/// An independent consumer of one topic, from its beginning.
pub(crate) struct Tap {
    consumer: BaseConsumer,
    topic: String,
    partitions: i32,
    pub(crate) seen: Vec<Seen>,
}

impl Tap {
    pub(crate) fn open(brokers: &str, topic: &str, partitions: u16) -> Self {
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", brokers)
            .set("group.id", "tests")
            .set("enable.auto.commit", "false")
            .set("fetch.wait.max.ms", "2")
            .create()
            .unwrap();
        let partitions = i32::from(partitions);
        let mut list = TopicPartitionList::new();
        for partition in 0..partitions {
            list.add_partition_offset(topic, partition, Offset::Beginning).unwrap();
        }
        consumer.assign(&list).unwrap();
        Self { consumer, topic: topic.to_owned(), partitions, seen: Vec::new() }
    }

    /// Reads until so many messages have come, and then to the topic's end.
    pub(crate) fn read(&mut self, expected: usize) {
        let deadline_ns = now_ns() + PATIENCE_NS;
        while self.seen.len() < expected || self.seen.len() < self.written() {
            assert!(
                now_ns() < deadline_ns,
                "{} of {expected} messages came on {}",
                self.seen.len(),
                self.topic
            );
            self.poll();
        }
    }

    fn poll(&mut self) {
        let Some(message) = self.consumer.poll(Duration::from_millis(50)) else {
            return;
        };
        let stamp_ns = now_ns();
        let message = message.unwrap();
        let text = |bytes: Option<&[u8]>| String::from_utf8(bytes.unwrap().to_vec()).unwrap();
        let header = |name: &str| {
            message
                .headers()
                .unwrap()
                .iter()
                .find(|header| header.key == name)
                .map(|header| text(header.value))
        };
        self.seen.push(Seen {
            partition: message.partition(),
            offset: message.offset(),
            key: text(message.key()),
            event_type: header("type").unwrap(),
            message_id: header("message-id").unwrap(),
            reason: header("reason"),
            payload: text(message.payload()),
            stamp_ns,
        });
    }

    fn written(&self) -> usize {
        (0..self.partitions)
            .map(|partition| {
                let timeout = Duration::from_secs(10);
                let (low, high) =
                    self.consumer.fetch_watermarks(&self.topic, partition, timeout).unwrap();
                assert_eq!(low, 0, "the broker has forgotten messages");
                high as usize
            })
            .sum()
    }

    /// Types of a payment's messages, in the order of the topic.
    pub(crate) fn types_of(&self, key: &str) -> Vec<&str> {
        self.seen
            .iter()
            .filter(|seen| seen.key == key)
            .map(|seen| seen.event_type.as_str())
            .collect()
    }
}

/// Everything about a demo that has ended.
pub(crate) struct Run {
    pub(crate) keys: Vec<String>,
    pub(crate) events: Tap,
    pub(crate) dead_letters: Tap,
    pub(crate) truth: Truth,
    pub(crate) counts: DemoCounts,
    pub(crate) faults: Faults,
}

/// Runs so many payments through a quick demo with faults, to the end that the model foretells.
pub(crate) fn run(payments: usize, faults: FaultConfig) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.faults = faults;
    let faults = Faults::new(config.seed, config.faults.clone());
    let truth_path = config.truth_path.clone().unwrap();
    let (events, letters) = (config.events_topic.clone(), config.dead_letter_topic.clone());
    let partitions = config.partitions;

    let demo = Demo::start(config).unwrap();
    let mut client = Client::connect(&demo);
    let keys: Vec<String> = (0..payments).map(|_| client.pay()).collect();
    let models: Vec<_> = keys.iter().map(|key| model(&faults, key)).collect();
    let mut events = Tap::open(demo.brokers(), &events, partitions);
    let mut dead_letters = Tap::open(demo.brokers(), &letters, partitions);
    events.read(models.iter().map(|model| model.types.len()).sum());
    dead_letters.read(models.iter().filter(|model| model.dead_lettered).count());
    until(|| demo.counts().consumed >= events.seen.len() as u64);
    let counts = demo.stop().unwrap();
    let truth = TruthLog::read(truth_path).unwrap();
    assert!(truth.complete);
    assert_eq!(truth.problems, Vec::<String>::new());
    let run = Run { keys, events, dead_letters, truth, counts, faults };
    run.check_truth();
    run
}

/// Waits for a condition, without end only until patience is.
pub(crate) fn until(condition: impl Fn() -> bool) {
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !condition() {
        assert!(now_ns() < deadline_ns, "waited in vain");
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Run {
    /// The log and the independent consumer agree on every message, and its instants make sense.
    fn check_truth(&self) {
        type Place = (i32, i64);
        let told: BTreeMap<Place, [String; 3]> = self
            .truth
            .publications()
            .map(|it| {
                let message =
                    [it.key.clone(), it.stage.event_type().to_owned(), it.message_id.clone()];
                ((it.partition, it.offset), message)
            })
            .collect();
        let seen: BTreeMap<Place, [String; 3]> = self
            .events
            .seen
            .iter()
            .cloned()
            .map(|it| ((it.partition, it.offset), [it.key, it.event_type, it.message_id]))
            .collect();
        assert_eq!(told, seen);
        assert_eq!(told.len(), self.events.seen.len());
        let stamps: BTreeMap<Place, u64> =
            self.events.seen.iter().map(|it| ((it.partition, it.offset), it.stamp_ns)).collect();
        for publication in self.truth.publications() {
            let stamp_ns = stamps[&(publication.partition, publication.offset)];
            assert!(publication.publish_ns < publication.delivered_ns);
            assert!(publication.publish_ns < stamp_ns);
        }
    }

    /// Types of a payment's messages that its faults foretell, in order.
    pub(crate) fn check_types(&self) {
        for key in &self.keys {
            assert_eq!(self.events.types_of(key), model(&self.faults, key).types);
        }
    }

    /// How many events that came to be have this fate.
    pub(crate) fn fated(&self, fate: Fate) -> u64 {
        self.keys
            .iter()
            .map(|key| {
                let reached = model(&self.faults, key).reached;
                let fated = |stage: &&Stage| self.faults.fate(key, **stage) == fate;
                Stage::ALL[..reached].iter().filter(fated).count() as u64
            })
            .sum()
    }
}

/// What a payment's faults lead to.
pub(crate) struct Model {
    /// Messages on the events topic, in order.
    pub(crate) types: Vec<&'static str>,
    pub(crate) dead_lettered: bool,
    /// Events that come to be in the store.
    pub(crate) reached: usize,
}

pub(crate) fn model(faults: &Faults, key: &str) -> Model {
    let mut model = Model { types: Vec::new(), dead_lettered: false, reached: 0 };
    let mut held = None;
    for stage in Stage::ALL {
        let event_type = stage.event_type();
        model.reached += 1;
        let predecessor = held.take();
        let fate = faults.fate(key, stage);
        match fate {
            Fate::Drop => {}
            Fate::Reorder => held = Some(event_type),
            Fate::Redeliver | Fate::Republish => model.types.extend([event_type; 2]),
            Fate::Poison | Fate::Whole => model.types.push(event_type),
        }
        model.types.extend(predecessor);
        model.dead_lettered = fate == Fate::Poison;
        if matches!(fate, Fate::Drop | Fate::Poison) {
            break;
        }
    }
    assert_eq!(held, None);
    model
}
