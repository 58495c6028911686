//! Channels that cannot work, on every broker's real server, or where nothing or something else
//! listens: `sojourn run` ends with code 2 and an
//! error that names channel and place and says what to do, before any load, and shows no secret.
//!
//! What the connectors themselves say of wrong settings is for their own tests, which try many more.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use sojourn_testkit::services::{
    CutProxy, ElasticMq, Fauxqs, Kafka, Mosquitto, Moto, Nats, NatsOptions, PASSWORD, Postgres,
    RabbitMq, Redis, Service, USER,
};
use sojourn_testkit::{
    MisbehavingServer, Misbehaviour, StreamServer, TlsFront, closed_port, sojourn, temp_dir,
};

use crate::common::{answer, sns_topic};

/// The wrong password.
const WRONG: &str = "hunter2-hunter2";
/// The name that no server's certificate has.
const ELSEWHERE: &str = "elsewhere.test";

/// A channel that cannot work, and what must be said of it.
struct Wrong<'a> {
    what: &'static str,
    channel: String,
    says: &'a [&'a str],
}

/// Runs plans with each of these channels: one that listens to it, and one that only publishes.
#[track_caller]
fn refused(broker: &str, variables: &[(&str, &Path)], wrong: &[Wrong<'_>]) {
    for wrong in wrong {
        let listens = "root: { http: GET /, key: \"{{ uuid() }}\" }\n    stages: [{ name: done, \
                       on: told, key: $.id }]";
        refused_when_it(listens, broker, variables, wrong);
        // A message makes a stream of Redis, and some channels take none.
        let takes_none = ["sse", "webhook", "websocket"].contains(&broker);
        if !takes_none && (broker, wrong.what) != ("redis", "the stream") {
            // A message to an exchange names its routing key.
            let topic = if broker == "amqp" { "topic: any, " } else { "" };
            let publishes = format!(
                "root: {{ publish: {{ to: told, {topic}json: {{ n: 1 }} }}, key: \"{{{{ uuid() }}}}\" }}\n    \
                 stages: [{{ name: done, on: heard, key: $.id }}]"
            );
            refused_when_it(&publishes, broker, variables, wrong);
        }
    }
}

/// Runs a plan with this root and these stages.
#[track_caller]
fn refused_when_it(does: &str, broker: &str, variables: &[(&str, &Path)], wrong: &Wrong<'_>) {
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::Status(200)]).unwrap();
    let folder = temp_dir().unwrap();
    let Wrong { what, channel, says } = wrong;
    let heard = match does.contains("heard") {
        true => "  heard: { webhook: { listen: \"127.0.0.1:0\" } }\n",
        false => "",
    };
    let plan = format!(
        "name: wrong\ntarget: {}\nchannels:\n  told: {{ {broker}: {channel} }}\n{heard}journeys:\n  \
         order:\n    {does}\n    within: 5s\nload:\n  - {{ rate: 10/s, steady: 20s }}\n",
        server.url("")
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
    let mut program = sojourn(["run", "plan.yaml", "--quiet"]).in_dir(folder.path());
    for (name, value) in variables {
        program = program.env(name, value);
    }
    let output = program.run().unwrap();
    let place = format!("{broker}, {what}, {does}: {output}");
    assert_eq!(output.code, Some(2), "{place}");
    // A topic of AWS is SNS'.
    let named = if output.stderr.contains(": sns at ") { "sns" } else { broker };
    for words in ["error: channel `told`", named, "hint: "].iter().chain(*says) {
        assert!(output.stderr.contains(words), "`{words}` is not said: {place}");
    }
    for secret in [WRONG, PASSWORD] {
        assert!(!output.stderr.contains(secret), "it shows a secret: {place}");
    }
    assert_eq!(output.stdout, "", "{place}");
    assert_eq!(server.server().requests(), 0, "load was made all the same: {place}");
}

/// The address of a URL, without what stands before and behind it.
fn address(url: &str) -> &str {
    let (_, rest) = url.rsplit_once('@').or_else(|| url.split_once("://")).unwrap_or(("", url));
    rest.split('/').next().unwrap_or(rest)
}

fn port(url: &str) -> &str {
    address(url).rsplit(':').next().unwrap_or_default()
}

/// A server's authority.
fn authority(server: &dyn Service) -> PathBuf {
    server.ca_file().expect("it has a certificate")
}

