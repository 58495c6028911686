//! An answer's body: counted, or kept and decoded up to a bound.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::head::Coding;
use crate::BodyPolicy;

/// What becomes of a body.
#[derive(Debug)]
pub(crate) enum Body {
    /// Neither kept nor counted.
    Discard,
    /// Counted, not kept, not decoded.
    Counted(u64),
    /// Kept as it comes.
    Plain(Bounded),
    /// Kept decoded. Boxed: rare beside the others, and large.
    Coded(Box<Decoder>),
    /// To be kept, nothing has come yet.
    Empty {
        /// How much is kept.
        bound: Bound,
        /// From the head.
        coding: Coding,
        /// An empty buffer for what is kept.
        spare: Vec<u8>,
    },
}

/// How much of a body is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// Most bytes.
    bytes_max: usize,
    /// More than that are counted and dropped, not a failure.
    truncates: bool,
}

/// Why a body can't be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    /// Decoded or not, longer than the bound.
    #[error("a body longer than the {bytes_max} bytes that may be kept (not read further)")]
    TooLarge {
        /// Most bytes kept.
        bytes_max: usize,
    },
    /// Broken or cut off gzip or deflate.
    #[error("a body that could not be decoded: {0}")]
    Broken(String),
    /// Another coding than gzip and deflate.
    #[error("a body in a content-encoding other than gzip or deflate")]
    UnknownCoding,
}

impl Body {
    /// Nothing received yet.
    pub(crate) fn new(policy: BodyPolicy) -> Self {
        match policy {
            BodyPolicy::Discard => Self::Discard,
            BodyPolicy::Count => Self::empty(0, true),
            BodyPolicy::Keep { bytes_max } => Self::empty(bytes_max, false),
            BodyPolicy::Truncate { bytes_max } => Self::empty(bytes_max, true),
        }
    }

    fn empty(bytes_max: usize, truncates: bool) -> Self {
        let bound = Bound { bytes_max, truncates };
        Self::Empty { bound, coding: Coding::Identity, spare: Vec::new() }
    }

    /// Gives an empty buffer that was used before, for what is kept.
    #[inline]
    pub(crate) fn lend(&mut self, buffer: Vec<u8>) {
        if let Self::Empty { spare, .. } = self {
            *spare = buffer;
        }
    }

    /// The head has come and says how the body is coded.
    #[inline]
    pub(crate) fn set_coding(&mut self, now: Coding) {
        if let Self::Empty { coding, bound, .. } = self {
            *coding = now;
            let comes_plain = matches!(now, Coding::Identity | Coding::Unknown);
            if comes_plain && bound.truncates && bound.bytes_max == 0 {
                *self = Self::Counted(0);
            }
        }
    }

    /// Takes the next bytes.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        match self {
            Self::Discard => Ok(()),
            Self::Counted(total) => {
                *total += bytes.len() as u64;
                Ok(())
            }
            _ => self.keep(bytes),
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        match self {
            Self::Discard | Self::Counted(_) => Ok(()),
            Self::Plain(bounded) => bounded.push(bytes),
            Self::Coded(decoder) => decoder.push(bytes),
            Self::Empty { .. } if bytes.is_empty() => Ok(()),
            Self::Empty { bound, coding, spare } => {
                let bounded = Bounded::new(*bound, std::mem::take(spare));
                // An empty body of any coding is fine, so this waits for the first byte.
                *self = match coding {
                    Coding::Identity => Self::Plain(bounded),
                    Coding::Unknown if bound.truncates => Self::Plain(bounded),
                    Coding::Unknown => return Err(BodyError::UnknownCoding),
                    coded => Self::Coded(Box::new(Decoder::new(*coded, bytes[0], bounded))),
                };
                self.keep(bytes)
            }
        }
    }

    /// Gives the memory of what was kept back.
    #[inline]
    pub(crate) fn forget(&mut self) {
        if matches!(self, Self::Plain(_) | Self::Coded(_)) {
            *self = Self::Discard;
        }
    }

    /// All has come: the kept bytes, and how many there were. To be asked once.
    #[inline]
    pub(crate) fn finish(&mut self) -> Result<(Vec<u8>, u64), BodyError> {
        match self {
            Self::Discard => Ok((Vec::new(), 0)),
            Self::Empty { spare, .. } => Ok((std::mem::take(spare), 0)),
            Self::Counted(total) => Ok((Vec::new(), *total)),
            Self::Plain(bounded) => Ok((std::mem::take(&mut bounded.bytes), bounded.total)),
            Self::Coded(decoder) => decoder.finish(),
        }
    }
}

/// Bytes up to a bound; a writer that fails beyond it, so that a decompression bomb stops there, or
/// only counts.
#[derive(Debug)]
pub(crate) struct Bounded {
    bytes: Vec<u8>,
    bound: Bound,
    total: u64,
    overflowed: bool,
}

