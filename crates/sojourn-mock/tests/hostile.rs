//! Clients that break the rules, leave, or only sit there: nothing panics, the next client is
//! served. What they cost in memory is tested where the mock is a process of its own.

use std::io::Write;
use std::rc::Rc;

use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_mock::{Message, Reply, Request, Responder, Server, ServerConfig};

use crate::client::{Client, mock, until};

/// Holds every answer for so long.
struct Holding(u64);

impl Responder for Holding {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let message = Rc::new(Message::text(200, "text/plain", b"ok"));
        Reply::message(message).held_until(request.arrival_ns + self.0)
    }
}

fn holding(hold_ns: u64, config: ServerConfig) -> Server {
    Server::start(&config, vec![move || Holding(hold_ns)]).unwrap()
}

fn at_once() -> Server {
    holding(0, ServerConfig::default())
}

#[track_caller]
fn assert_serves(server: &Server) {
    assert_eq!(Client::connect(server.address()).get("/").status, 200);
}

#[test]
fn what_is_no_request_is_refused_and_told_why() {
    let server = at_once();
    for (bytes, status) in [
        (b"\x16\x03\x01\x02\x00 hello".to_vec(), 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), 505),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n".to_vec(), 400),
        (b"POST / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n".to_vec(), 400),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_vec(), 400),
        (
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n8000000000000000\r\n".to_vec(),
            400,
        ),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabcdef".to_vec(), 400),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n".to_vec(), 501),
        (format!("GET / HTTP/1.1\r\na: {}\r\n\r\n", "b".repeat(200_000)).into_bytes(), 431),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "b".repeat(200_000)).into_bytes(), 431),
        (format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(101)).into_bytes(), 431),
    ] {
        let mut client = Client::connect(server.address());
        client.stream.write_all(&bytes).unwrap();
        let answer = client.answer().unwrap();
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert_eq!(answer.status, status, "{shown}");
        // Read to its end, without a reset, whatever was still on its way.
        client.rest().1.unwrap_or_else(|error| panic!("{shown}: {error}"));
    }
    assert_eq!(server.figures().requests_bad, 11);
    assert_serves(&server);
}

/// A head that comes byte by byte has no more time than one that comes at once.
#[test]
fn a_slow_loris_is_shown_the_door() {
    let config =
        ServerConfig { request_timeout_ns: 300 * MILLISECOND_NS, ..ServerConfig::default() };
    let server = holding(0, config);
    let mut client = Client::connect(server.address());
    client.stream.set_nonblocking(true).unwrap();
    let begin_ns = now_ns();
    let head = b"GET / HTTP/1.1\r\n";
    let mut sent = 0;
    until("the server gives up", || {
        // As slow as can be without a pause that is longer than the timeout.
        let byte = head.get(sent).copied().unwrap_or(b'a');
        sent += 1;
        let _written = client.stream.write(&[byte]);
        std::thread::sleep(std::time::Duration::from_millis(20));
        server.figures().requests_bad == 1
    });
    assert!(now_ns() - begin_ns >= 300 * MILLISECOND_NS, "it had its time");
    client.stream.set_nonblocking(false).unwrap();
    assert_eq!(client.answer().unwrap().status, 408);
    assert_serves(&server);
}

#[test]
fn a_body_that_pauses_too_long_is_given_up() {
    let config =
        ServerConfig { request_timeout_ns: 200 * MILLISECOND_NS, ..ServerConfig::default() };
    let server = holding(0, config);
    let mut client = Client::connect(server.address());
    client.send("POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\nabc");
    assert_eq!(client.answer().unwrap().status, 408);
}

#[test]
fn clients_that_leave_while_held_are_forgotten() {
    let server = holding(3600 * SECOND_NS, ServerConfig::default());
    for round in 1..=3_u64 {
        let clients: Vec<_> = (0..100)
            .map(|_| {
                let mut client = Client::connect(server.address());
                client.send("GET / HTTP/1.1\r\n\r\n");
                client
            })
            .collect();
        until("all are held", || server.figures().held == 100);
        for client in &clients {
            // RST: the client is gone, not only silent.
            rustix::net::sockopt::set_socket_linger(
                &client.stream,
                Some(std::time::Duration::ZERO),
            )
            .unwrap();
        }
        drop(clients);
        until("all are forgotten", || server.figures().abandoned == round * 100);
        let figures = server.figures();
        assert_eq!((figures.held, figures.open, figures.answered), (0, 0, 0));
    }
}

#[test]
fn too_many_connections_are_refused_and_counted() {
    let config = ServerConfig { connections_max: 5, ..ServerConfig::default() };
    let server = holding(0, config);
    let mut held: Vec<_> = (0..5).map(|_| Client::connect(server.address())).collect();
    for client in &mut held {
        assert_eq!(client.get("/").status, 200);
    }
    let mut late = Client::connect(server.address());
    let (bytes, _end) = late.rest();
    assert!(bytes.is_empty());
    assert_eq!(server.figures().connections_refused, 1);
    drop(held);
    until("there is room", || server.figures().open == 0);
    assert_serves(&server);
}

#[test]
fn a_client_that_does_not_read_holds_nobody_up() {
    let mock = mock("routes: [{ route: /big, size: 50MB }, { route: '*' }]");
    let mut lazy = Client::connect(mock.address());
    for _ in 0..3 {
        lazy.send("GET /big HTTP/1.1\r\n\r\n");
    }
    let mut quick = Client::connect(mock.address());
    for _ in 0..100 {
        assert_eq!(quick.get("/").status, 200);
    }
    for _ in 0..3 {
        assert_eq!(lazy.answer().unwrap().body.len(), 50_000_000);
    }
}

/// One client takes and sends as fast as it can; another is still served in between.
#[test]
fn a_greedy_client_leaves_turns_to_others() {
    let mock = mock("routes: [{ route: /big, size: 2GB }, { route: '*', body: ok }]");
    let address = mock.address();
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = done.clone();
    let greedy = std::thread::spawn(move || {
        let mut client = Client::connect(address);
        client.send("GET /big HTTP/1.1\r\nconnection: close\r\n\r\n");
        let copied = std::io::copy(&mut client.stream, &mut std::io::sink()).unwrap();
        told.store(true, std::sync::atomic::Ordering::SeqCst);
        copied
    });
    until("it is begun", || mock.meter().figures().requests == 1);
    let mut modest = Client::connect(address);
    for _ in 0..20 {
        assert_eq!(modest.get("/").text(), "ok");
    }
    assert!(!done.load(std::sync::atomic::Ordering::SeqCst), "served only after the greedy one");
    assert!(greedy.join().unwrap() > 2_000_000_000);

    // Thousands of requests at once on one connection are answered, each.
    let mut hasty = Client::connect(address);
    let mut stream = hasty.stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        stream.write_all("GET / HTTP/1.1\r\n\r\n".repeat(20_000).as_bytes()).unwrap();
    });
    for _ in 0..20_000 {
        assert_eq!(hasty.answer().unwrap().status, 200);
    }
    writer.join().unwrap();
}
