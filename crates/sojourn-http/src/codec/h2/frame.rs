//! Frames, RFC 9113 §4 and §6: the header, and writing whole frames.

use super::ErrorCode;

/// What opens a client's side of a connection.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Length of a frame's header.
pub(super) const HEADER_BYTES: usize = 9;

/// Longest payload that we read: the default, which needs no word. Also the least that any peer
/// reads.
pub(super) const PAYLOAD_BYTES_MAX: usize = 16_384;

/// The greatest window and the greatest stream.
pub(super) const U31_MAX: u32 = (1 << 31) - 1;

/// Types.
pub(super) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

/// Flags; which ones a frame may have depends on its type.
pub(super) mod flag {
    pub(crate) const ACK: u8 = 0x1;
    pub(crate) const END_STREAM: u8 = 0x1;
    pub(crate) const END_HEADERS: u8 = 0x4;
    pub(crate) const PADDED: u8 = 0x8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

/// Settings.
pub(super) mod setting {
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    /// Of the payload, bytes.
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    /// Zero for the connection.
    pub(super) stream: u32,
}

impl FrameHeader {
    pub(super) fn parse(bytes: [u8; HEADER_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            // The first bit is reserved, to be ignored.
            stream: u32::from_be_bytes(stream) & U31_MAX,
        }
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends a frame's header.
pub(super) fn write_header(length: usize, kind: u8, flags: u8, stream: u32, out: &mut Vec<u8>) {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    let [d, e, f, g] = stream.to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags, d, e, f, g]);
}

/// Appends a header block as one HEADERS frame and as many CONTINUATION frames as it needs.
pub(super) fn write_headers(
    stream: u32,
    block: &[u8],
    ends_stream: bool,
    payload_bytes_max: usize,
    out: &mut Vec<u8>,
) {
    let mut kind = kind::HEADERS;
    let mut flags = if ends_stream { flag::END_STREAM } else { 0 };
    let mut rest = block;
    while rest.len() > payload_bytes_max {
        let (part, after) = rest.split_at(payload_bytes_max);
        write_header(part.len(), kind, flags, stream, out);
        out.extend_from_slice(part);
        (kind, flags, rest) = (kind::CONTINUATION, 0, after);
    }
    write_header(rest.len(), kind, flags | flag::END_HEADERS, stream, out);
    out.extend_from_slice(rest);
}

pub(super) fn write_data(stream: u32, bytes: &[u8], ends_stream: bool, out: &mut Vec<u8>) {
    let flags = if ends_stream { flag::END_STREAM } else { 0 };
    write_header(bytes.len(), kind::DATA, flags, stream, out);
    out.extend_from_slice(bytes);
}

pub(super) fn write_settings(settings: &[(u16, u32)], out: &mut Vec<u8>) {
    write_header(settings.len() * 6, kind::SETTINGS, 0, 0, out);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(super) fn write_settings_ack(out: &mut Vec<u8>) {
    write_header(0, kind::SETTINGS, flag::ACK, 0, out);
}

pub(super) fn write_ping_ack(payload: &[u8], out: &mut Vec<u8>) {
    write_header(payload.len(), kind::PING, flag::ACK, 0, out);
    out.extend_from_slice(payload);
}

pub(super) fn write_window_update(stream: u32, increment: u32, out: &mut Vec<u8>) {
    write_header(4, kind::WINDOW_UPDATE, 0, stream, out);
    out.extend_from_slice(&increment.to_be_bytes());
}

pub(super) fn write_reset(stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
    write_header(4, kind::RST_STREAM, 0, stream, out);
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Says goodbye; the other end has opened no streams.
pub(super) fn write_goaway(code: ErrorCode, out: &mut Vec<u8>) {
    write_header(8, kind::GOAWAY, 0, 0, out);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// A number at the beginning of a payload.
pub(super) fn read_u32(payload: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*payload.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_blocks_are_continued() {
        let mut out = Vec::new();
        write_headers(5, b"abcde", true, 2, &mut out);
        let expected = b"\0\0\x02\x01\x01\0\0\0\x05ab\0\0\x02\x09\0\0\0\0\x05cd\
                         \0\0\x01\x09\x04\0\0\0\x05e";
        assert_eq!(out, expected);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            length in 0_usize..1 << 24,
            kind: u8,
            flags: u8,
            stream in 0..=U31_MAX,
            reserved: bool,
        ) {
            let mut out = Vec::new();
            write_header(length, kind, flags, stream, &mut out);
            out[5] |= u8::from(reserved) << 7;
            let parsed = FrameHeader::parse(out.try_into().expect("nine bytes"));
            prop_assert_eq!(parsed, FrameHeader { length, kind, flags, stream });
        }
    }
}
