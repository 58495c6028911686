//! Writing a line.

use crate::results::{
    AttackResult, Headers,
    text::{write_base64, write_int, write_uint},
};

/// Appends one line.
pub(in crate::results) fn encode(result: &AttackResult<'_>, out: &mut Vec<u8>) {
    write_int(out, result.timestamp.unix_ns);
    out.push(b',');
    write_uint(out, u64::from(result.code));
    out.push(b',');
    write_int(out, result.latency_ns);
    for value in [result.bytes_out, result.bytes_in] {
        out.push(b',');
        write_uint(out, value);
    }
    write_field(out, result.error);
    out.push(b',');
    write_base64(out, result.body.unwrap_or_default());
    write_field(out, result.attack);
    out.push(b',');
    write_uint(out, result.seq);
    write_field(out, result.method);
    write_field(out, result.url);
    out.push(b',');
    if let Some(headers) = result.headers {
        write_base64(out, &header_text(headers));
    }
    out.push(b'\n');
}

/// Headers as HTTP/1 sends them, with the empty line that ends them.
fn header_text(headers: &Headers) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, value) in headers.iter() {
        text.extend_from_slice(name);
        text.extend_from_slice(b": ");
        // A line break would begin another header.
        let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
        text.extend(value.iter().map(|byte| if is_break(byte) { b' ' } else { *byte }));
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    text
}

/// Appends a comma and a text, quoted where it has to be.
fn write_field(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b',');
    if !needs_quotes(text) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for part in text.split_inclusive(|byte| *byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

/// Text that would end the field, or that a reader would take for something else: space in front is
/// trimmed, and `\.` alone ends the data of some databases.
fn needs_quotes(text: &[u8]) -> bool {
    let is_special = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    text == b"\\." || text.iter().any(is_special) || begins_with_space(text)
}

fn begins_with_space(text: &[u8]) -> bool {
    let head = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    head.starts_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_quotes_has_them() {
        for (text, expected) in [
            ("", ","),
            ("plain text", ",plain text"),
            ("a,b", ",\"a,b\""),
            ("say \"a\"", ",\"say \"\"a\"\"\""),
            ("two\nlines", ",\"two\nlines\""),
            (" a", ",\" a\""),
            ("\u{a0}a", ",\"\u{a0}a\""),
            ("\\.", ",\"\\.\""),
            ("a ", ",a "),
        ] {
            let mut out = Vec::new();
            write_field(&mut out, text.as_bytes());
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn headers_cannot_break_their_line() {
        let mut headers = Headers::default();
        headers.push(b"B", b"2\r\nC: 3");
        headers.push(b"A", b"1");
        assert_eq!(header_text(&headers), b"A: 1\r\nB: 2  C: 3\r\n\r\n");
    }
}
