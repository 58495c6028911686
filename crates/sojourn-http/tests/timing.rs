//! Timeouts, wake-ups, phases.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, ClientConfig, FailureKind, Io};

use crate::dialling::origin;
use crate::peers::{Load, Server, io, read_request, wait_for_close};

/// Far above any delay of a busy machine, far below the timeouts it is told apart from.
const SLOW_NS: u64 = 5 * SECOND_NS;

fn stalling(start: &'static [u8]) -> Server {
    Server::start(move |_, mut stream| {
        read_request(&mut stream);
        stream.write_all(start).expect("open");
        wait_for_close(&mut stream);
    })
}

#[test]
fn a_stall_ends_at_the_timeout_and_not_before() {
    for (start, words) in [
        (b"".as_slice(), "before the first byte"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel", "after 41 bytes"),
    ] {
        let server = stalling(start);
        let mut load = Load::new(&server);
        let timeout_ns = 300 * MILLISECOND_NS;
        load.send_with(3, "GET", b"", timeout_ns, BodyPolicy::Discard);
        let completion = load.take(1).remove(0);
        let took_ns = completion.ended_ns - completion.began_ns;
        assert!((timeout_ns..SLOW_NS).contains(&took_ns), "{took_ns}");
        let failure = completion.outcome.expect_err("it stalls");
        assert_eq!(failure.kind, FailureKind::Timeout);
        assert!(failure.detail.contains("300 ms"), "{failure}");
        assert!(failure.detail.contains(words), "{failure}");
        // Its connection is not used again: an answer could still come on it.
        assert_eq!(load.client.connections(), 0);
    }
}

#[test]
fn timeouts_in_any_order_end_in_theirs() {
    let server = stalling(b"");
    let mut load = Load::new(&server);
    let milliseconds = [70, 20, 50, 20, 90, 40];
    for (token, milliseconds) in milliseconds.into_iter().enumerate() {
        let timeout_ns = milliseconds * MILLISECOND_NS;
        load.send_with(token as u64, "GET", b"", timeout_ns, BodyPolicy::Discard);
    }
    let completions = load.take(6);
    let mut ended: Vec<(u64, u64)> = Vec::new();
    for completion in completions {
        let timeout_ns = milliseconds[completion.token as usize] * MILLISECOND_NS;
        assert!(completion.ended_ns - completion.began_ns >= timeout_ns);
        ended.push((completion.ended_ns, completion.token));
    }
    assert!(ended.is_sorted_by_key(|(ended_ns, _)| *ended_ns));
    assert_eq!(ended.last().expect("six").1, 4);
}

#[test]
fn a_timeout_is_ones_own_whatever_those_before_in_the_same_place_had() {
    let server = Server::start(|_, mut stream| {
        while read_request(&mut stream).is_some_and(|request| request.starts_with(b"GET")) {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").expect("open");
        }
        wait_for_close(&mut stream);
    });
    let mut load = Load::new(&server);
    // One that is answered at once, then one that is not: their timeouts, milliseconds.
    for (answered_ms, stalled_ms) in [(5_000, 30), (2_000, 30), (2_000, 2_300), (5_000, 60)] {
        load.send_with(1, "GET", b"", answered_ms * MILLISECOND_NS, BodyPolicy::Count);
        assert!(load.take(1).remove(0).outcome.is_ok());
        let timeout_ns = stalled_ms * MILLISECOND_NS;
        load.send_with(2, "DELETE", b"", timeout_ns, BodyPolicy::Count);
        let completion = load.take(1).remove(0);
        assert_eq!(completion.token, 2);
        let took_ns = completion.ended_ns - completion.began_ns;
        assert!((timeout_ns..SLOW_NS).contains(&took_ns), "{took_ns}");
        let failure = completion.outcome.expect_err("it stalls");
        assert_eq!(failure.kind, FailureKind::Timeout);
    }
}

#[test]
fn a_request_that_waits_for_a_connection_times_out_too() {
    let server = stalling(b"");
    let config = ClientConfig { connections_max: 1, ..ClientConfig::default() };
    let mut load = Load::with(server.address, config);
    load.send_with(1, "GET", b"", SLOW_NS, BodyPolicy::Discard);
    load.send_with(2, "GET", b"", 30 * MILLISECOND_NS, BodyPolicy::Discard);
    let completion = load.take(1).remove(0);
    assert_eq!(completion.token, 2);
    assert_eq!(completion.bytes_out, 0);
    let took_ns = completion.ended_ns - completion.began_ns;
    assert_eq!(completion.timings.blocked_ns, took_ns);
    assert!((30 * MILLISECOND_NS..SLOW_NS).contains(&took_ns));
    let failure = completion.outcome.expect_err("it waits");
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert!(failure.detail.contains("waiting for a connection"), "{failure}");
    assert_eq!((load.client.in_flight(), load.client.connections()), (1, 1));
}

/// A listener whose queue is full, so that the kernel drops what asks for a connection.
fn deaf_listener() -> (socket2::Socket, SocketAddr, Vec<TcpStream>) {
    let socket =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    socket.bind(&any.into()).expect("a free port");
    socket.listen(0).expect("bound");
    let bound = socket.local_addr().expect("bound");
    let address = bound.as_socket().expect("IPv4");
    let mut fillers = Vec::new();
    let patience = std::time::Duration::from_millis(100);
    while let Ok(filler) = TcpStream::connect_timeout(&address, patience) {
        fillers.push(filler);
        assert!(fillers.len() < 100, "the queue never fills");
    }
    (socket, address, fillers)
}

#[test]
fn connecting_has_its_own_timeout() {
    let (_listener, address, _fillers) = deaf_listener();
    let config =
        ClientConfig { connect_timeout_ns: 40 * MILLISECOND_NS, ..ClientConfig::default() };
    let mut load = Load::with(address, config);
    let completion = load.get();
    let took_ns = completion.ended_ns - completion.began_ns;
    assert!((40 * MILLISECOND_NS..SLOW_NS).contains(&took_ns));
    let connect_ns = completion.timings.connect_ns;
    assert!((40 * MILLISECOND_NS..=took_ns).contains(&connect_ns), "{connect_ns} of {took_ns}");
    let failure = completion.outcome.expect_err("nobody accepts");
    assert_eq!(failure.kind, FailureKind::Connect);
    assert!(failure.detail.contains("within 40 ms"), "{failure}");
    // The request's own timeout holds as well, and is a timeout.
    load.send_with(1, "GET", b"", 20 * MILLISECOND_NS, BodyPolicy::Discard);
    let failure = load.take(1).remove(0).outcome.expect_err("nobody accepts");
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert!(failure.detail.contains("while connecting"), "{failure}");
}

#[test]
fn the_connect_timeout_does_not_outlive_connecting() {
    let server = Server::start(|_, mut stream| {
        read_request(&mut stream);
        sojourn_clock::sleep_until(now_ns() + 60 * MILLISECOND_NS);
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(answer).expect("open");
    });
    let config =
        ClientConfig { connect_timeout_ns: 30 * MILLISECOND_NS, ..ClientConfig::default() };
    let completion = Load::with(server.address, config).get();
    assert!(completion.timings.wait_ns >= 50 * MILLISECOND_NS);
    assert!(completion.outcome.is_ok());
}

#[test]
fn phases_show_where_the_time_went() {
    const PAUSE_NS: u64 = 30 * MILLISECOND_NS;
    // When the server began to write the head and the rest, by its own log.
    let (log, logged) = sync_channel(2);
    let server = Server::start(move |_, mut stream| {
        read_request(&mut stream);
        for part in [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no".as_slice(), b"k"] {
            sojourn_clock::sleep_until(now_ns() + PAUSE_NS);
            log.send(now_ns()).expect("somebody reads");
            stream.write_all(part).expect("open");
        }
        wait_for_close(&mut stream);
    });
    // A busy machine may hold up the client while the server goes on: then both parts are there at
    // once, or the request counts as sent late. Not each of so many times.
    let shows_pauses = |_| {
        let completion = Load::new(&server).get();
        let [head_ns, rest_ns] = [0; 2].map(|_| logged.recv().expect("both were written"));
        let timings = completion.timings;
        let first_read_ns = completion.ended_ns - timings.receive_ns;
        assert!(first_read_ns >= head_ns && completion.ended_ns >= rest_ns, "{timings:?}");
        let sent_ns = completion.began_ns + timings.blocked_ns + timings.send_ns;
        assert_eq!(first_read_ns, sent_ns + timings.wait_ns, "{timings:?}");
        assert!(timings.connect_ns > 0 && timings.connect_ns <= timings.blocked_ns);
        assert_eq!((timings.dns_ns, timings.tls_ns), (0, 0));
        let least_ns = PAUSE_NS * 5 / 6;
        timings.wait_ns >= least_ns && timings.receive_ns >= least_ns
    };
    assert!((0..50).any(shows_pauses), "wait and receive never show the server's pauses");
}

#[test]
fn a_wait_ends_at_its_deadline_and_a_past_one_at_once() {
    let mut client =
        Client::new(ClientConfig { io: io(), ..ClientConfig::default() }).expect("a client");
    let mut completions = Vec::new();
    for deadline_ns in [0, 1, now_ns()] {
        client.wait_until(deadline_ns, &mut completions).expect("runs");
    }
    let deadline_ns = now_ns() + 3 * MILLISECOND_NS;
    client.wait_until(deadline_ns, &mut completions).expect("runs");
    assert!(now_ns() >= deadline_ns);
    assert!(completions.is_empty());
}

#[test]
fn wake_ups_end_a_wait() {
    let mut client =
        Client::new(ClientConfig { io: io(), ..ClientConfig::default() }).expect("a client");
    let waker = client.waker();
    let mut completions = Vec::new();
    let mut wait = |client: &mut Client| {
        let began_ns = now_ns();
        client.wait_until(began_ns + SLOW_NS, &mut completions).expect("runs");
        now_ns() - began_ns
    };
    // Before the wait, twice: one wake-up.
    waker.wake();
    waker.wake();
    assert!(wait(&mut client) < SLOW_NS);
    // During it, from another thread, again and again.
    for _ in 0..100 {
        let waker = client.waker();
        let other = std::thread::spawn(move || waker.wake());
        assert!(wait(&mut client) < SLOW_NS);
        other.join().expect("it only wakes");
    }
    // None is left over.
    let began_ns = now_ns();
    let mut completions = Vec::new();
    client.wait_until(began_ns + 5 * MILLISECOND_NS, &mut completions).expect("runs");
    assert!(now_ns() - began_ns >= 5 * MILLISECOND_NS);
}

/// In how many turns of a client on epoll ninety answers were looked at that came one by one, each
/// on a connection of its own, while more than 64 others were under way.
fn turns_of_answers(gather_ns: u64) -> usize {
    let server = Server::start(|number, mut stream| {
        read_request(&mut stream);
        // What answers take: 5 ms is its 128th part.
        std::thread::sleep(Duration::from_millis(640 + number as u64));
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok();
        wait_for_close(&mut stream);
    });
    let config = ClientConfig { gather_ns, io: Io::Epoll, ..ClientConfig::default() };
    let at = origin(false, &server.address.ip().to_string(), server.address.port());
    let mut load = Load::exactly(&at, config);
    (0..160).for_each(|token| load.send(token, "GET", b""));
    load.turns(90)
}

#[test]
fn answers_of_many_connections_are_looked_at_together_when_they_may() {
    // Answers of some 90 ms by pauses of 5 ms are some 18 turns.
    let (together, one_by_one) = (turns_of_answers(SECOND_NS), turns_of_answers(0));
    assert!(together <= 36, "{together} turns");
    assert!(together * 3 < one_by_one * 2, "{together} turns, and {one_by_one} without");
}
