//! Servers that break the rules of HTTP/2: what the request says, what the server is told.

use sojourn_http::FailureKind;

use crate::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, Frames, HEADERS, OK, PUSH_PROMISE, RST_STREAM,
    load, serving,
};
use crate::peers::Server;

const CALM: u32 = 11;

/// One connection, one request, these frames: a failure of this kind, in these words, and the
/// server is told with this code.
fn check_violation(
    code: u32,
    words: &str,
    violate: impl Fn(&mut Frames<std::net::TcpStream>, u32) + Send + Sync + 'static,
) {
    let (told, hears) = std::sync::mpsc::sync_channel(1);
    let server = serving(&[], move |_, frames| {
        let Some(stream) = frames.request() else { return };
        violate(frames, stream);
        while let Some(frame) = frames.read() {
            if matches!(frame.kind, crate::frames::GOAWAY | RST_STREAM) {
                let code = frame.payload.last_chunk().copied().map(u32::from_be_bytes);
                told.send(code).expect("somebody listens");
                return;
            }
        }
    });
    let mut load = load(&server);
    let failure = load.failure();
    assert_eq!(failure.kind, FailureKind::Protocol, "{failure}");
    assert!(failure.detail.contains(words), "{failure} lacks {words:?}");
    // What it had to say goes out at its next wait, at the latest with its end.
    drop(load);
    let heard = hears.recv_timeout(std::time::Duration::from_secs(20));
    assert_eq!(heard, Ok(Some(code)), "{words}");
}

#[test]
fn violations_are_told_to_both_sides() {
    const PROTOCOL: u32 = 1;
    const SIZE: u32 = 6;
    const COMPRESSION: u32 = 9;
    check_violation(PROTOCOL, "a push", |frames, stream| {
        frames.write(PUSH_PROMISE, END_HEADERS, stream, b"\0\0\0\x02\x82");
    });
    check_violation(SIZE, "longer than the 16384 bytes", |frames, stream| {
        frames.write(DATA, 0, stream, &[0; 16_385]);
    });
    check_violation(COMPRESSION, "no table has", |frames, stream| {
        frames.write(HEADERS, END_HEADERS, stream, b"\x88\xff\x10");
    });
    check_violation(CALM, "more frames than are read", |frames, stream| {
        frames.write(HEADERS, 0, stream, OK);
        for _ in 0..1_000 {
            if frames.write(CONTINUATION, 0, stream, b"").is_none() {
                return;
            }
        }
    });
}

#[test]
fn malformed_heads_fail_their_request_only() {
    // A bomb of 60 KB for 240 MB, an upper-case name, a forbidden header, no status.
    let mut bomb = b"\x40\x01b\x7f\xa1\x1e".to_vec();
    bomb.extend([b'v'; 4_000]);
    bomb.extend([0xbe; 12_000]);
    let blocks = [
        [OK, &bomb].concat(),
        b"\x88\x00\x01A\x01b".to_vec(),
        b"\x88\x00\x0aconnection\x05close".to_vec(),
        b"\x00\x01a\x01b".to_vec(),
    ];
    let count = blocks.len();
    let server = serving(&[], move |_, frames| {
        for block in &blocks {
            let Some(stream) = frames.request() else { return };
            frames.write(HEADERS, END_HEADERS | END_STREAM, stream, block);
        }
        frames.answer_all();
    });
    let mut load = load(&server);
    for _ in 0..count {
        let failure = load.failure();
        assert_eq!(failure.kind, FailureKind::Protocol, "{failure}");
    }
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_server_of_http1_is_told_apart() {
    let server = Server::start(|_, mut stream| {
        std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").ok();
        crate::peers::wait_for_close(&mut stream);
    });
    let failure = load(&server).failure();
    assert_eq!(failure.kind, FailureKind::Protocol);
    assert!(failure.detail.contains("HTTP/1 where HTTP/2 was expected"), "{failure}");
}
