//! What the text encodings share: numbers and Base64.

use base64::{Engine, prelude::BASE64_STANDARD};

/// Appends a decimal number.
pub(super) fn write_uint(out: &mut Vec<u8>, value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a decimal number with its sign.
pub(super) fn write_int(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    write_uint(out, value.unsigned_abs());
}

/// Appends the Base64 of some bytes.
pub(super) fn write_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = BASE64_STANDARD.encode_slice(bytes, &mut out[start..]);
    // The room is what the encoding needs, so this cannot fail; if it did, nothing is written.
    out.truncate(start + written.unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_are_appended() {
        let mut out = b"x".to_vec();
        for value in [0, 7, u64::MAX] {
            write_uint(&mut out, value);
            out.push(b' ');
        }
        write_int(&mut out, i64::MIN);
        for bytes in [&b""[..], b"a", b"ab", b"abc"] {
            out.push(b' ');
            write_base64(&mut out, bytes);
        }
        let expected = "x0 7 18446744073709551615 -9223372036854775808  YQ== YWI= YWJj";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
