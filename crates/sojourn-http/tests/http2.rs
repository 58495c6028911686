//! HTTP/2 against servers that do it right, wrongly, half or not at all.

use std::time::Duration;

use sojourn_clock::{MILLISECOND_NS, SECOND_NS};
use sojourn_http::{BodyPolicy, ClientConfig, FailureKind, Http2, Io, TlsOptions};

use crate::dialling::{answer_all, origin, tls_server};
use crate::frames::{
    DATA, END_HEADERS, END_STREAM, Frames, HEADERS, OK, PING, RST_STREAM, config, load, serving,
};
use crate::peers::{KEEP, Load, Server, reset};

/// REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM.
const REFUSED: u32 = 7;
const CANCEL: u32 = 8;
const CALM: u32 = 11;

#[test]
fn many_requests_share_one_connection() {
    let server = serving(&[], |_, frames| {
        // Nobody is answered before all are here; then backwards.
        let streams: Vec<u32> = (0..50).map_while(|_| frames.request()).collect();
        for stream in streams.iter().rev() {
            frames.answer(*stream, format!("{stream}").as_bytes());
        }
        frames.wait_for_close();
    });
    let mut load = load(&server);
    for token in 0..50 {
        load.send(token, "GET", b"");
    }
    for completion in load.take(50) {
        let response = completion.outcome.as_ref().expect("an answer");
        assert_eq!(response.status, 200);
        assert_eq!(response.body, format!("{}", completion.token * 2 + 1).as_bytes());
        assert!(completion.bytes_out > 9 && completion.bytes_in >= 20, "{completion:?}");
        let dialled = completion.timings.connect_ns > 0;
        assert_eq!(dialled, completion.token == 0, "the others waited for its connection");
    }
    assert_eq!((server.accepted(), load.client.connections()), (1, 1));
    assert_eq!(load.client.counters().connections_opened, 1);
}

