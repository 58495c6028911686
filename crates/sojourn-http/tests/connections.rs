//! Connections: used again, gone stale, bounded, refused.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::sync_channel;

use sojourn_clock::MILLISECOND_NS;
use sojourn_http::{ClientConfig, FailureKind};

use crate::peers::{Load, Server, expect_failure, nobody, read_request, reset, wait_for_close};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn one_connection_serves_requests_one_after_the_other() {
    let server = Server::answering(OK);
    let mut load = Load::new(&server);
    for round in 0..200 {
        let completion = load.get();
        assert_eq!(completion.outcome.expect("an answer").body, b"ok");
        assert_eq!(completion.timings.connect_ns > 0, round == 0);
        if round > 0 {
            assert_eq!(completion.timings.blocked_ns, 0);
        }
    }
    assert_eq!(server.accepted(), 1);
    assert_eq!(load.client.counters().connections_opened, 1);
    assert_eq!(load.client.connections(), 1);
}

#[test]
fn the_bound_makes_requests_wait_which_shows_as_blocked() {
    const TURN_NS: u64 = 5 * MILLISECOND_NS;
    let server = Server::start(|_, mut stream| {
        while read_request(&mut stream).is_some() {
            sojourn_clock::sleep_until(sojourn_clock::now_ns() + TURN_NS);
            stream.write_all(OK).expect("open");
        }
    });
    let config = ClientConfig { connections_max: 2, ..ClientConfig::default() };
    let mut load = Load::with(server.address, config);
    for token in 0..10 {
        load.send(token, "GET", b"");
    }
    assert_eq!(load.client.in_flight(), 10);
    let mut completions = load.take(10);
    completions.sort_by_key(|completion| completion.token);
    for (place, completion) in completions.iter().enumerate() {
        assert!(completion.outcome.is_ok());
        // Two at a time, in order: each waits for those before it.
        let turns_before = place as u64 / 2;
        assert!(completion.timings.blocked_ns >= turns_before * TURN_NS, "{completion:?}");
        assert!(completion.timings.wait_ns >= TURN_NS);
    }
    assert_eq!(server.accepted(), 2);
    assert_eq!(load.client.in_flight(), 0);
}

#[test]
fn an_answer_that_is_here_spares_a_connection() {
    let (tell, told) = sync_channel(1);
    let server = Server::start(move |_, mut stream| {
        while read_request(&mut stream).is_some() {
            stream.write_all(OK).expect("open");
            tell.send(()).expect("the test goes on");
        }
    });
    let mut load = Load::new(&server);
    load.get();
    told.recv().expect("a server");
    for round in 0..50 {
        load.send(1, "GET", b"");
        let mut completions = Vec::new();
        load.client.wait_until(0, &mut completions).expect("an event loop");
        told.recv().expect("a server");
        // The first one's answer has come, whether or not it has been looked at.
        load.send(2, "GET", b"");
        completions.extend(load.take(2 - completions.len()));
        told.recv().expect("a server");
        assert!(completions.iter().all(|completion| completion.outcome.is_ok()));
        assert_eq!(load.client.counters().connections_opened, 1, "round {round}");
    }
}

#[test]
fn a_request_sent_again_takes_a_connection_that_has_just_answered() {
    let (tell, told) = sync_channel(2);
    let both_may_go_on = std::sync::Arc::new(std::sync::Barrier::new(3));
    let gate = std::sync::Arc::clone(&both_may_go_on);
    let server = Server::start(move |number, mut stream| {
        read_request(&mut stream);
        stream.write_all(OK).expect("open");
        tell.send(()).expect("the test goes on");
        stream.peek(&mut [0]).expect("open");
        gate.wait();
        if number == 0 {
            // With the request unread: a reset.
            drop(stream);
            tell.send(()).expect("the test goes on");
            return;
        }
        while read_request(&mut stream).is_some() {
            stream.write_all(OK).expect("open");
            tell.send(()).ok();
        }
    });
    let mut load = Load::new(&server);
    let two = |load: &mut Load| (0..2).for_each(|token| load.send(token, "GET", b""));
    let hear_two = || (0..2).for_each(|_| told.recv().expect("a server"));
    two(&mut load);
    let mut completions = load.take(2);
    hear_two();
    two(&mut load);
    // On a ring this hands them over.
    load.client.wait_until(0, &mut completions).expect("an event loop");
    // Answer and reset come between two looks.
    both_may_go_on.wait();
    hear_two();
    completions.extend(load.take(4 - completions.len()));
    assert!(completions.iter().all(|completion| completion.outcome.is_ok()));
    assert_eq!(load.client.counters().stale_retries, 1);
    assert_eq!(load.client.counters().connections_opened, 2);
}

