//! Names, from a DNS server that others wrote: both families, aliases, names that do not exist, and
//! answers that only TCP can carry.

use std::collections::BTreeSet;
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};

use sojourn_http::{ClientConfig, DnsCache, DnsOptions, DnsSelect, FailureKind, Origin};
use sojourn_services::{DnsZone, Dnsmasq, Service};

use crate::peers::{Load, Server, answer_each};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A bit of a message's third byte: the answer did not fit (RFC 1035, section 4.1.1).
const TRUNCATED: u8 = 0x02;

fn zone(addresses: &[(&str, &str)], aliases: &[(&str, &str)]) -> Dnsmasq {
    let own = |text: &&str| (*text).to_owned();
    let zone = DnsZone {
        addresses: addresses
            .iter()
            .map(|(name, address)| (own(name), address.parse().expect(address)))
            .collect(),
        aliases: aliases.iter().map(|(alias, name)| (own(alias), own(name))).collect(),
    };
    Dnsmasq::knowing(&zone).expect("dnsmasq")
}

/// A client that looks the name up once and has a connection for each request.
fn load(name: &str, port: u16, dns: &Dnsmasq) -> Load {
    let dns = DnsOptions {
        cache: DnsCache::Forever,
        servers: vec![dns.address().parse().expect("an address")],
        select: DnsSelect::RoundRobin,
        ..DnsOptions::default()
    };
    let config = ClientConfig { dns, keep_alive: false, ..ClientConfig::default() };
    Load::to(&Origin { tls: false, host: name.to_owned(), port }, config)
}

/// A server that remembers at which of its addresses it was reached.
fn remembering(listener: TcpListener) -> (u16, Arc<Mutex<Vec<IpAddr>>>) {
    let port = listener.local_addr().expect("bound").port();
    let reached: Arc<Mutex<Vec<IpAddr>>> = Arc::default();
    let log = Arc::clone(&reached);
    Server::on(listener, move |_, mut stream| {
        log.lock().expect("unpoisoned").push(stream.local_addr().expect("connected").ip());
        answer_each(&mut stream, OK);
    });
    (port, reached)
}

fn on_everything_of_v4() -> (u16, Arc<Mutex<Vec<IpAddr>>>) {
    remembering(TcpListener::bind("0.0.0.0:0").expect("a free port"))
}

fn taken(reached: &Mutex<Vec<IpAddr>>) -> Vec<String> {
    let mut reached = reached.lock().expect("unpoisoned");
    reached.drain(..).map(|address| address.to_string()).collect()
}

#[test]
fn addresses_of_both_families_and_aliases() {
    let dns = zone(
        &[("four.test", "127.0.0.2"), ("six.test", "::1"), ("both.test", "127.0.0.3")],
        &[("alias.test", "four.test"), ("further.test", "alias.test")],
    );
    let (port, reached) = on_everything_of_v4();
    for (name, address) in [
        ("four.test", "127.0.0.2"),
        ("both.test", "127.0.0.3"),
        ("alias.test", "127.0.0.2"),
        ("further.test", "127.0.0.2"),
    ] {
        assert_eq!(load(name, port, &dns).answer().body, b"ok", "{name}");
        assert_eq!(taken(&reached), [address], "{name}");
        // A and AAAA.
        assert_eq!(dns.asked_for(name).expect("a log"), 2, "{name}");
    }
    let (port, reached) = remembering(TcpListener::bind("[::1]:0").expect("IPv6 on the loopback"));
    assert_eq!(load("six.test", port, &dns).answer().body, b"ok");
    assert_eq!(taken(&reached), ["::1"]);
}

#[test]
fn a_name_that_does_not_exist_fails_as_that() {
    let dns = zone(&[("a.test", "127.0.0.1")], &[]);
    let failure = load("none.test", 1, &dns).failure();
    assert_eq!(failure.kind, FailureKind::Dns, "{failure}");
    assert!(failure.detail.contains("no such name"), "{failure}");
    assert!(failure.detail.contains(&dns.address()), "{failure}");
    // It knows that at once: nobody is asked again.
    assert!(dns.asked_for("none.test").expect("a log") <= 2);
}

#[test]
fn a_server_that_is_gone_fails_the_look_up_and_answers_again_when_it_is_back() {
    let mut dns = zone(&[("a.test", "127.0.0.1")], &[]);
    let (port, reached) = on_everything_of_v4();
    let mut load = load("a.test", port, &dns);
    dns.kill();
    assert_eq!(load.failure().kind, FailureKind::Dns);
    dns.restart().expect("it starts again");
    assert_eq!(load.answer().body, b"ok", "failures are not kept");
    assert_eq!(taken(&reached), ["127.0.0.1"]);
}

#[test]
fn what_does_not_fit_a_datagram_is_asked_for_over_tcp() {
    let names: Vec<String> = (1..=60).map(|n| format!("127.0.1.{n}")).collect();
    let records: Vec<(&str, &str)> =
        names.iter().map(|address| ("many.test", address.as_str())).collect();
    let dns = zone(&records, &[]);
    assert!(in_a_datagram(&dns, "many.test") < names.len(), "the answer fits a datagram");
    let (port, reached) = on_everything_of_v4();
    let mut load = load("many.test", port, &dns);
    for _ in &names {
        assert_eq!(load.answer().body, b"ok");
    }
    assert_eq!(load.client.counters().look_ups, 1);
    // In turn, and so each once, if all are known.
    let reached: BTreeSet<String> = taken(&reached).into_iter().collect();
    assert_eq!(reached, names.into_iter().collect(), "some addresses were never there");
}

/// How many addresses a datagram has of this name, which must say that there are more.
fn in_a_datagram(dns: &Dnsmasq, name: &str) -> usize {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect(("127.0.0.1", dns.port())).expect("it is there");
    let mut question = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        question.push(label.len() as u8);
        question.extend(label.as_bytes());
    }
    question.extend([0, 0, 1, 0, 1]);
    socket.send(&question).expect("it is there");
    let mut answer = [0; 4096];
    let length = socket.recv(&mut answer).expect("an answer");
    assert!(length <= 512 && answer[2] & TRUNCATED != 0, "{length} bytes, and not cut off");
    usize::from(u16::from_be_bytes([answer[6], answer[7]]))
}
