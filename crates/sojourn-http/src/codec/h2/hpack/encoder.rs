//! Writing header blocks that hold on every connection.

use super::integer;
use super::static_table::find;

/// What a field's representation begins with: a literal that no table remembers, and one that no
/// intermediary may remember either (RFC 7541 §6.2.2, §6.2.3).
const LITERAL: u8 = 0;
const NEVER_INDEXED: u8 = 0x10;

/// Appends a field; the name in lower case. Credentials are marked as not to be remembered.
///
/// Strings go as they are: Huffman coding would save a quarter of the bytes and cost both ends more
/// than that.
pub(crate) fn write_field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    let (of_name, of_both) = find(name, value);
    if let Some(index) = of_both {
        integer::write(index, 7, 0x80, out);
        return;
    }
    let is_secret = matches!(name, b"authorization" | b"cookie" | b"proxy-authorization");
    let first = if is_secret { NEVER_INDEXED } else { LITERAL };
    integer::write(of_name.unwrap_or(0), 4, first, out);
    if of_name.is_none() {
        write_string(name, out);
    }
    write_string(value, out);
}

/// Appends the word that this encoder's table has so many bytes; only at the beginning of a block.
pub(crate) fn write_size_update(size: usize, out: &mut Vec<u8>) {
    integer::write(size, 5, 0x20, out);
}

fn write_string(text: &[u8], out: &mut Vec<u8>) {
    integer::write(text.len(), 7, 0, out);
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_rfc() {
        let check = |name: &[u8], value: &[u8], block: &[u8]| {
            let mut out = Vec::new();
            write_field(name, value, &mut out);
            assert_eq!(out, block);
        };
        check(b":path", b"/sample/path", b"\x04\x0c/sample/path");
        check(b":method", b"GET", b"\x82");
        check(b"x-a", b"", b"\x00\x03x-a\x00");
        check(b"authorization", b"secret", b"\x1f\x08\x06secret");
        let mut out = Vec::new();
        write_size_update(0, &mut out);
        assert_eq!(out, [0x20]);
    }
}
