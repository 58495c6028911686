//! Events that are read by a schema, through a real Kafka: Avro by a registry whose schema has
//! changed, Protobuf by a descriptor. What the ledger says is what was really sent.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use rdkafka::{
    ClientConfig,
    producer::{BaseRecord, DefaultProducerContext, ThreadedProducer},
};
use serde_json::json;
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_metrics::{SeriesPhase, names};
use sojourn_record::Verdict;
use sojourn_testkit::{
    Reply, Request, Responder, Server, TempDir, response, services::Kafka, temp_dir,
};

use crate::common::{Run, alone, make_topics, plan, run};

/// Orders of the run, and how many of ten something befalls: the last figure of their number.
const ORDERS: usize = 200;
const PAID_TWICE: usize = 3;
const BESIDE_AN_UNKNOWN_SCHEMA: usize = 5;
const NEVER_SHIPPED: usize = 7;

const PAID: &str = "schemas.paid";
const SHIPPED: &str = "schemas.shipped";

/// When an order's events are sent, from when it came.
const PAID_AFTER_NS: u64 = 20 * MILLISECOND_NS;
const SHIPPED_AFTER_NS: u64 = 50 * MILLISECOND_NS;

/// Answers as a registry with two versions of a schema, and none of number 9.
struct SchemaVersions;

impl Responder for SchemaVersions {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let version = |id: u8, fields| {
            let schema =
                json!({ "type": "record", "name": "Paid", "namespace": "shop", "fields": fields });
            json!({ "id": id, "schema": schema.to_string() })
        };
        let order = json!({ "name": "order_id", "type": "string" });
        let amount = json!({ "name": "amount", "type": "long" });
        let found = match request.path.rsplit_once("/versions") {
            Some((_, "")) => json!([1, 2]),
            Some((_, "/1")) => version(7, json!([order])),
            Some((_, "/2")) => version(8, json!([amount, order])),
            _ if request.path == "/schemas/types" => json!(["AVRO", "PROTOBUF"]),
            _ => return Reply::now(response(404, "application/json", b"{}")),
        };
        Reply::now(response(200, "application/json", found.to_string().as_bytes()))
    }
}

/// The registry's prefix of a message.
fn prefix(schema: u8) -> Vec<u8> {
    vec![0, 0, 0, 0, schema]
}

/// Avro: of even numbers by the first version, of odd ones by the second.
fn paid(number: usize, id: &str) -> Vec<u8> {
    let text = [&[(id.len() as u8) << 1], id.as_bytes()].concat();
    match number % 2 {
        0 => [prefix(7), text].concat(),
        // The amount, 21 in zigzag.
        _ => [prefix(8), vec![42], text].concat(),
    }
}

/// Protobuf: the file's first message, and its first field.
fn shipped(id: &str) -> Vec<u8> {
    [prefix(4), vec![0], of_length(1, id.as_bytes())].concat()
}

/// A field of Protobuf whose length stands before it.
fn of_length(field: u8, bytes: &[u8]) -> Vec<u8> {
    [&[field << 3 | 2, bytes.len() as u8], bytes].concat()
}

/// The set of descriptors that has `shop.Shipped { string order_id = 1; }`.
fn descriptors() -> Vec<u8> {
    // Number 1, optional, a string.
    let field = [of_length(1, b"order_id"), vec![0x18, 1, 0x20, 1, 0x28, 9]].concat();
    let message = [of_length(1, b"Shipped"), of_length(2, &field)].concat();
    let file = [(1, &b"shop.proto"[..]), (2, b"shop"), (4, &message), (12, b"proto3")];
    of_length(1, &file.map(|(number, bytes)| of_length(number, bytes)).concat())
}

/// An order that came, and when.
type Came = (usize, u64);

/// Takes orders, and has others tell of them.
struct Desk {
    orders: usize,
    told: Vec<Sender<Came>>,
}

impl Responder for Desk {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let body = format!(r#"{{"id":"order-{}"}}"#, self.orders);
        for told in &self.told {
            told.send((self.orders, request.arrival_ns)).unwrap();
        }
        self.orders += 1;
        Reply::now(response(200, "application/json", body.as_bytes()))
    }
}

/// When the events of orders were sent, by number; nothing where they were not.
type Sent = Arc<Mutex<Vec<Option<u64>>>>;

/// Sends the messages that `of` makes of each order, so long after it came.
fn courier(
    bootstrap: &str,
    topic: &'static str,
    after_ns: u64,
    of: fn(usize, &str) -> Vec<Vec<u8>>,
) -> (Sender<Came>, Sent, JoinHandle<()>) {
    let (told, came): (_, Receiver<Came>) = bounded(ORDERS);
    let sent = Sent::new(Mutex::new(vec![None; ORDERS]));
    let book = Arc::clone(&sent);
    let producer: ThreadedProducer<DefaultProducerContext> = ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .set("linger.ms", "0")
        .create()
        .unwrap();
    let thread = std::thread::spawn(move || {
        for (number, came_ns) in came {
            let wait_ns = (came_ns + after_ns).saturating_sub(now_ns());
            std::thread::sleep(Duration::from_nanos(wait_ns));
            for message in of(number, &format!("order-{number}")) {
                book.lock().unwrap()[number].get_or_insert_with(now_ns);
                producer.send(BaseRecord::<(), [u8]>::to(topic).payload(&message)).unwrap();
            }
        }
    });
    (told, sent, thread)
}

