//! A rendered request as a header block.
//!
//! Requests come as HTTP/1.1 messages whatever the protocol: which one a TLS connection speaks is
//! known only after its handshake, and a request may be sent again on a connection that speaks the
//! other. So the message is turned into a block when it is sent, once per distinct head: the last
//! ones are remembered, and a load of literal requests is compared, not parsed. Where a head
//! differs from one of them in a header's value only, such as a sequence number or a token, that
//! field is written anew and the others are copied.

use super::hpack::write_field;
use crate::codec::{Chunked, ChunkedPiece};

/// Heads remembered: the steps of a journey or two.
const REMEMBERED_MAX: usize = 8;

/// Longer heads are not worth remembering.
const REMEMBERED_BYTES_MAX: usize = 8 * 1024;

/// Header blocks of the last requests.
#[derive(Debug, Default)]
pub(crate) struct RequestBlocks {
    remembered: Vec<Remembered>,
    /// The one to replace next.
    oldest: usize,
    /// For a head that is not remembered.
    encoded: Encoded,
    /// A header's name.
    lower_case: Vec<u8>,
}

#[derive(Debug, Default)]
struct Remembered {
    /// To the empty line, inclusive: no other message begins so.
    head: Vec<u8>,
    is_tls: bool,
    is_chunked: bool,
    encoded: Encoded,
}

/// A head's block, and where in it are the headers whose values say nothing about the message's
/// form.
#[derive(Debug, Default)]
struct Encoded {
    block: Vec<u8>,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    /// Where its line begins in the head, and ends with its line end.
    line: (usize, usize),
    /// Of the line's beginning.
    name_length: usize,
    /// Where it is in the block.
    written: (usize, usize),
}

/// How a message resembles a head that is remembered.
#[derive(Debug)]
enum Alike<'m> {
    /// It begins with it.
    Whole,
    /// It does but for this field's line.
    But { field: Field, line: &'m [u8] },
}

/// A message's head in the form of HTTP/2.
#[derive(Debug)]
pub(crate) struct RequestBlock<'b> {
    pub(crate) block: &'b [u8],
    /// Of the message: what follows is the body.
    pub(crate) head_length: usize,
    /// The body is framed in chunks, which HTTP/2 does not know.
    pub(crate) is_chunked: bool,
}

/// Why a message can't go over HTTP/2; the fragment reads after "the request ".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnfitRequest(pub(crate) &'static str);

impl RequestBlocks {
    /// The header block of a message.
    pub(crate) fn block(
        &mut self,
        message: &[u8],
        is_tls: bool,
    ) -> Result<RequestBlock<'_>, UnfitRequest> {
        let mut known = self.remembered.iter().enumerate().filter(|(_, it)| it.is_tls == is_tls);
        match known.find_map(|(place, known)| Some((place, known.resembles(message)?))) {
            Some((place, Alike::Whole)) => {
                let Remembered { head, encoded, is_chunked, .. } = &self.remembered[place];
                let head_length = head.len();
                Ok(RequestBlock { block: &encoded.block, head_length, is_chunked: *is_chunked })
            }
            Some((place, Alike::But { field, line })) => {
                let Remembered { head, encoded, is_chunked, .. } = &self.remembered[place];
                let block = &mut self.encoded.block;
                block.clear();
                block.extend_from_slice(&encoded.block[..field.written.0]);
                write_header(line, field.name_length, &mut self.lower_case, block);
                block.extend_from_slice(&encoded.block[field.written.1..]);
                let head_length = head.len() - (field.line.1 - field.line.0) + line.len();
                Ok(RequestBlock { block, head_length, is_chunked: *is_chunked })
            }
            None => self.new_block(message, is_tls),
        }
    }

    fn new_block(
        &mut self,
        message: &[u8],
        is_tls: bool,
    ) -> Result<RequestBlock<'_>, UnfitRequest> {
        let (head_length, is_chunked) =
            write_block(message, is_tls, &mut self.lower_case, &mut self.encoded)?;
        if head_length <= REMEMBERED_BYTES_MAX {
            self.remember(&message[..head_length], is_tls, is_chunked);
        }
        Ok(RequestBlock { block: &self.encoded.block, head_length, is_chunked })
    }

    fn remember(&mut self, head: &[u8], is_tls: bool, is_chunked: bool) {
        let place = self.oldest;
        self.oldest = (self.oldest + 1) % REMEMBERED_MAX;
        if place == self.remembered.len() {
            self.remembered.push(Remembered::default());
        }
        // Its buffers are used again.
        let known = &mut self.remembered[place];
        known.head.clear();
        known.head.extend_from_slice(head);
        (known.is_tls, known.is_chunked) = (is_tls, is_chunked);
        known.encoded.block.clone_from(&self.encoded.block);
        known.encoded.fields.clone_from(&self.encoded.fields);
    }
}

