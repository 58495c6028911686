//! Writing: the definitions of a result's types, and one message per result.

use super::YEAR_1_TO_UNIX_S;
use crate::results::{AttackResult, Headers, Timestamp};

/// The definitions, byte for byte as Vegeta 12 writes them. Values are of type 64, `Result`.
pub(in crate::results) const PREFIX: &[u8] = b"\
\xff\x96\x7f\x03\x01\x01\x06Result\x01\xff\x80\x00\x01\x0c\
\x01\x06Attack\x01\x0c\x00\
\x01\x03Seq\x01\x06\x00\
\x01\x04Code\x01\x06\x00\
\x01\x09Timestamp\x01\xff\x82\x00\
\x01\x07Latency\x01\x04\x00\
\x01\x08BytesOut\x01\x06\x00\
\x01\x07BytesIn\x01\x06\x00\
\x01\x05Error\x01\x0c\x00\
\x01\x04Body\x01\x0a\x00\
\x01\x06Method\x01\x0c\x00\
\x01\x03URL\x01\x0c\x00\
\x01\x07Headers\x01\xff\x86\x00\
\x00\x00\
\x10\xff\x81\x05\x01\x01\x04Time\x01\xff\x82\x00\x00\x00\
\x17\xff\x85\x04\x01\x01\x06Header\x01\xff\x86\x00\x01\x0c\x01\xff\x84\x00\x00\
\x0c\xff\x83\x02\x01\x02\xff\x84\x00\x01\x0c\x00\x00";

/// The number of `Result`, 64, as a signed integer: doubled.
const RESULT: [u8; 2] = [0xff, 0x80];

/// Most bytes of an unsigned integer.
const UINT_MAX: usize = 9;

/// Appends one message.
pub(in crate::results) fn encode(result: &AttackResult<'_>, out: &mut Vec<u8>) {
    // The length stands in front and is known last: room is left, and what it did not need closed.
    let start = out.len();
    out.extend_from_slice(&[0; UINT_MAX]);
    out.extend_from_slice(&RESULT);
    write_fields(result, out);
    let payload = start + UINT_MAX;
    let (length, used) = uint_bytes((out.len() - payload) as u64);
    out[start..start + used].copy_from_slice(&length[..used]);
    out.copy_within(payload.., start + used);
    out.truncate(out.len() - (UINT_MAX - used));
}

/// Fields in their order. A field with a zero value is left out: the next one says by how many it
/// is further.
fn write_fields(result: &AttackResult<'_>, out: &mut Vec<u8>) {
    let mut fields = Fields { out, at: 0 };
    fields.text(1, result.attack);
    fields.uint(2, result.seq);
    fields.uint(3, u64::from(result.code));
    if result.timestamp.is_known() {
        fields.mark(4);
        write_time(fields.out, result.timestamp);
    }
    // The sign goes into the last bit; a negative number is complemented.
    fields.uint(5, ((result.latency_ns << 1) ^ (result.latency_ns >> 63)) as u64);
    fields.uint(6, result.bytes_out);
    fields.uint(7, result.bytes_in);
    fields.text(8, result.error);
    fields.text(9, result.body.unwrap_or_default());
    fields.text(10, result.method);
    fields.text(11, result.url);
    if let Some(headers) = result.headers {
        fields.mark(12);
        write_headers(fields.out, headers);
    }
    out.push(0);
}

/// The fields of a struct being written.
struct Fields<'o> {
    out: &'o mut Vec<u8>,
    /// The last one written, from 1.
    at: u8,
}

impl Fields<'_> {
    fn mark(&mut self, field: u8) {
        self.out.push(field - self.at);
        self.at = field;
    }

    fn uint(&mut self, field: u8, value: u64) {
        if value != 0 {
            self.mark(field);
            write_uint(self.out, value);
        }
    }

    fn text(&mut self, field: u8, text: &[u8]) {
        if !text.is_empty() {
            self.mark(field);
            write_text(self.out, text);
        }
    }
}

fn write_headers(out: &mut Vec<u8>, headers: &Headers) {
    write_uint(out, headers.groups().count() as u64);
    for (name, values) in headers.groups() {
        write_text(out, name);
        write_uint(out, values.len() as u64);
        for value in values {
            write_text(out, value);
        }
    }
}

/// Version, seconds since the year 1, nanoseconds, minutes east or −1 for UTC; version 2 has odd
/// seconds of the zone besides.
fn write_time(out: &mut Vec<u8>, timestamp: Timestamp) {
    let (seconds, ns) = timestamp.seconds();
    let offset_s = timestamp.offset_s.unwrap_or(-60);
    let odd_s = (offset_s % 60) as i8;
    let version = if odd_s == 0 { 1 } else { 2 };
    out.extend_from_slice(&[14 + version, version]);
    out.extend_from_slice(&(seconds + YEAR_1_TO_UNIX_S).to_be_bytes());
    out.extend_from_slice(&ns.to_be_bytes());
    out.extend_from_slice(&((offset_s / 60) as i16).to_be_bytes());
    if version == 2 {
        out.extend_from_slice(&odd_s.to_be_bytes());
    }
}

fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    write_uint(out, text.len() as u64);
    out.extend_from_slice(text);
}

fn write_uint(out: &mut Vec<u8>, value: u64) {
    let (bytes, used) = uint_bytes(value);
    out.extend_from_slice(&bytes[..used]);
}

/// Below 128 itself; else the negated count of the bytes that follow, the most significant first.
fn uint_bytes(value: u64) -> ([u8; UINT_MAX], usize) {
    let mut bytes = [0; UINT_MAX];
    if value < 128 {
        bytes[0] = value as u8;
        return (bytes, 1);
    }
    let skipped = value.leading_zeros() as usize / 8;
    let count = 8 - skipped;
    bytes[0] = (count as u8).wrapping_neg();
    bytes[1..=count].copy_from_slice(&value.to_be_bytes()[skipped..]);
    (bytes, 1 + count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_as_the_format_has_them() {
        let bytes = |value| {
            let (bytes, used) = uint_bytes(value);
            bytes[..used].to_vec()
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(127), [127]);
        assert_eq!(bytes(128), [0xff, 128]);
        assert_eq!(bytes(256), [0xfe, 1, 0]);
        assert_eq!(bytes(u64::MAX), [0xf8, 255, 255, 255, 255, 255, 255, 255, 255]);
    }

    /// What `vegeta encode -to gob` makes of the same result.
    #[test]
    fn one_result_has_the_bytes_that_vegeta_writes() {
        let mut headers = Headers::default();
        headers.push(b"X", b"1");
        let result = AttackResult {
            attack: b"a",
            seq: 1,
            code: 200,
            timestamp: Timestamp { unix_ns: 1_700_000_000_000_000_005, offset_s: Some(0) },
            latency_ns: 1_500_000,
            bytes_in: 2,
            body: Some(b"OK"),
            method: b"GET",
            url: b"http://h/",
            headers: Some(&headers),
            ..AttackResult::default()
        };
        let mut out = Vec::new();
        encode(&result, &mut out);
        let expected = b"\x3e\xff\x80\x01\x01a\x01\x01\x01\xff\xc8\x01\x0f\x01\x00\x00\x00\x0e\xdc\
            \xe5\xe8\x00\x00\x00\x00\x05\x00\x00\x01\xfd\x2d\xc6\xc0\x02\x02\x02\x02OK\x01\x03GET\
            \x01\x09http://h/\x01\x01\x01X\x01\x011\x00";
        assert_eq!(out, expected);
    }
}
