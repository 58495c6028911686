//! Whole runs of the real command through an outage of the broker, on real servers: every journey
//! is accounted for, or the run is void and says why, and never is a number wrong.
//!
//! One script ([`script`]) for all connectors: a small system ([`orders`]) takes orders and tells
//! of each by the broker, as long as that takes, and has a book of what it did; `sojourn run`
//! follows the orders meanwhile. What differs between brokers is a [`Way`].
//!
//! Killed and restarted is the server of each broker in every test run, cut or slowed down by a
//! proxy only by `cargo xtask test --full`. Webhooks have no server to be restarted: the receiver is
//! the run's own, and cut or slow is the system's way to it.

mod book;
mod orders;
mod script;
mod unpublished;

use std::net::{Ipv4Addr, SocketAddr};

use sojourn_broker::Publisher;
use sojourn_conformance::runs_slow;
use sojourn_testkit::{
    Program, free_port,
    services::{
        CutProxy, ElasticMq, Fauxqs, Kafka, Mosquitto, Nats, Postgres, RabbitMq, Redis, Service,
    },
};

use crate::common::sns_topic;
use script::{cut, restarted, slowed, told_again};
use unpublished::{Poster, Streams};

/// A way to listen to a broker.
struct Way {
    name: &'static str,
    /// The connector's word.
    broker: &'static str,
    /// The channel's settings in a journey file, with the server's own address.
    channel: String,
    /// Whether a tap that was away reads on where it had stopped.
    reads_on: bool,
    /// Whether a server that was killed has lost what it kept, with the places it was kept in.
    forgets: bool,
    /// Whether a tap can tell that what comes was sent a while ago.
    sees_late: bool,
    told: Told,
    /// What an event's kind is matched by, and its order's key.
    matched_by: [&'static str; 2],
}

/// How the system tells of orders.
enum Told {
    /// By the connector, to the channel that is listened to.
    Here,
    /// By the connector, to a channel with these settings.
    At(String),
    /// By what this makes.
    By(Box<dyn Fn() -> Box<dyn Publisher>>),
}

impl Way {
    fn new(name: &'static str, broker: &'static str, channel: String) -> Self {
        let matched_by = ["type", "$.id"];
        let (reads_on, forgets, sees_late) = (false, false, true);
        Self { name, broker, channel, reads_on, forgets, sees_late, told: Told::Here, matched_by }
    }

