//! How answers are framed, split, cut off and coded.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::mpsc::sync_channel;

use flate2::Compression;
use flate2::write::GzEncoder;
use sojourn_clock::SECOND_NS;
use sojourn_http::{BodyPolicy, FailureKind};

use crate::peers::{Load, Server, expect_failure, read_request, reset, wait_for_close};

#[test]
fn an_answer_split_at_every_byte() {
    let server = Server::start(|_, mut stream| {
        let whole = b"HTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n\
                      5\r\nhello\r\n1\r\n!\r\n0\r\nX-T: 1\r\n\r\n";
        let mut split = 0;
        while read_request(&mut stream).is_some() {
            split += 1;
            stream.write_all(&whole[..split]).expect("open");
            // Lets the first part be seen alone, most of the time; either way must work.
            std::thread::yield_now();
            stream.write_all(&whole[split..]).expect("open");
        }
    });
    let mut load = Load::new(&server);
    for _ in 0..80 {
        let response = load.answer();
        assert_eq!(response.status, 200);
        assert_eq!(response.body, b"hello!");
        assert_eq!(response.header("x-a"), Some(b"b".as_slice()));
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn answers_byte_by_byte() {
    let server = Server::start(|_, mut stream| {
        read_request(&mut stream);
        for byte in b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 201 C\r\nContent-Length: 2\r\n\r\nok" {
            stream.write_all(&[*byte]).expect("open");
        }
        wait_for_close(&mut stream);
    });
    let completion = Load::new(&server).get();
    assert_eq!(completion.bytes_in, 57);
    let response = completion.outcome.expect("an answer");
    assert_eq!((response.status, response.body.as_slice()), (201, b"ok".as_slice()));
    assert!(response.head.starts_with(b"HTTP/1.1 201"));
}

#[test]
fn bodies_that_end_with_the_connection() {
    let check = |answer: &str, status: u16, body: &str| {
        let server = Server::closing_after(answer);
        let response = Load::new(&server).answer();
        assert_eq!(response.status, status);
        assert_eq!(response.body, body.as_bytes(), "{answer:?}");
    };
    check("HTTP/1.0 200 OK\r\n\r\nall of it", 200, "all of it");
    check("HTTP/1.1 200 OK\r\n\r\n", 200, "");
    check("HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 404, "x");
}

#[test]
fn answers_without_a_body_whatever_their_headers_say() {
    let server = Server::answering("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n");
    let mut load = Load::new(&server);
    assert_eq!(load.answer().status, 304);
    assert_eq!(load.answer().status, 304);
    assert_eq!(server.accepted(), 1);

    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
    let mut load = Load::new(&server);
    for _ in 0..2 {
        load.send(1, "HEAD", b"");
        let response = load.take(1).remove(0).outcome.expect("an answer");
        assert_eq!(response.header("content-length"), Some(b"9".as_slice()));
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn an_answer_cut_off_is_a_failure() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "",
    ] {
        let failure = expect_failure(&Server::closing_after(answer), FailureKind::Closed);
        assert!(failure.detail.contains("closed the connection"), "{failure}");
    }
}

#[test]
fn more_bytes_than_announced_cost_the_connection() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi, and more");
    let mut load = Load::new(&server);
    assert_eq!(load.answer().body, b"hi");
    assert_eq!(load.client.connections(), 0);
    assert_eq!(load.answer().body, b"hi");
    assert_eq!(server.accepted(), 2);
}

#[test]
fn what_is_not_http_is_told() {
    let absurd_head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    let endless_lines = format!("HTTP/1.1 200 OK\r\n{}", "a: b\r\n".repeat(100_000));
    for answer in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nbroken\r\n\r\n",
        "\r\n\r\n",
        &absurd_head,
        &endless_lines,
    ] {
        let failure = expect_failure(&Server::closing_after(answer), FailureKind::Protocol);
        assert!(failure.detail.len() < 200, "{failure}");
    }
}

#[test]
fn a_reset_inside_the_body() {
    let server = Server::start(|_, mut stream| {
        read_request(&mut stream);
        let start = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhel";
        stream.write_all(start).expect("open");
        reset(stream);
    });
    let failure = expect_failure(&server, FailureKind::Reset);
    assert!(failure.detail.contains("after 42 bytes"), "{failure}");
}

#[test]
fn a_half_closed_connection_is_not_used_again() {
    let server = Server::start(|_, mut stream| {
        read_request(&mut stream);
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        stream.write_all(answer).expect("open");
        stream.shutdown(Shutdown::Write).expect("open");
        wait_for_close(&mut stream);
    });
    let mut load = Load::new(&server);
    for _ in 0..10 {
        assert_eq!(load.answer().body, b"ok");
    }
    assert_eq!(server.accepted(), 10);
}

#[test]
fn an_answer_before_the_request_ends() {
    let (done, finished) = sync_channel::<()>(0);
    let finished = std::sync::Mutex::new(finished);
    let server = Server::start(move |_, mut stream| {
        // Only the beginning is read, the rest never.
        stream.read_exact(&mut [0; 100]).expect("open");
        let answer = b"HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nlong";
        stream.write_all(answer).expect("open");
        finished.lock().expect("unpoisoned").recv().ok();
    });
    let mut load = Load::new(&server);
    let body = vec![b'x'; 32 << 20];
    load.send(1, "POST", &body);
    let completion = load.take(1).remove(0);
    assert!(completion.bytes_out < body.len() as u64);
    let response = completion.outcome.expect("an answer");
    assert_eq!((response.status, response.body.as_slice()), (413, b"long".as_slice()));
    assert_eq!(load.client.connections(), 0);
    drop(done);
}