#[test]
fn many_connections_are_not_opened_in_a_row() {
    const MANY: usize = 500;
    let mut load = Load::with(nobody(), ClientConfig::default());
    for token in 0..MANY as u64 {
        load.send(token, "GET", b"");
    }
    let mut completions = Vec::new();
    load.client.wait_until(0, &mut completions).expect("an event loop");
    assert!(load.client.counters().connections_opened < MANY as u64);
    assert!(load.client.is_behind());
    completions.extend(load.take(MANY - completions.len()));
    assert!(completions.iter().all(|completion| completion.outcome.is_err()));
    assert!(!load.client.is_behind());
    assert_eq!(load.client.counters().connections_opened, MANY as u64);
}

#[test]
fn a_stale_connection_is_tried_once_more_on_a_fresh_one() {
    // The first connection answers once and closes when the second request comes, unread.
    let server = Server::start(|number, mut stream| {
        read_request(&mut stream);
        stream.write_all(OK).expect("open");
        if number == 0 {
            stream.peek(&mut [0]).expect("open");
            return;
        }
        while read_request(&mut stream).is_some() {
            stream.write_all(OK).expect("open");
        }
    });
    let mut load = Load::new(&server);
    assert_eq!(load.answer().body, b"ok");
    let completion = load.get();
    assert!(completion.timings.connect_ns > 0);
    // Both sendings count.
    assert_eq!(completion.bytes_out, 2 * "GET / HTTP/1.1\r\nHost: test\r\n\r\n".len() as u64);
    assert_eq!(completion.outcome.expect("an answer").body, b"ok");
    assert_eq!(load.client.counters().stale_retries, 1);
    assert_eq!(server.accepted(), 2);
}

