//! Greeting an origin: a connection, TLS and the certificate, and no request.

use sojourn_clock::SECOND_NS;
use sojourn_http::{Client, ClientConfig, FailureKind, TlsOptions};

use crate::dialling::{answer_all, origin, tls_server};
use crate::peers::{Server, nobody, read_request};

fn client(tls: TlsOptions) -> Client {
    Client::new(ClientConfig { tls, ..ClientConfig::default() }).expect("a client")
}

#[test]
fn a_plain_origin_is_connected_to_and_asked_nothing() {
    let (asked, was_asked) = std::sync::mpsc::sync_channel(1);
    let server = Server::start(move |_, mut stream| {
        asked.send(read_request(&mut stream).is_some()).expect("the test listens");
    });
    let mut client = client(TlsOptions::default());
    let target = origin(false, "127.0.0.1", server.address.port());
    let greeting = client.greet(&target, SECOND_NS).expect("it is there");
    assert!(greeting.connect_ns > 0 && greeting.tls_ns == 0, "{greeting:?}");
    assert_eq!(greeting.certificate_ends, None);
    assert!(!was_asked.recv().expect("the connection ends"));
    assert_eq!((client.connections(), client.in_flight()), (0, 0));
    let failure = client.greet(&origin(false, "127.0.0.1", nobody().port()), SECOND_NS);
    assert_eq!(failure.expect_err("nobody").kind, FailureKind::Connect);
}

#[test]
fn a_certificate_is_verified_and_says_when_it_ends() {
    let peer = tls_server(&["localhost"], answer_all);
    let port = peer.server.address.port();
    let trusting =
        TlsOptions { ca_file: Some(peer.ca_file.path().to_owned()), ..TlsOptions::default() };
    let mut client = client(trusting);
    // Only whoever goes on to TLS meets a wrong name.
    let wrong = origin(true, "127.0.0.1", port);
    client.reach(&wrong, SECOND_NS).expect("it is there");
    let failure = client.greet(&wrong, SECOND_NS).expect_err("another's certificate");
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    assert!(failure.detail.contains("localhost"), "{failure}");
    let greeting = client.greet(&origin(true, "localhost", port), SECOND_NS).expect("its name");
    assert!(greeting.tls_ns > 0, "{greeting:?}");
    // As rcgen has it.
    assert_eq!(greeting.certificate_ends.as_deref(), Some("4096-01-01 00:00"));
    assert_eq!((client.connections(), client.in_flight()), (0, 0));
}
