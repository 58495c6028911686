//! What is said when a tap cannot listen.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::json;
use sojourn_broker::{BrokerError, Tap};
use sojourn_broker_amqp::AmqpTap;
use sojourn_plan::{AmqpChannel, Secret, Tls};
use sojourn_services::{PASSWORD, RabbitMq, Service, USER, closed_port};

use crate::system::{Kept, System, channel, management, rabbit};

/// The error of opening, its secrets looked for.
fn refused(channel: &AmqpChannel) -> BrokerError {
    let error = match AmqpTap::new(channel) {
        Ok(mut tap) => {
            assert!(!format!("{tap:?}").contains("hunter2"));
            tap.open().unwrap_err()
        }
        Err(error) => error,
    };
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    assert!(error.message.contains("amqp at "), "{error}");
    error
}

fn check(error: &BrokerError, says: &str, hints: &str) {
    assert!(error.message.contains(says), "`{error}` does not say `{says}`");
    let hint = error.hint.as_deref().unwrap_or_default();
    assert!(hint.contains(hints), "`{hint}` does not say `{hints}`");
}

#[test]
fn who_may_not_log_in_is_told_so() {
    let rabbit = rabbit();
    let mut wrong = channel(&rabbit, "amq.topic", &["#"]);
    wrong.server.user = Some("load".to_owned());
    wrong.server.password = Some(Secret::new("hunter2"));
    let error = refused(&wrong);
    check(&error, "refused user `load`", "password");
    assert!(error.message.contains(&format!("127.0.0.1:{}", rabbit.port())));
    wrong.server.user = Some(USER.to_owned());
    wrong.server.password = Some(Secret::new(PASSWORD));
    AmqpTap::new(&wrong).unwrap().open().unwrap();
    wrong.server.path = "nowhere".to_owned();
    check(&refused(&wrong), "virtual host `nowhere`", "%2F");
}

#[test]
fn who_has_no_permission_is_told_so() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("e.secret", "topic");
    system.ask("PUT", "users/limited", &json!({"password": "hunter2", "tags": ""}));
    let mut limited = channel(&rabbit, "e.secret", &["#"]);
    limited.server.user = Some("limited".to_owned());
    limited.server.password = Some(Secret::new("hunter2"));
    check(&refused(&limited), "virtual host `/`", "permissions");
    // What docs/brokers/amqp.md asks for, but for the exchange.
    let permit = |read: &str| {
        let own = "^amq\\.gen.*";
        let permissions = json!({"configure": own, "write": own, "read": read});
        system.ask("PUT", "permissions/%2f/limited", &permissions);
    };
    permit("^amq\\.gen.*");
    check(&refused(&limited), "access refused", "permissions");
    permit("^(amq\\.gen.*|e\\.secret)$");
    let mut tap = AmqpTap::new(&limited).unwrap();
    tap.open().unwrap();
    system.publish("e.secret", "k", &json!({}), "seen");
    let mut kept = Kept::default();
    kept.until(&mut tap, 1);
}

#[test]
fn an_exchange_that_is_missing_is_not_made_and_similar_ones_are_named() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("e.orders", "topic");
    let mut missing = channel(&rabbit, "e.ordres", &["#"]);
    check(&refused(&missing), "no exchange `e.ordres` in virtual host `/`", "none is made here");
    missing.management = Some(management(&rabbit));
    check(&refused(&missing), "no exchange `e.ordres`", "did you mean `e.orders`?");
    let (status, _) = system.ask("GET", "exchanges/%2f/e.ordres", &serde_json::Value::Null);
    assert_eq!(status, 404);
    missing.exchange = String::new();
    check(&refused(&missing), "default exchange", "trace");
    missing.exchange = "e".repeat(256);
    check(&refused(&missing), "255 bytes", "");
}

#[test]
fn a_pattern_on_a_direct_exchange_is_no_silent_tap() {
    let rabbit = rabbit();
    System::of(&rabbit).exchange("e.direct", "direct");
    let channel = channel(&rabbit, "e.direct", &["#"]);
    check(&refused(&channel), "exchange `e.direct` is direct", "routing");
}

#[test]
fn who_does_not_answer_or_speaks_otherwise_is_named() {
    let rabbit = rabbit();
    let mut other = channel(&rabbit, "amq.topic", &["#"]);
    other.server.port = closed_port().unwrap();
    check(&refused(&other), "connection refused", "running");
    // Whoever does not know what to make of the greeting.
    other.server.port = answering(b"");
    check(&refused(&other), "closed the connection at AMQP's greeting", "5672");
    other.server.port = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    check(&refused(&other), "does not speak AMQP", "0.9.1");
    // Another version of AMQP, as brokers say it.
    other.server.port = answering(b"AMQP\x03\x01\x00\x00");
    check(&refused(&other), "another version of AMQP", "1.0");
}

/// The port of a server that answers each connection with these bytes and closes it.
fn answering(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.read_exact(&mut [0; 8]).unwrap();
        socket.write_all(bytes).unwrap();
    });
    port
}

fn over_tls(rabbit: &RabbitMq, host: &str, trust: Tls) -> AmqpChannel {
    let mut channel = channel(rabbit, "amq.topic", &["t"]);
    let url = rabbit.url_tls();
    let (_, port) = url.rsplit_once("localhost:").unwrap();
    channel.server.port = port.split('/').next().unwrap().parse().unwrap();
    channel.server.host = host.to_owned();
    channel.server.tls = true;
    channel.server.trust = trust;
    channel
}

#[test]
fn tls_is_spoken_with_whom_is_trusted_by_name() {
    let rabbit = rabbit();
    let ca = rabbit.ca_file();
    let trusted = Tls { ca: ca.clone(), ..Tls::default() };
    let mut tap = AmqpTap::new(&over_tls(&rabbit, "localhost", trusted.clone())).unwrap();
    tap.open().unwrap();
    let long = "x".repeat(300_000);
    for payload in ["first", long.as_str(), "last"] {
        System::of(&rabbit).publish("amq.topic", "t", &json!({}), payload);
    }
    let mut kept = Kept::default();
    kept.until(&mut tap, 3);
    assert_eq!(kept.texts(), ["first", long.as_str(), "last"]);
    check(
        &refused(&over_tls(&rabbit, "localhost", Tls::default())),
        "signed by nobody we trust",
        "tls: { ca",
    );
    let other_name = Tls { name: Some("broker.example".to_owned()), ..trusted.clone() };
    let error = refused(&over_tls(&rabbit, "localhost", other_name));
    check(&error, "for another name", "tls: { name");
    let named = Tls { name: Some("localhost".to_owned()), ..trusted.clone() };
    AmqpTap::new(&over_tls(&rabbit, "127.0.0.1", named)).unwrap().open().unwrap();
    let insecure = Tls { insecure: true, ..Tls::default() };
    AmqpTap::new(&over_tls(&rabbit, "localhost", insecure)).unwrap().open().unwrap();
    let no_file = Tls { ca: Some("/nowhere/ca.pem".into()), ..Tls::default() };
    check(&refused(&over_tls(&rabbit, "localhost", no_file)), "/nowhere/ca.pem", "tls");
    // Each on the other's port.
    let mut plain = over_tls(&rabbit, "localhost", trusted);
    plain.server.port = rabbit.port();
    check(&refused(&plain), "does not speak TLS", "5671");
    let mut bare = over_tls(&rabbit, "localhost", Tls::default());
    bare.server.tls = false;
    check(&refused(&bare), "AMQP", "AMQP");
}
