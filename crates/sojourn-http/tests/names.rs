//! Names: where they are looked up, for how long, and which address is taken.

use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sojourn_clock::MILLISECOND_NS;
use sojourn_http::{ClientConfig, DnsCache, DnsOptions, FailureKind, Origin};

use crate::dns_server::{DnsServer, Say, parsed};
use crate::peers::{Load, Server, answer_each, nobody};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A connection for each request, names from these servers.
fn config(servers: &[&DnsServer], cache: DnsCache) -> ClientConfig {
    let servers = servers.iter().map(|server| server.address).collect();
    let dns = DnsOptions { cache, servers, ..DnsOptions::default() };
    ClientConfig { dns, keep_alive: false, ..ClientConfig::default() }
}

fn load(name: &str, port: u16, config: ClientConfig) -> Load {
    Load::to(&Origin { tls: false, host: name.to_owned(), port }, config)
}

/// A server on all of 127.0.0.0/8 that remembers at which address it was reached.
fn remembering_server() -> (u16, Arc<Mutex<Vec<IpAddr>>>) {
    let reached: Arc<Mutex<Vec<IpAddr>>> = Arc::default();
    let log = Arc::clone(&reached);
    let listener = TcpListener::bind("0.0.0.0:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    Server::on(listener, move |_, mut stream| {
        let local = stream.local_addr().expect("connected");
        log.lock().expect("unpoisoned").push(local.ip());
        answer_each(&mut stream, OK);
    });
    (port, reached)
}

#[test]
fn a_name_is_looked_up_once_and_kept() {
    let server = Server::answering(OK);
    let dns = DnsServer::knowing("a.test", &["127.0.0.1"]);
    let mut load = load("a.test", server.address.port(), config(&[&dns], DnsCache::Forever));
    for round in 0..3 {
        let completion = load.get();
        assert_eq!(completion.timings.dns_ns > 0, round == 0);
        assert_eq!(completion.outcome.expect("an answer").body, b"ok");
    }
    // One look-up asks for both families.
    let asked = dns.asked();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].is_v6 != asked[1].is_v6 && asked.iter().all(|q| q.name == "a.test"));
    assert_eq!((load.client.counters().look_ups, load.client.counters().look_ups_failed), (1, 0));
}

#[test]
fn without_a_cache_each_connection_looks_up_and_servers_take_turns() {
    let server = Server::answering(OK);
    let dns = [(); 2].map(|()| DnsServer::knowing("a.test", &["127.0.0.1"]));
    let config = config(&[&dns[0], &dns[1]], DnsCache::Off);
    let mut load = load("a.test", server.address.port(), config);
    for round in 1_usize..=4 {
        let completion = load.get();
        assert!(completion.timings.dns_ns > 0);
        assert!(completion.outcome.is_ok(), "{completion:?}");
        let counts = [dns[0].asked().len(), dns[1].asked().len()];
        assert_eq!(counts, [round.div_ceil(2) * 2, round / 2 * 2], "{round}");
    }
    assert_eq!(load.client.counters().look_ups, 4);
}

#[test]
fn names_are_refreshed_in_the_background_and_kept_when_that_fails() {
    let (port, reached) = remembering_server();
    let rounds = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&rounds);
    let dns = DnsServer::start(move |question| {
        let round = match question.is_v6 {
            true => return Say::Addresses(Vec::new()),
            false => counter.fetch_add(1, Ordering::SeqCst),
        };
        match round {
            0 => Say::Addresses(parsed(&["127.0.0.2"])),
            1 => Say::Addresses(parsed(&["127.0.0.3"])),
            _ => Say::Code(2),
        }
    });
    let config = config(&[&dns], DnsCache::Refresh(20 * MILLISECOND_NS));
    let mut load = load("a.test", port, config);
    load.answer();
    for wanted in [2, 3] {
        load.run_until(|client| client.counters().look_ups >= wanted);
        let completion = load.get();
        assert_eq!(completion.timings.dns_ns, 0);
        assert!(completion.outcome.is_ok(), "{completion:?}");
    }
    assert!(load.client.counters().look_ups_failed > 0);
    let reached = reached.lock().expect("unpoisoned").clone();
    assert_eq!(reached, parsed(&["127.0.0.2", "127.0.0.3", "127.0.0.3"]));
}

