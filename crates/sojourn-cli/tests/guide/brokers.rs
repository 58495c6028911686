//! The channels that the guide's pages show of brokers with TLS, with passwords, or other than
//! Kafka, all of them, listened to on the real broker: what a page leaves to others, such as queues,
//! tables and users, is made here, and hosts that nobody has are this machine.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Command, Stdio},
};

use base64::Engine;
use sojourn_testkit::{
    StreamServer, TempDir, free_port,
    services::{
        Kafka, Mosquitto, Moto, Nats, NatsOptions, PASSWORD, Postgres, RabbitMq, Redis, Service,
        USER,
    },
    sojourn, temp_dir,
};

use super::blocks::{Block, blocks, page};
use crate::{
    common::{answer, make_topics},
    mock::Mocked,
};

/// A page, and words of one of its blocks.
type Place = (&'static str, &'static str);

const AMQP: Place = ("docs/brokers/amqp.md", "mq.example");
const AMQP_AND_NATS: Place = ("docs/journey-files.md", "amqps://");
const AVRO: Place = ("docs/brokers/kafka.md", "avro: { registry");
const AVRO_AND_MQTT: Place = ("docs/decoders.md", "registry.example");
const KAFKA: Place = ("docs/brokers/kafka.md", "b.example");
const KAFKA_SCRAM: Place = ("docs/brokers/kafka.md", "SCRAM");
const KAFKA_TLS: Place = ("docs/journey-files.md", "sasl_ssl");
const MQTT: Place = ("docs/brokers/mqtt.md", "broker.example");
const NATS: Place = ("docs/brokers/nats.md", "nats.example");
const NSERVICEBUS: Place = ("docs/decoders.md", "nservicebus }");
const POSTGRES: Place = ("docs/brokers/postgres.md", "db.example");
const PROTOBUF: Place = ("docs/decoders.md", "descriptor: events.binpb");
const REDIS: Place = ("docs/brokers/redis.md", "cache.example");
const REGEX: Place = ("docs/decoders.md", "decoder: { regex");
const SQS: Place = ("docs/brokers/sqs.md", "orders-loadtest");
const SSE: Place = ("docs/brokers/sse.md", "https://api.example");
const WEBSOCKET: Place = ("docs/brokers/websocket.md", "wss://api.example");

/// Those that have a test here; all others are run as they stand.
const PLACES: [Place; 17] = [
    AMQP,
    AMQP_AND_NATS,
    AVRO,
    AVRO_AND_MQTT,
    KAFKA,
    KAFKA_SCRAM,
    KAFKA_TLS,
    MQTT,
    NATS,
    NSERVICEBUS,
    POSTGRES,
    PROTOBUF,
    REDIS,
    REGEX,
    SQS,
    SSE,
    WEBSOCKET,
];

/// Whether a block is listened to here.
pub(super) fn has(block: &Block) -> bool {
    PLACES.iter().any(|(page, words)| block.page == *page && block.text.contains(words))
}

/// What a block is called here.
const FILE: &str = "shown.yaml";

/// A block of a page with channels.
struct Shown {
    folder: TempDir,
    block: Block,
    /// Variables of its environment.
    given: Vec<(&'static str, String)>,
}

impl Shown {
    fn of((name, words): Place) -> Self {
        let mut all = blocks(name, &page(name)).into_iter();
        let block = all.find(|block| block.language == "yaml" && block.text.contains(words));
        let block = block.unwrap_or_else(|| panic!("{name}: no {words}"));
        Self { folder: temp_dir().unwrap(), block, given: Vec::new() }
    }

    /// With what is here in place of what it shows.
    fn here(mut self, shown: &str, here: impl AsRef<str>) -> Self {
        let place = self.block.place();
        assert!(self.block.text.contains(shown), "{place}: no {shown}");
        self.block.text = self.block.text.replace(shown, here.as_ref());
        self
    }

    /// With a file that it names.
    fn having(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.folder.path().join(name), content).unwrap();
        self
    }

    fn given(mut self, name: &'static str, value: &str) -> Self {
        self.given.push((name, value.to_owned()));
        self
    }

    /// With the authority that it names.
    fn trusting(self, ca: Option<PathBuf>) -> Self {
        std::fs::copy(ca.unwrap(), self.folder.path().join("ca.pem")).unwrap();
        self
    }

