//! Chunked transfer coding (RFC 9112 §7.1), decoded in place: body slices point into the input.

use super::CodecError;

/// Most bytes of chunk extensions on one line, and of all trailers together.
const SKIPPED_BYTES_MAX: u32 = 64 * 1024;

/// Where a chunked body stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunked {
    state: State,
    /// Chunk size being read, then bytes of the chunk still to come.
    left: u64,
    /// Hex digits of the size so far.
    digits: u8,
    /// Extension or trailer bytes skipped.
    skipped: u32,
}

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub enum ChunkedPiece<'a> {
    /// Body bytes.
    Body(&'a [u8]),
    /// The last trailer is read.
    Done,
    /// The input is used up.
    More,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Size,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    Done,
}

impl Chunked {
    /// Takes the next piece off `input`.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<ChunkedPiece<'a>, CodecError> {
        loop {
            if self.state == State::Done {
                return Ok(ChunkedPiece::Done);
            }
            if self.state == State::Data {
                let Some(body) = self.take_data(input) else {
                    return Ok(ChunkedPiece::More);
                };
                return Ok(ChunkedPiece::Body(body));
            }
            let Some((byte, rest)) = input.split_first() else {
                return Ok(ChunkedPiece::More);
            };
            *input = rest;
            self.state = self.step(*byte)?;
        }
    }

    fn take_data<'a>(&mut self, input: &mut &'a [u8]) -> Option<&'a [u8]> {
        if input.is_empty() {
            return None;
        }
        let here = usize::try_from(self.left).map_or(input.len(), |left| left.min(input.len()));
        let (body, rest) = input.split_at(here);
        *input = rest;
        self.left -= here as u64;
        if self.left == 0 {
            self.state = State::DataCr;
        }
        Some(body)
    }

    fn step(&mut self, byte: u8) -> Result<State, CodecError> {
        match (self.state, byte) {
            (State::Size, b'\r') if self.digits > 0 => Ok(State::SizeLf),
            (State::Size, b';' | b' ' | b'\t') if self.digits > 0 => Ok(State::Extension),
            (State::Size, _) => self.size_digit(byte),
            (State::Extension, b'\r') => Ok(State::SizeLf),
            (State::Extension, b'\n') => Err(CodecError::Chunk("a bare line feed")),
            (State::Extension, _) => self.skip(State::Extension),
            (State::SizeLf, b'\n') => Ok(self.after_size()),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => Ok(State::Size),
            (State::DataCr | State::DataLf, _) => {
                Err(CodecError::Chunk("a chunk longer than its size"))
            }
            (State::TrailerStart, b'\r') => Ok(State::EndLf),
            (State::Trailer, b'\r') => Ok(State::TrailerLf),
            (State::TrailerStart | State::Trailer, b'\n') => {
                Err(CodecError::Chunk("a bare line feed"))
            }
            (State::TrailerStart | State::Trailer, _) => self.skip(State::Trailer),
            (State::TrailerLf, b'\n') => Ok(State::TrailerStart),
            (State::EndLf, b'\n') => Ok(State::Done),
            (State::SizeLf | State::TrailerLf | State::EndLf, _) => {
                Err(CodecError::Chunk("a bare carriage return"))
            }
            // `next` never steps in these.
            (State::Data | State::Done, _) => Ok(self.state),
        }
    }

    fn size_digit(&mut self, byte: u8) -> Result<State, CodecError> {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(CodecError::Chunk("a size that is not hexadecimal"));
        };
        // Sixteen digits fill 64 bits; the top bit is refused below.
        if self.digits == 16 {
            return Err(CodecError::Chunk("an absurd size"));
        }
        self.digits += 1;
        self.left = (self.left << 4) | u64::from(digit);
        if self.left > i64::MAX as u64 {
            return Err(CodecError::Chunk("an absurd size"));
        }
        Ok(State::Size)
    }

    fn after_size(&mut self) -> State {
        self.digits = 0;
        self.skipped = 0;
        if self.left == 0 { State::TrailerStart } else { State::Data }
    }

    fn skip(&mut self, state: State) -> Result<State, CodecError> {
        self.skipped += 1;
        if self.skipped > SKIPPED_BYTES_MAX {
            return Err(CodecError::Chunk("endless extensions or trailers"));
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Body and bytes left over, or the error; `None` if the input ends early.
    fn decode(mut input: &[u8]) -> Result<Option<(Vec<u8>, usize)>, CodecError> {
        let mut chunked = Chunked::default();
        let mut body = Vec::new();
        loop {
            match chunked.next(&mut input)? {
                ChunkedPiece::Body(bytes) => body.extend_from_slice(bytes),
                ChunkedPiece::Done => return Ok(Some((body, input.len()))),
                ChunkedPiece::More => return Ok(None),
            }
        }
    }

    #[test]
    fn chunks_extensions_and_trailers() {
        let check = |text: &str, body: &str, left: usize| {
            let expected = Ok(Some((body.as_bytes().to_vec(), left)));
            assert_eq!(decode(text.as_bytes()), expected, "{text:?}");
        };
        check("0\r\n\r\n", "", 0);
        check("3\r\nabc\r\n0\r\n\r\nHTTP", "abc", 4);
        check("A\r\n0123456789\r\n000\r\n\r\n", "0123456789", 0);
        check("1;x=\"y\"\r\na\r\n1 \r\nb\r\n0;z\r\n\r\n", "ab", 0);
        check("1\r\na\r\n0\r\nX-Sum: 7\r\nY: 8\r\n\r\n", "a", 0);
    }

    #[test]
    fn broken_framing_is_refused() {
        for text in [
            "\r\n",
            "g\r\n",
            "-1\r\n",
            "3\nabc\r\n",
            "3\r\nabcd\r\n",
            "3\r\nabc\n0\r\n\r\n",
            "3\rabc",
            "8000000000000000\r\n",
            "00000000000000001\r\n",
            "0\r\n\n",
            "0\r\nA: b\n\r\n",
            ";\r\n",
        ] {
            assert!(decode(text.as_bytes()).is_err(), "{text:?}");
        }
        let endless = format!("1;{}", "x".repeat(70_000));
        assert!(decode(endless.as_bytes()).is_err());
        let trailers = format!("0\r\n{}", "a: b\r\n".repeat(20_000));
        assert!(decode(trailers.as_bytes()).is_err());
    }

    #[test]
    fn an_early_end_waits_for_more() {
        let whole = b"3\r\nabc\r\n0\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(decode(&whole[..end]), Ok(None), "{end}");
        }
    }
}