    fn that_reads_on(name: &'static str, broker: &'static str, channel: String) -> Self {
        Self { reads_on: true, ..Self::new(name, broker, channel) }
    }
}

fn ways_of_amqp(rabbit: &RabbitMq) -> Vec<Way> {
    let url = rabbit.url();
    let channel = format!("{{ url: \"{url}\", exchange: outage.orders, routing: [order] }}");
    vec![Way::new("amqp", "amqp", channel)]
}

fn ways_of_kafka(kafka: &Kafka) -> Vec<Way> {
    let brokers = kafka.bootstrap();
    let channel = format!("{{ brokers: \"{brokers}\", topics: [outage.orders] }}");
    vec![Way::that_reads_on("kafka", "kafka", channel)]
}

fn ways_of_mqtt(mosquitto: &Mosquitto) -> Vec<Way> {
    let url = mosquitto.url();
    let of = |name, qos| {
        let channel = format!("{{ url: \"{url}\", topics: [outage/{name}], qos: {qos} }}");
        Way::new(name, "mqtt", channel)
    };
    vec![of("mqtt-at-most-once", 0), of("mqtt-at-least-once", 1)]
}

fn ways_of_nats(nats: &Nats) -> Vec<Way> {
    let url = nats.url();
    let stream = format!("{{ url: \"{url}\", subjects: [outage.kept], stream: OUTAGE }}");
    let core = format!("{{ url: \"{url}\", subjects: [outage.told] }}");
    vec![Way::that_reads_on("jetstream", "nats", stream), Way::new("core-nats", "nats", core)]
}

fn ways_of_postgres(postgres: &Postgres) -> Vec<Way> {
    let url = postgres.url();
    let table = format!(
        "{{ url: \"{url}\", table: {{ name: outage_orders, cursor: id, every: 5ms, key: key, \
         headers: headers, payload: payload }} }}"
    );
    let notify = format!("{{ url: \"{url}\", notify: [outage] }}");
    // Neither is made by the connector.
    let made = "CREATE TABLE IF NOT EXISTS outage_log (n bigint GENERATED ALWAYS AS IDENTITY \
                PRIMARY KEY, type text, id text); DROP PUBLICATION IF EXISTS outage; \
                CREATE PUBLICATION outage FOR TABLE outage_log";
    let output = Program::new("psql").args([&url, "--quiet", "--command", made]).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let publication = format!("{{ url: \"{url}\", publication: outage }}");
    let log = format!("postgres: {{ url: \"{url}\", table: {{ name: outage_log, cursor: n }} }}");
    vec![
        Way::that_reads_on("postgres-table", "postgres", table),
        Way::new("postgres-notify", "postgres", notify),
        Way {
            told: Told::At(log),
            matched_by: ["$.row.type", "$.row.id"],
            ..Way::new("postgres-publication", "postgres", publication)
        },
    ]
}

fn ways_of_redis(redis: &Redis) -> Vec<Way> {
    let url = redis.url();
    let stream = format!("{{ url: \"{url}\", streams: [outage.orders], field: payload }}");
    let told = format!("{{ url: \"{url}\", channels: [outage.told] }}");
    vec![
        Way::that_reads_on("redis-stream", "redis", stream),
        Way::new("redis-pub-sub", "redis", told),
    ]
}

/// What a queue gave and had no answer for comes again after a while.
fn ways_of_sqs(server: &ElasticMq) -> Vec<Way> {
    let endpoint = server.url();
    let channel = format!("{{ endpoint: \"{endpoint}\", queue: outage-orders, discard: true }}");
    vec![Way::that_reads_on("sqs", "sqs", channel)]
}

/// The server that stands in for AWS keeps queues in memory: killed, it comes back without them, and
/// the system makes them anew. What they held is gone.
fn ways_of_sqs_that_forgets(server: &ElasticMq) -> Vec<Way> {
    let forgets = |way| Way { reads_on: false, forgets: true, ..way };
    ways_of_sqs(server).into_iter().map(forgets).collect()
}

/// A topic, of which each tap has a queue of its own: both come back with a server that keeps them.
fn ways_of_sns(server: &Fauxqs) -> Vec<Way> {
    vec![Way::that_reads_on("sns", "sqs", sns_topic(server, "outage-orders"))]
}

/// A client of a stream gets what is sent while it is connected. Nothing in server-sent events shows
/// that a link is slow.
fn ways_of_streams(streams: &Streams) -> Vec<Way> {
    let address = streams.address();
    let of = |broker, scheme, settings| {
        let channel = format!("{{ url: \"{scheme}://{address}/events/{broker}\"{settings} }}");
        let streams = streams.clone();
        let sender = move || streams.sender(&format!("/events/{broker}"));
        Way { told: Told::By(Box::new(sender)), ..Way::new(broker, broker, channel) }
    };
    let sse = of("sse", "http", ", silence: 2s");
    vec![of("websocket", "ws", ""), Way { sees_late: false, ..sse }]
}

/// A receiver of webhooks at a proxy, by which the system tells.
fn webhooks_behind_a_proxy() -> (CutProxy, Vec<Way>) {
    let own = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port().unwrap()));
    let proxy = CutProxy::start(own).unwrap();
    let (to, channel) = (proxy.address(), format!("{{ listen: \"{own}\", respond: 204 }}"));
    let poster = move || -> Box<dyn Publisher> { Box::new(Poster::new(to)) };
    let told = Told::By(Box::new(poster));
    (proxy, vec![Way { told, ..Way::new("webhook", "webhook", channel) }])
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
fn sns_restarted() {
    let mut server = Fauxqs::start_keeping().unwrap();
    let ways = ways_of_sns(&server);
    restarted(&mut server, &ways);
}

#[test]
fn sns_cut() {
    if runs_slow("a run whose SNS is cut") {
        let server = Fauxqs::start().unwrap();
        cut(&proxy(&server), address(&server), &ways_of_sns(&server));
    }
}

