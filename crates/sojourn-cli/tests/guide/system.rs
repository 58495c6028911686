//! The system that the guide's journey files and scripts speak of: it takes payments and orders over
//! HTTP, or as messages, and tells of them on Kafka.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use rdkafka::{
    Message, Offset, TopicPartitionList,
    config::ClientConfig,
    consumer::{BaseConsumer, Consumer},
    message::{Header, OwnedHeaders},
    producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer},
};
use serde_json::{Value, json};
use sojourn_clock::{Anchor, MILLISECOND_NS};
use sojourn_testkit::{Reply, Request, Responder, response};

/// Topics that examples name.
pub(super) const TOPICS: [&str; 8] = [
    "events",
    "dead",
    "payments.events",
    "payments",
    "refunds",
    "refunds.events",
    "orders.events",
    "orders.commands",
];
/// Where what it takes is told of.
const TOLD: [&str; 3] = ["events", "payments.events", "orders.events"];
/// Partitions of each topic.
pub(super) const PARTITIONS: i32 = 1;
/// The digits of a ULID.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

type Events = Vec<Value>;

/// The system.
pub(super) struct System {
    kafka: ThreadedProducer<DefaultProducerContext>,
    taken: u64,
}

impl System {
    pub(super) fn new(brokers: &str) -> Self {
        let kafka = ClientConfig::new().set("bootstrap.servers", brokers).create().unwrap();
        Self { kafka, taken: 0 }
    }

    fn tell(&self, topic: &str, event: &Value) {
        let payload = event.to_string();
        let error = Header { key: "error", value: Some("can't be read") };
        let headers = OwnedHeaders::new().insert(error);
        let record = BaseRecord::<str, String>::to(topic).payload(&payload).headers(headers);
        self.kafka.send(record).map_err(|(error, _)| error).unwrap();
    }

    /// What becomes of a payment.
    fn payment(id: &str) -> Events {
        let event = |kind: &str| {
            json!({ "type": kind, "id": id, "paymentId": id, "aggregateId": format!("pay:{id}"),
                "currency": "GBP" })
        };
        let posted = |account: &str| {
            let mut event = event("EntryPosted");
            event["account"] = json!(account);
            event
        };
        let whole = ["PaymentCreated", "PaymentSettled", "ReceiptSent"].map(event);
        whole.into_iter().chain(["debit", "credit"].map(posted)).collect()
    }

    /// What becomes of an order, of two lines.
    fn order(id: &str) -> Events {
        let reference = format!("psp-{id}");
        let event = |kind: &str| {
            json!({ "type": kind, "id": id, "orderId": id, "aggregateId": format!("order:{id}"),
                "pspReference": reference, "lines": 2, "amount": 42 })
        };
        let shipped = |line: u8| json!({ "type": "Shipped", "id": id, "line": line });
        let first = ["OrderAccepted", "OrderCreated", "OrderPaid"].map(event);
        let last = ["OrderShipped", "OrderCompleted"].map(event);
        let captured = json!({ "type": "Captured", "pspReference": reference });
        first.into_iter().chain([captured, shipped(1), shipped(2)]).chain(last).collect()
    }

    /// What an event queue does with an event, one run of one function.
    fn run(&mut self, id: &Value) -> Events {
        let run = self.ulid();
        let event = |kind: &str| json!({ "type": kind, "id": id, "ctx": { "run_id": run } });
        ["started", "finished"].map(event).into()
    }

    /// What becomes of a message.
    fn react(&self, topic: &str, message: &Value) {
        let id = match (topic, message["type"].as_str()) {
            ("orders.commands", _) => &message["id"],
            (_, Some("OrderPlaced")) => &message["orderId"],
            _ => return,
        };
        let events = Self::order(id.as_str().unwrap_or_default());
        events.iter().for_each(|event| self.tell("orders.events", event));
    }

    /// An id that says when it was made: 48 bits of milliseconds, and who is who.
    fn ulid(&mut self) -> String {
        self.taken += 1;
        let now_ms = Anchor::now().unix_ns / MILLISECOND_NS;
        let bits = (u128::from(now_ms) << 80) | u128::from(self.taken);
        let digit = |place: u32| DIGITS[(bits >> (5 * place)) as usize & 31] as char;
        (0..26).rev().map(digit).collect()
    }