/// The run, and when its orders were paid and shipped.
fn observe(folder: &TempDir) -> (Run, [Vec<Option<u64>>; 2]) {
    let broker = Kafka::shared().unwrap();
    let registry = Server::start(SchemaVersions).unwrap();
    let of_paid = |number: usize, id: &str| match number % 10 {
        PAID_TWICE => vec![paid(number, id); 2],
        BESIDE_AN_UNKNOWN_SCHEMA => vec![[prefix(9), vec![2, b'x']].concat(), paid(number, id)],
        _ => vec![paid(number, id)],
    };
    let of_shipped = |number: usize, id: &str| match number % 10 {
        NEVER_SHIPPED => Vec::new(),
        _ => vec![shipped(id)],
    };
    let bootstrap = broker.bootstrap();
    make_topics(&bootstrap, &[PAID, SHIPPED]);
    let (tell_paid, paid, pays) = courier(&bootstrap, PAID, PAID_AFTER_NS, of_paid);
    let (tell_shipped, shipped, ships) = courier(&bootstrap, SHIPPED, SHIPPED_AFTER_NS, of_shipped);
    let desk = Server::start(Desk { orders: 0, told: vec![tell_paid, tell_shipped] }).unwrap();
    let text = journey(&bootstrap, &registry.url(""), &desk.url(""), folder.path());
    let run = run(&plan(&text, &[]), |options| options.keep_all = true);
    drop(desk);
    pays.join().unwrap();
    ships.join().unwrap();
    let instants = [paid, shipped].map(|sent| sent.lock().unwrap().clone());
    (run, instants)
}

fn journey(bootstrap: &str, registry: &str, desk: &str, folder: &Path) -> String {
    let descriptor = folder.join("shop.binpb");
    std::fs::write(&descriptor, descriptors()).unwrap();
    let descriptor = descriptor.display();
    format!(
        r#"
target: {desk}
channels:
  paid:
    kafka: {{ brokers: "{bootstrap}", topics: [{PAID}] }}
    decoder: {{ avro: {{ registry: "{registry}" }} }}
  shipped:
    kafka: {{ brokers: "{bootstrap}", topics: [{SHIPPED}] }}
    decoder: {{ protobuf: {{ descriptor: {descriptor}, message: shop.Shipped, registry: true }} }}
journeys:
  order:
    root: {{ http: POST /orders, key: body.id }}
    stages:
      - {{ name: paid, on: paid, match: {{ type: Paid }}, key: $.order_id }}
      - {{ name: shipped, on: shipped, match: {{ type: Shipped }}, key: $.order_id }}
    within: 3s
    linger: 1s
load: {{ rate: 100/s, steady: 2s, drain: 8s }}
health: {{ lag_p99_max: 5s, silent_max: 5s, tap_behind_max: 5s }}
"#
    )
}

#[test]
fn avro_and_protobuf_through_kafka_are_what_was_sent() {
    let _turn = alone();
    let folder = temp_dir().unwrap();
    let (run, [paid, shipped]) = observe(&folder);
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    let of = |metric: &str, phase| run.file.store.sum(metric, &[], phase);
    let steady = |metric: &str| of(metric, SeriesPhase::Steady);
    let sum = |metric: &str| steady(metric) + of(metric, SeriesPhase::Any);
    let (orders, each) = (ORDERS as u64, ORDERS as u64 / 10);
    assert_eq!(steady(names::JOURNEYS_STARTED), orders);
    assert_eq!(steady(names::JOURNEYS_COMPLETED), orders - each);
    assert_eq!(steady(names::JOURNEYS_LOST), each);
    assert_eq!(sum(names::EVENTS_MATCHED), 2 * orders - each);
    assert_eq!(sum(names::EVENTS_DUPLICATE), each);
    assert_eq!(sum(names::EVENTS_UNDECODABLE), each);
    assert_eq!(run.file.journeys.len(), ORDERS);
    for journey in &run.file.journeys {
        let key = journey.key.as_deref().unwrap();
        let number: usize = key.strip_prefix("order-").unwrap().parse().unwrap();
        for (stage, sent) in journey.stages.iter().zip([&paid, &shipped]) {
            let seen_ns = stage.seen_ns.map(|ns| ns + run.file.identity.start_monotonic_ns);
            assert_eq!(seen_ns.is_some(), sent[number].is_some(), "{key}: {stage:?}");
            assert!(seen_ns >= sent[number], "{key} was {} before it was sent", stage.name);
        }
    }
}
