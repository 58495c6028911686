//! Whole conversations, violations, floods, mutations.

mod flow;

use proptest::prelude::*;

use super::super::frame::{
    flag, kind, write_data, write_goaway, write_header, write_headers, write_ping_ack, write_reset,
    write_settings, write_window_update,
};
use super::super::hpack::write_field;
use super::*;
use crate::codec::Coding;

const LIMITS: Limits =
    Limits { streams_max: 100, stream_window: 1_000, connection_window: 100_000 };

/// An event that owns what it tells; bodies are joined, however they were split.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Body(u32, Vec<u8>),
    End(u32),
    Head(u32, u16),
    Malformed(u32, &'static str),
    Refused(u32),
    Reset(u32, ErrorCode),
}

fn session() -> Session {
    let mut session = Session::new(LIMITS);
    session.out.clear();
    session
}

fn open(session: &mut Session, exchange: u32) -> u32 {
    let new =
        NewStream { exchange, block: b"\x82", has_body: false, head_only: false, keep_head: true };
    session.open(new).0
}

/// A session with streams 1, 3 and 5 (exchanges 0, 1 and 2) whose peer has sent its settings.
fn with_streams() -> Session {
    let mut session = session();
    for exchange in 0..3 {
        open(&mut session, exchange);
    }
    assert_eq!(feed(&mut session, &settings(&[]), 100), Ok(vec![]));
    session.out.clear();
    session
}

fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_settings(settings, &mut bytes);
    bytes
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_header(payload.len(), kind, flags, stream, &mut bytes);
    bytes.extend_from_slice(payload);
    bytes
}

/// Everything that these bytes bring, in portions of so many.
fn feed(session: &mut Session, bytes: &[u8], portion: usize) -> Result<Vec<Told>, Http2Error> {
    let mut told = Vec::new();
    for bytes in bytes.chunks(portion) {
        let mut input = bytes;
        loop {
            let (exchange, ends) = match session.next(&mut input)? {
                Event::More => break,
                Event::Body { exchange, bytes, ends, .. } => {
                    match told.last_mut() {
                        Some(Told::Body(last, body)) if *last == exchange => {
                            body.extend_from_slice(bytes);
                        }
                        _ if bytes.is_empty() => {}
                        _ => told.push(Told::Body(exchange, bytes.to_vec())),
                    }
                    (exchange, ends)
                }
                Event::Head { exchange, head, ends, .. } => {
                    told.push(Told::Head(exchange, head.status));
                    (exchange, ends)
                }
                Event::End { exchange, .. } => (exchange, true),
                Event::Malformed { exchange, what } => {
                    told.push(Told::Malformed(exchange, what));
                    continue;
                }
                Event::Refused { exchange } => {
                    told.push(Told::Refused(exchange));
                    continue;
                }
                Event::Reset { exchange, code } => {
                    told.push(Told::Reset(exchange, code));
                    continue;
                }
            };
            if ends {
                told.push(Told::End(exchange));
            }
        }
    }
    Ok(told)
}

/// What a server might send for streams 1, 3 and 5, with every kind of frame.
fn conversation() -> (Vec<u8>, Vec<Told>) {
    let mut long = Vec::new();
    write_field(b":status", b"404", &mut long);
    write_field(b"x-long", &[b'l'; 40], &mut long);
    let mut bytes = settings(&[(3, 50), (1, 0)]);
    bytes.extend(frame(kind::PING, 0, 0, b"12345678"));
    bytes.extend(frame(kind::HEADERS, flag::END_HEADERS, 3, b"\x08\x03103"));
    bytes.extend(frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::PADDED | flag::PRIORITY,
        3,
        b"\x03\0\0\0\0\x09\x88\0\0\0",
    ));
    write_headers(5, &long, false, 10, &mut bytes);
    bytes.extend(frame(kind::DATA, flag::PADDED, 3, b"\x02abc\0\0"));
    bytes.extend(frame(0xbe, 0xff, 3, b"of the future"));
    write_data(5, b"xyz", true, &mut bytes);
    bytes.extend(frame(kind::PRIORITY, 0, 7, b"\0\0\0\x01\0"));
    write_window_update(0, 5, &mut bytes);
    write_window_update(3, 5, &mut bytes);
    bytes.extend(frame(kind::DATA, 0, 3, b""));
    write_data(3, b"def", false, &mut bytes);
    bytes.extend(frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::END_STREAM,
        3,
        b"\x00\x07trailer\x01t",
    ));
    bytes.extend(frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, b"\x89"));
    let told = vec![
        Told::Head(1, 200),
        Told::Head(2, 404),
        Told::Body(1, b"abc".to_vec()),
        Told::Body(2, b"xyz".to_vec()),
        Told::End(2),
        Told::Body(1, b"def".to_vec()),
        Told::End(1),
        Told::Head(0, 204),
        Told::End(0),
    ];
    (bytes, told)
}

