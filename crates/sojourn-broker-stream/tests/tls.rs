//! Taps over TLS: who is trusted, by what name, and who is let in.

use std::net::SocketAddr;

use sojourn_broker::{BrokerError, Tap};
use sojourn_broker_stream::{SseTap, WebSocketTap};
use sojourn_plan::{Server, SseChannel, Tls, WebSocketChannel};
use sojourn_services::{ClientFiles, CutProxy};
use sojourn_testkit::{StreamMessage, StreamServer, TlsFront};

use crate::support::{Keep, at, poll_until};

const PATH: &str = "events/payments";
const EVENTS: usize = 2_000;

type Make = fn(Server) -> Box<dyn Tap>;

/// Both kinds of stream, with the scheme that says of each that it is over TLS.
const KINDS: [(&str, Make); 2] = [("wss", websocket), ("https", sse)];

fn websocket(server: Server) -> Box<dyn Tap> {
    let channel = WebSocketChannel { server, ..WebSocketChannel::default() };
    Box::new(WebSocketTap::new(&channel).unwrap())
}

fn sse(server: Server) -> Box<dyn Tap> {
    let channel = SseChannel { server, ..SseChannel::default() };
    Box::new(SseTap::new(&channel).unwrap())
}

/// The stream behind a front, by a name of the front's host.
fn behind(front: &TlsFront, host: &str, trust: Tls) -> Server {
    Server { host: host.to_owned(), tls: true, trust, ..at(front.port(), PATH) }
}

fn trusting(front: &TlsFront) -> Tls {
    Tls { ca: Some(front.ca_file().to_owned()), ..Tls::default() }
}

fn shown(front: &TlsFront, files: &ClientFiles) -> Tls {
    let ClientFiles { certificate, key } = files.clone();
    Tls { cert: Some(certificate), key: Some(key), ..trusting(front) }
}

/// Opens it, and compares what comes with what was sent.
#[track_caller]
fn assert_whole(mut tap: Box<dyn Tap>, server: &StreamServer, scheme: &str) {
    let info = tap.open().unwrap();
    assert!(info.listens_to.contains(&format!("{scheme}://")), "{}", info.listens_to);
    let mut texts: Vec<_> = (0..EVENTS).map(|number| number.to_string()).collect();
    // Longer than a record of TLS, and than what a read takes.
    texts[EVENTS / 2] = "0123456789".repeat(300_000);
    let mut keep = Keep::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for text in &texts {
                let message = StreamMessage { data: text.as_bytes(), ..StreamMessage::default() };
                server.send(&format!("/{PATH}"), &message);
            }
        });
        poll_until(tap.as_mut(), &mut keep, |_, keep| keep.0.len() >= EVENTS);
    });
    assert!(keep.texts() == texts, "{scheme}");
    assert!(tap.take_gaps().is_empty());
}

fn refused(make: Make, server: Server) -> BrokerError {
    let error = make(server.clone()).open().unwrap_err();
    assert!(error.message.contains(&server.address()), "{error:?}");
    error
}

#[test]
fn a_server_that_is_trusted_is_heard_whole() {
    let server = StreamServer::start().unwrap();
    let front = TlsFront::before(server.address()).unwrap();
    for (scheme, make) in KINDS {
        for host in ["localhost", "127.0.0.1"] {
            assert_whole(make(behind(&front, host, trusting(&front))), &server, scheme);
        }
        let insecure = Tls { insecure: true, ..Tls::default() };
        assert_whole(make(behind(&front, "localhost", insecure)), &server, scheme);
    }
}

#[test]
fn whom_nobody_vouches_for_is_not_asked() {
    let server = StreamServer::start().unwrap();
    let (front, other) =
        (TlsFront::before(server.address()).unwrap(), TlsFront::before(server.address()).unwrap());
    for (_, make) in KINDS {
        for trust in [Tls::default(), trusting(&other)] {
            let error = refused(make, behind(&front, "localhost", trust));
            assert!(error.message.contains("signed by nobody who is trusted"), "{error:?}");
            assert!(error.hint.unwrap().contains("`ca`"));
        }
    }
}

#[test]
fn a_certificate_is_for_the_name_that_is_asked_for() {
    let server = StreamServer::start().unwrap();
    let front = TlsFront::before(server.address()).unwrap();
    // This machine too, by an address that the certificate does not carry.
    let elsewhere = SocketAddr::from(([127, 0, 0, 2], front.port()));
    let _proxy = CutProxy::start_at(elsewhere, front.address()).unwrap();
    let named = |name: &str| Tls { name: Some(name.to_owned()), ..trusting(&front) };
    for (scheme, make) in KINDS {
        for (host, trust, name) in [
            ("localhost", named("elsewhere.example"), "elsewhere.example"),
            ("127.0.0.2", trusting(&front), "127.0.0.2"),
        ] {
            let error = refused(make, behind(&front, host, trust));
            let words = format!("does not carry the name `{name}`");
            assert!(error.message.contains(&words), "{error:?}");
            assert!(error.hint.unwrap().contains("`name`"));
        }
        assert_whole(make(behind(&front, "127.0.0.2", named("localhost"))), &server, scheme);
    }
}

#[test]
fn a_server_that_demands_a_certificate_gets_it_or_says_that_it_wants_one() {
    let server = StreamServer::start().unwrap();
    let front = TlsFront::for_known_clients(server.address()).unwrap();
    let other = TlsFront::before(server.address()).unwrap();
    for (scheme, make) in KINDS {
        let known = shown(&front, front.client_files());
        assert_whole(make(behind(&front, "localhost", known)), &server, scheme);
        // Nobody's, and one of an authority that the server does not know.
        for trust in [trusting(&front), shown(&front, other.client_files())] {
            let error = refused(make, behind(&front, "localhost", trust));
            assert!(error.message.contains("TLS failed"), "{error:?}");
            let hint = error.hint.unwrap();
            assert!(hint.contains("`cert`") && hint.contains("`key`"), "{hint}");
        }
    }
}
