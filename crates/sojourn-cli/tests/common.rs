//! What the tests share: plans from text, runs in a temporary folder.

use std::{
    io::{Read, Write},
    net::{TcpStream, ToSocketAddrs},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rdkafka::{
    ClientConfig,
    producer::{BaseProducer, BaseRecord, Producer},
};
use sojourn_broker::Registry;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_engine::{RunOptions, Stop};
use sojourn_plan::{Files, Overrides, Plan};
use sojourn_record::{RunFile, Summary};
use sojourn_testkit::services::Fauxqs;

/// What makes runs void on a machine that is too busy for them, and says nothing of the books.
pub(crate) const OF_A_BUSY_MACHINE: [&str; 4] =
    ["generator lag", "generator saturated", "missed arrivals", "tap behind"];

/// Waits until something holds, which it must within a minute.
pub(crate) fn until(what: &str, holds: impl FnMut() -> bool) {
    until_or(holds, || what.to_owned());
}

/// The same, and what to say when it never does is found out then.
pub(crate) fn until_or(mut holds: impl FnMut() -> bool, what: impl Fn() -> String) {
    let end_ns = now_ns() + 60 * SECOND_NS;
    while !holds() {
        assert!(now_ns() < end_ns, "never: {}", what());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What is answered to a request of HTTP on a connection of its own. `head` is the request line and
/// the headers but those about host, connection and length.
pub(crate) fn answer(to: impl ToSocketAddrs, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(to).unwrap();
    let length = body.len();
    write!(
        stream,
        "{head}\r\nhost: h\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Durations that follow an exponential law outlast a part of their mean as often as it says.
///
/// One that a busy machine stretched is one among thousands here; of a variance it would be most.
pub(crate) fn assert_exponential(durations: &[f64], tolerance: f64) {
    let count = durations.len() as f64;
    let mean = durations.iter().sum::<f64>() / count;
    for part in [0.25, 0.5, 1.0, 2.0, 3.0] {
        let longer = durations.iter().filter(|one| **one > part * mean).count() as f64 / count;
        let expected = (-part).exp();
        assert!((longer - expected).abs() < tolerance, "{longer} outlast {part} means: {expected}");
    }
}

/// Makes topics: the server makes one when the first message comes to it.
pub(crate) fn make_topics(bootstrap: &str, topics: &[&str]) {
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", bootstrap).create().unwrap();
    for topic in topics {
        producer.send(BaseRecord::<(), str>::to(topic).payload("{}")).unwrap();
    }
    producer.flush(Duration::from_secs(30)).unwrap();
}

/// A channel's settings for a topic of SNS. The server looks at no keys, but there must be some.
pub(crate) fn sns_topic(server: &Fauxqs, topic: &str) -> String {
    let (endpoint, account) = (server.url(), Fauxqs::ACCOUNT);
    format!(
        "{{ endpoint: \"{endpoint}\", topic: \"arn:aws:sns:us-east-1:{account}:{topic}\", \
         credentials: {{ access_key_id: anybody, secret_access_key: anything }} }}"
    )
}

/// Every connector.
pub(crate) fn registry() -> Registry {
    Registry::new()
        .with("amqp", sojourn_broker_amqp::Amqp)
        .with("kafka", sojourn_broker_kafka::Kafka)
        .with("mqtt", sojourn_broker_mqtt::Mqtt)
        .with("nats", sojourn_broker_nats::Nats)
        .with("postgres", sojourn_broker_postgres::Postgres)
        .with("redis", sojourn_broker_redis::Redis)
        .with("sqs", sojourn_broker_sqs::Sqs)
        .with("sse", sojourn_broker_stream::Sse)
        .with("webhook", sojourn_broker_webhook::tap)
        .with("websocket", sojourn_broker_stream::WebSocket)
}

/// A plan from its text, with values for `${NAME}`.
pub(crate) fn plan(text: &str, environment: &[(&str, &str)]) -> Plan {
    struct NoFiles;
    impl Files for NoFiles {
        fn read(&self, path: &Path) -> std::io::Result<String> {
            std::fs::read_to_string(path)
        }
        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }
    let environment =
        environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let overrides = Overrides { environment, seed: Some(7), ..Overrides::default() };
    sojourn_plan::read("test.yaml", text, &NoFiles, &overrides)
        .unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Waits for its turn: runs whose timing matters go one after the other, or they would measure each
/// other.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A finished run.
pub(crate) struct Run {
    pub summary: Summary,
    pub file: RunFile,
    _folder: tempfile::TempDir,
}

/// Makes a run; `change` adjusts the options.
pub(crate) fn run(plan: &Plan, change: impl FnOnce(&mut RunOptions)) -> Run {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.sojourn");
    let mut options = RunOptions::new(path.clone(), "test-run".into());
    change(&mut options);
    let summary = sojourn_engine::run(plan, &options, &registry(), &Stop::default(), &mut |_| {})
        .unwrap_or_else(|error| panic!("{error}"));
    let file = RunFile::open(&path).unwrap_or_else(|error| panic!("{error}"));
    Run { summary, file, _folder: folder }
}
