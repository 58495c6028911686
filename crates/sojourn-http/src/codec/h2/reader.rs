//! Frames out of bytes that arrive in any portions.

use std::ops::Deref;

use super::Http2Error;
use super::frame::{FrameHeader, HEADER_BYTES, PAYLOAD_BYTES_MAX, kind};

/// Takes frames off the input. Of DATA frames only the header: their payload is passed on as it
/// comes and never collected.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    /// A header as far as it has come.
    header: [u8; HEADER_BYTES],
    header_length: usize,
    /// Its frame's payload is being collected.
    collecting: Option<FrameHeader>,
    payload: Vec<u8>,
    has_begun: bool,
}

/// What came next.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// A DATA frame begins; the caller takes its payload off the input.
    Data(FrameHeader),
    /// A whole frame of another type.
    Frame(FrameHeader, Payload<'a>),
    /// The input is used up.
    More,
}

/// A payload: where it arrived, or collected.
#[derive(Debug)]
pub(super) enum Payload<'a> {
    Collected(Vec<u8>),
    Here(&'a [u8]),
}

impl Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Collected(bytes) => bytes,
            Self::Here(bytes) => bytes,
        }
    }
}

impl FrameReader {
    pub(super) fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Part<'a>, Http2Error> {
        let header = match self.collecting {
            Some(header) => header,
            None => {
                let Some(header) = self.next_header(input)? else {
                    return Ok(Part::More);
                };
                if header.kind == kind::DATA {
                    return Ok(Part::Data(header));
                }
                if let Some((payload, rest)) = input.split_at_checked(header.length) {
                    *input = rest;
                    return Ok(Part::Frame(header, Payload::Here(payload)));
                }
                self.payload.clear();
                self.collecting = Some(header);
                header
            }
        };
        let here = input.len().min(header.length - self.payload.len());
        let (bytes, rest) = input.split_at(here);
        *input = rest;
        self.payload.extend_from_slice(bytes);
        if self.payload.len() < header.length {
            return Ok(Part::More);
        }
        self.collecting = None;
        Ok(Part::Frame(header, Payload::Collected(std::mem::take(&mut self.payload))))
    }

    /// Takes a payload's buffer back for the next one.
    pub(super) fn give_back(&mut self, payload: Payload<'_>) {
        if let Payload::Collected(bytes) = payload {
            self.payload = bytes;
        }
    }

    fn next_header(&mut self, input: &mut &[u8]) -> Result<Option<FrameHeader>, Http2Error> {
        let header = if self.header_length == 0
            && let Some((header, rest)) = input.split_first_chunk::<HEADER_BYTES>()
        {
            *input = rest;
            *header
        } else {
            let here = input.len().min(HEADER_BYTES - self.header_length);
            let (bytes, rest) = input.split_at(here);
            *input = rest;
            self.header[self.header_length..][..here].copy_from_slice(bytes);
            self.header_length += here;
            if self.header_length < HEADER_BYTES {
                return Ok(None);
            }
            self.header_length = 0;
            self.header
        };
        if !self.has_begun {
            self.has_begun = true;
            if header.starts_with(b"HTTP/1.") {
                return Err(Http2Error::protocol("HTTP/1 where HTTP/2 was expected"));
            }
        }
        let header = FrameHeader::parse(header);
        if header.length > PAYLOAD_BYTES_MAX {
            return Err(Http2Error::frame_size("a frame longer than the 16384 bytes allowed"));
        }
        Ok(Some(header))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codec::h2::frame::write_header;

    /// Reads everything, portion by portion; DATA payloads are taken off here.
    fn read(bytes: &[u8], portion: usize) -> Result<Vec<(FrameHeader, Vec<u8>)>, Http2Error> {
        let mut reader = FrameReader::default();
        let mut frames: Vec<(FrameHeader, Vec<u8>)> = Vec::new();
        let mut data_left = 0;
        for portion in bytes.chunks(portion.max(1)) {
            let mut input = portion;
            loop {
                if data_left > 0 {
                    let (bytes, rest) = input.split_at(input.len().min(data_left));
                    input = rest;
                    data_left -= bytes.len();
                    frames.last_mut().expect("begun").1.extend_from_slice(bytes);
                    if input.is_empty() {
                        break;
                    }
                }
                match reader.next(&mut input)? {
                    Part::Data(header) => {
                        data_left = header.length;
                        frames.push((header, Vec::new()));
                    }
                    Part::Frame(header, payload) => {
                        frames.push((header, payload.to_vec()));
                        reader.give_back(payload);
                    }
                    Part::More => break,
                }
            }
        }
        Ok(frames)
    }

    #[test]
    fn wrong_beginnings_and_lengths_are_refused() {
        let error = read(b"HTTP/1.1 400 Bad Request\r\n", 3).expect_err("not HTTP/2");
        assert_eq!(error.what, "HTTP/1 where HTTP/2 was expected");
        let error = read(b"\x00\x40\x01\x04\x00\0\0\0\0", 9).expect_err("too long");
        assert_eq!(error.code, crate::codec::h2::ErrorCode::FRAME_SIZE_ERROR);
    }

    proptest! {
        #[test]
        fn frames_are_the_same_however_they_are_split(
            frames in proptest::collection::vec(
                (0_u8..12, proptest::collection::vec(any::<u8>(), 0..40)),
                0..8,
            ),
            portion in 1_usize..60,
        ) {
            let mut bytes = Vec::new();
            for (kind, payload) in &frames {
                write_header(payload.len(), *kind, 3, 7, &mut bytes);
                bytes.extend_from_slice(payload);
            }
            let read = read(&bytes, portion).expect("valid");
            prop_assert_eq!(read.len(), frames.len());
            for ((header, payload), (kind, expected)) in read.iter().zip(&frames) {
                prop_assert_eq!(header.kind, *kind);
                prop_assert_eq!(payload, expected);
            }
        }
    }
}
