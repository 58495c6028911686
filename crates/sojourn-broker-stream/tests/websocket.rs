//! What a tap sees of a WebSocket.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use sojourn_broker::{BrokerError, Recovery, Tap};
use sojourn_broker_stream::WebSocketTap;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{Secret, WebSocketChannel};
use sojourn_services::closed_port;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::{Message, WebSocket};

use crate::support::{Keep, TICK, at, next_gap, poll_until};

struct Peer {
    listener: TcpListener,
    port: u16,
}

impl Peer {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { listener, port }
    }

    /// Accepts the next WebSocket; its request's lines are returned too.
    fn accept(&self) -> JoinHandle<(WebSocket<TcpStream>, Vec<String>)> {
        let listener = self.listener.try_clone().unwrap();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut seen = Vec::new();
            #[allow(clippy::result_large_err, reason = "tungstenite's own type")]
            let look = |request: &Request, mut response: Response| {
                seen.push(request.uri().to_string());
                for (name, value) in request.headers() {
                    seen.push(format!("{name}: {}", value.to_str().unwrap()));
                }
                if let Some(offered) = request.headers().get("sec-websocket-protocol") {
                    let first = offered.to_str().unwrap().split(',').next().unwrap().to_owned();
                    let headers = response.headers_mut();
                    headers.insert("sec-websocket-protocol", first.parse().unwrap());
                }
                Ok(response)
            };
            let socket = tungstenite::accept_hdr(stream, look).unwrap();
            (socket, seen)
        })
    }

    fn channel(&self) -> WebSocketChannel {
        WebSocketChannel { server: at(self.port, "events"), ..WebSocketChannel::default() }
    }

    /// A tap and the server's side of it.
    fn opened(&self) -> (WebSocketTap, WebSocket<TcpStream>) {
        let accepted = self.accept();
        let mut tap = WebSocketTap::new(&self.channel()).unwrap();
        tap.open().unwrap();
        (tap, accepted.join().unwrap().0)
    }
}

#[test]
fn texts_and_binaries_come_in_order_from_the_first_on() {
    let peer = Peer::new();
    let (mut tap, mut server) = peer.opened();
    let large: String = (0..1_000_000).map(|number| format!("{number} ")).collect();
    let writer = std::thread::spawn({
        let large = large.clone();
        move || {
            server.send(Message::text("one")).unwrap();
            server.send(Message::binary(&b"\xff\0two"[..])).unwrap();
            server.send(Message::text("")).unwrap();
            server.send(Message::Ping("p".into())).unwrap();
            server.send(Message::text(large)).unwrap();
            for number in 0..5_000 {
                server.send(Message::text(number.to_string())).unwrap();
            }
            // The answer to the ping.
            assert_eq!(server.read().unwrap(), Message::Pong("p".into()));
            server
        }
    });
    let mut keep = Keep::default();
    poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() >= 5_004);
    let server = writer.join().unwrap();
    assert_eq!(keep.0[0].payload, b"one");
    assert_eq!(keep.0[1].payload, b"\xff\0two");
    assert_eq!(keep.0[2].payload, b"");
    assert!(keep.0[3].payload == large.as_bytes());
    let rest: Vec<_> = (0..5_000).map(|number| number.to_string()).collect();
    assert!(keep.texts()[4..] == rest);
    assert!(keep.0.iter().all(|kept| kept.topic == "/events"));
    assert!(keep.0.is_sorted_by_key(|kept| kept.stamp_ns));
    let after_ns = now_ns();
    poll_until(&mut tap, &mut keep, |tap, _| tap.watermark_ns() >= after_ns);
    assert!(tap.take_gaps().is_empty());
    drop(server);
}

#[test]
fn the_handshake_carries_what_the_plan_says_and_texts_are_sent_before_open_returns() {
    let peer = Peer::new();
    let accepted = peer.accept();
    let mut channel = peer.channel();
    channel.server.path = "a%20b/events?token=s3cret".to_owned();
    channel.server.user = Some("load".to_owned());
    channel.server.password = Some(Secret::new("p@ss"));
    channel.headers = vec![("X-Tenant".to_owned(), Secret::new("t-1"))];
    channel.protocols = vec!["graphql-ws".to_owned(), "other".to_owned()];
    channel.send = vec!["{\"subscribe\":1}".to_owned(), "second".to_owned()];
    let mut tap = WebSocketTap::new(&channel).unwrap();
    let info = tap.open().unwrap();
    assert_eq!(info.listens_to, format!("websocket ws://127.0.0.1:{}/a%20b/events", peer.port));
    let (mut server, seen) = accepted.join().unwrap();
    assert!(seen[0].ends_with("/a%20b/events?token=s3cret"), "{seen:?}");
    for line in [
        "x-tenant: t-1",
        "sec-websocket-protocol: graphql-ws, other",
        "authorization: Basic bG9hZDpwQHNz",
        &format!("host: 127.0.0.1:{}", peer.port),
    ] {
        assert!(seen.iter().any(|found| found == line), "{line}: {seen:?}");
    }
    assert_eq!(server.read().unwrap(), Message::text("{\"subscribe\":1}"));
    assert_eq!(server.read().unwrap(), Message::text("second"));
    let shown = format!("{tap:?}");
    assert!(!shown.contains("t-1") && !shown.contains("p@ss"), "{shown}");
}

