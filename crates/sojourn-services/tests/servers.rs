//! Each server is started, spoken to, killed, restarted on the same port, stopped, and gone.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use sojourn_services::{
    Dnsmasq, ElasticMq, Fauxqs, InfluxDb, Kafka, Mosquitto, Moto, Nats, NatsOptions, OpenTelemetry,
    PASSWORD, Postgres, Process, Prometheus, RabbitMq, Redis, RedisOptions, Service, Statsd, USER,
    descendants,
};

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Sends, and reads until this has come; whatever comes before it is returned with it.
fn ask(stream: &mut TcpStream, request: &[u8], until: &[u8]) -> Vec<u8> {
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    while !answer.windows(until.len()).any(|window| window == until) {
        let mut byte = [0];
        let read = stream.read(&mut byte);
        assert!(matches!(read, Ok(1)), "{read:?} after `{}`", answer.escape_ascii());
        answer.push(byte[0]);
    }
    answer
}

/// The life of a server, in which `speak` must succeed whenever it is up.
fn live(server: &mut impl Service, speak: impl Fn(u16)) {
    let port = server.port();
    let first = server.instance().process().unwrap();
    let family = descendants(first);
    server.kind().probe(port).unwrap();
    speak(port);
    server.kill();
    assert!(!family.iter().any(|process| process.is_alive()), "it left processes behind");
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    server.restart().unwrap();
    assert_eq!(server.port(), port);
    assert_ne!(server.instance().process().unwrap(), first);
    speak(port);
    let family: Vec<Process> = descendants(server.instance().process().unwrap());
    server.stop();
    assert!(!family.iter().any(|process| process.is_alive()), "it left processes behind");
    assert!(server.kind().probe(port).is_err());
    server.stop();
}

/// Dropped, a server is gone with its folder.
fn drop_it(server: impl Service) {
    let folder = server.instance().folder().to_owned();
    let family: Vec<Process> =
        server.instance().process().map(descendants).into_iter().flatten().collect();
    drop(server);
    assert!(!folder.exists() && !family.iter().any(|process| process.is_alive()));
}

#[test]
fn nats() {
    let mut nats = Nats::start().unwrap();
    live(&mut nats, |port| {
        let mut stream = connect(port);
        let info = ask(&mut stream, b"", b"\r\n");
        assert!(
            info.starts_with(b"INFO {") && info.windows(16).any(|w| w == b"\"jetstream\":true")
        );
        let request = b"CONNECT {\"verbose\":false}\r\nSUB a 1\r\nPUB a 2\r\nhi\r\nPING\r\n";
        ask(&mut stream, request, b"MSG a 1 2\r\nhi\r\n");
    });
    drop_it(nats);
}

#[test]
fn nats_with_password_and_with_tls() {
    let nats = Nats::start_with(NatsOptions { password: true, tls: false }).unwrap();
    let mut stranger = connect(nats.port());
    ask(
        &mut stranger,
        b"CONNECT {\"verbose\":false}\r\nPING\r\n",
        b"-ERR 'Authorization Violation'",
    );
    assert!(nats.url().contains(&format!("{USER}:{PASSWORD}@")));
    let nats = Nats::start_with(NatsOptions { password: false, tls: true }).unwrap();
    ask(&mut connect(nats.port()), b"", b"\"tls_required\":true");
    assert!(nats.ca_file().unwrap().is_file());
}

#[test]
fn redis() {
    let mut redis = Redis::start().unwrap();
    ask(&mut connect(redis.port()), b"SET kept 1\r\n", b"+OK\r\n");
    live(&mut redis, |port| {
        let mut stream = connect(port);
        ask(&mut stream, b"PING\r\n", b"+PONG\r\n");
        ask(&mut stream, b"GET kept\r\n", b"$1\r\n1\r\n");
    });
    drop_it(redis);
    let guarded = Redis::start_with(RedisOptions { password: true }).unwrap();
    let mut stream = connect(guarded.port());
    ask(&mut stream, b"PING\r\n", b"-NOAUTH");
    ask(&mut stream, format!("AUTH {USER} {PASSWORD}\r\n").as_bytes(), b"+OK\r\n");
    guarded.pause();
    stream.write_all(b"PING\r\n").unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert!(stream.read(&mut [0]).is_err(), "it answers although it is halted");
    guarded.resume();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    ask(&mut stream, b"", b"+PONG\r\n");
}