impl Remembered {
    fn resembles<'m>(&self, message: &'m [u8]) -> Option<Alike<'m>> {
        let same = same_bytes(&self.head, message);
        if same == self.head.len() {
            return Some(Alike::Whole);
        }
        let mut fields = self.encoded.fields.iter();
        let field = *fields.find(|field| (field.line.0..field.line.1).contains(&same))?;
        let (start, end) = field.line;
        // The name and its colon are the same.
        if same - start <= field.name_length {
            return None;
        }
        let rest = &message[start..];
        let length = rest.iter().position(|byte| *byte == b'\n')? + 1;
        let (line, rest) = rest.split_at(length);
        let is_alike = line.ends_with(b"\r\n") && rest.starts_with(&self.head[end..]);
        is_alike.then_some(Alike::But { field, line })
    }
}

/// Appends the field of a line whose name has this length.
fn write_header(line: &[u8], name_length: usize, lower_case: &mut Vec<u8>, out: &mut Vec<u8>) {
    let (name, value) = (&line[..name_length], line[name_length + 1..].trim_ascii());
    write_field(lower_cased(name, lower_case), value, out);
}

fn lower_cased<'b>(name: &[u8], buffer: &'b mut Vec<u8>) -> &'b [u8] {
    buffer.clear();
    buffer.extend(name.iter().map(u8::to_ascii_lowercase));
    buffer
}

/// How many bytes both begin with.
fn same_bytes(one: &[u8], other: &[u8]) -> usize {
    const AT_ONCE: usize = 16;
    let chunks = one.chunks_exact(AT_ONCE).zip(other.chunks_exact(AT_ONCE));
    let whole = chunks.take_while(|(one, other)| one == other).count() * AT_ONCE;
    let rest = one[whole..].iter().zip(&other[whole..]);
    whole + rest.take_while(|(one, other)| one == other).count()
}

/// Appends the plain body that a chunked message frames, from the end of its head on.
pub(crate) fn unframe(message: &mut Vec<u8>, head_length: usize) -> Result<(), UnfitRequest> {
    const BROKEN: UnfitRequest =
        UnfitRequest("has a body that is not framed as its Transfer-Encoding header says");
    let mut chunked = Chunked::default();
    let mut plain = Vec::new();
    let mut input = &message[head_length..];
    loop {
        match chunked.next(&mut input).map_err(|_| BROKEN)? {
            ChunkedPiece::Body(piece) => plain.extend_from_slice(piece),
            ChunkedPiece::Done if input.is_empty() => break,
            ChunkedPiece::Done | ChunkedPiece::More => return Err(BROKEN),
        }
    }
    message.extend_from_slice(&plain);
    Ok(())
}

