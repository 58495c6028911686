//! What a tap sees of a server that sends events.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use sojourn_broker::{Recovery, Tap};
use sojourn_broker_stream::SseTap;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{Secret, SseChannel};

use crate::support::{Keep, TICK, at, next_gap, poll_until};

const PLAIN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream; charset=utf-8\r\n\
    Transfer-Encoding: chunked\r\n\r\n";

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

    /// Answers the next request; returns the connection and the request's head.
    fn answer(&self, answer: &'static [u8]) -> JoinHandle<(TcpStream, String)> {
        let listener = self.listener.try_clone().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            stream.write_all(answer).unwrap();
            (stream, String::from_utf8(head).unwrap())
        })
    }

    fn channel(&self) -> SseChannel {
        SseChannel { server: at(self.port, "events?since=s3cret"), ..SseChannel::default() }
    }

    fn opened(&self, answer: &'static [u8], channel: &SseChannel) -> (SseTap, TcpStream, String) {
        let answered = self.answer(answer);
        let mut tap = SseTap::new(channel).unwrap();
        let info = tap.open().unwrap();
        let shown = format!("sse http://127.0.0.1:{}/events", self.port);
        assert!(info.listens_to.starts_with(&shown), "{info:?}");
        let (stream, head) = answered.join().unwrap();
        (tap, stream, head)
    }
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

#[test]
fn events_come_by_name_with_their_ids_plain_and_chunked() {
    for answer in [PLAIN, CHUNKED] {
        let peer = Peer::new();
        let (mut tap, mut stream, head) = peer.opened(answer, &peer.channel());
        assert!(head.starts_with("GET /events?since=s3cret HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\nAccept: text/event-stream\r\n"), "{head}");
        assert!(head.contains(&format!("\r\nHost: 127.0.0.1:{}\r\n", peer.port)), "{head}");
        assert!(!head.contains("Last-Event-ID"));
        let framed = |text: &str| if answer == PLAIN { text.into() } else { chunk(text) };
        for text in [": hello\n\nevent: paid\nid: 1\nda", "ta: {\"a\":1}\n\ndata: x\r\n", "\r\n"] {
            stream.write_all(&framed(text)).unwrap();
        }
        let large = "0123456789".repeat(300_000);
        stream.write_all(&framed(&format!("data: {large}\n\n"))).unwrap();
        let many: String = (0..20_000).map(|number| format!("data: {number}\n\n")).collect();
        stream.write_all(&framed(&many)).unwrap();
        let mut keep = Keep::default();
        poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() >= 20_003);
        let id = || vec![("id".to_owned(), "1".to_owned())];
        assert_eq!(keep.0[0].topic, "paid");
        assert_eq!((keep.0[0].payload.as_slice(), &keep.0[0].headers), (&b"{\"a\":1}"[..], &id()));
        assert_eq!((keep.0[1].topic.as_str(), &keep.0[1].headers), ("message", &id()));
        assert!(keep.0[2].payload == large.as_bytes());
        let rest: Vec<_> = (0..20_000).map(|number| number.to_string()).collect();
        assert!(keep.texts()[3..] == rest);
        assert!(keep.0.is_sorted_by_key(|kept| kept.stamp_ns));
        let after_ns = now_ns();
        poll_until(&mut tap, &mut keep, |tap, _| tap.watermark_ns() >= after_ns);
    }
}

#[test]
fn events_sent_along_with_the_head_are_not_lost() {
    let peer = Peer::new();
    let answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: at once\n\n";
    let (mut tap, _stream, _) = peer.opened(answer, &peer.channel());
    let mut keep = Keep::default();
    poll_until(&mut tap, &mut keep, |_, keep| !keep.0.is_empty());
    assert_eq!(keep.texts(), ["at once"]);
}

