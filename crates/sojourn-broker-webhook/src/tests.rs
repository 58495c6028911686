//! Tests with real HTTP requests over 127.0.0.1.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use sojourn_broker::{RawMessage, Sink, Tap, decode};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{Decoder, WebhookAnswer, WebhookChannel};

use crate::WebhookTap;
use crate::config::{Limits, PathPattern};

/// Nothing here takes this long unless it is broken.
const PATIENCE_NS: u64 = 10 * SECOND_NS;

#[derive(Debug)]
struct Seen {
    stamp_ns: u64,
    topic: String,
    headers: Vec<(String, String)>,
    payload: Vec<u8>,
    event_type: Option<String>,
}

#[derive(Default)]
struct Collect(Vec<Seen>);

impl Sink for Collect {
    fn message(&mut self, message: &RawMessage<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = message.headers.iter();
        self.0.push(Seen {
            stamp_ns: message.stamp_ns,
            topic: message.topic.to_owned(),
            headers: headers.map(|(name, value)| ((*name).to_owned(), text(value))).collect(),
            payload: message.payload.to_vec(),
            event_type: decode(&Decoder::Auto, message).unwrap().event_type,
        });
    }
}

fn respond(status: u16) -> WebhookAnswer {
    WebhookAnswer { status, ..WebhookAnswer::default() }
}

pub(crate) fn settings(path: &str) -> WebhookChannel {
    WebhookChannel {
        listen: "127.0.0.1:0".to_owned(),
        path: path.to_owned(),
        respond: respond(204),
        signature: None,
    }
}

fn open(path: &str, limits: Limits) -> (WebhookTap, SocketAddr) {
    let mut tap = WebhookTap::with_limits(settings(path), limits);
    let info = tap.open().unwrap();
    let address = info.address.unwrap();
    assert_eq!(info.listens_to, format!("webhook http://{address}{}", PathPattern::new(path)));
    (tap, address)
}

/// Sends a request as it is, and returns the status of the answer.
fn request(address: SocketAddr, text: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    // A refusal may come, and the connection go, before all is sent.
    let _refused_early = stream.write_all(text.as_bytes());
    status(&mut stream)
}

fn status(stream: &mut TcpStream) -> u16 {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

pub(crate) fn post(address: SocketAddr, path: &str, headers: &str, body: &str) -> u16 {
    let length = body.len();
    request(
        address,
        &format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ),
    )
}

/// Polls until so many messages have come.
fn read(tap: &mut WebhookTap, count: usize) -> Vec<Seen> {
    let mut seen = Collect::default();
    let deadline_ns = now_ns() + PATIENCE_NS;
    while seen.0.len() < count && now_ns() < deadline_ns {
        tap.poll(Duration::from_millis(50), &mut seen).unwrap();
    }
    assert_eq!(seen.0.len(), count, "messages in time");
    seen.0
}

#[test]
fn an_answer_may_have_a_body() {
    let json = Some(serde_json::json!({ "next": ["a"] }));
    let headers = vec![("X-Sdk".to_owned(), "v1".to_owned())];
    let respond = WebhookAnswer { status: 206, headers, json, ..WebhookAnswer::default() };
    let mut tap = WebhookTap::new(WebhookChannel { respond, ..settings("/*") });
    let mut stream = TcpStream::connect(tap.open().unwrap().address.unwrap()).unwrap();
    let request = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 206 "), "{answer}");
    assert!(answer.to_lowercase().contains("\r\ncontent-type: application/json\r\n"), "{answer}");
    assert!(answer.contains("\r\nx-sdk: v1\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n{\"next\":[\"a\"]}"), "{answer}");
    assert_eq!(read(&mut tap, 1).len(), 1);
}

