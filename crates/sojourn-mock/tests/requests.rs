//! HTTP/1.1 however it is cut: the requests that arrive are those that were sent.

use std::io::Write;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use sojourn_mock::{Message, Reply, Request, Responder, Server, ServerConfig};
use std::rc::Rc;

use crate::client::{Client, until};

/// Method, path and body of every request.
type Seen = Arc<Mutex<Vec<(String, String, Vec<u8>)>>>;

/// Remembers requests, answers each with its number.
struct Recorder {
    seen: Seen,
    body_max: usize,
}

impl Responder for Recorder {
    fn body_max(&mut self, _request: &Request<'_>) -> usize {
        self.body_max
    }

    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let mut seen = self.seen.lock().unwrap();
        seen.push((request.method.to_owned(), request.path.to_owned(), request.body.to_vec()));
        let text = format!("{}", seen.len());
        Reply::message(Rc::new(Message::text(200, "text/plain", text.as_bytes())))
    }
}

fn recorder(body_max: usize) -> (Server, Seen) {
    let seen = Seen::default();
    let own = seen.clone();
    let make = move || Recorder { seen: own, body_max };
    (Server::start(&ServerConfig::default(), vec![make]).unwrap(), seen)
}

/// Requests of every framing, one after the other.
const MANY: &[u8] = b"GET /a HTTP/1.1\r\nhost: x\r\n\r\n\
    POST /b?c=d HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello\
    \r\nPUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: u\r\n\r\n\
    DELETE /d HTTP/1.1\r\ncontent-length: 0\r\n\r\n";

fn expected() -> Vec<(String, String, Vec<u8>)> {
    [
        ("GET", "/a", ""),
        ("POST", "/b?c=d", "hello"),
        ("PUT", "/c", "abc0123456789"),
        ("DELETE", "/d", ""),
    ]
    .map(|(method, path, body)| (method.to_owned(), path.to_owned(), body.as_bytes().to_vec()))
    .to_vec()
}

/// Sends the pieces, each when the one before is surely read, and checks what arrived.
fn check_split(server: &Server, seen: &Seen, pieces: &[&[u8]]) {
    seen.lock().unwrap().clear();
    let mut client = Client::connect(server.address());
    let mut bytes_in = server.figures().bytes_in;
    for piece in pieces {
        client.stream.write_all(piece).unwrap();
        bytes_in += piece.len() as u64;
        until("the piece is read", || server.figures().bytes_in >= bytes_in);
    }
    for number in 1..=4 {
        assert_eq!(client.answer().unwrap().text(), number.to_string());
    }
    assert_eq!(*seen.lock().unwrap(), expected(), "{pieces:?}");
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let (server, seen) = recorder(1000);
    check_split(&server, &seen, &[MANY]);
}

#[test]
fn a_split_at_any_byte_changes_nothing() {
    let (server, seen) = recorder(1000);
    for at in 1..MANY.len() {
        check_split(&server, &seen, &[&MANY[..at], &MANY[at..]]);
    }
}

