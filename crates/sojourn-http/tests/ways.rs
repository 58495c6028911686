//! Other ways to an origin: a connection per request, few idle ones, other addresses, local
//! addresses, a Unix socket.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};

use sojourn_http::{
    AddressRule, Client, ClientConfig, ConnectTo, Ends, FailureKind, HostPort, Origin, TlsOptions,
};

use crate::dialling::{answer_all, tls_server};
use crate::dns_server::parsed;
use crate::peers::{Load, Server, nobody, read_request};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Requests, and who sent them.
type Seen = Arc<Mutex<Vec<(String, SocketAddr)>>>;

/// A server that remembers each request's head, and who sent it.
fn remembering_server() -> (Server, Seen) {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let server = Server::start(move |_, mut stream| {
        let peer = stream.peer_addr().expect("connected");
        while let Some(request) = read_request(&mut stream) {
            let text = String::from_utf8(request).expect("text");
            log.lock().expect("unpoisoned").push((text, peer));
            stream.write_all(OK).expect("open");
        }
    });
    (server, seen)
}

fn entry(from: &str, to: &[HostPort]) -> ConnectTo {
    ConnectTo { from: from.parse().expect(from), to: to.to_vec() }
}

fn at(server: &Server) -> HostPort {
    server.address.to_string().parse().expect("an address")
}

#[test]
fn without_keep_alive_each_request_has_a_connection_and_says_so() {
    let (server, seen) = remembering_server();
    let config = ClientConfig { keep_alive: false, ..ClientConfig::default() };
    let mut load = Load::with(server.address, config);
    for _ in 0..5 {
        let completion = load.get();
        assert!(completion.timings.connect_ns > 0);
        assert_eq!(completion.outcome.expect("an answer").body, b"ok");
        assert_eq!(load.client.connections(), 0);
    }
    assert_eq!((server.accepted(), load.client.counters().stale_retries), (5, 0));
    for (request, _) in seen.lock().expect("unpoisoned").iter() {
        assert_eq!(request, "GET / HTTP/1.1\r\nConnection: close\r\nHost: test\r\n\r\n");
    }
}

/// Answers when so many connections have sent a request: none of them is spared by another.
fn answering_together(connections: usize) -> Server {
    let all = std::sync::Barrier::new(connections);
    Server::start(move |_, mut stream| {
        while read_request(&mut stream).is_some() {
            all.wait();
            stream.write_all(OK).expect("open");
        }
    })
}

#[test]
fn idle_connections_beyond_the_bound_are_closed() {
    let server = answering_together(6);
    for (idle_max, left) in [(2, 2), (0, 0), (100, 6)] {
        let config = ClientConfig { idle_max, ..ClientConfig::default() };
        let mut load = Load::with(server.address, config);
        for token in 0..6 {
            load.send(token, "GET", b"");
        }
        assert!(load.take(6).iter().all(|completion| completion.outcome.is_ok()));
        assert_eq!(load.client.connections(), left, "{idle_max}");
    }
}

#[test]
fn a_waiting_request_takes_a_connection_before_it_counts_as_idle() {
    let server = Server::answering(OK);
    let config = ClientConfig { idle_max: 0, connections_max: 1, ..ClientConfig::default() };
    let mut load = Load::with(server.address, config);
    for token in 0..6 {
        load.send(token, "GET", b"");
    }
    assert!(load.take(6).iter().all(|completion| completion.outcome.is_ok()));
    assert_eq!((server.accepted(), load.client.connections()), (1, 0));
}

#[test]
fn no_connections_max_is_no_limit() {
    let server = answering_together(50);
    let config = ClientConfig { connections_max: 0, ..ClientConfig::default() };
    let mut load = Load::with(server.address, config);
    for token in 0..50 {
        load.send(token, "GET", b"");
    }
    assert!(load.take(50).iter().all(|completion| completion.outcome.is_ok()));
    assert_eq!(load.client.connections(), 50);
}

#[test]
fn connections_go_to_the_replacements_in_turn_and_requests_stay_as_they_are() {
    let servers = [(); 3].map(|()| remembering_server());
    let to: Vec<HostPort> = servers.iter().map(|(server, _)| at(server)).collect();
    let config = ClientConfig {
        connect_to: vec![entry("a.test:80", &to[..2]), entry("A.TEST:80", &to[2..])],
        keep_alive: false,
        ..ClientConfig::default()
    };
    let mut load = Load::to(&Origin::parse("http://a.test").expect("URL"), config);
    for round in 1_usize..=7 {
        let completion = load.get();
        assert_eq!(completion.timings.dns_ns, 0);
        assert!(completion.outcome.is_ok(), "{completion:?}");
        let counts = [0, 1, 2].map(|place| servers[place].0.accepted());
        assert_eq!(counts, [round.div_ceil(3), (round + 1) / 3, round / 3]);
    }
    let seen = servers[1].1.lock().expect("unpoisoned");
    assert!(seen[0].0.contains("\r\nHost: test\r\n"), "{seen:?}");
    // Another port is another origin.
    load.origin = load.client.origin(&Origin::parse("http://a.test.invalid:81").expect("URL"));
    assert_eq!(load.failure().kind, FailureKind::Dns);
}