#[test]
fn mosquitto() {
    let mut mosquitto = Mosquitto::start().unwrap();
    // CONNECT of MQTT 5 without a password: refused with 0x87, not authorised.
    let mut stranger = connect(mosquitto.port_with_password());
    let connect_5 = b"\x10\x0d\0\x04MQTT\x05\x02\0\x0a\0\0\0";
    ask(&mut stranger, connect_5, b"\x20\x03\0\x87\0");
    live(&mut mosquitto, |port| {
        // CONNACK of MQTT 5: no session, success; its properties vary.
        let answer = ask(&mut connect(port), connect_5, b"\0\0");
        assert_eq!(answer.first(), Some(&0x20));
        // PINGREQ after a CONNECT of 3.1.1.
        let request = b"\x10\x0c\0\x04MQTT\x04\x02\0\x0a\0\0\xc0\0";
        ask(&mut connect(port), request, b"\x20\x02\0\0\xd0\0");
    });
    drop_it(mosquitto);
}

#[test]
fn dnsmasq() {
    let mut dnsmasq = Dnsmasq::start().unwrap();
    live(&mut dnsmasq, |port| {
        // The A records of local.test over TCP, where a message has its length in front.
        let question = b"\0\x1c\0\x09\x01\0\0\x01\0\0\0\0\0\0\x05local\x04test\0\0\x01\0\x01";
        ask(&mut connect(port), question, &[0, 4, 127, 0, 0, 1]);
    });
    assert_eq!(dnsmasq.asked_for("local.test").unwrap(), 2, "once at each of its starts");
    drop_it(dnsmasq);
}

#[test]
fn postgres() {
    let mut postgres = Postgres::start().unwrap();
    live(&mut postgres, |port| {
        let mut stream = connect(port);
        ask(
            &mut stream,
            b"\0\0\0\x25\0\x03\0\0user\0open\0database\0postgres\0\0",
            b"Z\0\0\0\x05I",
        );
        let answer = ask(&mut stream, b"Q\0\0\0\x13SHOW wal_level\0", b"Z\0\0\0\x05I");
        assert!(answer.windows(7).any(|window| window == b"logical"));
    });
    postgres.restart().unwrap();
    // Who has a password is asked for it: SASL (10) with SCRAM.
    let start_up = b"\0\0\0\x28\0\x03\0\0user\0sojourn\0database\0postgres\0\0";
    ask(&mut connect(postgres.port()), start_up, b"\0\0\0\x0aSCRAM-SHA-256\0");
    // TLS is to be had.
    ask(&mut connect(postgres.port()), b"\0\0\0\x08\x04\xd2\x16\x2f", b"S");
    drop_it(postgres);
}

#[test]
fn rabbitmq() {
    let mut rabbitmq = RabbitMq::start().unwrap();
    let management = rabbitmq.port_management();
    live(&mut rabbitmq, |port| {
        let start = ask(&mut connect(port), b"AMQP\0\0\x09\x01", b"en_US\xce");
        assert!(start.starts_with(b"\x01\0\0") && start.windows(5).any(|word| word == b"PLAIN"));
        // sojourn:only-for-tests
        let request = "GET /api/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
                       Authorization: Basic c29qb3Vybjpvbmx5LWZvci10ZXN0cw==\r\n\r\n";
        ask(&mut connect(management), request.as_bytes(), b"\"name\":\"sojourn\"");
    });
    drop_it(rabbitmq);
}

#[test]
fn kafka() {
    let mut kafka = Kafka::start().unwrap();
    live(&mut kafka, |port| {
        // Metadata (3), version 1, of all topics: correlation 9, one broker, number 1.
        let request = b"\0\0\0\x0e\0\x03\0\x01\0\0\0\x09\xff\xff\xff\xff\xff\xff";
        ask(&mut connect(port), request, b"\0\0\0\x09\0\0\0\x01\0\0\0\x01\0\x09127.0.0.1");
    });
    kafka.restart().unwrap();
    // SaslHandshake (17) for a mechanism that there is not names those that there are.
    let port = kafka.bootstrap_with_password().rsplit(':').next().unwrap().parse().unwrap();
    let request = b"\0\0\0\x0d\0\x11\0\x01\0\0\0\x07\xff\xff\0\x01X";
    let mechanisms = b"\0\0\0\x07\0\x21\0\0\0\x02\0\x05PLAIN\0\x0dSCRAM-SHA-256";
    ask(&mut connect(port), request, mechanisms);
    drop_it(kafka);
}

