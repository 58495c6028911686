//! NATS's client protocol: frames out of bytes, and bytes of what a client says.
//!
//! <https://docs.nats.io/reference/reference-protocols/nats-protocol>. Nothing here does I/O. A
//! frame is read where it lies: its parts are ranges of the bytes it was found in.

use std::io::Write as _;
use std::ops::Range;

/// Longest line that a server may send; its greeting grows with the size of its cluster.
const LINE_MAX: usize = 1 << 20;
/// Most bytes of headers and payload in one message: the most that any server can be set to.
pub(crate) const MESSAGE_MAX: usize = 64 << 20;

/// One frame, as places in the bytes that it was found in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// What the server says of itself: JSON.
    Info(Range<usize>),
    /// A message of one of our subscriptions.
    Message(Place),
    /// The server asks whether we live.
    Ping,
    /// The answer to our own question; all that we said before it has been looked at.
    Pong,
    /// A line was understood (only servers asked to be verbose say so).
    Understood,
    /// The server's complaint, without its quotes.
    Complaint(Range<usize>),
}

/// Where the parts of a message lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where the frame begins.
    pub(crate) begin: usize,
    /// Number of the subscription.
    pub(crate) sid: u64,
    /// Its subject.
    pub(crate) subject: Range<usize>,
    /// Where an answer is expected.
    pub(crate) reply: Option<Range<usize>>,
    /// The block of headers, its first line included; empty where there is none.
    pub(crate) headers: Range<usize>,
    /// The payload.
    pub(crate) payload: Range<usize>,
}

/// What is no NATS at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// What the bytes begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A whole frame of this many bytes.
    Whole(Frame, usize),
    /// The beginning of one: at least this many bytes are needed in all.
    Needs(usize),
}

/// Reads the frame that begins at `at`.
pub(crate) fn parse(bytes: &[u8], at: usize) -> Result<Parsed, Malformed> {
    let rest = bytes.get(at..).unwrap_or_default();
    let Some(end) = memchr::memchr(b'\n', rest) else {
        return match rest.len() {
            0..=LINE_MAX => Ok(Parsed::Needs(rest.len() + 1)),
            _ => Err(Malformed("a line without an end")),
        };
    };
    let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
    let word_end = line.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    let (word, after) = line.split_at(word_end);
    let arguments = at + word_end..at + line.len();
    let whole = |frame| Ok(Parsed::Whole(frame, end + 1));
    let is = |known: &[u8]| word.eq_ignore_ascii_case(known);
    match word {
        b"MSG" | b"msg" => message(bytes, at, arguments, end + 1, false),
        b"HMSG" | b"hmsg" => message(bytes, at, arguments, end + 1, true),
        _ if is(b"MSG") => message(bytes, at, arguments, end + 1, false),
        _ if is(b"HMSG") => message(bytes, at, arguments, end + 1, true),
        _ if is(b"PING") => whole(Frame::Ping),
        _ if is(b"PONG") => whole(Frame::Pong),
        _ if is(b"+OK") => whole(Frame::Understood),
        _ if is(b"INFO") => whole(Frame::Info(trimmed(bytes, arguments))),
        _ if is(b"-ERR") => {
            let text = trimmed(bytes, arguments);
            let quoted = after.trim_ascii().len() >= 2
                && after.trim_ascii().starts_with(b"'")
                && after.trim_ascii().ends_with(b"'");
            whole(Frame::Complaint(match quoted {
                true => text.start + 1..text.end - 1,
                false => text,
            }))
        }
        _ => Err(Malformed("a line that is none of NATS's")),
    }
}

