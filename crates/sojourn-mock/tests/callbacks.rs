//! Webhooks that follow an answer.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sojourn_broker::{BrokerError, Connect, Outcome, Publisher, PublisherSettings, Registry, Tap};
use sojourn_clock::MILLISECOND_NS;
use sojourn_mock::{
    Message, Mock, MockOptions, Reply, Request, Responder, Server, ServerConfig, StartError,
};
use sojourn_plan::Channel;

use crate::client::{Client, book, mock, options, until};

/// What a receiver was sent: when, where, which header, what.
#[derive(Clone, Debug)]
struct Hook {
    at_ns: u64,
    path: String,
    signature: String,
    body: Value,
}

struct Receiver(Arc<Mutex<Vec<Hook>>>, u16);

impl Responder for Receiver {
    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        10_000
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let signature = request.header("x-signature").unwrap_or_default();
        self.0.lock().unwrap().push(Hook {
            at_ns: request.arrival_ns,
            path: request.path.to_owned(),
            signature: String::from_utf8_lossy(signature).into_owned(),
            body: serde_json::from_slice(request.body).unwrap_or_default(),
        });
        Reply::message(Rc::new(Message::text(self.1, "text/plain", b"")))
    }
}

fn receiver(status: u16) -> (Server, Arc<Mutex<Vec<Hook>>>) {
    let hooks = Arc::new(Mutex::new(Vec::new()));
    let own = hooks.clone();
    let make = move || Receiver(own, status);
    (Server::start(&ServerConfig::default(), vec![make]).unwrap(), hooks)
}

fn metric(client: &mut Client, name: &str) -> u64 {
    let text = client.get("/_sojourn/metrics").text();
    let prefix = format!("sojourn_mock_{name} ");
    text.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap().parse().unwrap()
}

#[test]
fn each_answer_is_followed_by_its_webhook_in_time() {
    let (receiver, hooks) = receiver(204);
    let mock = mock(&format!(
        "
routes:
  - route: POST /payments/{{id}}
    status: 202
    latency: 10ms
    callbacks:
      - after: 40ms
        http:
          url: {}/hooks/{{{{ path.id }}}}
          headers: {{ x-signature: 's-{{{{ header.x-tenant }}}}' }}
          json: {{ payment: '{{{{ path.id }}}}', amount: '{{{{ number(body.amount) }}}}' }}
",
        receiver.url("")
    ));
    let mut client = Client::connect(mock.address());
    let mut sent_ns = Vec::new();
    for number in 0..20 {
        let body = json!({ "amount": number }).to_string();
        sent_ns.push(sojourn_clock::now_ns());
        let answer = client.post(&format!("/payments/p{number}"), "x-tenant: t\r\n", &body);
        assert_eq!(answer.status, 202);
    }
    until("all have come", || hooks.lock().unwrap().len() == 20);
    let mut hooks = hooks.lock().unwrap().clone();
    hooks.sort_by_key(|hook| hook.body["amount"].as_u64());
    for (number, (hook, sent_ns)) in hooks.iter().zip(&sent_ns).enumerate() {
        assert_eq!(hook.path, format!("/hooks/p{number}"));
        assert_eq!(hook.signature, "s-t");
        assert_eq!(hook.body, json!({ "payment": format!("p{number}"), "amount": number }));
        // 40 ms after the answer was due, which was 10 ms after the request had come.
        assert!(hook.at_ns >= sent_ns + 50 * MILLISECOND_NS, "{number} came early");
    }
    until("all are done", || metric(&mut client, "callbacks_done_total") == 20);
    assert_eq!(metric(&mut client, "callbacks_total"), 20);
    assert_eq!(metric(&mut client, "callbacks_failed_total"), 0);
}

#[test]
fn a_share_of_callbacks_and_those_that_fail() {
    let (receiver, hooks) = receiver(500);
    let mock = mock(&format!(
        "
seed: 3
routes:
  - route: /half
    callbacks: [{{ share: 50%, http: {{ url: '{}/x', method: PUT }} }}]
",
        receiver.url("")
    ));
    let mut client = Client::connect(mock.address());
    for _ in 0..400 {
        client.get("/half");
    }
    until("all are decided", || {
        let accepted = metric(&mut client, "callbacks_total");
        accepted > 0 && metric(&mut client, "callbacks_failed_total") == accepted
    });
    let count = hooks.lock().unwrap().len();
    // Binomial: four deviations of √(400/4).
    assert!(count.abs_diff(200) < 40, "{count}");
    assert_eq!(metric(&mut client, "callbacks_total"), count as u64);
}

