//! The parser against whole-buffer parses, splits at every byte and garbage.

use proptest::prelude::*;

use super::*;

/// An answer as its pieces joined.
#[derive(Debug, Default, PartialEq, Eq)]
struct Joined {
    head: Option<Head>,
    head_bytes: Vec<u8>,
    body: Vec<u8>,
    left: usize,
}

/// Feeds the portions one after the other, then the end of the connection.
fn parse<'a>(
    portions: impl IntoIterator<Item = &'a [u8]>,
    head_only: bool,
) -> Result<Joined, CodecError> {
    let mut parser = ResponseParser::new(head_only, true);
    let mut known = KnownHeads::default();
    let mut joined = Joined::default();
    let mut done = false;
    for portion in portions {
        let mut input = portion;
        while !done {
            match parser.next(&mut input, &mut known)? {
                Piece::Body(bytes) => joined.body.extend_from_slice(bytes),
                Piece::Done => done = true,
                Piece::Head(head) => joined.head = Some(head),
                Piece::More => break,
            }
        }
        joined.left += input.len();
    }
    if !done {
        parser.end()?;
    }
    joined.head_bytes = parser.take_head();
    Ok(joined)
}

const ANSWERS: &[&str] = &[
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: x\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 408 Late\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 201 \r\n\
     Content-Length: 1\r\n\r\n.",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n5;x\r\npedia\r\n0\r\n\
     A: b\r\n\r\nrest",
    "HTTP/1.0 200 OK\r\n\r\nuntil the end",
    "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nxxxxx",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\nraw",
    "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\ntoo short",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwikipedia",
    "HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
    "HTTP/2 200\r\n\r\n",
    "HTTP/1.1 2x0 OK\r\n\r\n",
    "SSH-2.0-OpenSSH\r\n",
    "HTTP/1.1 200 OK\r\nHalf: a head",
    "HTTP/1.1 200 OK\r\nnul\0: a head",
    "",
];

#[test]
fn split_at_every_byte_gives_the_same() {
    for text in ANSWERS {
        let whole = parse([text.as_bytes()], false);
        for at in 0..text.len() {
            let (first, second) = text.as_bytes().split_at(at);
            assert_eq!(parse([first, second], false), whole, "{text:?} at {at}");
        }
        assert_eq!(parse(text.as_bytes().chunks(1), false), whole, "{text:?}");
    }
}

#[test]
fn known_answers() {
    let joined = parse([ANSWERS[3].as_bytes()], false).expect("valid");
    assert_eq!(joined.head.expect("head").status, 201);
    assert_eq!(joined.body, b".");
    assert!(joined.head_bytes.starts_with(b"HTTP/1.1 201 "));

    let joined = parse([ANSWERS[4].as_bytes()], false).expect("valid");
    assert_eq!((joined.body.as_slice(), joined.left), (b"wikipedia".as_slice(), 4));

    let joined = parse([ANSWERS[0].as_bytes()], true).expect("valid");
    assert_eq!((joined.body.len(), joined.left), (0, 5));

    assert_eq!(parse([ANSWERS[8].as_bytes()], false), Err(CodecError::Ended("the body")));
    assert_eq!(parse([ANSWERS[12].as_bytes()], false), Err(CodecError::NotHttp));
}

#[test]
fn heads_above_the_bound_are_refused() {
    let check = |filler: usize, fits: bool| {
        let start = "HTTP/1.1 204 OK\r\na: ";
        let text = format!("{start}{}\r\n\r\n", "x".repeat(filler - start.len() - 4));
        assert_eq!(text.len(), filler);
        for portion in [1_460, 65_536, 1 << 20] {
            let parsed = parse(text.as_bytes().chunks(portion), false);
            assert_eq!(parsed.is_ok(), fits, "{filler} by {portion}: {parsed:?}");
        }
    };
    check(HEAD_BYTES_MAX, true);
    check(HEAD_BYTES_MAX + 1, false);
    check(4 * HEAD_BYTES_MAX, false);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(200));
    assert!(parse([many.as_bytes()], false).is_err());
}

/// Something between an answer and noise.
fn nearly_an_answer() -> impl Strategy<Value = Vec<u8>> {
    let fragment = prop_oneof![
        Just("HTTP/1.1 200 OK\r\n".to_owned()),
        Just("HTTP/1.0 404 No\r\n".to_owned()),
        Just("HTTP/1.1 100 Continue\r\n\r\n".to_owned()),
        Just("Transfer-Encoding: chunked\r\n".to_owned()),
        Just("Connection: close\r\n".to_owned()),
        (0_u64..20).prop_map(|length| format!("Content-Length: {length}\r\n")),
        Just("\r\n".to_owned()),
        Just("\n".to_owned()),
        (0_u8..20).prop_map(|size| format!("{size:x}\r\n{}\r\n", "b".repeat(usize::from(size)))),
        Just("0\r\n\r\n".to_owned()),
        "[ -~]{0,12}",
    ];
    let noise = proptest::collection::vec(any::<u8>(), 0..12);
    let piece = prop_oneof![
        8 => fragment.prop_map(String::into_bytes),
        1 => noise,
    ];
    (any::<bool>(), proptest::collection::vec(piece, 0..12)).prop_map(|(starts_well, pieces)| {
        let mut bytes = Vec::new();
        if starts_well {
            bytes.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
        }
        bytes.extend(pieces.concat());
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn however_split_the_answer_is_the_same(
        bytes in nearly_an_answer(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
        head_only in any::<bool>(),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let mut portions = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([bytes.len()]) {
            portions.push(&bytes[from..cut]);
            from = cut;
        }
        prop_assert_eq!(parse(portions, head_only), parse([bytes.as_slice()], head_only));
    }

    #[test]
    fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        parse([bytes.as_slice()], false).ok();
        let mut headed = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        headed.extend(bytes);
        parse([headed.as_slice()], false).ok();
    }
}