#[test]
fn a_request_becomes_a_message() {
    let (mut tap, address) = open("/hooks/*", Limits::default());
    let sent_ns = now_ns();
    let status = post(
        address,
        "/hooks/paid?x=1",
        "Content-Type: application/json\r\nSojourn-Run: r1\r\n",
        r#"{"type":"Paid"}"#,
    );
    let answered_ns = now_ns();
    assert_eq!(status, 204);
    let seen = read(&mut tap, 1).remove(0);
    assert_eq!(seen.topic, "/hooks/paid");
    assert_eq!(seen.payload, br#"{"type":"Paid"}"#);
    assert_eq!(seen.event_type.as_deref(), Some("Paid"));
    assert!(seen.headers.contains(&("sojourn-run".to_owned(), "r1".to_owned())));
    assert!(sent_ns < seen.stamp_ns && seen.stamp_ns < answered_ns);
    assert_eq!(tap.refused(), 0);
}

#[test]
fn cloud_events_in_both_modes() {
    let (mut tap, address) = open("/", Limits::default());
    let binary = "Ce-Specversion: 1.0\r\nCe-Type: Paid\r\nCe-Id: 1\r\nCe-Source: /s\r\n";
    assert_eq!(post(address, "/", binary, r#"{"a":1}"#), 204);
    let structured = "Content-Type: application/cloudevents+json\r\n";
    let body = r#"{"specversion":"1.0","type":"Sent","id":"2","source":"/s","data":{}}"#;
    assert_eq!(post(address, "/", structured, body), 204);
    let seen = read(&mut tap, 2);
    assert_eq!(seen[0].event_type.as_deref(), Some("Paid"));
    assert_eq!(seen[1].event_type.as_deref(), Some("Sent"));
}

#[test]
fn a_chunked_body_is_read_whole_and_stamped_at_its_end() {
    let (mut tap, address) = open("/hook", Limits::default());
    let mut stream = TcpStream::connect(address).unwrap();
    let head = "POST /hook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    write!(stream, "{head}3\r\nabc\r\n").unwrap();
    // Nothing is handed over before the end.
    let mut seen = Collect::default();
    tap.poll(Duration::from_millis(50), &mut seen).unwrap();
    assert!(seen.0.is_empty());
    let before_end_ns = now_ns();
    write!(stream, "2\r\nde\r\n0\r\n\r\n").unwrap();
    assert_eq!(status(&mut stream), 204);
    let seen = read(&mut tap, 1).remove(0);
    assert_eq!(seen.payload, b"abcde");
    assert!(seen.stamp_ns > before_end_ns);
}

#[test]
fn only_its_path_and_methods_are_events() {
    let (mut tap, address) = open("/hooks", Limits::default());
    assert_eq!(post(address, "/hooks/x", "", "a"), 404);
    assert_eq!(post(address, "/", "", "b"), 404);
    assert_eq!(request(address, "GET /hooks HTTP/1.1\r\nHost: x\r\n\r\n"), 405);
    assert_eq!(post(address, "/hooks", "", "c"), 204);
    assert_eq!(read(&mut tap, 1)[0].payload, b"c");
    assert_eq!(tap.refused(), 0);
}

#[test]
fn path_patterns() {
    for (pattern, path, fits) in [
        ("/a", "/a", true),
        ("a", "/a", true),
        ("/a", "/a/", false),
        ("/a/*", "/a/b/c", true),
        ("/a/*", "/a", false),
        ("/a*", "/ab", true),
        ("*", "/anything", true),
        ("", "/anything", true),
        ("/", "/anything", false),
    ] {
        assert_eq!(PathPattern::new(pattern).fits(path), fits, "{pattern} {path}");
    }
}

#[test]
fn a_full_queue_refuses_and_counts() {
    let limits = Limits { messages_max: 2, ..Limits::default() };
    let (mut tap, address) = open("/*", limits);
    let statuses = [0; 4].map(|_| post(address, "/", "", "x"));
    assert_eq!(statuses, [204, 204, 503, 503]);
    assert_eq!(tap.refused(), 2);
    read(&mut tap, 2);
    assert_eq!(post(address, "/", "", "x"), 204);
    read(&mut tap, 1);
    assert_eq!(tap.refused(), 2);
}

#[test]
fn bytes_held_are_bounded_and_given_back() {
    let limits = Limits { bytes_max: 250, ..Limits::default() };
    let (mut tap, address) = open("/*", limits);
    let hundred = "x".repeat(100);
    for _ in 0..3 {
        let statuses = [0; 3].map(|_| post(address, "/", "", &hundred));
        assert_eq!(statuses, [204, 204, 503]);
        read(&mut tap, 2);
    }
    assert_eq!(tap.refused(), 3);
}

#[test]
fn a_body_too_large_is_refused_however_it_is_sent() {
    let limits = Limits { body_bytes_max: 10, ..Limits::default() };
    let (mut tap, address) = open("/*", limits);
    assert_eq!(post(address, "/", "", "12345678901"), 413);
    let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks = "6\r\n123456\r\n6\r\n123456\r\n0\r\n\r\n";
    assert_eq!(request(address, &format!("{head}{chunks}")), 413);
    assert_eq!(post(address, "/", "", "1234567890"), 204);
    read(&mut tap, 1);
    assert_eq!(tap.refused(), 2);
}

#[test]
fn a_request_broken_off_is_no_event_and_holds_no_bytes() {
    let limits = Limits { bytes_max: 100, ..Limits::default() };
    let (mut tap, address) = open("/*", limits);
    for _ in 0..5 {
        let mut stream = TcpStream::connect(address).unwrap();
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n";
        write!(stream, "{head}{}", "x".repeat(80)).unwrap();
    }
    // Its bytes come free once the receiver has noticed.
    let deadline_ns = now_ns() + PATIENCE_NS;
    while post(address, "/", "", &"y".repeat(90)) != 204 {
        assert!(now_ns() < deadline_ns, "bytes given back in time");
    }
    assert_eq!(read(&mut tap, 1)[0].payload[0], b'y');
}

#[test]
fn a_port_in_use_is_an_error_with_its_address() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let mut tap = WebhookTap::new(WebhookChannel { listen: listen.clone(), ..settings("/") });
    let error = tap.open().unwrap_err();
    let expected = format!("webhook cannot listen on {listen}: the address is in use");
    assert_eq!(error.message, expected);
    assert!(error.hint.is_some());
    // Nor does nonsense panic.
    for (listen, status) in [("nonsense", 204), ("127.0.0.1:99999", 204), ("127.0.0.1:0", 99)] {
        let mut tap = WebhookTap::new(WebhookChannel {
            listen: listen.to_owned(),
            respond: respond(status),
            ..settings("/")
        });
        assert!(tap.open().is_err(), "{listen} {status}");
        assert!(tap.poll(Duration::ZERO, &mut Collect::default()).is_err());
    }
}

#[test]
fn a_dropped_tap_frees_its_port_with_connections_open() {
    let (tap, address) = open("/", Limits::default());
    let mut idle = TcpStream::connect(address).unwrap();
    let request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx";
    idle.write_all(request.as_bytes()).unwrap();
    assert_eq!(status(&mut idle), 204);
    drop(tap);
    let mut again =
        WebhookTap::new(WebhookChannel { listen: address.to_string(), ..settings("/") });
    again.open().unwrap();
}

#[test]
fn the_watermark_is_behind_every_message_to_come() {
    const SENDERS: usize = 4;
    const EACH: usize = 500;
    let (mut tap, address) = open("/*", Limits::default());
    let senders: Vec<_> = (0..SENDERS)
        .map(|_| {
            std::thread::spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                for _ in 0..EACH {
                    let request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx";
                    stream.write_all(request.as_bytes()).unwrap();
                    assert_eq!(status(&mut stream), 204);
                }
            })
        })
        .collect();
    let mut seen = Collect::default();
    let deadline_ns = now_ns() + PATIENCE_NS;
    while seen.0.len() < SENDERS * EACH && now_ns() < deadline_ns {
        let known = seen.0.len();
        let watermark_ns = tap.watermark_ns();
        tap.poll(Duration::from_micros(100), &mut seen).unwrap();
        assert!(tap.watermark_ns() > watermark_ns);
        assert!(seen.0[known..].iter().all(|seen| seen.stamp_ns >= watermark_ns));
    }
    assert_eq!(seen.0.len(), SENDERS * EACH);
    assert!(seen.0.is_sorted_by_key(|seen| seen.stamp_ns));
    for sender in senders {
        sender.join().unwrap();
    }
}