#[test]
fn a_conversation_is_the_same_split_anywhere() {
    let (bytes, expected) = conversation();
    for portion in 1..=bytes.len() {
        let mut session = session();
        for exchange in 0..3 {
            open(&mut session, exchange);
        }
        session.out.clear();
        assert_eq!(feed(&mut session, &bytes, portion), Ok(expected.clone()), "by {portion}");
        assert_eq!(session.open_streams(), 0);
        let mut replies = Vec::new();
        super::frame::write_settings_ack(&mut replies);
        write_ping_ack(b"12345678", &mut replies);
        assert_eq!(session.out, replies);
        assert_eq!(session.room(), 50);
    }
}

#[test]
fn heads_are_told_with_text_and_length_and_repeat_alike() {
    let mut session = with_streams();
    let mut block = vec![0x88];
    write_field(b"content-length", b"3", &mut block);
    write_field(b"content-encoding", b"gzip", &mut block);
    for (stream, exchange) in [(1, 0), (3, 1)] {
        let bytes = frame(kind::HEADERS, flag::END_HEADERS, stream, &block);
        let mut input = bytes.as_slice();
        let event = session.next(&mut input).expect("valid");
        let head = Http2Head { status: 200, coding: Coding::Gzip, length: Some(3) };
        let wire_bytes = bytes.len() as u64;
        assert_eq!(event, Event::Head { exchange, head, wire_bytes, ends: false });
        let text = b"HTTP/2 200\r\ncontent-length: 3\r\ncontent-encoding: gzip\r\n\r\n";
        assert_eq!(session.head_text(), text);
    }
}

#[test]
fn a_known_head_is_forgotten_when_the_table_changes() {
    let mut session = with_streams();
    let head = |stream, block: &[u8]| frame(kind::HEADERS, flag::END_HEADERS, stream, block);
    // Enters the table; then twice the same reference to what stands there first.
    let told = feed(&mut session, &head(1, b"\x88\x40\x01a\x011"), 99).expect("valid");
    assert_eq!(told, [Told::Head(0, 200)]);
    feed(&mut session, &head(3, b"\x88\xbe"), 99).expect("valid");
    assert_eq!(session.head_text(), b"HTTP/2 200\r\na: 1\r\n\r\n");
    let trailer = frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, b"\x40\x01a\x012");
    assert_eq!(feed(&mut session, &trailer, 99), Ok(vec![Told::End(0)]));
    feed(&mut session, &head(5, b"\x88\xbe"), 99).expect("valid");
    assert_eq!(session.head_text(), b"HTTP/2 200\r\na: 2\r\n\r\n");
}

/// Stream errors end one exchange and are told to the peer; the others go on.
#[test]
fn malformed_answers_end_their_stream_only() {
    let head = |flags: u8, block: &[u8]| frame(kind::HEADERS, flag::END_HEADERS | flags, 1, block);
    let data = |flags: u8, bytes: &[u8]| frame(kind::DATA, flags, 1, bytes);
    let end = flag::END_STREAM;
    let five = b"\x88\x0f\x0d\x015";
    for bytes in [
        data(0, b"x"),
        head(end, b"\x08\x03103"),
        head(0, b"\x08\x03101"),
        head(0, b""),
        head(0, b"\x08\x0320x"),
        head(end, five),
        [head(0, five), data(end, b"1234")].concat(),
        [head(0, five), data(0, b"123456")].concat(),
        [head(0, five), data(flag::PADDED | end, b"\x011234\0")].concat(),
        [head(0, five), data(0, b"1234"), head(end, b"")].concat(),
        [head(0, b"\x89"), data(end, b"x")].concat(),
        [head(0, b"\x88"), head(0, b"\x00\x01a\x01b")].concat(),
        [head(0, b"\x88"), head(end, b"\x88")].concat(),
        frame(kind::WINDOW_UPDATE, 0, 1, &[0; 4]),
        frame(kind::WINDOW_UPDATE, 0, 1, &[0x7f, 255, 255, 255]),
    ] {
        let mut session = with_streams();
        let told = feed(&mut session, &bytes, 7).expect("no connection error");
        assert!(matches!(told.last(), Some(Told::Malformed(0, _))), "{told:?}: {bytes:?}");
        let mut reset = Vec::new();
        write_reset(1, ErrorCode::PROTOCOL_ERROR, &mut reset);
        assert_eq!(session.out, reset);
        // What still comes for it is passed over, the others are answered.
        let mut rest = data(0, b"late");
        rest.extend(frame(kind::HEADERS, flag::END_HEADERS | end, 3, b"\x88"));
        assert_eq!(feed(&mut session, &rest, 99), Ok(vec![Told::Head(1, 200), Told::End(1)]));
    }
}