#[test]
fn an_early_answer_and_then_a_reset() {
    let server = Server::start(|_, mut stream| {
        stream.read_exact(&mut [0; 100]).expect("open");
        stream.write_all(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n").ok();
        // Closing with unread bytes resets the connection.
    });
    let body = vec![b'x'; 32 << 20];
    for _ in 0..20 {
        let mut load = Load::new(&server);
        load.send(1, "POST", &body);
        // The reset may overtake the answer inside the kernel; it is one of the two.
        match load.take(1).remove(0).outcome {
            Ok(response) => assert_eq!(response.status, 503),
            Err(failure) => assert_eq!(failure.kind, FailureKind::Reset, "{failure}"),
        }
        assert_eq!(load.client.connections(), 0);
    }
}

#[test]
fn large_requests_arrive_whole() {
    let server = Server::start(|_, mut stream| {
        while let Some(request) = read_request(&mut stream) {
            let sum: u64 = request.iter().map(|byte| u64::from(*byte)).sum();
            let answer = format!("{sum} {}", request.len());
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", answer.len());
            stream.write_all(head.as_bytes()).expect("open");
            stream.write_all(answer.as_bytes()).expect("open");
        }
    });
    let body: Vec<u8> = (0..8_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut load = Load::new(&server);
    for _ in 0..2 {
        load.send(1, "POST", &body);
        let completion = load.take(1).remove(0);
        let response = completion.outcome.expect("an answer");
        let answer = String::from_utf8(response.body).expect("text");
        let head = b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 8000000\r\n\r\n";
        let sum: u64 = head.iter().chain(&body).map(|byte| u64::from(*byte)).sum();
        assert_eq!(answer, format!("{sum} {}", head.len() + body.len()));
        assert_eq!(completion.bytes_out, (head.len() + body.len()) as u64);
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_large_body_that_ends_with_the_connection() {
    // Longer than one turn of receiving, so that the end is seen in a later one.
    let server = Server::start(|_, mut stream| {
        read_request(&mut stream);
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").expect("open");
        stream.write_all(&vec![b'x'; 9_999_999]).expect("open");
    });
    for _ in 0..10 {
        let mut load = Load::new(&server);
        load.send_with(1, "GET", b"", 10 * SECOND_NS, BodyPolicy::Discard);
        let completion = load.take(1).remove(0);
        assert!(completion.outcome.is_ok(), "{completion:?}");
        assert_eq!(completion.bytes_in, 9_999_999 + 19);
    }
}

const LARGE: usize = 50 << 20;

fn large_server() -> Server {
    Server::start(|_, mut stream| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LARGE}\r\n\r\n");
        let portion = vec![b'z'; 1 << 20];
        while read_request(&mut stream).is_some() {
            let sent = stream.write_all(head.as_bytes()).and_then(|()| {
                (0..LARGE / portion.len()).try_for_each(|_| stream.write_all(&portion))
            });
            if sent.is_err() {
                return;
            }
        }
    })
}

#[test]
fn fifty_megabytes_discarded() {
    let server = large_server();
    let mut load = Load::new(&server);
    for _ in 0..2 {
        load.send_with(1, "GET", b"", 30 * SECOND_NS, BodyPolicy::Discard);
        let completion = load.take(1).remove(0);
        assert!(completion.bytes_in > LARGE as u64);
        let response = completion.outcome.expect("an answer");
        assert!(response.body.is_empty() && response.head.is_empty());
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_body_above_the_bound_closes_the_connection() {
    let mut load = Load::new(&large_server());
    let completion = load.get();
    assert!(completion.bytes_in < LARGE as u64 / 2);
    let failure = completion.outcome.expect_err("above one megabyte");
    assert_eq!(failure.kind, FailureKind::BodyTooLarge);
    assert!(failure.detail.contains("1048576 bytes"), "{failure}");
    assert_eq!(load.client.connections(), 0);
}

fn gzip_answer(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).expect("to memory");
    let coded = encoder.finish().expect("to memory");
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        coded.len()
    )
    .into_bytes();
    answer.extend(coded);
    answer
}

#[test]
fn coded_bodies_are_decoded_when_kept() {
    let server = Server::answering(gzip_answer(&[b'a'; 100_000]));
    let mut load = Load::new(&server);
    let completion = load.get();
    assert!(completion.bytes_in < 2_000);
    assert_eq!(completion.outcome.expect("an answer").body, [b'a'; 100_000]);
    assert_eq!(load.answer().body.len(), 100_000);
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_decompression_bomb_stops_at_the_bound() {
    let server = Server::answering(gzip_answer(&vec![0; 64 << 20]));
    expect_failure(&server, FailureKind::BodyTooLarge);
    // What is discarded is not decoded either.
    let mut load = Load::new(&server);
    load.send_with(1, "GET", b"", SECOND_NS * 10, BodyPolicy::Discard);
    assert_eq!(load.take(1).remove(0).outcome.expect("an answer").status, 200);
}

#[test]
fn a_broken_coding_is_told() {
    let mut answer = gzip_answer(b"hello");
    let last = answer.len() - 1;
    answer[last - 5] ^= 0xff;
    expect_failure(&Server::answering(answer), FailureKind::Encoding);
    let brotli = "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx";
    expect_failure(&Server::answering(brotli), FailureKind::Encoding);
}
