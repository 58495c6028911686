//! Whole runs of the real command through an outage of the broker, on real servers: every journey
//! is accounted for, or the run is void and says why, and never is a number wrong.
//!
//! One script ([`script`]) for all connectors: a small system ([`orders`]) takes orders and tells
//! of each by the broker, as long as that takes, and has a book of what it did; `sojourn run`
//! follows the orders meanwhile. What differs between brokers is a [`Way`].
//!
//! Killed and restarted is the server of each broker in every test run, cut by a proxy only by
//! `cargo xtask test --full`. SQS is only cut: its stand-in server keeps nothing over a restart.

mod book;
mod orders;
mod script;

use std::net::{Ipv4Addr, SocketAddr};

use sojourn_conformance::runs_slow;
use sojourn_testkit::services::{
    CutProxy, ElasticMq, Kafka, Mosquitto, Nats, Postgres, RabbitMq, Redis, Service,
};

use script::{cut, restarted};

/// A way to listen to a broker.
struct Way {
    name: &'static str,
    /// The connector's word.
    broker: &'static str,
    /// The channel's settings in a journey file, with the server's own address.
    channel: String,
    /// Whether a tap that was away reads on where it had stopped.
    reads_on: bool,
}

fn ways_of_amqp(rabbit: &RabbitMq) -> Vec<Way> {
    let url = rabbit.url();
    let channel = format!("{{ url: \"{url}\", exchange: outage.orders, routing: [order] }}");
    vec![Way { name: "amqp", broker: "amqp", channel, reads_on: false }]
}

fn ways_of_kafka(kafka: &Kafka) -> Vec<Way> {
    let brokers = kafka.bootstrap();
    let channel = format!("{{ brokers: \"{brokers}\", topics: [outage.orders] }}");
    vec![Way { name: "kafka", broker: "kafka", channel, reads_on: true }]
}

fn ways_of_mqtt(mosquitto: &Mosquitto) -> Vec<Way> {
    let url = mosquitto.url();
    let of = |name, qos| {
        let channel = format!("{{ url: \"{url}\", topics: [outage/{name}], qos: {qos} }}");
        Way { name, broker: "mqtt", channel, reads_on: false }
    };
    vec![of("mqtt-at-most-once", 0), of("mqtt-at-least-once", 1)]
}

fn ways_of_nats(nats: &Nats) -> Vec<Way> {
    let url = nats.url();
    let stream = format!("{{ url: \"{url}\", subjects: [outage.kept], stream: OUTAGE }}");
    let core = format!("{{ url: \"{url}\", subjects: [outage.told] }}");
    vec![
        Way { name: "jetstream", broker: "nats", channel: stream, reads_on: true },
        Way { name: "core-nats", broker: "nats", channel: core, reads_on: false },
    ]
}

fn ways_of_postgres(postgres: &Postgres) -> Vec<Way> {
    let url = postgres.url();
    let table = format!(
        "{{ url: \"{url}\", table: {{ name: outage_orders, cursor: id, every: 5ms, key: key, \
         headers: headers, payload: payload }} }}"
    );
    let notify = format!("{{ url: \"{url}\", notify: [outage] }}");
    vec![
        Way { name: "postgres-table", broker: "postgres", channel: table, reads_on: true },
        Way { name: "postgres-notify", broker: "postgres", channel: notify, reads_on: false },
    ]
}

fn ways_of_redis(redis: &Redis) -> Vec<Way> {
    let url = redis.url();
    let stream = format!("{{ url: \"{url}\", streams: [outage.orders], field: payload }}");
    let told = format!("{{ url: \"{url}\", channels: [outage.told] }}");
    vec![
        Way { name: "redis-stream", broker: "redis", channel: stream, reads_on: true },
        Way { name: "redis-pub-sub", broker: "redis", channel: told, reads_on: false },
    ]
}

/// What a queue gave and had no answer for comes again after a while.
fn ways_of_sqs(server: &ElasticMq) -> Vec<Way> {
    let endpoint = server.url();
    let channel = format!("{{ endpoint: \"{endpoint}\", queue: outage-orders, discard: true }}");
    vec![Way { name: "sqs", broker: "sqs", channel, reads_on: true }]
}

/// Where a server listens.
fn address(server: &dyn Service) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()))
}

/// A proxy before a server whose clients stay where they connect to.
fn proxy(server: &dyn Service) -> CutProxy {
    CutProxy::start(address(server)).unwrap()
}

#[test]
fn amqp_restarted() {
    let mut rabbit = RabbitMq::shared().unwrap();
    let ways = ways_of_amqp(&rabbit);
    restarted(&mut *rabbit, &ways);
}

#[test]
fn amqp_cut() {
    if runs_slow("a run whose AMQP is cut") {
        let rabbit = RabbitMq::shared().unwrap();
        cut(&proxy(&*rabbit), address(&*rabbit), &ways_of_amqp(&rabbit));
    }
}

#[test]
fn kafka_restarted() {
    let mut kafka = Kafka::shared().unwrap();
    let ways = ways_of_kafka(&kafka);
    restarted(&mut *kafka, &ways);
}

#[test]
fn kafka_cut() {
    if runs_slow("a run whose Kafka is cut") {
        let kafka = Kafka::shared().unwrap();
        cut(&kafka.proxy().unwrap(), address(&*kafka), &ways_of_kafka(&kafka));
    }
}

#[test]
fn mqtt_restarted() {
    let mut mosquitto = Mosquitto::start().unwrap();
    let ways = ways_of_mqtt(&mosquitto);
    restarted(&mut mosquitto, &ways);
}

#[test]
fn mqtt_cut() {
    if runs_slow("a run whose MQTT is cut") {
        let mosquitto = Mosquitto::start().unwrap();
        cut(&proxy(&mosquitto), address(&mosquitto), &ways_of_mqtt(&mosquitto));
    }
}

#[test]
fn nats_restarted() {
    let mut nats = Nats::start().unwrap();
    let ways = ways_of_nats(&nats);
    restarted(&mut nats, &ways);
}

#[test]
fn nats_cut() {
    if runs_slow("a run whose NATS is cut") {
        let nats = Nats::start().unwrap();
        cut(&proxy(&nats), address(&nats), &ways_of_nats(&nats));
    }
}

#[test]
fn postgres_restarted() {
    let mut postgres = Postgres::start().unwrap();
    let ways = ways_of_postgres(&postgres);
    restarted(&mut postgres, &ways);
}

#[test]
fn postgres_cut() {
    if runs_slow("a run whose Postgres is cut") {
        let postgres = Postgres::start().unwrap();
        cut(&proxy(&postgres), address(&postgres), &ways_of_postgres(&postgres));
    }
}

#[test]
fn redis_restarted() {
    let mut redis = Redis::start().unwrap();
    let ways = ways_of_redis(&redis);
    restarted(&mut redis, &ways);
}

#[test]
fn redis_cut() {
    if runs_slow("a run whose Redis is cut") {
        let redis = Redis::start().unwrap();
        cut(&proxy(&redis), address(&redis), &ways_of_redis(&redis));
    }
}

#[test]
fn sqs_cut() {
    if runs_slow("a run whose SQS is cut") {
        let server = ElasticMq::shared().unwrap();
        cut(&proxy(&*server), address(&*server), &ways_of_sqs(&server));
    }
}