#[test]
fn violations_end_the_connection() {
    let end_headers = flag::END_HEADERS;
    for bytes in [
        frame(kind::DATA, 0, 0, b"x"),
        frame(kind::DATA, 0, 7, b"x"),
        frame(kind::DATA, 0, 2, b"x"),
        frame(kind::DATA, flag::PADDED, 1, b""),
        frame(kind::DATA, flag::PADDED, 1, b"\x04abc"),
        frame(kind::HEADERS, end_headers, 0, b"\x88"),
        frame(kind::HEADERS, end_headers, 7, b"\x88"),
        frame(kind::HEADERS, end_headers, 1, b"\xff\xff\xff"),
        frame(kind::HEADERS, end_headers | flag::PADDED, 1, b"\x05\x88"),
        frame(kind::HEADERS, end_headers | flag::PADDED, 1, b""),
        frame(kind::HEADERS, end_headers | flag::PRIORITY, 1, b"\x88"),
        frame(kind::CONTINUATION, end_headers, 1, b"\x88"),
        [frame(kind::HEADERS, 0, 1, b"\x88"), frame(kind::PING, 0, 0, &[0; 8])].concat(),
        [frame(kind::HEADERS, 0, 1, b"\x88"), frame(kind::DATA, 0, 1, b"x")].concat(),
        [frame(kind::HEADERS, 0, 1, b""), frame(kind::CONTINUATION, 4, 3, b"\x88")].concat(),
        frame(kind::PUSH_PROMISE, end_headers, 1, b"\0\0\0\x02\x82"),
        frame(kind::PRIORITY, 0, 1, b"1234"),
        frame(kind::RST_STREAM, 0, 0, &[0; 4]),
        frame(kind::RST_STREAM, 0, 9, &[0; 4]),
        frame(kind::RST_STREAM, 0, 1, &[0; 5]),
        frame(kind::SETTINGS, 0, 1, b""),
        frame(kind::SETTINGS, 0, 0, b"12345"),
        frame(kind::SETTINGS, flag::ACK, 0, b"123456"),
        frame(kind::PING, 0, 1, &[0; 8]),
        frame(kind::PING, 0, 0, &[0; 7]),
        frame(kind::GOAWAY, 0, 1, &[0; 8]),
        frame(kind::GOAWAY, 0, 0, &[0; 7]),
        frame(kind::WINDOW_UPDATE, 0, 0, &[0; 4]),
        frame(kind::WINDOW_UPDATE, 0, 0, &[0; 3]),
        frame(kind::WINDOW_UPDATE, 0, 0, &[0x7f, 255, 255, 255]),
        frame(kind::WINDOW_UPDATE, 0, 9, &[0, 0, 0, 1]),
    ] {
        let mut session = with_streams();
        assert!(feed(&mut session, &bytes, 5).is_err(), "{bytes:?}");
    }
    for bytes in [frame(kind::PING, 0, 0, &[0; 8]), frame(kind::DATA, 0, 1, b"x")] {
        let mut session = session();
        open(&mut session, 0);
        assert!(feed(&mut session, &bytes, 99).is_err(), "before its settings: {bytes:?}");
    }
}

#[test]
fn floods_are_stopped() {
    let flood = |bytes: &[u8], count: usize| {
        let mut session = with_streams();
        feed(&mut session, &bytes.repeat(count), 1 << 14).expect_err("too much").code
    };
    let calm = ErrorCode::ENHANCE_YOUR_CALM;
    assert_eq!(flood(&frame(kind::PING, 0, 0, &[0; 8]), REPLIES_MAX + 1), calm);
    assert_eq!(flood(&settings(&[]), REPLIES_MAX + 1), calm);
    let mut session = with_streams();
    feed(&mut session, &frame(kind::HEADERS, 0, 1, b"\x88"), 99).expect("valid");
    let empty = frame(kind::CONTINUATION, 0, 1, b"").repeat(200);
    assert_eq!(feed(&mut session, &empty, 99).map_err(|error| error.code), Err(calm));
    let mut session = with_streams();
    feed(&mut session, &frame(kind::HEADERS, 0, 1, b"\x88"), 99).expect("valid");
    let long = frame(kind::CONTINUATION, 0, 1, &[0x88; 16_000]).repeat(5);
    assert_eq!(feed(&mut session, &long, 99).map_err(|error| error.code), Err(calm));
    // A peer that reads its replies may ask as often as it likes.
    let mut session = with_streams();
    for _ in 0..REPLIES_MAX * 2 {
        feed(&mut session, &frame(kind::PING, 0, 0, &[0; 8]), 99).expect("valid");
        session.out.clear();
        session.all_sent();
    }
}

