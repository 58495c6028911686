//! What every kind of output makes of a receiver that stalls, refuses connections or answers 500:
//! the run goes on, and what did not arrive is counted and said.

use std::{
    net::{TcpListener, UdpSocket},
    thread,
};

use sojourn_clock::SECOND_NS;
use sojourn_outputs::{Account, Counts, FRAMES_MAX};

use crate::{
    book::{POINTS, Played, SECONDS, all},
    collector::{Collector, Reply},
    faults::adds_up,
    receiver::{Manner, Receiver},
};

/// Every kind that waits for an answer, with what stands behind the port.
const KINDS: [(&str, &str); 5] = [
    ("prometheus-rw", "/api/v1/write"),
    ("influxdb", "/loadtests"),
    ("influxdb2", "/?org=o&bucket=b"),
    ("otlp", ""),
    ("otlp-grpc", ""),
];
/// How long outputs have at the end.
const FLUSH_NS: u64 = 2 * SECOND_NS;

/// Plays so many seconds to each kind at the port that it has; none of them may get anything.
fn nothing_arrives(seconds: u64, port: impl Fn(&str) -> u16) -> Vec<Account> {
    let target = |(kind, rest): &(&str, &str)| {
        let port = port(kind);
        format!("{kind}=http://127.0.0.1:{port}{rest}")
    };
    let targets: Vec<_> = KINDS.iter().map(target).collect();
    let mut played = Played::to(&targets);
    for second in 0..seconds {
        played.second(second + 1 == seconds);
    }
    let accounts = played.end_within(FLUSH_NS);
    assert_eq!(accounts.len(), KINDS.len());
    for account in &accounts {
        adds_up(account);
        let journeys = account.given.journeys;
        let all = Counts { frames: seconds, points: seconds * POINTS, journeys };
        assert_eq!((account.given, account.dropped), (all, all), "{account:?}");
        assert_eq!(account.sent, Counts::default(), "{account:?}");
        let said = format!("; dropped {seconds} seconds, {} points", seconds * POINTS);
        assert!(account.line().contains(&said), "{}", account.line());
    }
    accounts
}

/// A port whose connections are taken and never answered, not even in their protocol.
fn silent() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut held = Vec::new();
        held.extend(listener.incoming().flatten());
    });
    port
}

/// A port that nobody listens at.
fn closed() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_socket_that_never_answers_delays_nothing() {
    let port = silent();
    // Were a second of the run to wait for any of them, this would not end.
    for account in nothing_arrives(3 * FRAMES_MAX as u64, |_| port) {
        let said = account.last_failure.unwrap();
        let is_why = |why: &str| said.contains(why);
        assert!(["in time", "waited", "its time was up"].into_iter().any(is_why), "{said}");
    }
}

#[test]
fn a_request_that_is_never_answered_delays_nothing() {
    let receiver = Receiver::start(|_| Manner::Stall);
    let collector = Collector::start(|_| Reply::Stall);
    let port = |kind: &str| if kind == "otlp-grpc" { collector.port } else { receiver.port };
    for account in nothing_arrives(3 * FRAMES_MAX as u64, port) {
        assert!(account.last_failure.is_some(), "{account:?}");
    }
}

#[test]
fn a_port_that_nobody_listens_at_is_named_with_what_was_dropped() {
    let port = closed();
    for account in nothing_arrives(SECONDS, |_| port) {
        let said = account.line();
        assert!(said.to_lowercase().contains("refused"), "{said}");
    }
}

#[test]
fn one_that_answers_500_is_named_with_what_was_dropped() {
    let receiver = Receiver::start(|_| Manner::Refuse(500));
    let collector = Collector::start(|_| Reply::Http(500));
    let port = |kind: &str| if kind == "otlp-grpc" { collector.port } else { receiver.port };
    for account in nothing_arrives(SECONDS, port) {
        let said = account.line();
        assert!(said.contains("(last failure: the receiver answers 500"), "{said}");
    }
    assert!(receiver.taken().is_empty() && collector.taken.lock().unwrap().is_empty());
}

#[test]
fn statsd_that_nobody_listens_to_is_dropped_and_said() {
    // Nobody answers over UDP, but the kernel says that there is no such port.
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (accounts, _) = Played::to(&[format!("statsd=127.0.0.1:{port}")]).whole();
    let account = &accounts[0];
    adds_up(account);
    assert_eq!(account.given, all(false));
    // A second fills more than one datagram: the first is what the kernel has to answer to.
    assert_eq!(account.dropped, all(false), "{account:?}");
    let said = account.line();
    assert!(said.contains(&format!("; dropped {SECONDS} seconds")), "{said}");
    assert!(said.to_lowercase().contains("refused"), "{said}");
}
