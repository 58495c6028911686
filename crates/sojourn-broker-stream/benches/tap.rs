//! Messages per second and processor time per message of the taps with a router behind them, and of
//! a bare client that only reads the bytes.
//!
//! `cargo bench -p sojourn-broker-stream --all-features` prints `name value unit` lines. The
//! processor time is that of the reading thread, without the server's.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its input is its own")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use sojourn_broker::{RawMessage, Router, Sink, Tap};
use sojourn_broker_stream::{SseTap, WebSocketTap};
use sojourn_clock::{now_ns, thread_cpu};
use sojourn_plan::{Plan, Server, SseChannel, WebSocketChannel};

const MESSAGES: u64 = 300_000;
const PAYLOAD: &str = r#"{"type":"PaymentSettled","amount":12,"currency":"GBP",
"aggregateId":"pay:00000000-0000-4000-8000-000000000001",
"occurredAt":"2026-01-01T00:00:00.000Z"}"#;

struct Routed {
    router: Router,
    count: u64,
}

impl Sink for Routed {
    fn message(&mut self, message: &RawMessage<'_>) {
        std::hint::black_box(self.router.observe(message));
        self.count += 1;
    }
}

fn main() {
    let at = |port| {
        let host = "127.0.0.1".to_owned();
        Server { host, port, ..Server::default() }
    };
    let port = serve(websocket);
    bare(
        "websocket",
        port,
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    let port = serve(websocket);
    let channel = WebSocketChannel { server: at(port), ..WebSocketChannel::default() };
    tap("websocket", WebSocketTap::new(&channel).unwrap());
    let port = serve(events);
    bare("sse", port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let port = serve(events);
    let channel = SseChannel { server: at(port), ..SseChannel::default() };
    tap("sse", SseTap::new(&channel).unwrap());
}

/// Serves one client on a thread of its own.
fn serve(how: fn(TcpStream)) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || how(listener.accept().unwrap().0));
    port
}

fn websocket(stream: TcpStream) {
    let mut socket = tungstenite::accept(stream).unwrap();
    for _ in 0..MESSAGES {
        // The bare client goes a little before the end, when it has as many bytes as payloads have.
        drop(socket.write(tungstenite::Message::text(PAYLOAD)));
    }
    drop(socket.flush());
    drop(socket.read());
}

fn events(mut stream: TcpStream) {
    let mut head = vec![0; 4_096];
    drop(stream.read(&mut head));
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n").unwrap();
    let part = format!("data: {}\n\n", PAYLOAD.replace('\n', "")).repeat(500);
    for _ in 0..MESSAGES / 500 {
        drop(stream.write_all(part.as_bytes()));
    }
    drop(stream.read(&mut head));
}

/// Reads bytes until all must have come, nothing else.
fn bare(name: &str, port: u16, request: &[u8]) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(request).unwrap();
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    measure(&format!("{name}_bare"), || {
        while bytes < MESSAGES * (PAYLOAD.len() as u64 - 2) {
            bytes += stream.read(&mut buffer).unwrap() as u64;
        }
    });
}

fn tap(name: &str, mut tap: impl Tap) {
    tap.open().unwrap();
    let mut routed = Routed { router: Router::new(&Plan::default(), 0, "run"), count: 0 };
    measure(&format!("{name}_tap"), || {
        while routed.count < MESSAGES {
            tap.poll(Duration::from_millis(100), &mut routed).unwrap();
        }
    });
}

fn measure(name: &str, work: impl FnOnce()) {
    let (began_ns, before) = (now_ns(), thread_cpu());
    work();
    let cpu_ns = thread_cpu().since(&before).cpu_ns as f64 / MESSAGES as f64;
    let seconds = (now_ns() - began_ns) as f64 / 1e9;
    println!("{name}_rate {:.0} messages/s", MESSAGES as f64 / seconds);
    println!("{name}_cpu {cpu_ns:.0} ns/message");
    println!("{name}_capacity {:.0} messages/s/core", 1e9 / cpu_ns);
}
