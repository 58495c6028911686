//! What HTTP/2 sends: within the windows of the server, no more than it takes.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, ClientConfig, Exchange, FailureKind, write_request};

use crate::frames::{
    ACK, DATA, END_STREAM, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE, config, load, serving,
};
use crate::peers::{KEEP, Load};

const CANCEL: u32 = 8;

const PATIENCE_NS: u64 = 20_000 * MILLISECOND_NS;

const INITIAL_WINDOW_SIZE: u16 = 4;

#[test]
fn uploads_keep_to_small_windows() {
    check_uploads(&[(INITIAL_WINDOW_SIZE, 1_000)]);
}

#[test]
fn uploads_wait_for_windows_of_zero() {
    check_uploads(&[(INITIAL_WINDOW_SIZE, 0)]);
}

fn check_uploads(settings: &'static [(u16, u32)]) {
    let server = serving(settings, |_, frames| {
        // The connection's window is 65,535; each stream's what the settings say, once read.
        let (mut received, mut ended) = (BTreeMap::new(), 0);
        let mut window = 65_535_i64;
        while let Some(frame) = frames.read() {
            match frame.kind {
                SETTINGS if frame.flags == 0 => {
                    frames.write(SETTINGS, ACK, 0, b"");
                }
                HEADERS => {
                    frames.write(WINDOW_UPDATE, 0, frame.stream, &1_u32.to_be_bytes());
                }
                DATA => {
                    window -= frame.payload.len() as i64;
                    assert!(window >= 0, "beyond the connection's window");
                    // What came is free again, and a little more: the windows stay small.
                    let more = (frame.payload.len() as u32).max(777);
                    let body: &mut Vec<u8> = received.entry(frame.stream).or_default();
                    body.extend(frame.payload);
                    if frame.flags & END_STREAM != 0 {
                        ended += 1;
                        let sum: u64 = body.iter().map(|byte| u64::from(*byte)).sum();
                        frames.answer(frame.stream, format!("{} {sum}", body.len()).as_bytes());
                        continue;
                    }
                    if window < 40_000 {
                        frames.write(WINDOW_UPDATE, 0, 0, &60_000_u32.to_be_bytes());
                        window += 60_000;
                    }
                    frames.write(WINDOW_UPDATE, 0, frame.stream, &more.to_be_bytes());
                }
                _ => {}
            }
        }
        assert_eq!(ended, 5);
    });
    let mut load = load(&server);
    let bodies: Vec<Vec<u8>> = (0..5_usize)
        .map(|number| (0..100_000 + number).map(|place| (place % 251) as u8).collect())
        .collect();
    for (token, body) in bodies.iter().enumerate() {
        load.send(token as u64, "POST", body);
    }
    for completion in load.take(5) {
        let body = &bodies[completion.token as usize];
        let sum: u64 = body.iter().map(|byte| u64::from(*byte)).sum();
        let response = completion.outcome.as_ref().expect("an answer");
        assert_eq!(response.body, format!("{} {sum}", body.len()).as_bytes());
        assert!(completion.bytes_out > body.len() as u64);
    }
}

#[test]
fn an_answer_before_the_whole_upload_counts() {
    let server = serving(&[], |_, frames| {
        let frame = frames.read_until(HEADERS).expect("a request");
        frames.answer(frame.stream, b"no");
        // The client gives the rest up, so the stream ends.
        let reset = frames.read_until(RST_STREAM).expect("it stops");
        assert_eq!((reset.stream, reset.payload), (frame.stream, CANCEL.to_be_bytes().to_vec()));
        frames.answer_all();
    });
    let mut load = load(&server);
    load.send(1, "POST", &vec![0; 1 << 20]);
    assert_eq!(load.take(1).remove(0).outcome.expect("an answer").body, b"no");
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_server_that_reads_nothing_gets_a_bounded_backlog() {
    let (end, ends) = sync_channel::<()>(0);
    let ends = Mutex::new(ends);
    let server = serving(&[], move |_, _| {
        // Until the test is over.
        ends.lock().expect("no panic").recv().ok();
    });
    let config = ClientConfig { connections_max: 1, http2_streams_max: 1_000, ..config() };
    let mut load = Load::with(server.address, config);
    // 30 MB in all: the kernel takes some, the client keeps little of its own for sending.
    let long = "v".repeat(50_000);
    let mut bytes = Vec::new();
    write_request("GET", "/", "test", &[("x-long", &long)], b"", &mut bytes).expect("valid");
    for token in 0..600 {
        let exchange = Exchange {
            token,
            origin: load.origin,
            bytes: &bytes,
            head_only: false,
            timeout_ns: 600 * MILLISECOND_NS,
            body: BodyPolicy::Discard,
        };
        load.client.send(now_ns(), exchange);
    }
    let mut waited = 0;
    for completion in load.take(600) {
        let failure = completion.outcome.expect_err("no answer");
        assert_eq!(failure.kind, FailureKind::Timeout, "{failure}");
        waited += usize::from(failure.detail.contains("waiting for a connection"));
    }
    assert!(waited > 200, "{waited} requests were held back");
    drop(end);
}

/// HTTP/2 knows no chunks: a chunked message's body goes out as it is, without a length.
#[test]
fn chunked_messages_become_data_without_a_length() {
    let server = serving(&[], |_, frames| {
        let (mut heads, mut bodies) = (BTreeMap::new(), BTreeMap::<u32, Vec<u8>>::new());
        while let Some(frame) = frames.read() {
            match frame.kind {
                HEADERS => drop(heads.insert(frame.stream, frame.payload)),
                DATA => bodies.entry(frame.stream).or_default().extend(&frame.payload),
                _ => continue,
            }
            if frame.flags & END_STREAM != 0 {
                let head = &heads[&frame.stream];
                let has = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
                // Plain or by Huffman's code, a name of the static table is its index: 28.
                assert!(!has(b"chunked") && !has(b"transfer"), "{head:?}");
                let body = bodies.remove(&frame.stream).unwrap_or_default();
                frames.answer(frame.stream, &body);
            }
        }
    });
    let mut load = load(&server);
    let headers = [("Transfer-Encoding", "chunked"), ("X-A", "b")];
    let bodies: [(&[u8], &[u8]); 4] = [
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"1\r\na\r\n2;x=y\r\nbc\r\n0\r\nT: u\r\n\r\n", b"abc"),
        (b"0\r\n\r\n", b""),
        // The head is remembered by now.
        (b"3\r\nxyz\r\n0\r\n\r\n", b"xyz"),
    ];
    for (framed, plain) in bodies {
        let completion = send_message(&mut load, &headers, framed);
        assert_eq!(completion.expect("an answer").body, plain);
    }
    for broken in [b"5\r\nhel".as_slice(), b"5\r\nhello\r\n0\r\n\r\nmore", b"hello"] {
        let failure = send_message(&mut load, &headers, broken).expect_err("no chunks");
        assert!(failure.detail.contains("Transfer-Encoding"), "{failure}");
    }
    let other = [("Transfer-Encoding", "gzip")];
    assert!(send_message(&mut load, &other, b"x").is_err());
    assert_eq!(server.accepted(), 1);
}

fn send_message(
    load: &mut Load,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<sojourn_http::Response, sojourn_http::Failure> {
    let mut bytes = Vec::new();
    write_request("POST", "/", "h", headers, body, &mut bytes).expect("valid");
    let exchange = Exchange {
        token: 9,
        origin: load.origin,
        bytes: &bytes,
        head_only: false,
        timeout_ns: PATIENCE_NS,
        body: KEEP,
    };
    load.client.send(now_ns(), exchange);
    load.take(1).remove(0).outcome
}