    /// The status and the events of a request; `body` is what the answer will be.
    fn take(&mut self, path: &str, asked: &Value, body: &mut Value) -> (u16, Events) {
        let id = body["id"].as_str().unwrap_or_default().to_owned();
        // Of currencies it trades one.
        let is_foreign = asked["currency"].as_str().is_some_and(|currency| currency != "GBP");
        let mut parts = path.split(['/', '?']).skip(1);
        match (parts.next(), parts.next(), parts.nth(1)) {
            (Some("api"), Some("payment"), _) if is_foreign => (400, vec![]),
            (Some("api"), Some("payment"), _) if asked["amount"].is_string() => {
                self.tell("dead", &json!({ "paymentId": id }));
                (200, vec![])
            }
            (Some("api"), Some("payment"), _) => (200, Self::payment(&id)),
            (Some("api"), Some("carts"), None) => (201, vec![]),
            (Some("api"), Some("carts"), Some(_)) => {
                (200, vec![json!({ "type": "StockReserved", "orderId": id })])
            }
            (Some("api"), Some("orders"), _) => {
                let order = path.split('/').nth(3).unwrap_or_default();
                (200, vec![json!({ "type": "OrderShipped", "orderId": order })])
            }
            (Some("orders"), ..) => (201, Self::order(&id)),
            // One event, or a whole batch.
            (Some("e"), ..) => {
                let single = std::slice::from_ref(asked);
                let events = asked.as_array().map_or(single, Vec::as_slice);
                let ids: Vec<String> = events.iter().map(|_| self.ulid()).collect();
                body["ids"] = json!(ids);
                (200, events.iter().flat_map(|event| self.run(&event["id"])).collect())
            }
            (Some("pay"), ..) => (200, vec![json!({ "type": "PaymentSettled", "id": id })]),
            _ => (200, vec![]),
        }
    }
}

impl Responder for System {
    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        1 << 20
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        self.taken += 1;
        let id = format!("t{}", self.taken);
        let mut body = json!({ "id": id, "paymentId": id, "orderId": id, "token": "5f0c",
            "state": if request.path.contains("/payments/") { "paid" } else { "completed" },
            "amount": 100, "reference": "ABC-1", "currency": "GBP", "version": 2 });
        let asked = serde_json::from_slice(request.body).unwrap_or(Value::Null);
        let (status, events) = match request.method {
            "POST" | "PUT" => self.take(request.path, &asked, &mut body),
            _ => (200, vec![]),
        };
        for event in &events {
            TOLD.iter().for_each(|topic| self.tell(topic, event));
        }
        let mut answer = response(status, "application/json", body.to_string().as_bytes());
        // Where an order's id stands, too.
        let end = answer.windows(2).position(|two| two == b"\r\n").unwrap() + 2;
        let header = format!("x-order-id: {id}\r\n");
        answer.splice(end..end, header.into_bytes());
        Reply::at(request.arrival_ns, answer)
    }
}

impl Drop for System {
    fn drop(&mut self) {
        // What nobody waits for any more.
        let _flushed = self.kafka.flush(Duration::from_secs(1));
    }
}

/// The part of it that takes messages.
pub(super) struct Taker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Taker {
    /// From now on; what came before is nobody's.
    pub(super) fn start(brokers: &str) -> Self {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", brokers).set("group.id", "shop");
        let consumer: BaseConsumer = config.create().unwrap();
        let mut all = TopicPartitionList::new();
        for topic in ["orders.commands", "orders.events"] {
            // None of the topics has a message yet.
            all.add_partition_offset(topic, PARTITIONS - 1, Offset::Beginning).unwrap();
        }
        consumer.assign(&all).unwrap();
        let system = System::new(brokers);
        let stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                let Some(message) = consumer.poll(Duration::from_millis(20)) else { continue };
                let message = message.unwrap();
                let payload = message.payload().unwrap_or_default();
                system.react(message.topic(), &serde_json::from_slice(payload).unwrap_or_default());
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A failure has been printed by then, and the test fails for want of its events.
        let _joined = self.thread.take().map(JoinHandle::join);
    }
}
