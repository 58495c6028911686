//! Frames and messages, against the RFC's examples and another's codec.

use std::io::Read as _;

use flate2::read::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress};
use futures_util::{FutureExt as _, SinkExt as _};
use proptest::prelude::*;
use tokio::io::AsyncReadExt as _;
use tokio_tungstenite::tungstenite::Message;

use super::Socket;
use super::marks::Marks;
use super::message::{Malformed, deflate, inflate};
use crate::foreign::{Messages, read_websocket};

/// Most bytes of a message, by tungstenite's settings.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// An unmasked frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(length as u8),
        length @ 126..=0xffff => {
            frame.push(126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            frame.push(127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    frame
}

/// What is read where compression was agreed on, however the bytes are cut.
fn read(bytes: &[u8]) -> Messages {
    let whole = read_websocket(bytes, usize::MAX, true);
    for portion in [1, 2, 3, 7] {
        assert_eq!(read_websocket(bytes, portion, true), whole, "by {portion}");
    }
    whole
}

fn texts(texts: &[&str]) -> Vec<(bool, Vec<u8>)> {
    texts.iter().map(|text| (true, text.as_bytes().to_vec())).collect()
}

/// A message's payload by a codec of another's settings.
fn payload_of(message: &[u8], level: u32) -> Vec<u8> {
    let mut codec = Compress::new(Compression::new(level), false);
    let mut payload = Vec::with_capacity(message.len() * 2 + 1_000);
    codec.compress_vec(message, &mut payload, FlushCompress::Sync).unwrap();
    assert_eq!(codec.total_in(), message.len() as u64);
    assert_eq!(payload.split_off(payload.len() - 4), [0, 0, 0xff, 0xff]);
    payload
}

/// Section 7.2.3.
#[test]
fn the_examples_of_the_rfc_are_read() {
    let examples: [(&str, &[u8]); 6] = [
        ("one block", &[0xc1, 7, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 7, 0]),
        ("in fragments", &[0x41, 3, 0xf2, 0x48, 0xcd, 0x80, 4, 0xc9, 0xc9, 7, 0]),
        (
            "a block that is not compressed",
            &[0xc1, 11, 0, 5, 0, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0],
        ),
        ("a last block", &[0xc1, 8, 0xf3, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0]),
        ("two blocks", &[0xc1, 13, 0xf2, 0x48, 5, 0, 0, 0, 0xff, 0xff, 0xca, 0xc9, 0xc9, 7, 0]),
        ("not compressed at all", &[0x81, 5, 0x48, 0x65, 0x6c, 0x6c, 0x6f]),
    ];
    let mut all = Vec::new();
    for (what, bytes) in examples {
        let expected = Messages { messages: texts(&["Hello"]), ..Messages::default() };
        assert_eq!(read(bytes), expected, "{what}");
        all.extend_from_slice(bytes);
    }
    assert_eq!(read(&all).messages, texts(&["Hello"; 6]));
    // Section 7.2.3.6.
    assert_eq!(read(&[0xc1, 1, 0, 0xc2, 1, 0]).messages, [(true, vec![]), (false, vec![])]);
    // A last block whose end is the message's.
    assert_eq!(
        read(&frame(0xc1, &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 7, 0])).messages,
        texts(&["Hello"])
    );
}

/// Section 7.2.3.2: the second message refers to the first.
#[test]
fn a_window_that_was_kept_against_the_agreement_is_seen() {
    let first = frame(0xc1, &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 7, 0]);
    let second = frame(0xc1, &[0xf2, 0, 0x11, 0, 0]);
    let read = read(&[first, second].concat());
    assert_eq!(read.messages, texts(&["Hello"]));
    assert!(read.error.unwrap().contains("malformed"));
}

#[test]
fn control_frames_between_fragments_are_as_they_are() {
    let bytes = [
        frame(0x41, &[0xf2, 0x48]),
        frame(0x89, b"ping"),
        frame(0, &[0xcd]),
        frame(0, &[]),
        frame(0x8a, b"pong"),
        frame(0x80, &[0xc9, 0xc9, 7, 0]),
        frame(0x81, b"plain"),
    ];
    let read = read(&bytes.concat());
    assert_eq!(read, Messages { messages: texts(&["Hello", "plain"]), controls: 2, error: None });
}