    /// Listens to all its channels for a second.
    fn watch(&self) {
        self.sojourn(&["watch", FILE, "--for", "1s"]);
    }

    /// Sends its journey once, to its end. All that a whole file has besides is a load.
    fn run_once(mut self) {
        self.block.text.push_str("load: [{ rate: 1/s, steady: 1s }]\n");
        self.sojourn(&["run", FILE, "--once", "--live", "off"]);
    }

    fn sojourn(&self, words: &[&str]) {
        let folder = self.folder.path();
        std::fs::write(folder.join(FILE), &self.block.text).unwrap();
        let mut program = sojourn(words).in_dir(folder);
        for (name, value) in &self.given {
            program = program.env(name, value);
        }
        let output = program.run().unwrap();
        assert_eq!(output.code, Some(0), "{}: {output}", self.block.place());
    }
}

/// A request of HTTP, which the server must take.
fn ask(port: u16, head: &str, body: &str) {
    let answer = answer(("127.0.0.1", port), head, body);
    assert!(answer.starts_with("HTTP/1.1 2"), "{head}: {answer}");
}

/// A schema, and a descriptor set with `shop.Paid`, a message without fields.
const PAID_AVSC: &str =
    r#"{"type":"record","name":"Paid","fields":[{"name":"order_id","type":"string"}]}"#;
const PAID_BINPB: &[u8] = b"\x0a\x1f\x0a\x07e.proto\x12\x04shop\x22\x06\x0a\x04Paid\x62\x06proto3";

#[test]
fn kafka() {
    let broker = Kafka::shared().unwrap();
    broker.add_scram_user().unwrap();
    make_topics(&broker.bootstrap(), &["payments", "refunds", "payments.events", "refunds.events"]);
    let of = |place| Shown::of(place).given("KAFKA_PASSWORD", PASSWORD);
    let secret = |place| {
        of(place)
            .here("sasl.username: load", format!("sasl.username: {USER}"))
            .trusting(broker.ca_file())
    };
    let (plain, both) = (broker.bootstrap(), broker.bootstrap_tls_and_password());
    secret(KAFKA)
        .here("127.0.0.1:9092", &plain)
        .here("a.example:9092,b.example:9092", broker.bootstrap_with_password())
        .watch();
    secret(KAFKA_SCRAM).here("a.example:9093", &both).watch();
    secret(KAFKA_TLS)
        .here("127.0.0.1:9092", &both)
        .here("127.0.0.1:9000", format!("127.0.0.1:{}", free_port().unwrap()))
        .watch();
    let mqtt = Mosquitto::start().unwrap();
    let registry = registry(&mqtt);
    of(AVRO)
        .here("127.0.0.1:9092", &plain)
        .here("127.0.0.1:8081", registry.address.to_string())
        .watch();
    of(PROTOBUF).here("127.0.0.1:9092", &plain).having("events.binpb", PAID_BINPB).watch();
    of(AVRO_AND_MQTT)
        .here("127.0.0.1:9092", &plain)
        .here("mqtt://127.0.0.1", mqtt.url())
        .here("registry.example:8081", format!("localhost:{}", registry.address.port()))
        .having("paid.avsc", PAID_AVSC)
        .trusting(mqtt.ca_file())
        .watch();
}