/// Settings of TLS that trust the server, by a name that it does not have.
fn by_another_name(server: &dyn Service) -> String {
    named_elsewhere(&authority(server))
}

fn named_elsewhere(ca: &Path) -> String {
    format!("tls: {{ ca: {}, name: {ELSEWHERE} }}", ca.display())
}

/// The same server at 127.0.0.2, which is this machine too and not in its certificate.
fn at_another_address(port: u16) -> CutProxy {
    let of = |last| SocketAddr::from(([127, 0, 0, last], port));
    CutProxy::start_at(of(2), of(1)).unwrap()
}

#[test]
fn of_amqp() {
    let rabbit = RabbitMq::shared().unwrap();
    let (url, secure) = (rabbit.url(), rabbit.url_tls());
    let password = url.replace("guest:guest@", &format!("guest:{WRONG}@"));
    let tls = by_another_name(&*rabbit);
    let wrong = [
        Wrong {
            what: "the password",
            channel: format!("{{ url: \"{password}\", exchange: amq.topic }}"),
            says: &[address(&url), "`guest`"],
        },
        Wrong {
            what: "the exchange",
            channel: format!("{{ url: \"{url}\", exchange: wrong.absent }}"),
            says: &[address(&url), "wrong.absent"],
        },
        Wrong {
            what: "the name in the certificate",
            channel: format!("{{ url: \"{secure}\", exchange: amq.topic, {tls} }}"),
            says: &[address(&secure), "for another name", "tls: { name"],
        },
    ];
    refused("amqp", &[], &wrong);
}

#[test]
fn of_kafka() {
    let kafka = Kafka::shared().unwrap();
    let (open, guarded) = (kafka.bootstrap(), kafka.bootstrap_with_password());
    let secure = kafka.bootstrap_tls();
    let elsewhere = at_another_address(port(&secure).parse().unwrap());
    let ca = authority(&*kafka);
    let wrong = [
        Wrong {
            what: "the password",
            channel: format!(
                "{{ brokers: \"{guarded}\", topics: [wrong], properties: {{ security.protocol: \
                 sasl_plaintext, sasl.mechanism: PLAIN, sasl.username: {USER}, sasl.password: \
                 {WRONG} }} }}"
            ),
            says: &[port(&guarded), "sasl.password"],
        },
        Wrong {
            what: "the topic",
            channel: format!("{{ brokers: \"{open}\", topics: [wrong.absent] }}"),
            says: &[&open, "wrong.absent"],
        },
        Wrong {
            what: "the name in the certificate",
            channel: format!(
                "{{ brokers: \"{}\", topics: [wrong], properties: {{ security.protocol: ssl, \
                 ssl.ca.location: {} }} }}",
                elsewhere.address(),
                ca.display()
            ),
            says: &[port(&secure), "another name"],
        },
    ];
    refused("kafka", &[], &wrong);
}

/// MQTT has no topics that could be missing.
#[test]
fn of_mqtt() {
    let mosquitto = Mosquitto::start().unwrap();
    let (guarded, secure) = (mosquitto.url_with_password(), mosquitto.url_tls());
    let password = guarded.replace(PASSWORD, WRONG);
    let tls = by_another_name(&mosquitto);
    let wrong = [
        Wrong {
            what: "the password",
            channel: format!("{{ url: \"{password}\", topics: [wrong] }}"),
            says: &[address(&guarded), "not authorized"],
        },
        Wrong {
            what: "the name in the certificate",
            channel: format!("{{ url: \"{secure}\", topics: [wrong], {tls} }}"),
            says: &[address(&secure), ELSEWHERE, "`name`"],
        },
    ];
    refused("mqtt", &[], &wrong);
}

#[test]
fn of_nats() {
    let options = NatsOptions { password: true, tls: true };
    let nats = Nats::start_with(options).unwrap();
    let url = nats.url();
    let trusted = format!("tls: {{ ca: {} }}", authority(&nats).display());
    let password = url.replace(PASSWORD, WRONG);
    let tls = by_another_name(&nats);
    let wrong = [
        Wrong {
            what: "the password",
            channel: format!("{{ url: \"{password}\", subjects: [wrong], {trusted} }}"),
            says: &[address(&url), "password"],
        },
        Wrong {
            what: "the stream",
            channel: format!("{{ url: \"{url}\", subjects: [wrong], stream: ABSENT, {trusted} }}"),
            says: &[address(&url), "`ABSENT`"],
        },
        Wrong {
            what: "the name in the certificate",
            channel: format!("{{ url: \"{url}\", subjects: [wrong], {tls} }}"),
            says: &[address(&url), ELSEWHERE, "name:"],
        },
    ];
    refused("nats", &[], &wrong);
}