#[test]
fn bits_that_may_not_be_there_end_the_connection() {
    let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 7, 0];
    for (what, first, later) in [
        ("a ping", 0xc9, 0),
        ("a close", 0xc8, 0),
        ("a continuation", 0x41, 0xc0),
        ("RSV2", 0xe1, 0),
        ("RSV3", 0xd2, 0),
        ("RSV2 alone", 0xa1, 0),
        ("a continuation of nothing", 0xc0, 0),
        ("a message within a message", 0x41, 0xc1),
        ("an unknown kind", 0xc3, 0),
    ] {
        let read = read(&[frame(first, &hello), frame(later, &[])].concat());
        assert!(read.error.is_some() && read.messages.is_empty(), "{what}: {read:?}");
    }
    let masked = [&[0xc1, 0x80 | 7, 0, 0, 0, 0], &hello[..]].concat();
    assert!(read(&masked).error.is_some());
    // Where nothing was agreed on.
    for bytes in [frame(0xc1, &hello), frame(0xc2, &hello)] {
        let told = read_websocket(&bytes, 5, false).error.unwrap();
        assert!(told.to_ascii_lowercase().contains("reserved bits"), "{told}");
    }
}

#[test]
fn malformed_messages_end_the_connection() {
    let long = payload_of(&b"all work and no play ".repeat(9), 9);
    for (what, payload) in [
        ("no byte at all", &[][..]),
        ("cut short", &[0xf2, 0x48, 0xcd]),
        ("four bytes are missing", &[0, 5, 0, 0xfa, 0xff, 0x48]),
        ("two bytes are missing", &[0, 5, 0, 0xfa, 0xff, 0x48, 0x65, 0x6c]),
        ("the last byte is missing", &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 7]),
        ("the last byte of a last block", &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 7]),
        ("cut in a longer one", &long[..long.len() / 2]),
        ("no kind of block", &[0x06, 0, 0]),
        ("lengths that differ", &[0, 5, 0, 5, 0, 0x48]),
        ("too far back", &[0xf2, 0, 0x11, 0, 0]),
        ("no text", &payload_of(&[0xff, 0xfe], 6)),
    ] {
        for (first, is_refused) in [(0xc1, true), (0xc2, what != "no text")] {
            let read = read(&frame(first, payload));
            assert_eq!(read.error.is_some(), is_refused, "{what}: {read:?}");
            assert_eq!(read.messages.is_empty(), is_refused, "{what}: {read:?}");
        }
    }
}

#[test]
fn what_inflates_beyond_the_limit_is_an_error() {
    let payload = payload_of(&[7; 100_000], 6);
    assert!(payload.len() < 1_000);
    assert_eq!(inflate(&payload, 100_000).unwrap(), [7; 100_000]);
    for bytes_max in [0, 1, 63, 64, 65, 99_999] {
        let told = inflate(&payload, bytes_max).unwrap_err();
        // No more is made than shows that it is too much.
        assert_eq!(told, Malformed::TooLong(bytes_max + 1));
    }
    let mut bomb = payload_of(&vec![0; MESSAGE_BYTES_MAX], 9);
    let largest = read_websocket(&frame(0xc2, &bomb), usize::MAX, true);
    assert_eq!(largest.messages[0].1.len(), MESSAGE_BYTES_MAX);
    // One byte more: a further block, flushed before the first one's end is left out.
    bomb.extend_from_slice(&[0, 0, 0xff, 0xff]);
    bomb.extend_from_slice(&payload_of(b"x", 9));
    let read = read_websocket(&frame(0xc2, &bomb), usize::MAX, true);
    assert!(read.messages.is_empty() && read.error.unwrap().contains("Space limit exceeded"));
}

/// What a socket keeps for compression, besides what was read ahead.
#[test]
fn a_socket_that_rests_holds_no_codec() {
    assert!(size_of::<Option<Marks>>() <= 64, "{}", size_of::<Option<Marks>>());
}

