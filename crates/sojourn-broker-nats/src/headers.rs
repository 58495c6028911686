//! NATS's headers: a line with the version and perhaps a status, then `Name: value` lines.

const VERSION: &[u8] = b"NATS/1.0";

/// The header that JetStream tells repetitions by.
pub(crate) const MESSAGE_ID: &str = "Nats-Msg-Id";

/// The header that carries a message's key: NATS itself has none.
pub(crate) const KEY: &str = "sojourn-key";

/// A status that the server itself puts into the headers' first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status<'a> {
    /// 100 idle or flow control, 404 no messages, 408 timed out, 409 conflict, 503 nobody there.
    pub(crate) code: u16,
    /// In the server's words.
    pub(crate) words: &'a str,
}

/// The status of a block of headers, where it has one.
pub(crate) fn status(block: &[u8]) -> Option<Status<'_>> {
    let line = lines(block).next()?.strip_prefix(VERSION)?.trim_ascii();
    let text = std::str::from_utf8(line).ok()?;
    let (code, words) = text.split_once(' ').unwrap_or((text, ""));
    Some(Status { code: code.parse().ok()?, words: words.trim() })
}

/// Names and values in order. Names that are not UTF-8 are left out, since no plan could name them.
pub(crate) fn fields(block: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
    lines(block).skip(1).filter_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        let name = std::str::from_utf8(&line[..colon]).ok()?.trim();
        (!name.is_empty()).then(|| (name, line[colon + 1..].trim_ascii()))
    })
}

/// The first value of a name, whatever its case.
pub(crate) fn field<'b>(block: &'b [u8], name: &str) -> Option<&'b [u8]> {
    fields(block).find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    block.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Appends a block of these headers; errs when one of them cannot be written so.
pub(crate) fn write(
    out: &mut Vec<u8>,
    key: Option<&[u8]>,
    headers: &[(&str, &[u8])],
) -> Result<(), &'static str> {
    if key.is_none() && headers.is_empty() {
        return Ok(());
    }
    out.extend_from_slice(VERSION);
    out.extend_from_slice(b"\r\n");
    for (name, value) in key.map(|key| (KEY, key)).iter().chain(headers) {
        let plain = |byte: u8| byte.is_ascii_graphic() && byte != b':';
        if name.is_empty() || !name.bytes().all(plain) {
            return Err("a header's name that NATS cannot carry (visible ASCII without colons)");
        }
        if value.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
            return Err("a header with a line break, which NATS cannot carry");
        }
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn statuses_of_the_server() {
        let status = |block: &'static str| status(block.as_bytes()).map(|s| (s.code, s.words));
        assert_eq!(status("NATS/1.0 503\r\n\r\n"), Some((503, "")));
        assert_eq!(
            status("NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 4\r\n\r\n"),
            Some((100, "Idle Heartbeat"))
        );
        assert_eq!(status("NATS/1.0\r\na: b\r\n\r\n"), None);
        assert_eq!(status("HTTP/1.1 200\r\n\r\n"), None);
        assert_eq!(status(""), None);
    }

    #[test]
    fn fields_keep_their_order_and_case() {
        let block = b"NATS/1.0\r\nB: 1\r\na:2\r\nb:  3 \r\nno colon\r\n: x\r\nurl: a:b\r\n\r\n";
        let found: Vec<_> = fields(block).collect();
        let expect: [(&str, &[u8]); 4] = [("B", b"1"), ("a", b"2"), ("b", b"3"), ("url", b"a:b")];
        assert_eq!(found, expect);
        assert_eq!(field(block, "A"), Some(&b"2"[..]));
        assert_eq!(field(block, "b"), Some(&b"1"[..]));
    }

    #[test]
    fn what_would_break_the_block_is_refused() {
        for (name, value) in [("", "x"), ("a b", "x"), ("a:", "x"), ("a", "x\r\nb: y"), ("ä", "x")]
        {
            let headers: [(&str, &[u8]); 1] = [(name, value.as_bytes())];
            assert!(write(&mut Vec::new(), None, &headers).is_err(), "{name} {value}");
        }
        assert!(write(&mut Vec::new(), Some(b"a\nb"), &[]).is_err());
        let mut out = Vec::new();
        write(&mut out, None, &[]).unwrap();
        assert!(out.is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(block: Vec<u8>) {
            status(&block);
            fields(&block).count();
        }

        #[test]
        fn what_is_written_is_read_back(
            written in proptest::collection::vec(("[!-9;-~]{1,8}", "[!-~]{0,9}"), 1..5),
        ) {
            let headers: Vec<_> =
                written.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
            let mut out = Vec::new();
            write(&mut out, None, &headers).unwrap();
            prop_assert_eq!(fields(&out).collect::<Vec<_>>(), headers);
            prop_assert_eq!(status(&out), None);
        }
    }
}