/// At how many turns of a client on epoll answers were looked at that came one by one on three
/// connections, while 120 requests stayed under way.
fn turns_of_answers(gather_ns: u64) -> usize {
    let server = serving(&[], |_, frames| {
        let streams: Vec<u32> = (0..100).map_while(|_| frames.request()).collect();
        // What answers take: 5 ms is its 128th part.
        std::thread::sleep(Duration::from_millis(640));
        for stream in streams.iter().take(60) {
            if frames.answer(*stream, b"ok").is_none() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        frames.wait_for_close();
    });
    let config = ClientConfig { gather_ns, io: Io::Epoll, ..config() };
    let at = origin(false, &server.address.ip().to_string(), server.address.port());
    let mut load = Load::exactly(&at, config);
    (0..300).for_each(|token| load.send(token, "GET", b""));
    load.turns(180)
}

#[test]
fn answers_are_looked_at_together_when_they_may() {
    // Answers of some 70 ms by pauses of 5 ms are some 14 turns.
    let (together, one_by_one) = (turns_of_answers(SECOND_NS), turns_of_answers(0));
    assert!(together <= 60, "{together} turns");
    assert!(together * 2 < one_by_one, "{together} turns, and {one_by_one} without");
}

#[test]
fn requests_do_not_wait_for_the_settings_of_the_server() {
    let server = Server::start(|_, stream| {
        let Some(mut frames) = Frames::hear(stream) else { return };
        let streams: Vec<u32> = (0..50).map_while(|_| frames.request()).collect();
        frames.settings(&[]);
        for stream in streams {
            frames.answer(stream, b"ok");
        }
        frames.wait_for_close();
    });
    let mut load = load(&server);
    for token in 0..50 {
        load.send(token, "GET", b"");
    }
    assert!(load.take(50).iter().all(|completion| completion.outcome.is_ok()));
    assert_eq!(server.accepted(), 1);
}

#[test]
fn no_more_streams_than_the_server_allows() {
    const MAX_CONCURRENT_STREAMS: u16 = 3;
    let server = serving(&[(MAX_CONCURRENT_STREAMS, 2)], |_, frames| {
        let mut open = std::collections::VecDeque::new();
        while let Some(stream) = frames.request() {
            open.push_back(stream);
            // The first ones come before the client has read the settings.
            if stream > 1 {
                assert!(open.len() <= 2, "{open:?}");
            }
            if open.len() == 2 || stream == 1 {
                for stream in open.drain(..) {
                    frames.answer(stream, b"ok");
                }
            }
        }
    });
    let config = ClientConfig { connections_max: 1, ..config() };
    let mut load = Load::with(server.address, config);
    assert_eq!(load.answer().body, b"ok");
    for token in 0..20 {
        load.send(token, "GET", b"");
    }
    assert!(load.take(20).iter().all(|completion| completion.outcome.is_ok()));
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_full_connection_is_followed_by_another() {
    let server = serving(&[], |_, frames| {
        let streams: Vec<u32> = (0..10).map_while(|_| frames.request()).collect();
        for stream in streams {
            frames.answer(stream, b"ok");
        }
        frames.wait_for_close();
    });
    let config = ClientConfig { http2_streams_max: 10, connections_max: 3, ..config() };
    let mut load = Load::with(server.address, config);
    for token in 0..30 {
        load.send(token, "GET", b"");
    }
    assert!(load.take(30).iter().all(|completion| completion.outcome.is_ok()));
    assert_eq!(server.accepted(), 3);
}

#[test]
fn one_timeout_leaves_the_others_alone() {
    let server = serving(&[], |_, frames| {
        let streams: Vec<u32> = (0..3).map_while(|_| frames.request()).collect();
        frames.answer(streams[0], b"ok");
        // The second is given up; the third is answered after that, and so is a late second.
        let frame = frames.read_until(RST_STREAM).expect("it gives up");
        assert_eq!((frame.stream, frame.payload), (streams[1], CANCEL.to_be_bytes().to_vec()));
        frames.write(HEADERS, END_HEADERS, streams[1], b"\x88\x40\x01a\x01b");
        frames.write(DATA, END_STREAM, streams[1], b"late");
        frames.write(HEADERS, END_HEADERS | END_STREAM, streams[2], b"\x88\xbe");
        frames.answer_all();
    });
    let mut load = load(&server);
    load.send(0, "GET", b"");
    load.send_with(1, "GET", b"", 40 * MILLISECOND_NS, BodyPolicy::Discard);
    load.send(2, "GET", b"");
    let mut completions = load.take(3);
    completions.sort_by_key(|completion| completion.token);
    let failure = completions[1].outcome.as_ref().expect_err("given up");
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert!(failure.detail.contains("40 ms"), "{failure}");
    let took_ns = completions[1].ended_ns - completions[1].began_ns;
    assert!(took_ns >= 40 * MILLISECOND_NS);
    assert!(completions[0].outcome.is_ok());
    // The late one's block was decoded all the same: the table is right.
    let response = completions[2].outcome.as_ref().expect("an answer");
    assert_eq!(response.header("a"), Some(b"b".as_slice()));
    assert_eq!(load.answer().body, b"ok");
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_silent_connection_gets_no_new_requests() {
    let server = serving(&[], |number, frames| {
        if number > 0 {
            frames.answer_all();
        } else if let Some(first) = frames.request() {
            frames.answer(first, b"ok");
            frames.wait_for_close();
        }
    });
    let mut load = load(&server);
    assert!(load.get().outcome.is_ok());
    load.send_with(1, "GET", b"", 30 * MILLISECOND_NS, KEEP);
    let failure = load.take(1).remove(0).outcome.expect_err("silence");
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert_eq!(load.client.connections(), 0);
    assert!(load.get().outcome.is_ok());
    assert_eq!(server.accepted(), 2);
}

#[test]
fn a_goaway_moves_what_it_leaves_out_to_another_connection() {
    let server = serving(&[], |number, frames| {
        if number > 0 {
            return frames.answer_all();
        }
        let streams: Vec<u32> = (0..10).map_while(|_| frames.request()).collect();
        frames.goaway(streams[4], 0);
        for stream in &streams[..5] {
            frames.answer(*stream, b"ok");
        }
        frames.wait_for_close();
    });
    let mut load = load(&server);
    for token in 0..10 {
        load.send(token, "POST", b"body");
    }
    for completion in load.take(10) {
        assert_eq!(completion.outcome.expect("an answer").body, b"ok");
    }
    let counters = load.client.counters();
    assert_eq!((counters.untouched_retries, counters.connections_opened), (5, 2));
    load.run_until(|client| client.connections() == 1);
    assert_eq!(server.accepted(), 2);
}

#[test]
fn an_endless_refusal_ends_as_a_failure() {
    let server = serving(&[], |_, frames| {
        while let Some(stream) = frames.request() {
            frames.reset(stream, REFUSED);
        }
    });
    let mut load = load(&server);
    let failure = load.failure();
    assert_eq!(failure.kind, FailureKind::StreamReset);
    assert!(failure.detail.contains("REFUSED_STREAM"), "{failure}");
    assert_eq!(load.client.counters().untouched_retries, 5);
    // The same by GOAWAY, on one connection after the other.
    let server = serving(&[], |_, frames| {
        frames.request();
        frames.goaway(0, CALM);
        frames.wait_for_close();
    });
    let failure = self::load(&server).failure();
    assert_eq!(failure.kind, FailureKind::Closed);
    assert!(failure.detail.contains("GOAWAY, ENHANCE_YOUR_CALM"), "{failure}");
    assert_eq!(server.accepted(), 6);
}

#[test]
fn a_reset_stream_fails_alone() {
    let server = serving(&[], |_, frames| {
        let streams: Vec<u32> = (0..2).map_while(|_| frames.request()).collect();
        frames.write(HEADERS, END_HEADERS, streams[0], OK);
        frames.write(DATA, 0, streams[0], b"some");
        frames.reset(streams[0], 2);
        frames.answer(streams[1], b"ok");
        frames.wait_for_close();
    });
    let mut load = load(&server);
    load.send(0, "GET", b"");
    load.send(1, "GET", b"");
    let mut completions = load.take(2);
    completions.sort_by_key(|completion| completion.token);
    let failure = completions[0].outcome.as_ref().expect_err("reset");
    assert_eq!(failure.kind, FailureKind::StreamReset);
    assert!(failure.detail.contains("INTERNAL_ERROR"), "{failure}");
    assert!(failure.detail.contains("after 23 bytes of the answer"), "{failure}");
    assert!(completions[1].outcome.is_ok());
}

#[test]
fn a_connection_closed_while_idle_is_replaced() {
    let server = serving(&[], |number, frames| {
        while let Some(stream) = frames.request() {
            if stream == 3 {
                // Closed as if it had been idle: nothing is said to the second request.
                return;
            }
            frames.answer(stream, b"ok");
            if number > 0 {
                return frames.answer_all();
            }
        }
    });
    let mut load = load(&server);
    assert!(load.get().outcome.is_ok());
    assert!(load.get().outcome.is_ok());
    assert_eq!(load.client.counters().stale_retries, 1);
    assert_eq!(server.accepted(), 2);
}

#[test]
fn a_connection_cut_in_the_middle_fails_what_it_carried() {
    for resets in [false, true] {
        let server = serving(&[], move |_, frames| {
            let streams: Vec<u32> = (0..4).map_while(|_| frames.request()).collect();
            frames.answer(streams[0], b"ok");
            frames.write(HEADERS, END_HEADERS, streams[1], OK);
            // Only when that has been read, so that a reset can't overtake it.
            frames.write(PING, 0, 0, &[0; 8]);
            frames.read_until(PING);
            if resets {
                reset(frames.stream.try_clone().expect("a socket"));
            }
        });
        let mut load = load(&server);
        for token in 0..4 {
            load.send(token, "GET", b"");
        }
        let mut failed = 0;
        for completion in load.take(4) {
            let Err(failure) = completion.outcome else { continue };
            let kind = if resets { FailureKind::Reset } else { FailureKind::Closed };
            assert_eq!(failure.kind, kind, "{failure}");
            failed += 1;
        }
        assert_eq!((failed, load.client.connections()), (3, 0));
    }
}

#[test]
fn nobody_there_fails_everybody_at_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    drop(listener);
    let mut load = Load::with(address, config());
    for token in 0..250 {
        load.send(token, "GET", b"");
    }
    for completion in load.take(250) {
        let failure = completion.outcome.expect_err("nobody is there");
        assert_eq!(failure.kind, FailureKind::Connect, "{failure}");
    }
    assert_eq!((load.client.in_flight(), load.client.connections()), (0, 0));
}

#[test]
fn a_short_patience_does_not_end_the_dial_that_others_wait_for() {
    // Accepts nothing until the first has given up: the backlog is full.
    let listener =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    let any: std::net::SocketAddr = "127.0.0.1:0".parse().expect("valid");
    listener.bind(&any.into()).expect("a free port");
    listener.listen(0).expect("a socket");
    let address = listener.local_addr().expect("bound").as_socket().expect("IPv4");
    let filler = std::net::TcpStream::connect(address).expect("one fits");
    let mut load = Load::with(address, config());
    load.send_with(0, "GET", b"", 50 * MILLISECOND_NS, KEEP);
    load.send_with(1, "GET", b"", 20 * SECOND_NS, KEEP);
    let first = load.take(1).remove(0);
    assert_eq!(first.token, 0);
    assert_eq!(first.outcome.expect_err("no time").kind, FailureKind::Timeout);
    assert_eq!((load.client.in_flight(), load.client.connections()), (1, 1));
    let server = std::thread::spawn(move || {
        drop(filler);
        loop {
            let (stream, _) = listener.accept().expect("a connection");
            if let Some(mut frames) = Frames::greet(std::net::TcpStream::from(stream), &[]) {
                return frames.answer_all();
            }
        }
    });
    assert!(load.take(1).remove(0).outcome.is_ok());
    assert_eq!(load.client.counters().connections_opened, 1);
    drop(load);
    server.join().expect("it ends");
}

#[test]
fn without_keep_alive_each_request_has_a_connection() {
    let server = serving(&[], |_, frames| frames.answer_all());
    let config = ClientConfig { keep_alive: false, connections_max: 3, ..config() };
    let mut load = Load::with(server.address, config);
    for token in 0..7 {
        load.send(token, "GET", b"");
        assert!(load.client.connections() <= 3);
    }
    assert!(load.take(7).iter().all(|completion| completion.outcome.is_ok()));
    load.run_until(|client| client.connections() == 0);
    assert_eq!(server.accepted(), 7);
}

#[test]
fn bodies_are_decoded_and_bounded() {
    let text = vec![b'a'; 100_000];
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &text).expect("to memory");
    let coded = encoder.finish().expect("to memory");
    let server = serving(&[], move |_, frames| {
        while let Some(stream) = frames.request() {
            // content-encoding: gzip, by the static table's name.
            frames.write(HEADERS, END_HEADERS, stream, b"\x88\x0f\x0b\x04gzip");
            for portion in coded.chunks(7) {
                frames.write(DATA, 0, stream, portion);
            }
            frames.write(DATA, END_STREAM, stream, b"");
        }
    });
    let mut load = load(&server);
    assert!(load.answer().body == text);
    load.send_with(1, "GET", b"", SECOND_NS * 10, BodyPolicy::Keep { bytes_max: 99_999 });
    let failure = load.take(1).remove(0).outcome.expect_err("too large");
    assert_eq!(failure.kind, FailureKind::BodyTooLarge, "{failure}");
    assert!(load.answer().body == text);
    assert_eq!(server.accepted(), 1);
}

#[test]
fn answers_split_at_every_byte() {
    let server = serving(&[], |_, frames| {
        while let Some(stream) = frames.request() {
            let [_, _, _, id] = stream.to_be_bytes();
            let head = [0, 0, 1, HEADERS, END_HEADERS, 0, 0, 0, id, 0x88];
            let data = [0, 0, 2, DATA, END_STREAM, 0, 0, 0, id, b'o', b'k'];
            for byte in head.iter().chain(&data) {
                frames.bytes(&[*byte]);
            }
        }
    });
    let mut load = load(&server);
    for _ in 0..20 {
        assert_eq!(load.answer().body, b"ok");
    }
}

#[test]
fn a_request_that_does_not_fit_fails_alone() {
    let server = serving(&[], |_, frames| frames.answer_all());
    let mut load = load(&server);
    assert!(load.get().outcome.is_ok());
    let bytes = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\nx";
    let exchange = sojourn_http::Exchange {
        token: 7,
        origin: load.origin,
        bytes,
        head_only: false,
        timeout_ns: 10 * SECOND_NS,
        body: KEEP,
    };
    load.client.send(sojourn_clock::now_ns(), exchange);
    let failure = load.take(1).remove(0).outcome.expect_err("it does not fit");
    assert!(failure.detail.contains("Transfer-Encoding"), "{failure}");
    assert!(load.get().outcome.is_ok());
}

#[test]
fn a_tls_server_of_http1_only() {
    let peer = tls_server(&["localhost"], answer_all);
    let target = origin(true, "localhost", peer.server.address.port());
    let config = |http2| ClientConfig {
        http2,
        tls: TlsOptions { ca_file: Some(peer.ca_file.path().to_owned()), ..TlsOptions::default() },
        ..ClientConfig::default()
    };
    let mut load = Load::to(&target, config(Http2::Alpn));
    for token in 0..5 {
        load.send(token, "GET", b"");
    }
    // They waited for the first, which showed that they need connections of their own.
    assert!(load.take(5).iter().all(|completion| completion.outcome.is_ok()));
    assert!(peer.server.accepted() >= 2);
    let failure = Load::to(&target, config(Http2::PriorKnowledge)).failure();
    assert_eq!(failure.kind, FailureKind::Tls);
    assert!(failure.detail.contains("does not agree to speak HTTP/2"), "{failure}");
}

#[test]
fn off_means_http1_also_for_a_server_of_both() {
    let server = Server::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    for http2 in [Http2::Off, Http2::Alpn] {
        let config = ClientConfig { http2, ..ClientConfig::default() };
        assert_eq!(Load::with(server.address, config).answer().body, b"ok");
    }
}