#[test]
fn of_postgres() {
    let postgres = Postgres::start().unwrap();
    let (open, guarded) = (postgres.url(), postgres.url_with_password());
    let password = guarded.replace(PASSWORD, WRONG);
    // Its port has both, and the scheme says which.
    let secure = guarded.replace("postgresql://", "postgres+tls://");
    let tls = by_another_name(&postgres);
    let wrong = [
        Wrong {
            what: "the password",
            channel: format!("{{ url: \"{password}\", notify: [wrong] }}"),
            says: &[address(&guarded), USER, "password"],
        },
        Wrong {
            what: "the table",
            channel: format!("{{ url: \"{open}\", table: {{ name: wrong_absent, cursor: id }} }}"),
            says: &[address(&open), "`wrong_absent`"],
        },
        Wrong {
            what: "the name in the certificate",
            channel: format!("{{ url: \"{secure}\", notify: [wrong], {tls} }}"),
            says: &[address(&secure), "TLS:", "tls: { name"],
        },
    ];
    refused("postgres", &[], &wrong);
}

#[test]
fn of_redis() {
    let redis = Redis::start().unwrap();
    let (open, guarded, secure) = (redis.url(), redis.url_with_password(), redis.url_tls());
    let password = guarded.replace(PASSWORD, WRONG);
    let tls = by_another_name(&redis);
    let wrong = [
        Wrong {
            what: "the password",
            channel: format!("{{ url: \"{password}\", channels: [wrong] }}"),
            says: &[address(&guarded), "password"],
        },
        Wrong {
            what: "the stream",
            channel: format!("{{ url: \"{open}\", streams: [wrong.absent] }}"),
            says: &[address(&open), "`wrong.absent`"],
        },
        Wrong {
            what: "the name in the certificate",
            channel: format!("{{ url: \"{secure}\", channels: [wrong], {tls} }}"),
            says: &[address(&secure), ELSEWHERE, "name"],
        },
    ];
    refused("redis", &[], &wrong);
}

#[test]
fn of_sqs_a_missing_queue() {
    let server = ElasticMq::shared().unwrap();
    let endpoint = server.url();
    let wrong = [Wrong {
        what: "the queue",
        channel: format!("{{ endpoint: \"{endpoint}\", queue: wrong-absent }}"),
        says: &[address(&endpoint), "`wrong-absent`"],
    }];
    refused("sqs", &[], &wrong);
}

#[test]
fn of_sns_a_missing_topic() {
    let server = Fauxqs::start().unwrap();
    let endpoint = server.url();
    let wrong = [Wrong {
        what: "the topic",
        channel: sns_topic(&server, "wrong-absent"),
        says: &[": sns at ", address(&endpoint), "no topic", "wrong-absent"],
    }];
    refused("sqs", &[], &wrong);
}

/// Keys are checked by Moto alone. It is told so for this test, so it is a server of its own.
#[test]
fn of_sqs_wrong_keys() {
    let server = Moto::start().unwrap();
    check_keys(server.port());
    let endpoint = server.url();
    let keys = format!("credentials: {{ access_key_id: nobody, secret_access_key: {WRONG} }}");
    let arn = format!("arn:aws:sns:us-east-1:{}:wrong", Moto::ACCOUNT);
    let wrong = [
        Wrong {
            what: "the keys, of a queue",
            channel: format!("{{ endpoint: \"{endpoint}\", queue: wrong, {keys} }}"),
            says: &[address(&endpoint), "InvalidClientTokenId", "`credentials`"],
        },
        Wrong {
            what: "the keys, of a topic",
            channel: format!("{{ endpoint: \"{endpoint}\", topic: \"{arn}\", {keys} }}"),
            says: &[address(&endpoint), "InvalidClientTokenId", "`credentials`"],
        },
    ];
    refused("sqs", &[], &wrong);
}