#[test]
fn a_goaway_leaves_later_streams_out_and_lets_the_others_end() {
    let mut session = with_streams();
    let head = frame(kind::HEADERS, flag::END_HEADERS, 5, b"\x88");
    feed(&mut session, &head, 99).expect("valid");
    let mut bytes = frame(kind::DATA, 0, 5, b"12345");
    bytes.truncate(11);
    let told = feed(&mut session, &bytes, 99);
    assert_eq!(told, Ok(vec![Told::Body(2, b"12".to_vec())]));
    // In the middle of stream 5's data no frame can come; finish it, then go away.
    let mut bytes = b"345".to_vec();
    bytes.extend(frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0, b'b', b'y', b'e']));
    bytes.extend(frame(kind::DATA, flag::END_STREAM, 5, b"late"));
    bytes.extend(frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, b"\x88"));
    let mut told = feed(&mut session, &bytes, 99).expect("valid");
    told[1..3].sort_by_key(|told| if let Told::Refused(exchange) = told { *exchange } else { 9 });
    let expected = [
        Told::Body(2, b"345".to_vec()),
        Told::Refused(1),
        Told::Refused(2),
        Told::Head(0, 200),
        Told::End(0),
    ];
    assert_eq!(told, expected);
    assert!(session.is_closing());
    assert_eq!((session.room(), session.open_streams()), (0, 0));
}

#[test]
fn resets_are_told_and_refusals_apart() {
    let mut session = with_streams();
    let mut bytes = Vec::new();
    write_reset(1, ErrorCode::REFUSED_STREAM, &mut bytes);
    write_reset(3, ErrorCode(2), &mut bytes);
    write_reset(3, ErrorCode(2), &mut bytes);
    let told = feed(&mut session, &bytes, 3);
    assert_eq!(told, Ok(vec![Told::Refused(0), Told::Reset(1, ErrorCode(2))]));
}

#[test]
fn streams_run_out() {
    let mut session = session();
    session.next_id = U31_MAX;
    assert_eq!(session.room(), 100);
    assert_eq!(open(&mut session, 0), U31_MAX);
    assert_eq!(session.room(), 0);
    assert!(session.is_closing());
    let mut bytes = settings(&[]);
    bytes.extend(frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, U31_MAX, b"\x88"));
    assert_eq!(feed(&mut session, &bytes, 99), Ok(vec![Told::Head(0, 200), Told::End(0)]));
}

#[test]
fn a_shrunk_table_is_answered_once() {
    let mut session = session();
    feed(&mut session, &settings(&[(1, 100)]), 99).expect("valid");
    for expected in [&b"\x20\x82"[..], b"\x82"] {
        session.out.clear();
        open(&mut session, 0);
        assert_eq!(&session.out[9..], expected);
    }
}

#[test]
fn the_beginning_says_what_we_allow() {
    let session = Session::new(LIMITS);
    let mut expected = PREFACE.to_vec();
    write_settings(&[(2, 0), (4, 1_000), (6, 65_536)], &mut expected);
    write_window_update(0, 100_000 - 65_535, &mut expected);
    assert_eq!(session.out, expected);
    let mut goodbye = session;
    goodbye.out.clear();
    goodbye.say_goodbye(ErrorCode::CANCEL);
    let mut expected = Vec::new();
    write_goaway(ErrorCode::CANCEL, &mut expected);
    assert_eq!(goodbye.out, expected);
}

proptest! {
    #[test]
    fn mutations_never_panic_and_end_each_exchange_once(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<proptest::sample::Index>(),
        portion in 1_usize..200,
    ) {
        let (mut bytes, _) = conversation();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let mut session = session();
        for exchange in 0..3 {
            open(&mut session, exchange);
        }
        if let Ok(told) = feed(&mut session, &bytes, portion) {
            let ended = told
                .iter()
                .filter(|told| !matches!(told, Told::Body(..) | Told::Head(..)))
                .count();
            prop_assert_eq!(ended + session.open_streams(), 3);
        }
    }

    #[test]
    fn any_frames_never_panic(
        frames in proptest::collection::vec(
            (0_u8..11, any::<u8>(), 0_u32..8, proptest::collection::vec(any::<u8>(), 0..20)),
            0..20,
        ),
    ) {
        let mut session = with_streams();
        for (kind, flags, stream, payload) in frames {
            if feed(&mut session, &frame(kind, flags, stream, &payload), 99).is_err() {
                break;
            }
            prop_assert!(session.open_streams() <= 3);
        }
    }
}