#[test]
fn only_the_events_named_are_taken_and_headers_are_the_plans() {
    let peer = Peer::new();
    let channel = SseChannel {
        events: vec!["paid".to_owned(), "message".to_owned()],
        headers: vec![
            ("X-Tenant".to_owned(), Secret::new("t-1")),
            ("accept".to_owned(), Secret::new("text/event-stream;v=2")),
        ],
        ..peer.channel()
    };
    let (mut tap, mut stream, head) = peer.opened(PLAIN, &channel);
    assert!(head.contains("\r\nX-Tenant: t-1\r\n") && !head.contains("Accept: "), "{head}");
    assert!(head.contains("\r\naccept: text/event-stream;v=2\r\n"), "{head}");
    stream.write_all(b"event: other\ndata: 1\n\nevent: paid\ndata: 2\n\ndata: 3\n\n").unwrap();
    let mut keep = Keep::default();
    poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() == 2);
    assert_eq!(keep.texts(), ["2", "3"]);
    assert!(!format!("{tap:?}").contains("t-1"));
}

#[test]
fn a_stream_that_ends_is_asked_for_again_by_the_last_id_and_the_stretch_is_missed() {
    let peer = Peer::new();
    let (mut tap, mut stream, _) = peer.opened(CHUNKED, &peer.channel());
    let mut keep = Keep::default();
    // Ends by its framing, by the connection's end, and in the middle of an event.
    for (round, end) in ["0\r\n\r\n", "", "b\r\ndata: lost\n\r\n"].into_iter().enumerate() {
        let text = format!("retry: 20\nid: e{round}\ndata: {round}\n\n");
        stream.write_all(&chunk(&text)).unwrap();
        poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() > round);
        stream.write_all(end.as_bytes()).unwrap();
        drop(stream);
        let answered = peer.answer(CHUNKED);
        let gap = next_gap(&mut tap, &mut keep);
        assert_eq!(gap.recovery, Recovery::Missed);
        let (again, head) = answered.join().unwrap();
        assert!(head.contains(&format!("\r\nLast-Event-ID: e{round}\r\n")), "{head}");
        assert!(gap.to_ns - gap.from_ns >= 20_000_000, "`retry` is waited for");
        stream = again;
    }
    assert_eq!(keep.texts(), ["0", "1", "2"]);
}

#[test]
fn silence_longer_than_allowed_is_a_lost_connection() {
    let peer = Peer::new();
    let channel = SseChannel { silence_ns: Some(SECOND_NS), ..peer.channel() };
    let (mut tap, mut stream, _) = peer.opened(PLAIN, &channel);
    let mut keep = Keep::default();
    // Comments keep it alive.
    let until_ns = now_ns() + 2 * SECOND_NS;
    while now_ns() < until_ns {
        stream.write_all(b":\n").unwrap();
        tap.poll(TICK, &mut keep).unwrap();
    }
    assert!(tap.take_gaps().is_empty());
    let answered = peer.answer(PLAIN);
    assert_eq!(next_gap(&mut tap, &mut keep).recovery, Recovery::Missed);
    drop(answered.join().unwrap());
}

#[test]
fn answers_that_are_no_events_are_told_with_what_to_do() {
    for (answer, problem, hint) in [
        (
            &b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"[..],
            "is text/html",
            "event-stream",
        ),
        (b"HTTP/1.1 200 OK\r\n\r\n", "is none", "event-stream"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "/events answers 204", "is the URL"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "/events answers 502", "log"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "answers 403", "`headers`"),
        (b"HTTP/1.1 307 X\r\nLocation: http://b.example/e?k=s3cret\r\n\r\n", "307", "b.example/e"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", "not asked for: gzip", "`http://`"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "no HTTP", "`http://`"),
        (b"", "the connection was closed", "`http://`"),
    ] {
        let peer = Peer::new();
        let answered = peer.answer(answer);
        let mut tap = SseTap::new(&peer.channel()).unwrap();
        // Dropped with the connection at once where the answer is not whole.
        let closing = std::thread::spawn(move || drop(answered.join()));
        let error = tap.open().unwrap_err();
        closing.join().unwrap();
        assert!(error.message.starts_with(&format!("sse at 127.0.0.1:{}: ", peer.port)));
        assert!(error.message.contains(problem), "{error:?}");
        assert!(error.hint.clone().unwrap_or_default().contains(hint), "{error:?}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}