#[test]
fn nor_do_single_bytes() {
    let (server, seen) = recorder(1000);
    check_split(&server, &seen, &MANY.chunks(1).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Bytes changed, doubled or left out: the server answers something or closes, never panics,
    /// and serves the next client as if nothing had been.
    #[test]
    fn mutated_requests_do_no_harm(
        at in 0_usize..400, byte: u8, length in 0_usize..20, kind in 0_u8..3,
    ) {
        let (server, seen) = recorder(64);
        let mut bytes = MANY.to_vec();
        let at = at % bytes.len();
        match kind {
            0 => bytes[at] = byte,
            1 => drop(bytes.drain(at..(at + length).min(MANY.len()))),
            _ => {
                let copied = bytes[at..(at + length).min(MANY.len())].to_vec();
                bytes.splice(at..at, copied);
            }
        }
        let mut client = Client::connect(server.address());
        client.stream.write_all(&bytes).unwrap();
        client.stream.shutdown(std::net::Shutdown::Write).unwrap();
        let (_answers, _end) = client.rest();
        seen.lock().unwrap().clear();
        let mut next = Client::connect(server.address());
        prop_assert_eq!(next.get("/").status, 200);
        prop_assert_eq!(seen.lock().unwrap().len(), 1);
    }
}

#[test]
fn a_body_that_nobody_wants_is_thrown_away() {
    let (server, seen) = recorder(0);
    let mut client = Client::connect(server.address());
    let body = "x".repeat(3_000_000);
    assert_eq!(client.post("/big", "", &body).status, 200);
    assert_eq!(client.get("/next").text(), "2");
    assert!(seen.lock().unwrap().iter().all(|(_, _, body)| body.is_empty()));
}

#[test]
fn a_body_longer_than_wanted_is_refused() {
    let (server, _seen) = recorder(10);
    for length in [11, 100_000] {
        let mut client = Client::connect(server.address());
        let answer = client.post("/", "", &"x".repeat(length));
        assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
        client.rest().1.unwrap();
    }
}

#[test]
fn a_client_that_asks_first_is_told_to_go_on() {
    let (server, seen) = recorder(100);
    let mut client = Client::connect(server.address());
    client.send("POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
    let mut interim = [0; 25];
    std::io::Read::read_exact(&mut client.stream, &mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    assert!(seen.lock().unwrap().is_empty());
    client.send("ok");
    assert_eq!(client.answer().unwrap().status, 200);
    assert_eq!(seen.lock().unwrap()[0].2, b"ok");
}

/// However the head came: whole, in pieces, or behind another request.
#[test]
fn nobody_who_asks_first_is_left_waiting() {
    let (server, seen) = recorder(100);
    let mut client = Client::connect(server.address());
    client.send("POST / HTTP/1.1\r\nexpect: 100-con");
    until("the beginning is read", || server.figures().bytes_in > 20);
    client.send("tinue\r\ncontent-length: 2\r\n\r\n");
    let interim = "HTTP/1.1 100 Continue\r\n\r\n";
    client.wait_for(interim);
    client.send("ok");
    assert_eq!(client.answer().unwrap().status, 200);
    client.send("GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n");
    client.wait_for(interim);
    client.send("oh!");
    assert_eq!(client.answer().unwrap().status, 200);
    assert_eq!(client.answer().unwrap().status, 200);
    assert_eq!(seen.lock().unwrap()[2].2, b"oh!");
    // Who would send too much is told so before he does.
    client.send("POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 101\r\n\r\n");
    let (bytes, end) = client.rest();
    end.unwrap();
    assert!(bytes.starts_with(b"HTTP/1.1 413 "), "{}", String::from_utf8_lossy(&bytes));
    // HTTP/1.0 knows no interim answers.
    let mut old = Client::connect(server.address());
    let before = server.figures().bytes_in;
    old.send("POST / HTTP/1.0\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
    until("the head is read", || server.figures().bytes_in > before);
    old.send("ok");
    let (bytes, end) = old.rest();
    end.unwrap();
    assert!(bytes.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&bytes));
}

#[test]
fn connections_end_when_a_side_wants_it() {
    let (server, _seen) = recorder(0);
    for (request, header) in [
        ("GET / HTTP/1.1\r\nconnection: close\r\n\r\n", Some("close")),
        ("GET / HTTP/1.0\r\n\r\n", Some("close")),
    ] {
        let mut client = Client::connect(server.address());
        client.send(request);
        assert_eq!(client.answer().unwrap().header("connection"), header);
        assert!(matches!(client.rest(), (bytes, Ok(())) if bytes.is_empty()));
    }
    let mut old = Client::connect(server.address());
    for _ in 0..2 {
        old.send("GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n");
        assert_eq!(old.answer().unwrap().header("connection"), Some("keep-alive"));
    }
    // Half closed: the answer still comes, then the end.
    let mut half = Client::connect(server.address());
    half.send("GET / HTTP/1.1\r\n\r\n");
    half.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(half.answer().unwrap().status, 200);
    half.rest().1.unwrap();
}

#[test]
fn head_has_the_length_but_no_body() {
    let (server, _seen) = recorder(0);
    let mut client = Client::connect(server.address());
    client.send("HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nconnection: close\r\n\r\n");
    let (bytes, end) = client.rest();
    end.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, rest) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-length: 1"), "{head}");
    assert!(rest.starts_with("HTTP/1.1 200 OK"), "{rest}");
}

#[test]
fn threads_share_a_port_and_each_connection_belongs_to_one() {
    let seen = Seen::default();
    let makers = (0..3).map(|_| {
        let seen = seen.clone();
        move || Recorder { seen, body_max: 0 }
    });
    let server = Server::start(&ServerConfig::default(), makers.collect()).unwrap();
    let mut clients: Vec<_> = (0..60).map(|_| Client::connect(server.address())).collect();
    for client in &mut clients {
        assert_eq!(client.get("/").status, 200);
    }
    let figures = server.figures();
    assert_eq!((figures.accepted, figures.requests, figures.open), (60, 60, 60));
    // A port that somebody has is not shared with a second server.
    let taken = ServerConfig { listen: server.address(), ..ServerConfig::default() };
    let makers = (0..3).map(|_| || Recorder { seen: Seen::default(), body_max: 0 });
    assert_eq!(
        Server::start(&taken, makers.collect()).unwrap_err().kind(),
        std::io::ErrorKind::AddrInUse
    );
}