#[test]
fn elasticmq() {
    let mut elasticmq = ElasticMq::start().unwrap();
    live(&mut elasticmq, |port| {
        let ask_for = |query: &str, until: &[u8]| {
            let request = format!("GET /?{query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            ask(&mut connect(port), request.as_bytes(), until);
        };
        ask_for("Action=CreateQueue&QueueName=orders", b"</CreateQueueResponse>");
        ask_for("Action=ListQueues", b"/orders</QueueUrl>");
    });
    drop_it(elasticmq);
}

#[test]
fn fauxqs() {
    let mut fauxqs = Fauxqs::start_keeping().unwrap();
    let arn = format!("arn:aws:sns:us-east-1:{}:orders</TopicArn>", Fauxqs::ACCOUNT);
    let ask_for = |port, body: &str| {
        let request = format!(
            "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: \
             application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        ask(&mut connect(port), request.as_bytes(), arn.as_bytes());
    };
    ask_for(fauxqs.port(), "Action=CreateTopic&Name=orders&Version=2010-03-31");
    // What listens everywhere listens here, too.
    assert!(TcpStream::connect((Ipv4Addr::new(127, 0, 0, 2), fauxqs.port())).is_err());
    // Before it is killed, and after: the topic has been kept.
    live(&mut fauxqs, |port| ask_for(port, "Action=ListTopics&Version=2010-03-31"));
    drop_it(fauxqs);
}

#[test]
fn moto() {
    let mut moto = Moto::start().unwrap();
    live(&mut moto, |port| {
        let ask_for = |service: &str, line: &str, more: &str, until: &[u8]| {
            let request = format!(
                "{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: \
                 AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/{service}/aws4_request, \
                 SignedHeaders=host, Signature=0\r\n{more}"
            );
            ask(&mut connect(port), request.as_bytes(), until);
        };
        let arn = format!("arn:aws:sns:us-east-1:{}:orders</TopicArn>", Moto::ACCOUNT);
        let create = "GET /?Action=CreateTopic&Name=orders&Version=2010-03-31";
        ask_for("sns", create, "\r\n", arn.as_bytes());
        ask_for("sns", "GET /?Action=ListTopics&Version=2010-03-31", "\r\n", arn.as_bytes());
        let body = r#"{"QueueName":"q"}"#;
        let queue = format!(
            "X-Amz-Target: AmazonSQS.CreateQueue\r\nContent-Type: \
             application/x-amz-json-1.0\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        ask_for("sqs", "POST /", &queue, br#"/q""#);
    });
    drop_it(moto);
}

#[test]
fn prometheus() {
    let mut prometheus = Prometheus::start("").unwrap();
    assert!(prometheus.query("1 + 1").unwrap().contains("\"2\""));
    live(&mut prometheus, |port| {
        let request = "GET /api/v1/query?query=20%2B1 HTTP/1.0\r\n\r\n";
        ask(&mut connect(port), request.as_bytes(), b"\"21\"");
    });
    drop_it(prometheus);
}

#[test]
fn opentelemetry() {
    let mut opentelemetry = OpenTelemetry::start().unwrap();
    live(&mut opentelemetry, |port| {
        // An empty message is one; another is not, and what is wrong with it is told.
        let post = |body: &str, until: &[u8]| {
            let request = format!(
                "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n\
                 Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            ask(&mut connect(port), request.as_bytes(), until);
        };
        post("", b"200 OK");
        // Its field 15, which it does not have.
        post("z\u{1}x", b"unknown field");
        post("no message", b"Error parsing message");
    });
    drop_it(opentelemetry);
}

#[test]
fn influxdb() {
    let mut influxdb = InfluxDb::start().unwrap();
    assert!(influxdb.url_with_password().contains(&format!("{USER}:{PASSWORD}@")));
    assert!(influxdb.query("none", "SHOW USERS").unwrap().contains(USER));
    live(&mut influxdb, |port| {
        let ask_as = |user: &str, until: &[u8]| {
            let request = format!("GET /query?q=SHOW%20USERS{user} HTTP/1.0\r\n\r\n");
            ask(&mut connect(port), request.as_bytes(), until);
        };
        ask_as("", b" 401 ");
        ask_as(&format!("&u={USER}&p={PASSWORD}"), b"\"admin\"");
    });
    drop_it(influxdb);
}

#[test]
fn statsd() {
    let mut statsd = Statsd::start().unwrap();
    assert!(statsd.list("counters").unwrap().contains("'statsd.bad_lines_seen': 0"));
    live(&mut statsd, |port| {
        ask(&mut connect(port), b"gauges\n", b"END\n\n");
        ask(&mut connect(port), b"no such word\n", b"ERROR");
    });
    drop_it(statsd);
}
