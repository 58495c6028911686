//! The system beside which the connector works: exchanges, queues and messages made and read by
//! RabbitMQ's management, which shares nothing with the connector.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::MutexGuard;
use std::time::Duration;

use serde_json::{Value, json};
use sojourn_broker::{Outcome, Publisher, RawMessage, Sink, Tap};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{AmqpChannel, Secret, Server};
use sojourn_services::{RabbitMq, Service};

/// How long anything may take that happens soon on a machine at rest.
pub(crate) const PATIENCE_NS: u64 = 60 * SECOND_NS;

pub(crate) fn rabbit() -> MutexGuard<'static, RabbitMq> {
    let mut rabbit = RabbitMq::shared().unwrap();
    // A test that failed may have left it dead.
    if rabbit.instance().process().is_none() {
        rabbit.restart().unwrap();
    }
    rabbit
}

/// Waits until something is there.
pub(crate) fn soon<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline_ns = now_ns() + PATIENCE_NS;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(now_ns() < deadline_ns, "{what}: not in a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The management of a server.
pub(crate) struct System {
    port: u16,
}

impl System {
    pub(crate) fn of(rabbit: &RabbitMq) -> Self {
        Self { port: rabbit.port_management() }
    }

    /// Status and answer of a request.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} /api/{path} HTTP/1.0\r\nAuthorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn put(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(method, path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// Makes an exchange anew.
    pub(crate) fn exchange(&self, name: &str, kind: &str) {
        self.ask("DELETE", &format!("exchanges/%2f/{name}"), &Value::Null);
        let durable = json!({"type": kind, "durable": true});
        self.put("PUT", &format!("exchanges/%2f/{name}"), &durable);
    }

    /// Makes a durable queue anew, bound to an exchange.
    pub(crate) fn queue(&self, name: &str, exchange: &str, key: &str) {
        self.ask("DELETE", &format!("queues/%2f/{name}"), &Value::Null);
        self.put("PUT", &format!("queues/%2f/{name}"), &json!({"durable": true}));
        if !exchange.is_empty() {
            let path = format!("bindings/%2f/e/{exchange}/q/{name}");
            self.put("POST", &path, &json!({"routing_key": key}));
        }
    }

    pub(crate) fn delete(&self, path: &str) {
        self.put("DELETE", path, &Value::Null);
    }

    /// Publishes; whether some queue took it.
    pub(crate) fn publish(
        &self,
        exchange: &str,
        key: &str,
        properties: &Value,
        payload: &str,
    ) -> bool {
        let path = format!("exchanges/%2f/{exchange}/publish");
        let message = json!({
            "properties": properties, "routing_key": key, "payload": payload,
            "payload_encoding": "string",
        });
        self.put("POST", &path, &message)["routed"] == true
    }

    /// Takes messages out of a queue.
    pub(crate) fn take(&self, queue: &str, count: usize) -> Vec<Value> {
        let how = json!({"count": count, "ackmode": "ack_requeue_false", "encoding": "auto"});
        let answer = self.put("POST", &format!("queues/%2f/{queue}/get"), &how);
        answer.as_array().unwrap().clone()
    }

    /// Names of all queues.
    pub(crate) fn queues(&self) -> Vec<String> {
        let answer = self.put("GET", "queues", &Value::Null);
        let name = |queue: &Value| queue["name"].as_str().unwrap().to_owned();
        answer.as_array().unwrap().iter().map(name).collect()
    }
}

/// A channel on the server's port without TLS, as `guest`.
pub(crate) fn channel(rabbit: &RabbitMq, exchange: &str, routing: &[&str]) -> AmqpChannel {
    AmqpChannel {
        server: Server { host: "127.0.0.1".to_owned(), port: rabbit.port(), ..Server::default() },
        exchange: exchange.to_owned(),
        routing: routing.iter().map(|key| (*key).to_owned()).collect(),
        management: None,
        mandatory: true,
    }
}

/// The server's management, as `guest`.
pub(crate) fn management(rabbit: &RabbitMq) -> Server {
    Server {
        host: "127.0.0.1".to_owned(),
        port: rabbit.port_management(),
        user: Some("guest".to_owned()),
        password: Some(Secret::new("guest")),
        ..Server::default()
    }
}

/// A message, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) payload: Vec<u8>,
    pub(crate) stamp_ns: u64,
}

impl Seen {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.payload).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Keeps what it is handed.
#[derive(Default)]
pub(crate) struct Kept(pub(crate) Vec<Seen>);

impl Sink for Kept {
    fn message(&mut self, message: &RawMessage<'_>) {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        self.0.push(Seen {
            topic: message.topic.to_owned(),
            key: message.key.map(<[u8]>::to_vec),
            headers: message.headers.iter().map(|(n, v)| ((*n).to_owned(), text(v))).collect(),
            payload: message.payload.to_vec(),
            stamp_ns: message.stamp_ns,
        });
    }
}

impl Kept {
    /// Polls until this many messages have come.
    pub(crate) fn until(&mut self, tap: &mut dyn Tap, count: usize) {
        soon("messages", || {
            tap.poll(Duration::from_millis(20), self).unwrap();
            (self.0.len() >= count).then_some(())
        });
        assert_eq!(self.0.len(), count);
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        self.0.iter().map(Seen::text).collect()
    }
}

/// Waits until this many outcomes are there.
pub(crate) fn outcomes(publisher: &mut dyn Publisher, count: usize) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    soon("outcomes", || {
        publisher.poll(&mut outcomes);
        (outcomes.len() >= count).then_some(())
    });
    assert_eq!(outcomes.len(), count);
    outcomes
}