/// Encodes a message's head; says how long the head is, and whether the body is in chunks.
fn write_block(
    message: &[u8],
    is_tls: bool,
    lower_case: &mut Vec<u8>,
    encoded: &mut Encoded,
) -> Result<(usize, bool), UnfitRequest> {
    const BROKEN: UnfitRequest = UnfitRequest("is not a whole HTTP/1.1 message");
    let Encoded { block: out, fields } = encoded;
    out.clear();
    fields.clear();
    let mut lines = Lines { rest: message };
    let request_line = lines.next().ok_or(BROKEN)?;
    let mut words = request_line.split(|byte| *byte == b' ');
    let (method, path) = (words.next().ok_or(BROKEN)?, words.next().ok_or(BROKEN)?);
    if words.next() != Some(b"HTTP/1.1") || words.next().is_some() {
        return Err(BROKEN);
    }
    let head = lines.rest;
    // Pseudo-headers come first, so Host is looked for before the others are written.
    let host = loop {
        let line = lines.next().ok_or(BROKEN)?;
        if line.is_empty() {
            return Err(UnfitRequest("has no Host header"));
        }
        let (name, value) = split_header(line).ok_or(BROKEN)?;
        if name.eq_ignore_ascii_case(b"host") {
            break value;
        }
    };
    write_field(b":method", method, out);
    write_field(b":scheme", if is_tls { b"https" } else { b"http" }, out);
    write_field(b":authority", host, out);
    write_field(b":path", path, out);
    lines.rest = head;
    let mut is_chunked = false;
    loop {
        let line_start = message.len() - lines.rest.len();
        let line = lines.next().ok_or(BROKEN)?;
        if line.is_empty() {
            return Ok((message.len() - lines.rest.len(), is_chunked));
        }
        let (name, value) = split_header(line).ok_or(BROKEN)?;
        match lower_cased(name, lower_case) {
            // About the connection, which is another matter in HTTP/2 (RFC 9113 §8.2.2).
            b"host" | b"connection" | b"keep-alive" | b"proxy-connection" | b"upgrade"
            | b"http2-settings" => {}
            b"te" if !value.eq_ignore_ascii_case(b"trailers") => {}
            b"transfer-encoding" if value.eq_ignore_ascii_case(b"chunked") => is_chunked = true,
            b"transfer-encoding" => {
                return Err(UnfitRequest(
                    "has a Transfer-Encoding header other than chunked, which HTTP/2 does not \
                     know: leave it out",
                ));
            }
            b"te" => write_field(b"te", value, out),
            name => {
                let start = out.len();
                write_field(name, value, out);
                let line = (line_start, message.len() - lines.rest.len());
                let written = (start, out.len());
                fields.push(Field { line, name_length: name.len(), written });
            }
        }
    }
}

/// Lines up to their end of carriage return and line feed.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|byte| *byte == b'\n')?;
        let (line, rest) = self.rest.split_at(end + 1);
        self.rest = rest;
        line.strip_suffix(b"\r\n")
    }
}