#[test]
fn data_go_out_compressed_and_controls_as_they_are() {
    let (near, mut far) = tokio::io::duplex(1 << 16);
    let mut socket = Socket::new(Box::new(near), Vec::new(), true).now_or_never().unwrap();
    let text = "again and again and again";
    for message in [
        Message::text(text),
        Message::binary(vec![0; 500]),
        Message::text(""),
        Message::Ping(b"ping".to_vec().into()),
        Message::Close(None),
    ] {
        socket.send(message).now_or_never().unwrap().unwrap();
    }
    drop(socket);
    let mut bytes = Vec::new();
    far.read_to_end(&mut bytes).now_or_never().unwrap().unwrap();
    let mut sent = Vec::new();
    while let [first, length, rest @ ..] = &bytes[..] {
        // Masked, and none is long.
        let length = usize::from(length & 127);
        let payload = rest[4..4 + length].iter().zip(rest[..4].iter().cycle());
        sent.push((*first, payload.map(|(byte, mask)| byte ^ mask).collect::<Vec<u8>>()));
        bytes = rest[4 + length..].to_vec();
    }
    let firsts: Vec<u8> = sent.iter().map(|(first, _)| *first).collect();
    assert_eq!(firsts, [0xc1, 0xc2, 0xc1, 0x89, 0x88]);
    assert!(sent[0].1.len() < text.len());
    assert_eq!(inflated_by_another(&sent[0].1), text.as_bytes());
    assert_eq!(inflated_by_another(&sent[1].1), [0; 500]);
    assert_eq!((sent[2].1.as_slice(), sent[3].1.as_slice()), (&[0][..], &b"ping"[..]));
}

fn inflated_by_another(payload: &[u8]) -> Vec<u8> {
    let closed = [payload, &[0, 0, 0xff, 0xff, 1, 0, 0, 0xff, 0xff]].concat();
    let mut message = Vec::new();
    DeflateDecoder::new(&closed[..]).read_to_end(&mut message).unwrap();
    message
}

/// Bytes of any kind, some of which can be compressed.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let word = proptest::collection::vec(any::<u8>(), 1..20);
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..2_000),
        (word, 0..500_usize).prop_map(|(word, times)| word.repeat(times)),
        "[a-zä€😀]{0,300}".prop_map(String::into_bytes),
    ]
}

/// How a server sends a message: how well compressed, if at all, and in frames of how many bytes.
fn sending() -> impl Strategy<Value = (Option<u32>, usize)> {
    (proptest::option::of(0..10_u32), prop_oneof![1..50_usize, Just(usize::MAX)])
}

fn frames(is_text: bool, content: &[u8], level: Option<u32>, frame_bytes: usize) -> Vec<u8> {
    let kind = if is_text { 1 } else { 2 };
    let mark = if level.is_some() { 0x40 } else { 0 };
    let payload = level.map_or_else(|| content.to_vec(), |level| payload_of(content, level));
    let count = payload.len().div_ceil(frame_bytes).max(1);
    let mut bytes = Vec::new();
    for at in 0..count {
        let first = if at == 0 { kind | mark } else { 0 };
        let last = if at + 1 == count { 0x80 } else { 0 };
        let begin = at * frame_bytes.min(payload.len());
        let end = begin.saturating_add(frame_bytes).min(payload.len());
        bytes.extend(frame(first | last, &payload[begin..end]));
        if last == 0 {
            bytes.extend(frame(0x89, b""));
        }
    }
    bytes
}

proptest! {
    #[test]
    fn messages_come_as_they_went_however_they_are_sent(
        sent in proptest::collection::vec((content(), sending()), 0..6),
        portion in 1..300_usize,
    ) {
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        for (content, (level, frame_bytes)) in sent {
            let is_text = std::str::from_utf8(&content).is_ok();
            bytes.extend(frames(is_text, &content, level, frame_bytes));
            expected.push((is_text, content));
        }
        let read = read_websocket(&bytes, portion, true);
        prop_assert_eq!((read.messages, read.error), (expected, None));
    }

    #[test]
    fn what_is_deflated_is_inflated_by_others_and_by_us(content in content()) {
        let payload = deflate(&content);
        prop_assert_eq!(&inflated_by_another(&payload), &content);
        prop_assert_eq!(inflate(&payload, content.len()), Ok(content));
    }

    #[test]
    fn any_bytes_are_read_alike_however_they_are_cut(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        first in prop_oneof![Just(0xc1_u8), Just(0x41), Just(0xc2)],
        portion in 1..50_usize,
    ) {
        for bytes in [&bytes, &frame(first, &bytes)] {
            let whole = read_websocket(bytes, usize::MAX, true);
            prop_assert_eq!(read_websocket(bytes, portion, true), whole);
        }
    }
}