#[test]
fn connections_spread_over_the_addresses() {
    const DIALS: usize = 100;
    let (port, reached) = remembering_server();
    let addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
    let dns = DnsServer::knowing("a.test", &addresses);
    let mut load = load("a.test", port, config(&[&dns], DnsCache::Forever));
    for _ in 0..DIALS {
        load.answer();
    }
    let reached = reached.lock().expect("unpoisoned").clone();
    assert_eq!(reached.len(), DIALS);
    for address in parsed(&addresses) {
        // By chance below 10 of 100 at p = 1/3 once in ten million.
        assert!(reached.iter().filter(|r| **r == address).count() >= 10, "{reached:?}");
    }
}

/// Listeners of both families on one port; `None` where the machine has no IPv6.
fn both_families() -> Option<(TcpListener, TcpListener)> {
    for _ in 0..100 {
        let v6 = TcpListener::bind("[::1]:0").ok()?;
        let port = v6.local_addr().expect("bound").port();
        if let Ok(v4) = TcpListener::bind(("127.0.0.1", port)) {
            return Some((v6, v4));
        }
    }
    panic!("no port is free for both families");
}

#[test]
fn ipv6_goes_first_until_ipv4_has_won() {
    let Some((v6, v4)) = both_families() else { return };
    let port = v4.local_addr().expect("bound").port();
    let v4 = Server::on(v4, |_, mut stream| answer_each(&mut stream, OK));
    let v6 = Server::on(v6, |_, mut stream| answer_each(&mut stream, OK));
    let dns = DnsServer::knowing("a.test", &["127.0.0.1", "::1"]);
    let mut load = load("a.test", port, config(&[&dns], DnsCache::Forever));
    load.answer();
    assert_eq!((v6.accepted(), v4.accepted()), (1, 0));
}

#[test]
fn an_address_that_refuses_gives_way_at_once() {
    let Some((v6, v4)) = both_families() else { return };
    let port = v4.local_addr().expect("bound").port();
    drop(v6);
    let v4 = Server::on(v4, |_, mut stream| answer_each(&mut stream, OK));
    let dns = DnsServer::knowing("a.test", &["127.0.0.1", "::1"]);
    let mut load = load("a.test", port, config(&[&dns], DnsCache::Forever));
    load.answer();
    assert_eq!(load.client.counters().connections_opened, 2);
    // Now IPv4 goes first.
    load.answer();
    assert_eq!(load.client.counters().connections_opened, 3);
    assert_eq!(v4.accepted(), 2);
}

#[test]
fn every_address_refuses() {
    let port = nobody().port();
    let dns = DnsServer::knowing("a.test", &["127.0.0.1", "127.0.0.2"]);
    let mut load = load("a.test", port, config(&[&dns], DnsCache::Forever));
    let failure = load.failure();
    assert_eq!(failure.kind, FailureKind::Connect);
    let named = failure.detail.contains(&format!("a.test:{port} at 127.0.0."));
    assert!(named && failure.detail.contains("refused"), "{failure}");
    assert_eq!(load.client.counters().connections_opened, 2);
    assert_eq!(load.client.connections(), 0);
}

/// Connects until the listener, which never accepts, takes no more: then it answers nobody.
fn fill_backlog(listener: TcpListener) -> (socket2::Socket, Vec<TcpStream>) {
    let address = listener.local_addr().expect("bound");
    let listener = socket2::Socket::from(listener);
    listener.listen(0).expect("listening already");
    let mut held = Vec::new();
    for _ in 0..16 {
        match TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
            Ok(stream) => held.push(stream),
            Err(_) => return (listener, held),
        }
    }
    panic!("the backlog has no end");
}

