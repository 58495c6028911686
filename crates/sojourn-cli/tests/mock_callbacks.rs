//! A mock's callbacks to brokers, each a real server.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sojourn_broker::{RawMessage, Sink};
use sojourn_mock::{Mock, MockOptions, RunFiles, read_mock};
use sojourn_plan::{Files, Overrides};
use sojourn_testkit::services::{
    ElasticMq, Kafka, Mosquitto, Nats, Postgres, RabbitMq, Redis, Service,
};

use crate::common::{registry, until};

const REQUESTS: usize = 20;

/// Routes whose answers are followed by a message to channel `events`.
const ROUTES: &str = "
routes:
  - route: POST /charges/{id}
    status: 202
    callbacks:
      - after: uniform(1ms, 20ms)
        publish:
          to: events
          key: '{{ path.id }}'
          headers: { tenant: 't-{{ query.tenant }}' }
          json: { type: ChargeSettled, id: '{{ path.id }}', amount: '{{ number(body.amount) }}' }
  - route: POST /hurried
    status: 202
    callbacks: [{ publish: { to: events, json: { n: 1 }, timeout: 300ms } }]
";

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &Path) -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
}

fn start(text: &str) -> Mock {
    let overrides = Overrides::default();
    let book = read_mock("mocks.yaml", text, &NoFiles, &RunFiles::default(), &overrides)
        .unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let options = MockOptions {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        threads: NonZeroUsize::MIN,
        connections_max: 1_000,
        truth: None,
        run_id: "test".to_owned(),
        connectors: Arc::new(registry()),
        tls: None,
        spin: false,
    };
    Mock::start(book, &options).unwrap()
}

fn post(mock: &Mock, path: &str, body: &Value) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(mock.address()).unwrap();
    let length = body.len();
    write!(stream, "POST {path} HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
}

/// Messages by the id in their payload: key and header, where the broker has such things.
#[derive(Default)]
struct Seen(BTreeMap<String, (Value, Option<String>, Option<String>)>);

impl Sink for Seen {
    fn message(&mut self, message: &RawMessage<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let payload: Value = serde_json::from_slice(message.payload).unwrap();
        let id = payload["id"].as_str().unwrap().to_owned();
        let seen = (payload, message.key.map(text), message.header("tenant").map(text));
        let before = self.0.insert(id, seen);
        assert!(before.is_none(), "twice: {before:?}");
    }
}

/// Every request's message comes once, as the file says; what is there of key and header.
fn deliver(channel: &str) -> (bool, bool) {
    let text = format!("channels: {{ events: {{ {channel} }} }}\n{ROUTES}");
    let channels =
        sojourn_plan::read_channels("mocks.yaml", &text, &NoFiles, &Overrides::default()).unwrap();
    let registry = registry();
    let connector = registry.of(&channels[0]).unwrap();
    connector.provision(&channels[0], "mock-callbacks").unwrap();
    let mut tap = connector.tap(&channels[0]).unwrap();
    tap.open().unwrap();

    let mock = start(&text);
    for number in 0..REQUESTS {
        let path = format!("/charges/c{number}?tenant={number}");
        post(&mock, &path, &json!({ "amount": number }));
    }
    let mut seen = Seen::default();
    until("all have come", || {
        tap.poll(Duration::from_millis(50), &mut seen).unwrap();
        seen.0.len() == REQUESTS
    });
    let (mut has_key, mut has_header) = (true, true);
    for number in 0..REQUESTS {
        let id = format!("c{number}");
        let (payload, key, header) = &seen.0[&id];
        let expected = json!({ "type": "ChargeSettled", "id": id, "amount": number });
        assert_eq!(*payload, expected);
        has_key &= key.as_deref() == Some(&id);
        has_header &= *header == Some(format!("t-{number}"));
    }
    until("all are acknowledged", || mock.callbacks().waiting() == 0);
    let end = mock.finish();
    let figures = (end.callbacks.accepted, end.callbacks.done, end.callbacks.refused);
    assert_eq!(figures, (REQUESTS as u64, REQUESTS as u64, 0), "{:?}", end.callback_failures);
    (has_key, has_header)
}

#[test]
fn amqp() {
    let rabbit = RabbitMq::shared().unwrap();
    let url = rabbit.url_with_password();
    let channel = format!("amqp: {{ url: '{url}', exchange: mock.events, routing: [charge] }}");
    let (_, has_header) = deliver(&channel);
    assert!(has_header);
}

#[test]
fn kafka() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    let channel = format!("kafka: {{ brokers: '{brokers}', topics: [mock.events] }}");
    assert_eq!(deliver(&channel), (true, true));
}

#[test]
fn mqtt() {
    let mosquitto = Mosquitto::start().unwrap();
    let url = mosquitto.url();
    deliver(&format!("mqtt: {{ url: '{url}', topics: [mock/events], qos: 1 }}"));
}

#[test]
fn nats() {
    let nats = Nats::start().unwrap();
    let url = nats.url();
    let (_, has_header) = deliver(&format!("nats: {{ url: '{url}', subjects: [mock.core] }}"));
    assert!(has_header);
    let (_, has_header) =
        deliver(&format!("nats: {{ url: '{url}', subjects: [mock.kept], stream: mock }}"));
    assert!(has_header);
}

#[test]
fn postgres() {
    let postgres = Postgres::start().unwrap();
    let url = postgres.url();
    let channel = format!(
        "postgres: {{ url: '{url}', table: {{ name: mock_events, cursor: id, every: 5ms, \
         key: key, headers: headers, payload: payload }} }}"
    );
    assert_eq!(deliver(&channel), (true, true));
}

#[test]
fn redis() {
    let redis = Redis::start().unwrap();
    let url = redis.url();
    deliver(&format!("redis: {{ url: '{url}', streams: [mock.events], field: payload }}"));
    deliver(&format!("redis: {{ url: '{url}', channels: [mock.live] }}"));
}

#[test]
fn sqs() {
    let elastic = ElasticMq::shared().unwrap();
    let url = elastic.url();
    deliver(&format!("sqs: {{ endpoint: '{url}', queue: mock-events, discard: true }}"));
}

/// A broker that is gone makes callbacks fail, not the mock; one that is back takes them again.
#[test]
fn a_broker_that_goes_and_comes_back() {
    let mut redis = Redis::start().unwrap();
    let url = redis.url();
    let channel = format!("redis: {{ url: '{url}', streams: [mock.events] }}");
    let mock = start(&format!("channels: {{ events: {{ {channel} }} }}\n{ROUTES}"));
    post(&mock, "/hurried", &json!({}));
    until("it is done", || mock.callbacks().done == 1);
    redis.kill();
    for _ in 0..5 {
        post(&mock, "/hurried", &json!({}));
    }
    until("they fail", || mock.callbacks().failed == 5);
    redis.restart().unwrap();
    until("they are done again", || {
        let before = mock.callbacks();
        post(&mock, "/hurried", &json!({}));
        until("it has an end", || mock.callbacks().waiting() == 0);
        mock.callbacks().done > before.done
    });
    let end = mock.finish();
    let told: u64 = end.callback_failures.iter().map(|(_, count)| count).sum();
    assert_eq!(told, end.callbacks.failed, "{:?}", end.callback_failures);
}