impl Bounded {
    /// `buffer` is empty.
    fn new(bound: Bound, buffer: Vec<u8>) -> Self {
        Self { bytes: buffer, bound, total: 0, overflowed: false }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        let Bound { bytes_max, truncates } = self.bound;
        let room = bytes_max - self.bytes.len();
        if bytes.len() > room && !truncates {
            self.overflowed = true;
            return Err(BodyError::TooLarge { bytes_max });
        }
        self.total += bytes.len() as u64;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(())
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A streaming decoder into a bounded buffer.
#[derive(Debug)]
pub(crate) enum Decoder {
    /// Deflate without its zlib frame.
    BareDeflate(DeflateDecoder<Bounded>),
    /// gzip, members one after the other.
    Gzip(MultiGzDecoder<Bounded>),
    /// Deflate in a zlib frame, as the RFC has it.
    Zlib(ZlibDecoder<Bounded>),
}

impl Decoder {
    fn new(coding: Coding, first: u8, bounded: Bounded) -> Self {
        // A zlib frame begins with method 8 and a window of at most 7; servers that send bare
        // deflate under the same name begin otherwise.
        let framed = first & 0x0f == 8 && first >> 4 <= 7;
        match coding {
            Coding::Gzip => Self::Gzip(MultiGzDecoder::new(bounded)),
            _ if framed => Self::Zlib(ZlibDecoder::new(bounded)),
            _ => Self::BareDeflate(DeflateDecoder::new(bounded)),
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        let written = match self {
            Self::BareDeflate(decoder) => decoder.write_all(bytes),
            Self::Gzip(decoder) => decoder.write_all(bytes),
            Self::Zlib(decoder) => decoder.write_all(bytes),
        };
        written.map_err(|error| self.explain(&error))
    }

    fn finish(&mut self) -> Result<(Vec<u8>, u64), BodyError> {
        let finished = match self {
            Self::BareDeflate(decoder) => decoder.try_finish(),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
        };
        finished.map_err(|error| self.explain(&error))?;
        let bounded = self.bounded_mut();
        Ok((std::mem::take(&mut bounded.bytes), bounded.total))
    }

    fn explain(&mut self, error: &io::Error) -> BodyError {
        let bounded = self.bounded_mut();
        if bounded.overflowed {
            BodyError::TooLarge { bytes_max: bounded.bound.bytes_max }
        } else {
            BodyError::Broken(error.to_string())
        }
    }

    fn bounded_mut(&mut self) -> &mut Bounded {
        match self {
            Self::BareDeflate(decoder) => decoder.get_mut(),
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn keep(
        coding: Coding,
        bytes: &[u8],
        portion: usize,
        bytes_max: usize,
    ) -> Result<Vec<u8>, BodyError> {
        let whole = take(BodyPolicy::Keep { bytes_max }, coding, bytes, portion)?;
        assert_eq!(whole.0.len() as u64, whole.1);
        Ok(whole.0)
    }

    fn take(
        policy: BodyPolicy,
        coding: Coding,
        bytes: &[u8],
        portion: usize,
    ) -> Result<(Vec<u8>, u64), BodyError> {
        let mut body = Body::new(policy);
        body.set_coding(coding);
        for bytes in bytes.chunks(portion) {
            body.push(bytes)?;
        }
        body.finish()
    }

    fn text() -> Vec<u8> {
        (0..5_000_u32).flat_map(u32::to_le_bytes).collect()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("to memory");
        encoder.finish().expect("to memory")
    }

    #[test]
    fn every_coding_decodes_in_any_portions() {
        let text = text();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).expect("to memory");
        let zlib = zlib.finish().expect("to memory");
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(&text).expect("to memory");
        let bare = bare.finish().expect("to memory");
        for portion in [1, 100, 1 << 20] {
            let check = |coding, bytes: &[u8]| {
                let kept = keep(coding, bytes, portion, text.len());
                assert!(kept.as_ref() == Ok(&text), "{coding:?} by {portion}");
            };
            check(Coding::Identity, &text);
            check(Coding::Gzip, &gzip(&text));
            check(Coding::Deflate, &zlib);
            check(Coding::Deflate, &bare);
        }
        assert_eq!(keep(Coding::Gzip, &[], 1, 0), Ok(Vec::new()));
        assert_eq!(keep(Coding::Unknown, &[], 1, 0), Ok(Vec::new()));
    }

    #[test]
    fn the_bound_holds_for_decoded_bytes() {
        let too_large = |bytes_max| Err(BodyError::TooLarge { bytes_max });
        let text = text();
        assert_eq!(keep(Coding::Identity, &text, 7, 19_999), too_large(19_999));
        let bomb = gzip(&vec![0; 64 << 20]);
        assert!(bomb.len() < 1 << 20);
        assert_eq!(keep(Coding::Gzip, &bomb, 65_536, 1 << 20), too_large(1 << 20));
    }

    #[test]
    fn what_is_cut_short_is_counted_whole() {
        let text = text();
        for (coding, bytes) in [
            (Coding::Identity, text.clone()),
            (Coding::Gzip, gzip(&text)),
            (Coding::Unknown, text.clone()),
        ] {
            for bytes_max in [0, 10, text.len(), usize::MAX] {
                let policy = BodyPolicy::Truncate { bytes_max };
                let (kept, total) = take(policy, coding, &bytes, 999).expect("never too large");
                assert_eq!(kept, text[..bytes_max.min(text.len())], "{coding:?} {bytes_max}");
                assert_eq!(total, text.len() as u64);
            }
        }
    }

    #[test]
    fn broken_codings_are_told() {
        let broken = |bytes: &[u8]| {
            matches!(keep(Coding::Gzip, bytes, 9, 1 << 20), Err(BodyError::Broken(_)))
        };
        let whole = gzip(b"hello, hello, hello");
        assert!(broken(b"this is not gzip at all"));
        assert!(broken(&whole[..whole.len() - 1]));
        assert!(broken(&whole[..12]));
        let mut wrong_sum = whole.clone();
        let sum_at = whole.len() - 8;
        wrong_sum[sum_at] ^= 1;
        assert!(broken(&wrong_sum));
        assert_eq!(keep(Coding::Unknown, b"x", 1, 9), Err(BodyError::UnknownCoding));
    }
}
