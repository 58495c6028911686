//! One script against the real server of every broker that journeys know: published, seen, waited
//! for, completed, each as often as the script has done it. Another where the broker has groups:
//! taken by one user, committed or not.

mod consumers;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use rdkafka::config::ClientConfig;
use rdkafka::producer::{BaseProducer, Producer as _};
use serde_json::{Value, json};
use sojourn_metrics::names;
use sojourn_testkit::Program;
use sojourn_testkit::services::{
    ElasticMq, Kafka, Mosquitto, Nats, Postgres, RabbitMq, Redis, Service as _, find_program,
};

use self::consumers::{Asked, are_shared};
use crate::common::until;
use crate::k6_journeys::{assert_sound, count, opened, run};

/// Iterations, each with one order.
const ORDERS: u64 = 30;

const SCRIPT: &str = r#"
import { check } from 'k6';
import { events, journey, publish, tap } from 'sojourn';

const orders = tap('orders', { ...JSON.parse(__ENV.TAP), key: '$.id' });

export const options = {
  vus: 3,
  iterations: 30,
  thresholds: {
    checks: ['rate==1'],
    'checks{check:content}': ['rate==1'],
    journey_completed: ['rate==1'],
    journeys_lost: ['count==0'],
  },
};

export default function () {
  const id = `o-${__VU}-${__ITER}`;
  const order = { id, amount: __VU * 1000 + __ITER, name: 'Größe "42"' };
  journey(id).expect([orders], { within: '30s', name: 'order' });
  const began = Date.now();
  publish(orders, { body: order });
  const event = events.wait(orders, { key: id, timeout: '30s' });
  check(event, {
    content: (it) => it.json().amount === order.amount && it.json().name === order.name,
    instant: (it) => it.at >= began - 5 && it.at <= Date.now() + 5,
  });
}
"#;

/// Runs the script with this tap, and compares all books.
fn all_are_seen(tap: &Value) {
    let tap_words = format!("TAP={tap}");
    let (output, folder) = run(SCRIPT, &["-e", &tap_words]);
    assert_eq!(output.code, Some(0), "{tap}: {output}");
    let file = opened(&folder);
    assert_sound(&file);
    let of = |metric| count(&file, metric, &[("journey", "order")]);
    let seen = |metric| count(&file, metric, &[("channel", "orders")]);
    assert_eq!(of(names::JOURNEYS_STARTED), ORDERS, "{tap}: {output}");
    assert_eq!(of(names::JOURNEYS_COMPLETED), ORDERS, "{tap}: {output}");
    assert_eq!(of(names::JOURNEYS_LOST), 0, "{tap}: {output}");
    assert_eq!(seen(names::EVENTS_SEEN), ORDERS, "{tap}: {output}");
    assert_eq!(seen(names::EVENTS_MATCHED), ORDERS, "{tap}: {output}");
    assert_eq!(seen(names::EVENTS_DUPLICATE), 0, "{tap}: {output}");
}

/// Says something to a server of this machine, and returns what it says until `end` comes.
fn told(port: u16, words: &str, end: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(words.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !String::from_utf8_lossy(&answer).contains(end) {
        let mut bytes = [0; 4_096];
        let length = stream.read(&mut bytes).unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&bytes[..length]);
    }
    String::from_utf8(answer).unwrap()
}

#[test]
fn by_nats() {
    let nats = Nats::start().unwrap();
    all_are_seen(&json!({ "nats": { "url": nats.url(), "subjects": ["orders.placed"] } }));
}

#[test]
fn by_jetstream() {
    let nats = Nats::start().unwrap();
    let stream = r#"{"name":"ORDERS","subjects":["orders.>"]}"#;
    let words = format!(
        "CONNECT {{\"verbose\":false}}\r\nSUB made 1\r\n\
         PUB $JS.API.STREAM.CREATE.ORDERS made {}\r\n{stream}\r\n",
        stream.len()
    );
    let answer = told(nats.port(), &words, "did_create");
    assert!(!answer.contains("\"error\""), "{answer}");
    let tap = json!({ "nats": {
        "url": nats.url(), "subjects": ["orders.placed"], "stream": "ORDERS",
    } });
    all_are_seen(&tap);
    let early = r#"{"id":"early"}"#;
    let words = format!("PUB orders.work {}\r\n{early}\r\nPING\r\n", early.len());
    told(nats.port(), &words, "PONG");
    let nats = json!({ "url": nats.url(), "subjects": ["orders.work"], "stream": "ORDERS" });
    are_shared(&Asked {
        consumer: json!({ "nats": nats, "group": "workers", "start": "earliest" }),
        tap: json!({ "nats": nats }),
        topics: &["orders.work"],
        has_early: true,
        keeps: true,
    });
}