#[test]
fn a_replaced_origin_must_still_show_its_certificate() {
    let peer = tls_server(&["a.test"], answer_all);
    let config = |host: &str| ClientConfig {
        connect_to: vec![entry(&format!("{host}:443"), &[at(&peer.server)])],
        tls: TlsOptions { ca_file: Some(peer.ca_file.path().to_owned()), ..TlsOptions::default() },
        ..ClientConfig::default()
    };
    let origin = |host: &str| Origin::parse(&format!("https://{host}")).expect("URL");
    assert_eq!(Load::to(&origin("a.test"), config("a.test")).answer().body, b"ok");
    let failure = Load::to(&origin("b.test"), config("b.test")).failure();
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
}

#[test]
fn an_origin_with_another_end_is_asked_there_and_must_show_its_certificate() {
    let peer = tls_server(&["a.test"], answer_all);
    let config = ClientConfig {
        tls: TlsOptions { ca_file: Some(peer.ca_file.path().to_owned()), ..TlsOptions::default() },
        ..ClientConfig::default()
    };
    // Whatever the port: nothing has to be written twice.
    let origin = |url: &str| Origin::parse(url).expect("URL");
    let mut load = Load::to(&origin("https://a.test:8443"), config);
    let ends = Ends { to: Some(peer.server.address), ..Ends::default() };
    load.origin = load.client.own_origin_by(&origin("https://a.test:8443"), ends);
    assert_eq!(load.answer().body, b"ok");
    load.origin = load.client.own_origin_by(&origin("https://b.test:8443"), ends);
    assert_eq!(load.failure().kind, FailureKind::Tls);
}

#[test]
fn addresses_that_a_rule_refuses_are_not_dialled_whatever_they_come_from() {
    let (server, _) = remembering_server();
    let words = "127.0.0.0/8 and ::1 are not for us".to_owned();
    let refuse = move |ip: IpAddr| ip.is_loopback().then(|| words.clone());
    let config =
        ClientConfig { refuse: Some(AddressRule(Arc::new(refuse))), ..ClientConfig::default() };
    let port = server.address.port();
    let origin = |host: &str| Origin::parse(&format!("http://{host}:{port}")).expect("URL");
    let mut load = Load::to(&origin("localhost"), config);
    let ends = Ends { to: Some(server.address), ..Ends::default() };
    let literal = load.client.origin(&origin("127.0.0.1"));
    let replaced = load.client.own_origin_by(&origin("a.test"), ends);
    for origin in [load.origin, literal, replaced] {
        load.origin = origin;
        let failure = load.failure();
        assert_eq!(failure.kind, FailureKind::Connect);
        assert_eq!(failure.detail, "127.0.0.0/8 and ::1 are not for us");
    }
    assert_eq!(server.accepted(), 0);
}

#[test]
fn a_replacement_that_refuses_is_named() {
    let nobody = nobody();
    let to = nobody.to_string().parse().expect("valid");
    let config =
        ClientConfig { connect_to: vec![entry("a.test:80", &[to])], ..ClientConfig::default() };
    let failure = Load::to(&Origin::parse("http://a.test").expect("URL"), config).failure();
    assert_eq!(failure.kind, FailureKind::Connect);
    assert!(failure.detail.contains(&format!("a.test:80 at {nobody}: ")), "{failure}");
}

#[test]
fn connections_come_from_the_local_addresses_in_turn() {
    let (server, seen) = remembering_server();
    let local_addresses = parsed(&["127.0.0.2", "127.0.0.3", "127.0.0.4"]);
    let config = ClientConfig {
        local_addresses: local_addresses.clone(),
        keep_alive: false,
        ..ClientConfig::default()
    };
    let mut load = Load::with(server.address, config);
    for _ in 0..6 {
        load.answer();
    }
    let from: Vec<IpAddr> =
        seen.lock().expect("unpoisoned").iter().map(|(_, peer)| peer.ip()).collect();
    assert_eq!(from, [&local_addresses[..], &local_addresses].concat());
}