/// No server of SQS or SNS here speaks TLS itself: AWS's is ended before them, too.
#[test]
fn of_sqs_another_name() {
    let (queues, topics) = (ElasticMq::shared().unwrap(), Fauxqs::start().unwrap());
    let at_home = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
    let front = TlsFront::before(at_home(queues.port())).unwrap();
    let elsewhere = at_another_address(front.port());
    let place = elsewhere.address().to_string();
    let wrong = [Wrong {
        what: "the name in the certificate, of a queue",
        channel: format!("{{ endpoint: \"https://{place}\", queue: wrong, region: us-east-1 }}"),
        says: &[&place, "certificate", "name"],
    }];
    refused("sqs", &[("AWS_CA_BUNDLE", front.ca_file())], &wrong);
    let front = TlsFront::before(at_home(topics.port())).unwrap();
    let elsewhere = at_another_address(front.port());
    let place = elsewhere.address().to_string();
    let channel = sns_topic(&topics, "wrong").replace(&topics.url(), &format!("https://{place}"));
    let wrong = [Wrong {
        what: "the name in the certificate, of a topic",
        channel,
        says: &[&place, "certificate", "name"],
    }];
    refused("sqs", &[("AWS_CA_BUNDLE", front.ca_file())], &wrong);
}

#[test]
fn of_sse() {
    of_streams("sse", ["http", "https"]);
}

#[test]
fn of_websocket() {
    of_streams("websocket", ["ws", "wss"]);
}

/// Streams of HTTP, over TLS behind what ends it.
fn of_streams(broker: &str, [plain, secure]: [&str; 2]) {
    let streams = StreamServer::start().unwrap();
    let guarded = MisbehavingServer::in_sequence(&[Misbehaviour::Status(403)]).unwrap();
    let website = MisbehavingServer::in_sequence(&[Misbehaviour::Status(200)]).unwrap();
    let front = TlsFront::before(streams.address()).unwrap();
    let mosquitto = Mosquitto::start().unwrap();
    let there = streams.address().to_string();
    let (guarded, website) = (guarded.address().to_string(), website.address().to_string());
    let other = address(&mosquitto.url()).to_owned();
    let tls_port = front.port().to_string();
    let nobody = format!("127.0.0.1:{}", closed_port().unwrap());
    let headers = format!("headers: {{ Authorization: \"Bearer {WRONG}\" }}");
    let of =
        |place: &str, path: &str| format!("{{ url: \"{plain}://{place}/{path}\", {headers} }}");
    let tls = named_elsewhere(front.ca_file());
    // What is said of a server of HTTP without such a stream.
    let no_stream = if broker == "sse" { "sends no events" } else { "answers 200" };
    let wrong = [
        Wrong {
            what: "the token",
            channel: of(&there, "secret/events"),
            says: &[&there, "answers 401", "`headers`"],
        },
        Wrong {
            what: "the rights",
            channel: of(&guarded, "events"),
            says: &[&guarded, "answers 403", "`headers`"],
        },
        Wrong {
            what: "the path",
            channel: of(&there, "absent"),
            says: &[&there, "/absent answers 404", "path"],
        },
        Wrong {
            what: "the name in the certificate",
            channel: format!("{{ url: \"{secure}://localhost:{tls_port}/events\", {tls} }}"),
            says: &[&tls_port, ELSEWHERE, "`name`"],
        },
        Wrong { what: "a website", channel: of(&website, "events"), says: &[&website, no_stream] },
        Wrong {
            what: "a server of something else",
            channel: of(&other, "events"),
            says: &[&other, "speak"],
        },
        Wrong {
            what: "nobody there",
            channel: of(&nobody, "events"),
            says: &[&nobody, "connection refused"],
        },
    ];
    refused(broker, &[], &wrong);
}

/// The run itself receives, without TLS: what can be wrong is where it listens.
#[test]
fn of_webhook() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let wrong = [
        Wrong {
            what: "an address in use",
            channel: format!("{{ listen: \"{taken}\" }}"),
            says: &[&taken, "the address is in use", "port 0"],
        },
        Wrong {
            what: "an address of another machine",
            channel: "{ listen: \"192.0.2.1:8080\" }".to_owned(),
            says: &["192.0.2.1:8080", "`listen`"],
        },
    ];
    refused("webhook", &[], &wrong);
}

/// Tells Moto to check the keys of every further request.
fn check_keys(port: u16) {
    let answer = answer(("127.0.0.1", port), "POST /moto-api/reset-auth HTTP/1.1", "0");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