#[test]
fn connections_beyond_the_bound_are_refused_and_counted() {
    let (mut tap, address) = open("/", Limits { connections_max: 2, ..Limits::default() });
    let text = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1";
    // Each has been taken up before the next one comes: it has had an answer.
    let mut kept: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            assert_eq!(status(&mut stream), 204);
            stream
        })
        .collect();
    for refused in 1..=3 {
        let mut stream = TcpStream::connect(address).unwrap();
        assert_eq!(status(&mut stream), 503);
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed");
        assert_eq!(tap.refused(), refused);
    }
    // Those that were there go on, and a place that is given back is taken again.
    kept[0].write_all(text.as_bytes()).unwrap();
    assert_eq!(status(&mut kept[0]), 204);
    drop(kept.pop());
    let deadline_ns = now_ns() + PATIENCE_NS;
    let is_taken = || {
        let mut stream = TcpStream::connect(address).unwrap();
        let mut answer = Vec::new();
        // A refusal may come, and the connection go, before all is sent.
        let sent = stream.write_all(text.replace("Host", "Connection: close\r\nHost").as_bytes());
        sent.and_then(|()| stream.read_to_end(&mut answer)).is_ok()
            && answer.starts_with(b"HTTP/1.1 204")
    };
    while !is_taken() {
        assert!(now_ns() < deadline_ns, "a place becomes free");
    }
    read(&mut tap, 4);
}