/// A registry as far as it is asked before the first message comes, with a broker's certificate.
fn registry(broker: &Mosquitto) -> Mocked {
    let of = |name: &str| broker.ca_file().unwrap().with_file_name(name).display().to_string();
    let (certificate, key) = (of("server.pem"), of("server.key"));
    let types = [("types.json", r#"["AVRO","PROTOBUF"]"#)];
    let tls = ["--tls", "--tls-cert", certificate.as_str(), "--tls-key", key.as_str()];
    Mocked::start(&types, &[&["--respond", "types.json"][..], &tls].concat())
}

const ORDERS: &str = r#"{"name":"ORDERS","subjects":["orders.>"]}"#;

/// The plain server, and the one with TLS and a user, where the stream and its consumers are.
#[test]
fn nats() {
    let open = Nats::start().unwrap();
    let secured = NatsOptions { password: true, tls: true };
    // Who makes the stream here does so without.
    let secured = Nats::start_configured(secured, "allow_non_tls: true").unwrap();
    has_orders(secured.port());
    let address = secured.url().replace(PASSWORD, "${NATS_PASSWORD}");
    Shown::of(NATS)
        .here("nats://127.0.0.1:4222", open.url())
        .here("tls://load:${NATS_PASSWORD}@nats.example:4222", address)
        .given("NATS_PASSWORD", PASSWORD)
        .trusting(secured.ca_file())
        .watch();
}

/// Makes the stream with its two consumers.
fn has_orders(port: u16) {
    ask_nats(port, "STREAM.CREATE.ORDERS", ORDERS);
    for consumer in ["billing", "shipping"] {
        let config = format!(r#"{{"durable_name":"{consumer}","ack_policy":"explicit"}}"#);
        let config = format!(r#"{{"stream_name":"ORDERS","config":{config}}}"#);
        ask_nats(port, &format!("CONSUMER.DURABLE.CREATE.ORDERS.{consumer}"), &config);
    }
}

/// A request to JetStream, which it must take.
fn ask_nats(port: u16, what: &str, body: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = body.len();
    write!(
        stream,
        "CONNECT {{\"verbose\":false,\"user\":\"{USER}\",\"pass\":\"{PASSWORD}\"}}\r\n\
         SUB answer 1\r\nPUB $JS.API.{what} answer {length}\r\n{body}\r\n"
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines();
    let answer = lines.find(|line| line.as_ref().unwrap().starts_with('{')).unwrap().unwrap();
    assert!(!answer.contains("\"error\""), "{what}: {answer}");
}

#[test]
fn mqtt() {
    let broker = Mosquitto::start().unwrap();
    let secure = broker.url_tls().replace("mqtts://", "mqtts://load:${MQTT_PASSWORD}@");
    Shown::of(MQTT)
        .here("mqtt://127.0.0.1:1883", broker.url())
        .here("mqtts://load:${MQTT_PASSWORD}@broker.example:8883", secure)
        .given("MQTT_PASSWORD", "any")
        .trusting(broker.ca_file())
        .watch();
    Shown::of(REGEX).here("mqtt://127.0.0.1", broker.url()).watch();
}

#[test]
fn redis() {
    let broker = Redis::start().unwrap();
    // Consumers make the streams.
    let mut stream = TcpStream::connect(("127.0.0.1", broker.port())).unwrap();
    let make = |stream: &str| {
        ["billing", "shipping"]
            .map(|group| format!("XGROUP CREATE {stream} {group} $ MKSTREAM\r\n"))
    };
    let words = ["orders", "refunds"].map(make).concat().concat();
    let notify = "CONFIG SET notify-keyspace-events KEA\r\nQUIT\r\n";
    stream.write_all((words + notify).as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert_eq!(said, "+OK\r\n".repeat(6));
    let secret = broker.url_with_password().replace(PASSWORD, "${REDIS_PASSWORD}") + "/2";
    let shown = Shown::of(REDIS)
        .here("redis://127.0.0.1:6379", broker.url())
        .here("redis://load:${REDIS_PASSWORD}@cache.example/2", secret)
        .here("rediss://cache.example", broker.url_tls())
        .given("REDIS_PASSWORD", PASSWORD)
        .trusting(broker.ca_file());
    shown.watch();
    shown.run_once();
}

#[test]
fn postgres() {
    let broker = Postgres::start().unwrap();
    psql(&broker.url(), "CREATE DATABASE shop");
    let url = broker.url().replace("/postgres", "/shop");
    // Who needs no password there.
    let user = url.split(['/', '@']).nth(2).unwrap();
    psql(
        &url,
        "CREATE TABLE outbox (id bigserial PRIMARY KEY, aggregate_id text, headers jsonb, \
         payload jsonb, created_at timestamptz DEFAULT now(), sent_at timestamptz); \
         CREATE PUBLICATION sojourn FOR TABLE outbox; \
         SELECT pg_create_logical_replication_slot('debezium', 'pgoutput')",
    );
    Shown::of(POSTGRES)
        .here("load", user)
        .here("127.0.0.1/shop", format!("127.0.0.1:{}/shop", broker.port()))
        .here("db.example/shop", format!("localhost:{}/shop", broker.port()))
        .given("PGPASSWORD", "none")
        .trusting(broker.ca_file())
        .watch();
}

/// Statements, each by itself, as `CREATE DATABASE` must be.
fn psql(url: &str, statements: &str) {
    let words = [url, "--quiet", "--no-psqlrc", "-v", "ON_ERROR_STOP=1"];
    let mut psql = Command::new("psql").args(words).stdin(Stdio::piped()).spawn().unwrap();
    writeln!(psql.stdin.take().unwrap(), "{statements};").unwrap();
    assert!(psql.wait().unwrap().success(), "{statements}");
}

/// The page's virtual host and its users, with what their systems have declared.
#[test]
fn amqp() {
    let broker = RabbitMq::shared().unwrap();
    let administrator = base64::engine::general_purpose::STANDARD.encode("guest:guest");
    let declare = |what: &str, body: &str| {
        let head = format!(
            "PUT /api/{what} HTTP/1.1\r\nauthorization: Basic {administrator}\r\n\
             content-type: application/json"
        );
        ask(broker.port_management(), &head, body);
    };
    let secret = format!(r#"{{"password":"{PASSWORD}","tags":"monitoring"}}"#);
    let everything = r#"{"configure":".*","write":".*","read":".*"}"#;
    declare("vhosts/%2Fshop", "{}");
    for user in ["load", "watch"] {
        declare(&format!("users/{user}"), &secret);
        declare(&format!("permissions/%2Fshop/{user}"), everything);
        declare(&format!("permissions/%2F/{user}"), everything);
    }
    for exchange in ["%2Fshop/orders", "%2F/orders", "%2F/refunds"] {
        declare(&format!("exchanges/{exchange}"), r#"{"type":"topic"}"#);
    }
    for exchange in ["Pay.Events:PaymentCreated", "Shop.Events:Paid"] {
        declare(&format!("exchanges/%2F/{exchange}"), r#"{"type":"fanout"}"#);
    }
    for queue in ["billing", "billing.dead-letter"] {
        declare(&format!("queues/%2Fshop/{queue}"), "{}");
    }
    let plain = format!("127.0.0.1:{}", broker.port());
    let secure = broker.url_tls();
    let secure = secure.split_once('@').unwrap().1.trim_end_matches("/%2f");
    let of = |place| Shown::of(place).given("AMQP_PASSWORD", PASSWORD).trusting(broker.ca_file());
    of(AMQP)
        .here("127.0.0.1/%2Fshop", format!("{plain}/%2Fshop"))
        .here("amqp://127.0.0.1\"", format!("amqp://{plain}\""))
        .here("mq.example:15672", format!("127.0.0.1:{}", broker.port_management()))
        .here("mq.example", secure)
        .given("MANAGEMENT_PASSWORD", PASSWORD)
        .watch();
    of(NSERVICEBUS).here("amqp://127.0.0.1", format!("amqp://{plain}")).watch();
    let nats = Nats::start().unwrap();
    has_orders(nats.port());
    of(AMQP_AND_NATS)
        .given("NATS", nats.url().trim_start_matches("nats://"))
        .here("@127.0.0.1", format!("@{secure}"))
        .watch();
}

#[test]
fn sqs() {
    let broker = Moto::shared().unwrap();
    let ask_for = |service: &str, form: &str| {
        let head = format!(
            "POST / HTTP/1.1\r\ncontent-type: application/x-www-form-urlencoded\r\n\
             authorization: AWS4-HMAC-SHA256 Credential=any/20260101/eu-west-1/{service}/aws4_request"
        );
        ask(broker.port(), &head, form);
    };
    for queue in
        ["orders-loadtest", "orders-worker", "orders-worker-dlq", "commands", "commands-loadtest"]
    {
        ask_for("sqs", &format!("Action=CreateQueue&QueueName={queue}"));
    }
    ask_for("sns", "Action=CreateTopic&Name=payments");
    Shown::of(SQS)
        .given("AWS_ENDPOINT_URL", &broker.url())
        .given("AWS_REGION", "eu-west-1")
        .given("AWS_ACCESS_KEY_ID", "any")
        .given("AWS_SECRET_ACCESS_KEY", "any")
        .watch();
}

#[test]
fn streams() {
    let server = StreamServer::start().unwrap();
    let address = server.address();
    Shown::of(SSE).here("https://api.example", format!("http://{address}")).watch();
    Shown::of(WEBSOCKET)
        .here("wss://api.example", format!("ws://{address}"))
        .given("TOKEN", "any")
        .watch();
}
