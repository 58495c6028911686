//! What is told of what is wrong.

use std::io::Write as _;
use std::net::TcpListener;

use sojourn_services::{Nats, NatsOptions, Service as _, closed_port};

use crate::support::{channel, open_error};
use crate::system::System;

/// The error of opening a tap says all of these, message and hint together.
fn check(channel: &sojourn_plan::NatsChannel, says: &[&str]) {
    let error = open_error(channel);
    let text = format!("{error} | {}", error.hint.as_deref().unwrap_or_default());
    for words in says {
        assert!(text.contains(words), "`{text}` does not say `{words}`");
    }
    let password = channel.server.password.as_ref().map(sojourn_plan::Secret::reveal);
    assert!(password.is_none_or(|password| !format!("{error:?}").contains(password)), "{error:?}");
}

#[test]
fn nobody_there_or_somebody_else() {
    let port = closed_port().unwrap();
    let address = format!("127.0.0.1:{port}");
    check(&channel(port, &["a"], None), &["cannot connect", &address, "refused", "running"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answerer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        stream
    });
    check(&channel(port, &["a"], None), &["is this NATS's port"]);
    answerer.join().unwrap();
    let mut unknown = channel(4222, &["a"], None);
    unknown.server.host = "no-such-host.invalid".to_owned();
    check(&unknown, &["no-such-host.invalid:4222"]);
}

#[test]
fn a_missing_stream_is_named_with_its_likes() {
    let nats = Nats::start().unwrap();
    let at = format!("127.0.0.1:{}", nats.port());
    check(&channel(nats.port(), &["a"], Some("ORDERS")), &[&at, "no stream `ORDERS`", "create it"]);
    let mut system = System::connect(nats.port());
    system.stream("INVOICES", &["i.>"]);
    system.stream("ORDER", &["o.>"]);
    check(&channel(nats.port(), &["a"], Some("ORDERS")), &["it has `ORDER`, `INVOICES`"]);
    // A subject that the stream does not have.
    check(&channel(nats.port(), &["x.y"], Some("ORDER")), &["ORDER", "filter subject"]);
    let mut domain = channel(nats.port(), &["o.a"], Some("ORDER"));
    domain.domain = Some("leaf".to_owned());
    check(&domain, &["JetStream does not answer", "domain"]);
}

#[test]
fn what_the_user_may_not_do() {
    let users = "authorization { users: [ { user: u, password: pw, permissions: {
        publish: [\"a.>\"], subscribe: [\"a.>\"] } } ] }";
    let nats = Nats::start_configured(NatsOptions::default(), users).unwrap();
    let login = |subject: &str, stream| {
        crate::support::with_login(channel(nats.port(), &[subject], stream), "u", "pw")
    };
    crate::support::opened(&login("a.b", None));
    check(&login("b", None), &["Permissions Violation", "Subscription", "\"b\"", "allowed"]);
    check(&login("a.b", Some("S")), &["Permissions Violation", "docs/brokers/nats.md"]);
}