/// `MSG subject sid [reply] bytes` or `HMSG subject sid [reply] header-bytes bytes`, whose line has
/// `line` bytes.
fn message(
    bytes: &[u8],
    at: usize,
    arguments: Range<usize>,
    line: usize,
    with_headers: bool,
) -> Result<Parsed, Malformed> {
    let mut words: [Range<usize>; 5] = std::array::from_fn(|_| 0..0);
    let mut count = 0;
    let mut from = arguments.start;
    while from < arguments.end {
        if matches!(bytes[from], b' ' | b'\t') {
            from += 1;
            continue;
        }
        let to = bytes[from..arguments.end]
            .iter()
            .position(|byte| matches!(byte, b' ' | b'\t'))
            .map_or(arguments.end, |length| from + length);
        *words.get_mut(count).ok_or(Malformed("a message with too many arguments"))? = from..to;
        count += 1;
        from = to;
    }
    let sizes = if with_headers { 2 } else { 1 };
    let reply = match count.checked_sub(2 + sizes) {
        Some(0) => None,
        Some(1) => Some(words[2].clone()),
        _ => return Err(Malformed("a message with too few arguments")),
    };
    let sid = number(&bytes[words[1].clone()])?;
    let total = size(&bytes[words[count - 1].clone()])?;
    let headers = if with_headers { size(&bytes[words[count - 2].clone()])? } else { 0 };
    if headers > total {
        return Err(Malformed("a message whose headers are longer than itself"));
    }
    for name in [Some(&words[0]), reply.as_ref()].into_iter().flatten() {
        if std::str::from_utf8(&bytes[name.clone()]).is_err() {
            return Err(Malformed("a subject that is not UTF-8"));
        }
    }
    let length = line + total + 2;
    let body = at + line;
    let Some(end) = bytes.get(body + total..body + total + 2) else {
        return Ok(Parsed::Needs(length));
    };
    if end != b"\r\n" {
        return Err(Malformed("a message that does not end where it says"));
    }
    let place = Place {
        begin: at,
        sid,
        subject: words[0].clone(),
        reply,
        headers: body..body + headers,
        payload: body + headers..body + total,
    };
    Ok(Parsed::Whole(Frame::Message(place), length))
}