#[test]
fn a_local_address_of_another_family_or_machine() {
    let config = |address: &str| ClientConfig {
        local_addresses: parsed(&[address]),
        ..ClientConfig::default()
    };
    let origin = Origin::parse("http://[::1]:9").expect("URL");
    let failure = Load::to(&origin, config("127.0.0.2")).failure();
    assert_eq!(failure.kind, FailureKind::Connect);
    assert!(failure.detail.contains("[::1]:9: no local address"), "{failure}");
    let error = Client::new(config("192.0.2.1")).expect_err("not ours");
    assert!(error.to_string().contains("192.0.2.1"), "{error}");
    // All of this machine's, of either family.
    let server = Server::answering(OK);
    assert_eq!(Load::with(server.address, config("0.0.0.0")).answer().body, b"ok");
}

#[test]
fn a_refused_connection_names_the_local_address() {
    let address = nobody();
    let config =
        ClientConfig { local_addresses: parsed(&["127.0.0.2"]), ..ClientConfig::default() };
    let failure = Load::with(address, config).failure();
    assert!(failure.detail.contains(&format!("{address} from 127.0.0.2: ")), "{failure}");
}

struct UnixPeer {
    folder: tempfile::TempDir,
    seen: Arc<Mutex<Vec<String>>>,
}

impl UnixPeer {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("s")).expect("a new path");
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&seen);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let log = Arc::clone(&log);
                std::thread::spawn(move || {
                    while let Some(request) = read_request(&mut stream) {
                        let text = String::from_utf8(request).expect("text");
                        log.lock().expect("unpoisoned").push(text);
                        stream.write_all(OK).expect("open");
                    }
                });
            }
        });
        Self { folder, seen }
    }

    fn config(&self) -> ClientConfig {
        let unix_socket = Some(self.folder.path().join("s"));
        ClientConfig { unix_socket, ..ClientConfig::default() }
    }
}

#[test]
fn every_request_goes_over_the_unix_socket() {
    let peer = UnixPeer::start();
    let mut load = Load::to(&Origin::parse("http://a.test").expect("URL"), peer.config());
    for _ in 0..3 {
        let completion = load.get();
        assert_eq!(completion.timings.dns_ns, 0);
        assert_eq!(completion.outcome.expect("an answer").body, b"ok");
    }
    assert_eq!(load.client.connections(), 1);
    load.origin = load.client.origin(&Origin::parse("http://b.test:8080").expect("URL"));
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(load.client.connections(), 2);
    let seen = peer.seen.lock().expect("unpoisoned");
    assert_eq!(seen.len(), 4);
    assert_eq!(seen[0], "GET / HTTP/1.1\r\nHost: test\r\n\r\n");
}

#[test]
fn tls_over_a_unix_socket_verifies_the_origin() {
    let tls = tls_server(&["a.test"], answer_all);
    // A relay from the socket to the TLS server.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).expect("a new path");
    let upstream = tls.server.address;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            crate::proxies::relay(stream, upstream);
        }
    });
    let config = ClientConfig {
        unix_socket: Some(path),
        tls: TlsOptions { ca_file: Some(tls.ca_file.path().to_owned()), ..TlsOptions::default() },
        ..ClientConfig::default()
    };
    let load = |url: &str| Load::to(&Origin::parse(url).expect("URL"), config.clone());
    assert_eq!(load("https://a.test").answer().body, b"ok");
    let failure = load("https://b.test").failure();
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
}

#[test]
fn a_unix_socket_that_is_not_there_or_can_not_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("absent");
    let config = ClientConfig { unix_socket: Some(path.clone()), ..ClientConfig::default() };
    let failure = Load::to(&Origin::parse("http://a.test").expect("URL"), config).failure();
    assert_eq!(failure.kind, FailureKind::Connect);
    let named = failure.detail.contains(&path.display().to_string());
    assert!(named && failure.detail.contains("a.test:80"), "{failure}");
    let long = folder.path().join("x".repeat(120));
    let config = ClientConfig { unix_socket: Some(long.clone()), ..ClientConfig::default() };
    let error = Client::new(config).expect_err("too long");
    assert!(error.to_string().contains(&long.display().to_string()), "{error}");
}

#[test]
fn a_unix_socket_whose_queue_is_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let listener = socket2::Socket::from(std::os::fd::OwnedFd::from(
        UnixListener::bind(&path).expect("a new path"),
    ));
    listener.listen(1).expect("listening already");
    let config = ClientConfig { unix_socket: Some(path), ..ClientConfig::default() };
    let mut load = Load::to(&Origin::parse("http://a.test").expect("URL"), config);
    for token in 0..8 {
        load.send(token, "GET", b"");
    }
    // Two are queued, nobody accepts.
    for completion in load.take(6) {
        let failure = completion.outcome.expect_err("no room");
        assert_eq!(failure.kind, FailureKind::Connect);
        assert!(failure.detail.contains("queue of connections"), "{failure}");
    }
    assert_eq!(load.client.in_flight(), 2);
}