fn split_header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((&line[..colon], line[colon + 1..].trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::h2::hpack::{Decoder, Fields};

    struct Text(String);

    impl Fields for Text {
        fn wants(&mut self, _name: &[u8]) -> bool {
            true
        }

        fn field(&mut self, name: &[u8], value: &[u8]) {
            let line = [name, b": ", value, b"\n"].concat();
            self.0.push_str(std::str::from_utf8(&line).expect("text"));
        }

        fn too_long(&mut self) {}
    }

    fn fields(blocks: &mut RequestBlocks, message: &str) -> Result<(String, usize), UnfitRequest> {
        let RequestBlock { block, head_length, .. } = blocks.block(message.as_bytes(), false)?;
        let mut text = Text(String::new());
        Decoder::new().decode(block, 1 << 16, &mut text).expect("a valid block");
        Ok((text.0, head_length))
    }

    const POST: &str = "POST /a?b HTTP/1.1\r\nX-Id: 7\r\nHost: h:1\r\nConnection: close\r\n\
                        TE: trailers\r\nContent-Length: 4\r\n\r\nbody";

    #[test]
    fn messages_become_blocks_and_are_remembered() {
        let mut blocks = RequestBlocks::default();
        let expected = ":method: POST\n:scheme: http\n:authority: h:1\n:path: /a?b\nx-id: 7\n\
                        te: trailers\ncontent-length: 4\n";
        for _ in 0..2 {
            let read = fields(&mut blocks, POST);
            assert_eq!(read, Ok((expected.to_owned(), POST.len() - 4)));
            assert_eq!(blocks.remembered.len(), 1);
        }
        let other_body = POST.replace("body", "BODY");
        assert_eq!(fields(&mut blocks, &other_body), Ok((expected.to_owned(), POST.len() - 4)));
        assert_eq!(blocks.remembered.len(), 1);
        let secure = blocks.block(POST.as_bytes(), true).expect("valid").block.to_vec();
        assert_ne!(secure, blocks.block(POST.as_bytes(), false).expect("valid").block);
    }

    #[test]
    fn what_is_remembered_is_bounded_and_right() {
        let mut blocks = RequestBlocks::default();
        for round in 0..3 {
            for number in 0..20 {
                let message = format!("GET /{number} HTTP/1.1\r\nHost: h\r\n\r\n");
                let (text, length) = fields(&mut blocks, &message).expect("valid");
                assert!(text.ends_with(&format!(":path: /{number}\n")), "{round}: {text}");
                assert_eq!(length, message.len());
            }
        }
        assert_eq!(blocks.remembered.len(), REMEMBERED_MAX);
    }

    #[test]
    fn a_field_that_differs_is_written_anew() {
        let mut blocks = RequestBlocks::default();
        let expected = |id: &str, length: usize| {
            format!(
                ":method: POST\n:scheme: http\n:authority: h:1\n:path: /a?b\nx-id: {id}\n\
                 te: trailers\ncontent-length: {length}\n"
            )
        };
        for id in ["7", "8", "12345", "", "  9 ", "7"] {
            let message = POST.replace("X-Id: 7", &format!("X-Id: {id}"));
            let whole = Ok((expected(id.trim(), 4), message.len() - 4));
            assert_eq!(fields(&mut blocks, &message), whole);
        }
        let longer = POST.replace("4\r\n\r\nbody", "11\r\n\r\nlonger body");
        assert_eq!(fields(&mut blocks, &longer), Ok((expected("7", 11), longer.len() - 11)));
        assert_eq!(blocks.remembered.len(), 1);
    }

    #[test]
    fn what_differs_in_more_than_a_value_is_another_head() {
        for (from, to) in [
            ("X-Id: 7", "X-Io: 7"),
            ("X-Id: 7", "X-I: 7"),
            ("X-Id: 7\r\n", ""),
            ("X-Id: 7", "X-Id: 7\r\nX-More: 8"),
            ("Host: h:1", "Host: h:2"),
            ("/a?b", "/a?c"),
            ("TE: trailers", "TE: deflate"),
            ("X-Id: 7", "Transfer-Encoding: chunked"),
        ] {
            let (mut blocks, message) = (RequestBlocks::default(), POST.replace(from, to));
            fields(&mut blocks, POST).expect("valid");
            let after = fields(&mut blocks, &message);
            assert_eq!(after, fields(&mut RequestBlocks::default(), &message));
            assert_eq!(blocks.remembered.len(), 2, "{to}");
        }
        let mut blocks = RequestBlocks::default();
        fields(&mut blocks, POST).expect("valid");
        assert!(fields(&mut blocks, &POST.replace("7\r\n", "7\n")).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for message in [
            "",
            "GET / HTTP/1.1\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: h\r\n\r\n",
            "GET /\r\nHost: h\r\n\r\n",
            "GET / x HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\nHost: h\n\n",
            "GET / HTTP/1.1\r\nHost: h\r\nnonsense\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        ] {
            assert!(fields(&mut RequestBlocks::default(), message).is_err(), "{message:?}");
        }
    }
}