fn number(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Malformed("a number that is none"));
    }
    // Eighteen digits fit.
    Ok(digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

fn size(digits: &[u8]) -> Result<usize, Malformed> {
    match usize::try_from(number(digits)?) {
        Ok(size) if size <= MESSAGE_MAX => Ok(size),
        _ => Err(Malformed("a message of more than 64 MiB")),
    }
}

fn trimmed(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let text = &bytes[range.clone()];
    let start = range.start + (text.len() - text.trim_ascii_start().len());
    start..start + text.trim_ascii().len()
}

/// Asks for messages of a subject, alone or in turn with the others of `queue`.
pub(crate) fn subscribe(out: &mut Vec<u8>, subject: &str, queue: Option<&str>, sid: u64) {
    match queue {
        Some(queue) => append(out, format_args!("SUB {subject} {queue} {sid}\r\n")),
        None => append(out, format_args!("SUB {subject} {sid}\r\n")),
    }
}

/// Publishes. Subjects and headers are known to be sound ([`crate::subject`], [`crate::headers`]).
pub(crate) fn publish(
    out: &mut Vec<u8>,
    subject: &str,
    reply: Option<&str>,
    headers: &[u8],
    payload: &[u8],
) {
    let (space, reply) = if reply.is_some() { (" ", reply.unwrap_or("")) } else { ("", "") };
    let total = headers.len() + payload.len();
    match headers.len() {
        0 => append(out, format_args!("PUB {subject}{space}{reply} {total}\r\n")),
        length => append(out, format_args!("HPUB {subject}{space}{reply} {length} {total}\r\n")),
    }
    out.extend_from_slice(headers);
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
}

fn append(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _written = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A frame in words, with its parts as text.
    fn shown(bytes: &[u8], frame: &Frame) -> String {
        let text = |range: &Range<usize>| String::from_utf8_lossy(&bytes[range.clone()]);
        match frame {
            Frame::Info(json) => format!("info {}", text(json)),
            Frame::Message(place) => format!(
                "message {} {} {:?} {:?} {:?}",
                text(&place.subject),
                place.sid,
                place.reply.as_ref().map(text),
                text(&place.headers),
                text(&place.payload)
            ),
            Frame::Complaint(words) => format!("complaint {}", text(words)),
            other => format!("{other:?}"),
        }
    }

    fn all(bytes: &[u8]) -> Result<Vec<String>, Malformed> {
        let (mut at, mut frames) = (0, Vec::new());
        while let Parsed::Whole(frame, length) = parse(bytes, at)? {
            frames.push(shown(bytes, &frame));
            at += length;
        }
        Ok(frames)
    }

    const STREAM: &[u8] = b"INFO {\"a\":1} \r\nMSG a.b 7 2\r\nhi\r\n\
        HMSG a 8 _INBOX.1 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPING\r\npong\r\n+OK\r\n\
        -ERR 'Authorization Violation'\r\nMSG  x\t9 r 0\r\n\r\n-ERR plain\n";

    #[test]
    fn frames_are_read_whole_and_in_order() {
        assert_eq!(
            all(STREAM).unwrap(),
            [
                "info {\"a\":1}",
                "message a.b 7 None \"\" \"hi\"",
                "message a 8 Some(\"_INBOX.1\") \"NATS/1.0\\r\\n\\r\\n\" \"hi\"",
                "Ping",
                "Pong",
                "Understood",
                "complaint Authorization Violation",
                "message x 9 Some(\"r\") \"\" \"\"",
                "complaint plain",
            ]
        );
    }

    #[test]
    fn split_at_every_byte_nothing_changes() {
        let whole = all(STREAM).unwrap();
        for cut in 0..STREAM.len() {
            let begun = all(&STREAM[..cut]).unwrap();
            assert_eq!(begun, whole[..begun.len()], "cut at {cut}");
        }
    }

    #[test]
    fn absurd_lines_are_refused() {
        for line in [
            "HELLO\r\n",
            "MSG a 1\r\n",
            "MSG a 1 r 2 3 4\r\n",
            "MSG a x 2\r\nhi\r\n",
            "MSG a 1 -2\r\n",
            "MSG a 1 99999999999999999999999\r\n",
            "MSG a 1 67108865\r\n",
            "HMSG a 1 5 2\r\nhi\r\n",
            "MSG a 1 2\r\nhi!\r\n",
            "\r\n",
        ] {
            assert!(parse(line.as_bytes(), 0).is_err(), "{line}");
        }
        assert!(parse(&vec![b'x'; LINE_MAX + 1], 0).is_err());
        assert!(parse(b"MSG a\xff 1 0\r\n\r\n", 0).is_err());
        assert_eq!(parse(b"MSG a 1 10\r\n", 0), Ok(Parsed::Needs(24)));
    }

    proptest! {
        #[test]
        fn whatever_comes_ranges_stay_inside(bytes: Vec<u8>, place in 0..200_usize, byte: u8) {
            let mut mutated = STREAM.to_vec();
            let length = mutated.len();
            mutated[place % length] = byte;
            for bytes in [bytes, mutated] {
                let mut at = 0;
                while let Ok(Parsed::Whole(frame, length)) = parse(&bytes, at) {
                    prop_assert!(length > 0 && at + length <= bytes.len());
                    shown(&bytes, &frame);
                    at += length;
                }
            }
        }

        #[test]
        fn what_is_published_is_read_back(
            subject in "[a-z]{1,5}(\\.[a-z]{1,5}){0,3}",
            reply in proptest::option::of("[a-z]{1,9}"),
            payload: Vec<u8>,
        ) {
            let mut out = Vec::new();
            publish(&mut out, &subject, reply.as_deref(), b"", &payload);
            // A server's MSG differs by the number of the subscription.
            let text = String::from_utf8_lossy(&out[..out.len() - payload.len() - 2]).into_owned();
            let line = text.replacen("PUB ", "MSG ", 1)
                .replacen(&format!("MSG {subject}"), &format!("MSG {subject} 3"), 1);
            let mut bytes = line.into_bytes();
            bytes.extend_from_slice(&payload);
            bytes.extend_from_slice(b"\r\n");
            let Ok(Parsed::Whole(Frame::Message(place), length)) = parse(&bytes, 0) else {
                return Err(TestCaseError::fail("no message"));
            };
            prop_assert_eq!(length, bytes.len());
            prop_assert_eq!(&bytes[place.subject], subject.as_bytes());
            prop_assert_eq!(&bytes[place.payload], payload.as_slice());
            prop_assert_eq!(place.reply.map(|range| bytes[range].to_vec()),
                reply.map(String::into_bytes));
        }
    }
}