#[test]
fn a_closed_or_broken_connection_is_made_again_and_subscribes_again() {
    let peer = Peer::new();
    let accepted = peer.accept();
    let channel = WebSocketChannel { send: vec!["subscribe".to_owned()], ..peer.channel() };
    let mut tap = WebSocketTap::new(&channel).unwrap();
    tap.open().unwrap();
    let mut server = accepted.join().unwrap().0;
    let mut keep = Keep::default();
    for round in 0..3 {
        assert_eq!(server.read().unwrap(), Message::text("subscribe"));
        server.send(Message::text(round.to_string())).unwrap();
        poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() > round);
        if round == 1 {
            server.close(None).unwrap();
        }
        let before_ns = now_ns();
        drop(server);
        let accepted = peer.accept();
        let gap = next_gap(&mut tap, &mut keep);
        assert_eq!(gap.recovery, Recovery::Missed);
        assert!(gap.to_ns > gap.from_ns && gap.to_ns > before_ns);
        server = accepted.join().unwrap().0;
    }
    assert_eq!(keep.texts(), ["0", "1", "2"]);
}

#[test]
fn a_server_that_does_not_answer_pings_is_lost_and_one_that_does_is_not() {
    let peer = Peer::new();
    let (mut tap, silent) = peer.opened();
    let mut keep = Keep::default();
    // Nobody reads `silent`, so nobody answers.
    let accepted = peer.accept();
    assert_eq!(next_gap(&mut tap, &mut keep).recovery, Recovery::Missed);
    drop(silent);
    let mut quiet = accepted.join().unwrap().0;
    let answering = std::thread::spawn(move || while quiet.read().is_ok() {});
    let until_ns = now_ns() + 4 * SECOND_NS;
    poll_until(&mut tap, &mut keep, |tap, _| tap.watermark_ns() > until_ns);
    assert!(tap.take_gaps().is_empty());
    drop(tap);
    answering.join().unwrap();
}

/// What opening says to a server that answers this.
fn refused(answer: &'static [u8], channel: WebSocketChannel) -> BrokerError {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            bytes.push(byte[0]);
        }
        stream.write_all(answer).unwrap();
    });
    let mut channel = channel;
    channel.server = at(port, "events?token=s3cret");
    let error = WebSocketTap::new(&channel).unwrap().open().unwrap_err();
    server.join().unwrap();
    assert!(error.message.contains(&format!("websocket at 127.0.0.1:{port}: ")), "{error:?}");
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    error
}

#[test]
fn what_goes_wrong_is_told_with_what_to_do() {
    let plain = WebSocketChannel::default;
    let error = refused(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", plain());
    assert!(error.message.ends_with("/events answers 401"), "{error:?}");
    assert!(error.hint.unwrap().contains("`headers`"));
    let answer = b"HTTP/1.1 302 Found\r\nLocation: wss://else.example/e?k=s3cret\r\n\r\n";
    assert!(refused(answer, plain()).hint.unwrap().ends_with("wss://else.example/e"));
    let error = refused(b"HTTP/1.1 404 Not Found\r\n\r\n", plain());
    assert!(error.hint.unwrap().contains("path"));
    // A server of HTTP that has no WebSocket there.
    let error = refused(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", plain());
    assert!(error.message.ends_with("/events answers 200"), "{error:?}");
    assert!(error.hint.unwrap().contains("is the URL that of the stream"));
    assert!(refused(b"hello\r\n\r\n", plain()).message.contains("no WebSocket"));
    assert!(refused(b"", plain()).message.contains("no WebSocket"));
    let without = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
        Connection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n";
    assert!(refused(without, plain()).message.contains("no WebSocket"));
    let port = closed_port().unwrap();
    let channel = WebSocketChannel { server: at(port, ""), ..plain() };
    let error = WebSocketTap::new(&channel).unwrap().open().unwrap_err();
    assert!(error.message.ends_with("cannot connect: connection refused"), "{error:?}");
    for (name, value) in [("a b", "x"), ("x", "a\r\nb"), ("", ""), ("Upgrade", "h2c")] {
        let headers = vec![(name.to_owned(), Secret::new(value))];
        assert!(WebSocketTap::new(&WebSocketChannel { headers, ..plain() }).is_err(), "{name}");
    }
}

#[test]
fn a_tap_opens_once() {
    let peer = Peer::new();
    let unopened = WebSocketTap::new(&peer.channel());
    assert!(unopened.unwrap().poll(TICK, &mut Keep::default()).is_err());
    let (mut tap, _server) = peer.opened();
    assert!(tap.open().is_err());
}
