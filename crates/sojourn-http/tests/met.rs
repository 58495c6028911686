//! Who was at the other end, and connections that are given up when nothing goes over them.

use std::net::{IpAddr, SocketAddr};

use sojourn_http::{ClientConfig, Ends, Http2, Origin, TlsOptions, TlsVersion};

use crate::dialling::{answer_all, tls_server};
use crate::http2_peers::h2_server;
use crate::peers::{Load, Server, answer_each};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn a_completion_names_the_address_and_what_was_agreed_upon() {
    let server = Server::answering(OK);
    let mut load = Load::new(&server);
    let peer = load.get().peer;
    assert_eq!(load.client.peer(peer).address, Some(server.address));
    assert_eq!(load.client.peer(peer).tls, None);
    // The same number for the same peer, on the same connection and on another one.
    assert_eq!(load.get().peer, peer);
    load.client.close_idle(load.origin);
    assert_eq!((load.client.connections(), load.get().peer), (0, peer));
    assert_eq!(load.client.counters().connections_opened, 2);
    // Nobody was met.
    let gone = SocketAddr::from(([127, 0, 0, 1], 1));
    let mut nobody = Load::with(gone, ClientConfig::default());
    let peer = nobody.get().peer;
    assert_eq!(nobody.client.peer(peer).address, None);
}

#[test]
fn what_tls_agrees_upon_is_told_and_limited() {
    let server = tls_server(&["127.0.0.1"], answer_all);
    let origin = Origin::parse(&format!("https://{}", server.server.address)).expect("URL");
    let older = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256";
    for (version_max, version) in
        [(None, TlsVersion::Tls13), (Some(TlsVersion::Tls12), TlsVersion::Tls12)]
    {
        let tls = TlsOptions {
            ca_file: Some(server.ca_file.path().to_owned()),
            version_max,
            cipher_suites: vec![older.to_owned()],
            ..TlsOptions::default()
        };
        let mut load = Load::to(&origin, ClientConfig { tls, ..ClientConfig::default() });
        let completion = load.get();
        let agreed = load.client.peer(completion.peer).tls.expect("TLS");
        assert_eq!(agreed.version, version);
        match version {
            TlsVersion::Tls12 => assert_eq!(agreed.suite, older),
            TlsVersion::Tls13 => assert!(agreed.suite.starts_with("TLS_AES_"), "{agreed:?}"),
        }
    }
}

#[test]
fn idle_connections_of_http2_are_closed_too() {
    let address = h2_server(h2::server::Builder::new());
    let config = ClientConfig { http2: Http2::PriorKnowledge, ..ClientConfig::default() };
    let mut load = Load::with(address, config);
    for opened in 1..=3 {
        assert!(load.get().outcome.is_ok());
        assert_eq!(load.client.counters().connections_opened, opened);
        load.client.close_idle(load.origin);
        assert_eq!(load.client.connections(), 0);
    }
}

#[test]
fn an_origin_may_have_a_local_address_of_its_own() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = std::sync::Arc::clone(&seen);
    let server = Server::start(move |_, mut stream| {
        log.lock().expect("unpoisoned").push(stream.peer_addr().expect("connected").ip());
        answer_each(&mut stream, OK);
    });
    let mut load = Load::new(&server);
    let origin = Origin::parse(&format!("http://{}", server.address)).expect("URL");
    for last in [3, 2] {
        let local = IpAddr::from([127, 0, 0, last]);
        load.origin = load.client.own_origin_by(&origin, Ends { local: Some(local), to: None });
        load.answer();
        assert_eq!(seen.lock().expect("unpoisoned").pop(), Some(local));
    }
}