#[test]
fn an_address_that_hangs_is_raced_after_250_ms() {
    let Some((v6, v4)) = both_families() else { return };
    let port = v4.local_addr().expect("bound").port();
    let hanging = fill_backlog(v6);
    let v4 = Server::on(v4, |_, mut stream| answer_each(&mut stream, OK));
    let dns = DnsServer::knowing("a.test", &["127.0.0.1", "::1"]);
    let keep_alive = ClientConfig { keep_alive: true, ..config(&[&dns], DnsCache::Forever) };
    let mut load = load("a.test", port, keep_alive);
    let completion = load.get();
    assert!(completion.timings.connect_ns >= 250 * MILLISECOND_NS, "{completion:?}");
    assert_eq!(completion.outcome.expect("an answer").body, b"ok");
    // The loser is closed, and the winner is used again.
    assert_eq!((load.client.connections(), load.client.counters().connections_opened), (1, 2));
    assert_eq!(load.get().timings.connect_ns, 0);
    assert_eq!(v4.accepted(), 1);
    drop(hanging);
}

#[test]
fn the_first_address_may_still_win() {
    let Some((v6, v4)) = both_families() else { return };
    let port = v4.local_addr().expect("bound").port();
    let (v6, held) = fill_backlog(v6);
    let hanging = fill_backlog(v4);
    let dns = DnsServer::knowing("a.test", &["127.0.0.1", "::1"]);
    let mut load = load("a.test", port, config(&[&dns], DnsCache::Forever));
    load.send(1, "GET", b"");
    load.run_until(|client| client.connections() == 2);
    // The kernel knocks again after a second, and now there is room.
    drop(held);
    let v6 = Server::on(v6.into(), |_, mut stream| answer_each(&mut stream, OK));
    let completion = load.take(1).remove(0);
    assert_eq!(completion.outcome.expect("an answer").body, b"ok");
    // The other attempt is closed with it.
    assert_eq!((load.client.connections(), load.client.counters().connections_opened), (0, 2));
    assert!(v6.accepted() > 0);
    drop(hanging);
}

#[test]
fn when_all_hang_the_connect_timeout_ends_all() {
    let Some((v6, v4)) = both_families() else { return };
    let port = v4.local_addr().expect("bound").port();
    let hanging = (fill_backlog(v6), fill_backlog(v4));
    let dns = DnsServer::knowing("a.test", &["127.0.0.1", "::1"]);
    let connect_timeout_ns = 400 * MILLISECOND_NS;
    let config = ClientConfig { connect_timeout_ns, ..config(&[&dns], DnsCache::Forever) };
    let mut load = load("a.test", port, config);
    let failure = load.failure();
    assert_eq!(failure.kind, FailureKind::Connect);
    let named = [format!("[::1]:{port}"), format!("127.0.0.1:{port}")];
    assert!(named.iter().all(|name| failure.detail.contains(name)), "{failure}");
    assert_eq!((load.client.connections(), load.client.counters().connections_opened), (0, 2));
    drop(hanging);
}

#[test]
fn slow_names_do_not_hold_up_others() {
    let server = Server::answering(OK);
    let dns = DnsServer::start(|question| match question.name.as_str() {
        "fast.test" => Say::Addresses(parsed(&["127.0.0.1"])),
        _ => Say::Nothing,
    });
    let connect_timeout_ns = 500 * MILLISECOND_NS;
    let config = ClientConfig { connect_timeout_ns, ..config(&[&dns], DnsCache::Forever) };
    let mut load = load("fast.test", server.address.port(), config);
    let fast = load.origin;
    for number in 0..7 {
        let slow = Origin { tls: false, host: format!("slow{number}.test"), port: 80 };
        load.origin = load.client.origin(&slow);
        load.send(number, "GET", b"");
    }
    load.origin = fast;
    load.send(99, "GET", b"");
    let first = load.take(1).remove(0);
    assert_eq!((first.token, first.outcome.is_ok(), load.client.in_flight()), (99, true, 7));
    for completion in load.take(7) {
        let failure = completion.outcome.expect_err("no address");
        assert_eq!(failure.kind, FailureKind::Connect);
        assert!(failure.detail.contains("still being looked up"), "{failure}");
    }
}