#[test]
fn nothing_is_sent_again_where_that_is_switched_off() {
    let server = Server::start(|_, mut stream| {
        read_request(&mut stream);
        stream.write_all(OK).expect("open");
        read_request(&mut stream);
    });
    let config = ClientConfig { resend: false, ..ClientConfig::default() };
    let mut load = Load::with(server.address, config);
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(load.failure().kind, FailureKind::Closed);
    assert_eq!(load.client.counters().stale_retries, 0);
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_request_is_not_tried_a_third_time() {
    let server = Server::start(|number, mut stream| {
        read_request(&mut stream);
        if number == 0 {
            stream.write_all(OK).expect("open");
            read_request(&mut stream);
        }
    });
    let mut load = Load::new(&server);
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(load.failure().kind, FailureKind::Closed);
    assert_eq!(load.client.counters().stale_retries, 1);
    assert_eq!(server.accepted(), 2);
}

#[test]
fn an_answer_begun_is_never_tried_again() {
    let server = Server::start(|_, mut stream| {
        read_request(&mut stream);
        stream.write_all(OK).expect("open");
        read_request(&mut stream);
        stream.write_all(b"H").expect("open");
    });
    let mut load = Load::new(&server);
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(load.failure().kind, FailureKind::Closed);
    assert_eq!(load.client.counters().stale_retries, 0);
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_fresh_connection_that_closes_is_a_failure() {
    let server = Server::start(|_, mut stream| drop(read_request(&mut stream)));
    expect_failure(&server, FailureKind::Closed);
    let server = Server::start(|_, mut stream| {
        read_request(&mut stream);
        reset(stream);
    });
    expect_failure(&server, FailureKind::Reset);
}

#[test]
fn an_idle_connection_that_the_server_closes_is_dropped() {
    let (close, told) = sync_channel(1);
    let told = std::sync::Mutex::new(told);
    let server = Server::start(move |_, mut stream| {
        read_request(&mut stream);
        stream.write_all(OK).expect("open");
        told.lock().expect("unpoisoned").recv().expect("told");
    });
    let mut load = Load::new(&server);
    load.answer();
    assert_eq!(load.client.connections(), 1);
    close.send(()).expect("waiting");
    load.run_until(|client| client.connections() == 0);
    assert_eq!(load.client.counters().idle_closed, 1);
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(load.client.counters().stale_retries, 0);
}

#[test]
fn bytes_nobody_asked_for_close_an_idle_connection() {
    let (speak, told) = sync_channel(1);
    let told = std::sync::Mutex::new(told);
    let server = Server::start(move |_, mut stream| {
        read_request(&mut stream);
        stream.write_all(OK).expect("open");
        told.lock().expect("unpoisoned").recv().expect("told");
        stream.write_all(b"HTTP/1.1 408 Late\r\n\r\n").expect("open");
        wait_for_close(&mut stream);
    });
    let mut load = Load::new(&server);
    load.answer();
    speak.send(()).expect("waiting");
    load.run_until(|client| client.connections() == 0);
    assert_eq!(load.client.counters().idle_closed, 1);
}

#[test]
fn refused() {
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port");
    let mut load = Load::with(address, ClientConfig::default());
    for token in 0..3 {
        load.send(token, "GET", b"");
    }
    for completion in load.take(3) {
        let failure = completion.outcome.expect_err("nobody listens");
        assert_eq!(failure.kind, FailureKind::Connect);
        assert!(failure.detail.contains(&address.to_string()), "{failure}");
    }
    assert_eq!((load.client.connections(), load.client.in_flight()), (0, 0));
}

#[test]
fn a_full_queue_of_failing_requests_fails_each_once() {
    let address = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port");
    let config = ClientConfig { connections_max: 1, ..ClientConfig::default() };
    let mut load = Load::with(address, config);
    for token in 0..5_000 {
        load.send(token, "GET", b"");
    }
    let mut tokens: Vec<u64> = Vec::new();
    while tokens.len() < 5_000 {
        let mut completions = Vec::new();
        let limit_ns = sojourn_clock::now_ns() + 10_000 * MILLISECOND_NS;
        load.client.wait_until(limit_ns, &mut completions).expect("runs");
        assert!(!completions.is_empty());
        tokens.extend(completions.iter().map(|completion| completion.token));
    }
    tokens.sort_unstable();
    assert!(tokens.into_iter().eq(0..5_000));
}

#[test]
fn a_server_that_speaks_first() {
    let server = Server::start(|_, mut stream: TcpStream| {
        let answer = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(answer).expect("open");
        stream.shutdown(std::net::Shutdown::Write).expect("open");
        wait_for_close(&mut stream);
    });
    let mut load = Load::new(&server);
    for _ in 0..20 {
        assert_eq!(load.answer().status, 503);
    }
}

#[test]
fn origins_are_numbered_once() {
    let server = Server::answering(OK);
    let mut load = Load::new(&server);
    let origin = sojourn_http::Origin::parse(&format!("http://{}", server.address)).expect("URL");
    assert_eq!(load.client.origin(&origin), load.origin);
    let other = sojourn_http::Origin { port: 1, ..origin };
    assert_ne!(load.client.origin(&other), load.origin);
    load.origin = sojourn_http::OriginId(77);
    assert_eq!(load.failure().kind, FailureKind::Connect);
}

/// The kernel's timer on the client's side of an idle connection to this port: its kind (02: the
/// keep-alive's) and what is left of it, seconds.
fn kernel_timer(port: u16) -> Option<(u8, u64)> {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("Linux");
    let remote = format!(":{port:04X}");
    let row =
        table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).find(|row| {
            const ESTABLISHED: &str = "01";
            row.len() > 5 && row[2].ends_with(&remote) && row[3] == ESTABLISHED
        })?;
    let (kind, left) = row[5].split_once(':')?;
    Some((u8::from_str_radix(kind, 16).ok()?, u64::from_str_radix(left, 16).ok()? / 100))
}

#[test]
fn the_kernel_asks_after_silent_peers_if_told_to() {
    const KEEP_ALIVE: u8 = 2;
    let server = Server::answering(OK);
    for (after_s, expected) in [(0, false), (30, true)] {
        let tcp_keep_alive_ns = after_s * sojourn_clock::SECOND_NS;
        let mut load = Load::with(
            server.address,
            ClientConfig { tcp_keep_alive_ns, ..ClientConfig::default() },
        );
        load.answer();
        // Until the acknowledgement's own timer is gone.
        let timer = (0..200)
            .find_map(|_| {
                sojourn_clock::sleep_until(sojourn_clock::now_ns() + 10 * MILLISECOND_NS);
                let (kind, left_s) = kernel_timer(server.address.port())?;
                let is_settled = if expected { kind == KEEP_ALIVE } else { kind == 0 };
                is_settled.then_some((kind, left_s))
            })
            .unwrap_or_else(|| panic!("{:?}", kernel_timer(server.address.port())));
        if expected {
            assert!((15..=30).contains(&timer.1), "{timer:?}");
        }
        drop(load);
    }
}