#[test]
fn sqs_restarted() {
    let mut server = ElasticMq::shared().unwrap();
    let ways = ways_of_sqs_that_forgets(&server);
    restarted(&mut *server, &ways);
}

#[test]
fn sqs_restarted_with_what_it_kept() {
    if runs_slow("a run whose SQS is restarted and has kept its queues") {
        let mut server = ElasticMq::start_keeping().unwrap();
        let ways = ways_of_sqs(&server);
        restarted(&mut server, &ways);
    }
}

#[test]
fn sqs_cut() {
    if runs_slow("a run whose SQS is cut") {
        let server = ElasticMq::shared().unwrap();
        cut(&proxy(&*server), address(&*server), &ways_of_sqs(&server));
    }
}

#[test]
fn streams_restarted() {
    let mut streams = Streams::start();
    let ways = ways_of_streams(&streams);
    restarted(&mut streams, &ways);
}

#[test]
fn streams_cut() {
    if runs_slow("a run whose WebSocket and server-sent events are cut") {
        let streams = Streams::start();
        let proxy = CutProxy::start(streams.address()).unwrap();
        cut(&proxy, streams.address(), &ways_of_streams(&streams));
    }
}

#[test]
fn webhooks_cut() {
    if runs_slow("a run whose webhooks are cut off") {
        let (proxy, ways) = webhooks_behind_a_proxy();
        let cut = |proxy: &CutProxy| {
            proxy.refuse();
            assert!(proxy.cut() >= 1, "the system goes through the proxy");
        };
        told_again(&proxy, &ways, cut, |proxy| proxy.admit().unwrap());
    }
}

#[test]
fn amqp_slowed() {
    if runs_slow("a run that AMQP gives its events slowly") {
        let rabbit = RabbitMq::shared().unwrap();
        slowed(&proxy(&*rabbit), address(&*rabbit), &ways_of_amqp(&rabbit));
    }
}

#[test]
fn kafka_slowed() {
    if runs_slow("a run that Kafka gives its events slowly") {
        let kafka = Kafka::shared().unwrap();
        slowed(&kafka.proxy().unwrap(), address(&*kafka), &ways_of_kafka(&kafka));
    }
}

#[test]
fn mqtt_slowed() {
    if runs_slow("a run that MQTT gives its events slowly") {
        let mosquitto = Mosquitto::start().unwrap();
        slowed(&proxy(&mosquitto), address(&mosquitto), &ways_of_mqtt(&mosquitto));
    }
}

#[test]
fn nats_slowed() {
    if runs_slow("a run that NATS gives its events slowly") {
        let nats = Nats::start().unwrap();
        slowed(&proxy(&nats), address(&nats), &ways_of_nats(&nats));
    }
}

#[test]
fn postgres_slowed() {
    if runs_slow("a run that Postgres gives its events slowly") {
        let postgres = Postgres::start().unwrap();
        slowed(&proxy(&postgres), address(&postgres), &ways_of_postgres(&postgres));
    }
}

#[test]
fn redis_slowed() {
    if runs_slow("a run that Redis gives its events slowly") {
        let redis = Redis::start().unwrap();
        slowed(&proxy(&redis), address(&redis), &ways_of_redis(&redis));
    }
}

#[test]
fn sns_slowed() {
    if runs_slow("a run that SNS gives its events slowly") {
        let server = Fauxqs::start().unwrap();
        slowed(&proxy(&server), address(&server), &ways_of_sns(&server));
    }
}

#[test]
fn sqs_slowed() {
    if runs_slow("a run that SQS gives its events slowly") {
        let server = ElasticMq::shared().unwrap();
        slowed(&proxy(&*server), address(&*server), &ways_of_sqs(&server));
    }
}

#[test]
fn streams_slowed() {
    if runs_slow("a run that WebSocket and server-sent events come to slowly") {
        let streams = Streams::start();
        let proxy = CutProxy::start(streams.address()).unwrap();
        slowed(&proxy, streams.address(), &ways_of_streams(&streams));
    }
}

#[test]
fn webhooks_stalled() {
    if runs_slow("a run whose webhooks are held up") {
        let (proxy, ways) = webhooks_behind_a_proxy();
        told_again(&proxy, &ways, CutProxy::stall, CutProxy::resume);
    }
}
