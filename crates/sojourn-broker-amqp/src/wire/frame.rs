//! Frames: kind, channel, length, payload, end.

use super::Malformed;

/// The first bytes of a connection: AMQP 0.9.1.
pub(crate) const GREETING: &[u8; 8] = b"AMQP\0\0\x09\x01";
/// Kind, channel and length before the payload, and the end after it.
pub(crate) const FRAME_OVERHEAD: usize = 8;

const HEAD: usize = 7;
const END: u8 = 0xCE;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Method,
    Header,
    Body,
    Heartbeat,
}

/// A frame, borrowed from where it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: FrameKind,
    pub(crate) channel: u16,
    pub(crate) payload: &'a [u8],
}

/// The first frame of some bytes and how many bytes it takes; `None`: it is not all there. A frame
/// longer than `frame_max` bytes, as a whole, is malformed.
pub(crate) fn parse(
    bytes: &[u8],
    frame_max: usize,
) -> Result<Option<(Frame<'_>, usize)>, Malformed> {
    let Some(&[kind, c0, c1, l0, l1, l2, l3]) = bytes.first_chunk::<HEAD>() else {
        // A peer that wants another version answers with its own greeting.
        return match bytes.first() {
            Some(b'A') => Err(Malformed("it speaks another version of AMQP")),
            _ => Ok(None),
        };
    };
    let kind = match kind {
        1 => FrameKind::Method,
        2 => FrameKind::Header,
        3 => FrameKind::Body,
        8 => FrameKind::Heartbeat,
        b'A' => return Err(Malformed("it speaks another version of AMQP")),
        _ => return Err(Malformed("it does not speak AMQP")),
    };
    let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    if length > frame_max.saturating_sub(FRAME_OVERHEAD) {
        return Err(Malformed("a frame is longer than agreed"));
    }
    let Some(payload) = bytes.get(HEAD..HEAD + length) else { return Ok(None) };
    match bytes.get(HEAD + length) {
        None => Ok(None),
        Some(&END) => {
            let frame = Frame { kind, channel: u16::from_be_bytes([c0, c1]), payload };
            Ok(Some((frame, length + FRAME_OVERHEAD)))
        }
        Some(_) => Err(Malformed("a frame does not end where it should")),
    }
}

/// Appends a frame whose payload `fill` writes; nothing is appended when it fails.
pub(crate) fn append(
    out: &mut super::writer::Writer,
    kind: FrameKind,
    channel: u16,
    fill: impl FnOnce(&mut super::writer::Writer) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let start = out.bytes.len();
    out.u8(match kind {
        FrameKind::Method => 1,
        FrameKind::Header => 2,
        FrameKind::Body => 3,
        FrameKind::Heartbeat => 8,
    });
    out.u16(channel);
    if let Err(error) = out.table(fill) {
        out.bytes.truncate(start);
        return Err(error);
    }
    out.u8(END);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::writer::Writer;
    use super::*;

    fn written(kind: FrameKind, channel: u16, payload: &[u8]) -> Vec<u8> {
        let mut out = Writer::default();
        append(&mut out, kind, channel, |out| {
            out.bytes.extend_from_slice(payload);
            Ok(())
        })
        .unwrap();
        out.bytes
    }

    #[test]
    fn a_frame_is_read_as_written_once_its_last_byte_is_there() {
        let bytes = written(FrameKind::Body, 7, b"payload");
        for end in 0..bytes.len() {
            assert_eq!(parse(&bytes[..end], 4096), Ok(None), "{end}");
        }
        let frame = Frame { kind: FrameKind::Body, channel: 7, payload: b"payload" };
        assert_eq!(parse(&bytes, 4096), Ok(Some((frame, bytes.len()))));
        assert_eq!(parse(&bytes, bytes.len()), Ok(Some((frame, bytes.len()))));
        assert!(parse(&bytes, bytes.len() - 1).is_err());
    }

    #[test]
    fn what_is_no_frame_is_said_in_words() {
        for (bytes, words) in [
            (&b"AMQP\0\0\x09\x01"[..], "another version"),
            (b"AMQP", "another version"),
            (b"HTTP/1.1 400", "does not speak"),
            (b"\x01\0\0\xff\xff\xff\xff", "longer than agreed"),
            (b"\x08\0\0\0\0\0\0\x00", "does not end"),
        ] {
            assert!(parse(bytes, 131_072).unwrap_err().0.contains(words), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_frame_or_none_or_malformed(bytes: Vec<u8>, frame_max in 0usize..300) {
            if let Ok(Some((frame, taken))) = parse(&bytes, frame_max) {
                prop_assert!(taken <= bytes.len() && taken <= frame_max);
                prop_assert_eq!(frame.payload.len() + FRAME_OVERHEAD, taken);
                let again = written(frame.kind, frame.channel, frame.payload);
                prop_assert_eq!(&bytes[..taken], &again[..]);
            }
        }
    }
}