#[test]
fn look_ups_that_wait_are_bounded() {
    let dns = DnsServer::start(|_| Say::Nothing);
    let mut load = load("a.test", 80, config(&[&dns], DnsCache::Forever));
    for number in 0..300 {
        let origin = Origin { tls: false, host: format!("n{number}.test"), port: 80 };
        load.origin = load.client.origin(&origin);
        load.send(number, "GET", b"");
    }
    for completion in load.take(44) {
        assert!(completion.token >= 256);
        let failure = completion.outcome.expect_err("refused");
        assert_eq!(failure.kind, FailureKind::Dns);
        assert!(failure.detail.contains("256 names wait"), "{failure}");
    }
    assert_eq!(load.client.in_flight(), 256);
}

#[test]
fn what_does_not_fit_a_datagram_is_asked_for_over_tcp() {
    let server = Server::answering(OK);
    let dns = DnsServer::start(|question| match question.over_tcp {
        true => Say::Addresses(parsed(&["127.0.0.1"])),
        false => Say::Truncated,
    });
    let mut load = load("a.test", server.address.port(), config(&[&dns], DnsCache::Forever));
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(dns.asked().iter().filter(|question| question.over_tcp).count(), 2);
}

#[test]
fn what_answers_another_question_is_ignored() {
    let server = Server::answering(OK);
    let dns = DnsServer::start(|_| Say::NoiseThen(parsed(&["127.0.0.1"])));
    let mut load = load("a.test", server.address.port(), config(&[&dns], DnsCache::Forever));
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(dns.asked().len(), 2);
}

#[test]
fn a_server_that_fails_or_is_silent_is_passed_over() {
    let server = Server::answering(OK);
    let failing = DnsServer::start(|_| Say::Code(2));
    let silent = DnsServer::start(|_| Say::Nothing);
    // A port that was free a moment ago: nobody there.
    let absent = std::net::UdpSocket::bind("127.0.0.1:0").and_then(|s| s.local_addr());
    let knowing = DnsServer::knowing("a.test", &["127.0.0.1"]);
    let mut config = config(&[&failing, &silent, &knowing], DnsCache::Forever);
    config.dns.servers.insert(0, absent.expect("free"));
    let mut load = load("a.test", server.address.port(), config);
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(load.client.counters().look_ups, 1);
    assert!(!failing.asked().is_empty() && !silent.asked().is_empty());
}

#[test]
fn names_without_addresses_fail_and_are_asked_for_again() {
    let dns = DnsServer::start(|question| match question.name.as_str() {
        "empty.test" => Say::Addresses(Vec::new()),
        "failing.test" => Say::Code(2),
        _ => Say::Code(3),
    });
    let rows = [
        ("absent.test", "no such name"),
        ("empty.test", "no address"),
        ("failing.test", "SERVFAIL"),
        ("a..b", "can't be a DNS name"),
    ];
    for (name, words) in rows {
        let mut load = load(name, 80, config(&[&dns], DnsCache::Forever));
        for _ in 0..2 {
            let completion = load.get();
            assert!(completion.timings.dns_ns > 0);
            let failure = completion.outcome.expect_err("no address");
            assert_eq!(failure.kind, FailureKind::Dns);
            assert!(failure.detail.contains(words) && failure.detail.contains(name), "{failure}");
        }
        assert_eq!(load.client.counters().look_ups_failed, 2);
    }
}

#[test]
fn localhost_is_known_without_asking() {
    let server = Server::answering(OK);
    let dns = DnsServer::start(|_| Say::Code(3));
    let mut load = load("localhost", server.address.port(), config(&[&dns], DnsCache::Off));
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(dns.asked(), []);
}

#[test]
fn addresses_need_no_server() {
    let server = Server::answering(OK);
    let dns = DnsOptions { cache: DnsCache::Off, servers: vec![nobody()], ..DnsOptions::default() };
    let mut load =
        load("127.0.0.1", server.address.port(), ClientConfig { dns, ..ClientConfig::default() });
    let completion = load.get();
    assert_eq!((completion.timings.dns_ns, completion.outcome.is_ok()), (0, true));
}