const PUBLISHING: &str = "
channels: { events: { kafka: { brokers: '127.0.0.1:9', topics: [t] } } }
routes:
  - route: /event
    callbacks: [{ publish: { to: events, key: k, json: {} } }]
";

#[test]
fn a_mock_without_its_brokers_connector_does_not_start() {
    let error = Mock::start(book(PUBLISHING), &options()).unwrap_err();
    let StartError::Channel(error) = error else { panic!("{error}") };
    assert!(error.message.contains("channel `events` needs the kafka connector"), "{error}");
    assert!(error.hint.unwrap().contains("--features kafka"));

    // Nor does a mock that is at work take such a book over.
    let mock = mock("routes: [{ route: '*', status: 204 }]");
    assert!(mock.replace(book(PUBLISHING)).is_err());
    assert_eq!(Client::connect(mock.address()).get("/event").status, 204);
}

/// Only listens.
fn listens(channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
    Err(BrokerError::new(format!("nobody asked for a tap of {}", channel.name)))
}

#[test]
fn nor_does_one_whose_connector_cannot_publish() {
    let connectors = Arc::new(Registry::new().with("kafka", listens));
    let options = MockOptions { connectors, ..options() };
    let error = Mock::start(book(PUBLISHING), &options).unwrap_err();
    assert_eq!(error.to_string(), "channel `events`: kafka cannot publish");
}

/// Publishes to nowhere: topic `ok` is acknowledged, `full` not taken, `silent` never answered, and
/// everything else refused.
#[derive(Default)]
struct Nowhere(Vec<Outcome>);

impl Publisher for Nowhere {
    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        _key: Option<&[u8]>,
        _headers: &[(&str, &[u8])],
        _payload: &[u8],
    ) -> Result<(), String> {
        let error = match topic {
            "full" => return Err(format!("{} messages wait", 100 + token)),
            "silent" => return Ok(()),
            "ok" => None,
            _ => Some("no such topic".to_owned()),
        };
        self.0.push(Outcome { token, acked_ns: 1, error });
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        outcomes.append(&mut self.0);
    }
}

struct Connector;

impl Connect for Connector {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        listens(channel)
    }

    fn publisher(
        &self,
        _channel: &Channel,
        _settings: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        Ok(Box::<Nowhere>::default())
    }
}

#[test]
fn every_message_is_counted_and_told_why_it_failed() {
    let connectors = Arc::new(Registry::new().with("kafka", Connector));
    let file = "
channels: { events: { kafka: { brokers: '127.0.0.1:9', topics: [t] } } }
routes:
  - route: /{topic}
    callbacks: [{ publish: { to: events, topic: '{{ path.topic }}', body: x, timeout: 50ms } }]
";
    let mock = Mock::start(book(file), &MockOptions { connectors, ..options() }).unwrap();
    let mut client = Client::connect(mock.address());
    for (topic, count) in [("ok", 5), ("full", 3), ("silent", 2), ("wrong", 1)] {
        for _ in 0..count {
            client.get(&format!("/{topic}"));
        }
    }
    // A book with the same channel: what is on its way still has its end.
    assert!(mock.replace(book(file)).unwrap());
    client.get("/ok");
    until("all have ended", || mock.callbacks().accepted == 12 && mock.callbacks().waiting() == 0);
    assert_eq!(metric(&mut client, "callbacks_done_total"), 6);
    assert_eq!(metric(&mut client, "callbacks_failed_total"), 6);
    assert_eq!(metric(&mut client, "callbacks_waiting"), 0);
    let failures = [("# messages wait", 3), ("no such topic", 1), ("not acknowledged in time", 2)];
    for (reason, count) in failures {
        let name = format!("callback_failures_total{{reason=\"{reason}\"}}");
        assert_eq!(metric(&mut client, &name), count, "{reason}");
    }
    let end = mock.finish();
    assert_eq!(end.callback_failures, failures.map(|(reason, count)| (reason.to_owned(), count)));
}
