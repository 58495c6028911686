//! The freezing server: nothing during a window, everything after it, nothing counted twice.

use sojourn_clock::{MILLISECOND_NS, now_ns, sleep_until};
use sojourn_testkit::{FreezingServer, Window};

use crate::client::Client;

#[test]
fn a_request_sent_into_a_window_is_answered_after_it() {
    let window = Window { from_ns: 0, to_ns: 300 * MILLISECOND_NS };
    let server = FreezingServer::start(&[window]).unwrap();
    let thaw_ns = server.start_ns() + window.to_ns;
    let mut clients: Vec<_> = (0..5).map(|_| Client::connect(server.address())).collect();
    for client in &mut clients {
        client.send("/");
    }
    for client in &mut clients {
        assert_eq!(client.answer().unwrap().status, 200);
        assert!(now_ns() >= thaw_ns, "answered while frozen");
    }
    assert_eq!(server.requests(), 5);
}

#[test]
fn it_works_before_and_after_and_counts_exactly() {
    let far_ns = 3_600_000 * MILLISECOND_NS;
    let window = Window { from_ns: far_ns, to_ns: 2 * far_ns };
    let server = FreezingServer::start(&[window]).unwrap();
    let mut client = Client::connect(server.address());
    for request in 1..=100 {
        let answer = client.get("/").unwrap();
        assert_eq!(answer.body, format!("{{\"request\":{request}}}\n").into_bytes());
    }
    assert_eq!(server.requests(), 100);
}

#[test]
fn a_frozen_server_stops_when_dropped() {
    let window = Window { from_ns: 0, to_ns: u64::MAX / 4 };
    let server = FreezingServer::start(&[window]).unwrap();
    let mut client = Client::connect(server.address());
    client.send("/");
    sleep_until(now_ns() + 20 * MILLISECOND_NS);
    assert_eq!(server.requests(), 0);
    drop(server);
    assert!(client.answer().is_err());
}
