//! Writing a line: keys in a fixed order, no spaces, and strings that may stand within HTML.

use crate::results::{
    AttackResult, Headers,
    text::{write_base64, write_int, write_uint},
};

/// Appends one line.
pub(in crate::results) fn encode(result: &AttackResult<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"attack\":");
    write_string(out, result.attack);
    out.extend_from_slice(b",\"seq\":");
    write_uint(out, result.seq);
    out.extend_from_slice(b",\"code\":");
    write_uint(out, u64::from(result.code));
    out.extend_from_slice(b",\"timestamp\":\"");
    result.timestamp.write_rfc3339(out);
    out.extend_from_slice(b"\",\"latency\":");
    write_int(out, result.latency_ns);
    out.extend_from_slice(b",\"bytes_out\":");
    write_uint(out, result.bytes_out);
    out.extend_from_slice(b",\"bytes_in\":");
    write_uint(out, result.bytes_in);
    out.extend_from_slice(b",\"error\":");
    write_string(out, result.error);
    out.extend_from_slice(b",\"body\":");
    match result.body {
        Some(body) => {
            out.push(b'"');
            write_base64(out, body);
            out.push(b'"');
        }
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"method\":");
    write_string(out, result.method);
    out.extend_from_slice(b",\"url\":");
    write_string(out, result.url);
    out.extend_from_slice(b",\"headers\":");
    match result.headers {
        Some(headers) => write_headers(out, headers),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b"}\n");
}

fn write_headers(out: &mut Vec<u8>, headers: &Headers) {
    out.push(b'{');
    for (index, (name, values)) in headers.groups().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(out, name);
        out.extend_from_slice(b":[");
        for (index, value) in values.enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_string(out, value);
        }
        out.push(b']');
    }
    out.push(b'}');
}

/// Appends a string. Bytes that are no UTF-8 become U+FFFD, one each.
fn write_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for chunk in text.utf8_chunks() {
        write_valid(out, chunk.valid());
        for _ in chunk.invalid() {
            out.extend_from_slice(b"\\ufffd");
        }
    }
    out.push(b'"');
}

fn write_valid(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        // U+2028 and U+2029, line ends to JavaScript, are e2 80 a8 and e2 80 a9.
        let is_line_end = byte == 0xe2 && matches!(bytes[at..], [_, 0x80, 0xa8 | 0xa9, ..]);
        let is_plain = byte >= 0x20 && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
        if is_plain && !is_line_end {
            continue;
        }
        out.extend_from_slice(&bytes[copied..at]);
        copied = at + if is_line_end { 3 } else { 1 };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ if is_line_end => {
                out.extend_from_slice(b"\\u202");
                out.push(HEX[usize::from(bytes[at + 2] & 15)]);
            }
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
        }
    }
    out.extend_from_slice(&bytes[copied..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text on the right is what `vegeta encode` prints for the same bytes.
    #[test]
    fn strings_are_escaped_as_vegeta_escapes_them() {
        for (text, expected) in [
            (&b""[..], "\"\""),
            (b"\x00\x08\t\n\x0b\x0c\r\x1f", r#""\u0000\u0008\t\n\u000b\u000c\r\u001f""#),
            (b"<a> & \"b\" \\ /\x7f", "\"\\u003ca\\u003e \\u0026 \\\"b\\\" \\\\ /\x7f\""),
            ("é\u{2027}\u{2028}\u{2029}\u{1f600}".as_bytes(), "\"é\u{2027}\\u2028\\u2029😀\""),
            (b"\xff\xc3(\xed\xa0\x80\xe2\x80", r#""\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffd\ufffd""#),
        ] {
            let mut out = Vec::new();
            write_string(&mut out, text);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