#[test]
fn by_redis() {
    let redis = Redis::start().unwrap();
    told(redis.port(), "XADD orders * data {}\r\n", "-0\r\n");
    let url = redis.url();
    all_are_seen(&json!({ "redis": { "url": url, "streams": ["orders"], "field": "data" } }));
    all_are_seen(&json!({ "redis": { "url": url, "channels": ["placed"] } }));
    told(redis.port(), "XADD work * data '{\"id\":\"early\"}'\r\n", "-0\r\n");
    let redis = json!({ "url": url, "streams": ["work"], "field": "data" });
    are_shared(&Asked {
        consumer: json!({ "redis": redis, "group": "workers", "start": "earliest" }),
        tap: json!({ "redis": redis }),
        topics: &["work"],
        has_early: true,
        keeps: true,
    });
}

#[test]
fn by_amqp() {
    let rabbitmq = RabbitMq::shared().unwrap();
    let tap = json!({ "amqp": {
        "url": rabbitmq.url(), "exchange": "amq.topic", "routing": ["orders.placed"],
    } });
    all_are_seen(&tap);
    let queue = format!("k6-work-{}", std::process::id());
    let binding = r#"{"routing_key":"work"}"#;
    for (method, what, body) in [
        ("PUT", format!("queues/%2F/{queue}"), "{}"),
        ("POST", format!("bindings/%2F/e/amq.direct/q/{queue}"), binding),
    ] {
        let request = format!(
            "{method} /api/{what} HTTP/1.1\r\nHost: mq\r\nAuthorization: Basic \
             Z3Vlc3Q6Z3Vlc3Q=\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        told(rabbitmq.port_management(), &request, "HTTP/1.1 201 ");
    }
    let amqp = json!({ "url": rabbitmq.url(), "exchange": "amq.direct", "routing": ["work"] });
    are_shared(&Asked {
        consumer: json!({ "amqp": amqp, "group": queue }),
        tap: json!({ "amqp": amqp }),
        topics: &["work"],
        has_early: false,
        keeps: true,
    });
}

#[test]
fn by_mqtt() {
    let mosquitto = Mosquitto::start().unwrap();
    let url = mosquitto.url();
    for version in ["5", "3.1.1"] {
        let tap = json!({ "mqtt": {
            "url": url, "topics": ["orders/placed"], "version": version,
        } });
        all_are_seen(&tap);
    }
    let mqtt = json!({ "url": url, "topics": ["work"], "qos": 1 });
    are_shared(&Asked {
        consumer: json!({ "mqtt": mqtt, "group": "workers" }),
        tap: json!({ "mqtt": mqtt }),
        topics: &["work"],
        has_early: false,
        keeps: false,
    });
}

/// Journeys by it are followed in `k6_journeys`.
#[test]
fn by_kafka() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    let topics = &["k6.work.even", "k6.work.odd"];
    let asks: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", &brokers).create().unwrap();
    for topic in topics {
        // A producer that asks for a topic makes it.
        until("the topic is there", || {
            let known = asks.client().fetch_metadata(Some(topic), Duration::from_secs(5)).unwrap();
            known.topics().iter().any(|it| it.partitions().iter().any(|it| it.leader() >= 0))
        });
    }
    // One partition each, dealt out one by one.
    let dealt = json!({ "partition.assignment.strategy": "roundrobin" });
    let kafka = json!({ "brokers": brokers, "topics": topics, "properties": dealt });
    are_shared(&Asked {
        consumer: json!({ "kafka": kafka, "group": "workers", "start": "earliest" }),
        tap: json!({ "kafka": { "brokers": brokers, "topics": topics } }),
        topics,
        has_early: false,
        keeps: true,
    });
}

#[test]
fn by_postgres() {
    let postgres = Postgres::start().unwrap();
    let url = postgres.url();
    let table =
        "CREATE TABLE orders (number bigserial PRIMARY KEY, id text, amount int, name text)";
    let psql = Program::new(find_program("psql").unwrap());
    let output = psql.args(["--quiet", "--no-psqlrc", "-c", table, &url]).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let url = url.replace("postgresql://", "postgres://");
    all_are_seen(&json!({ "postgres": { "url": url, "notify": ["placed"] } }));
    let table = json!({ "name": "orders", "cursor": "number" });
    all_are_seen(&json!({ "postgres": { "url": url, "table": table } }));
}

#[test]
fn by_sqs() {
    let elasticmq = ElasticMq::shared().unwrap();
    for queue in ["k6-orders", "k6-work"] {
        let request =
            format!("GET /?Action=CreateQueue&QueueName={queue} HTTP/1.1\r\nHost: sqs\r\n\r\n");
        let answer = told(elasticmq.port(), &request, "</CreateQueueResponse>");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    let keys = json!({ "access_key_id": "any", "secret_access_key": "other" });
    let tap = json!({ "sqs": {
        "queue": "k6-orders", "endpoint": elasticmq.url(), "region": "us-east-1",
        "credentials": keys,
    } });
    all_are_seen(&tap);
    let sqs = json!({
        "queue": "k6-work", "endpoint": elasticmq.url(), "region": "us-east-1",
        "credentials": keys,
    });
    are_shared(&Asked {
        consumer: json!({ "sqs": sqs, "group": "k6-work" }),
        tap: json!({ "sqs": sqs }),
        topics: &["k6-work"],
        has_early: false,
        keeps: true,
    });
}
