//! The incremental answer parser.

use super::chunked::{Chunked, ChunkedPiece};
use super::head::{Framing, HEAD_BYTES_MAX, parse_head};
use super::{CodecError, Head, KnownHeads};

/// Parses one answer from bytes that arrive in any portions.
#[derive(Debug)]
pub(crate) struct ResponseParser {
    state: State,
    /// The head's bytes: those so far while it is incomplete, and all of them if it is to be kept.
    head_bytes: Vec<u8>,
    head_only: bool,
    keep_head: bool,
}

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Body bytes, still coded as the head says.
    Body(&'a [u8]),
    /// The answer is whole; what is left of the input does not belong to it.
    Done,
    /// The final head (interim 1xx answers are skipped).
    Head(Head),
    /// The input is used up.
    More,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Chunked(Chunked),
    Done,
    Head,
    Length(u64),
    UntilClose,
}

impl ResponseParser {
    /// A parser for one answer. `head_only`: to a HEAD request. `keep_head`: keep the head's bytes.
    pub(crate) fn new(head_only: bool, keep_head: bool) -> Self {
        Self { state: State::Head, head_bytes: Vec::new(), head_only, keep_head }
    }

    /// Begins anew, for another answer.
    #[inline]
    pub(crate) fn reset(&mut self, head_only: bool, keep_head: bool) {
        self.state = State::Head;
        self.head_bytes.clear();
        (self.head_only, self.keep_head) = (head_only, keep_head);
    }

    /// Gives an empty buffer that was used before, for the head's bytes.
    #[inline]
    pub(crate) fn lend(&mut self, buffer: Vec<u8>) {
        self.head_bytes = buffer;
    }

    /// Gives its memory back.
    #[inline]
    pub(crate) fn forget(&mut self) {
        if self.head_bytes.capacity() > 0 {
            self.head_bytes = Vec::new();
        }
    }

    /// Takes the next piece off `input`. After [`Piece::Done`] nothing more comes.
    #[inline]
    pub(crate) fn next<'a>(
        &mut self,
        input: &mut &'a [u8],
        known: &mut KnownHeads,
    ) -> Result<Piece<'a>, CodecError> {
        match &mut self.state {
            State::Head => self.next_head(input, known),
            State::Done | State::Length(0) => {
                self.state = State::Done;
                Ok(Piece::Done)
            }
            _ if input.is_empty() => Ok(Piece::More),
            State::Length(left) => {
                let here = usize::try_from(*left).map_or(input.len(), |left| left.min(input.len()));
                let (body, rest) = input.split_at(here);
                *input = rest;
                *left -= here as u64;
                Ok(Piece::Body(body))
            }
            State::Chunked(chunked) => match chunked.next(input)? {
                ChunkedPiece::Body(body) => Ok(Piece::Body(body)),
                ChunkedPiece::More => Ok(Piece::More),
                ChunkedPiece::Done => {
                    self.state = State::Done;
                    Ok(Piece::Done)
                }
            },
            State::UntilClose => Ok(Piece::Body(std::mem::take(input))),
        }
    }

    /// The connection has ended: fine if the body lasts until then, else what was cut off.
    pub(crate) fn end(&mut self) -> Result<(), CodecError> {
        match self.state {
            State::Done | State::UntilClose | State::Length(0) => Ok(()),
            State::Head => {
                // A broken line without its end has waited for the end until now.
                parse_head(&self.head_bytes, self.head_only)?;
                Err(CodecError::Ended("the head"))
            }
            State::Length(_) => Err(CodecError::Ended("the body")),
            State::Chunked(_) => Err(CodecError::Ended("the chunked body")),
        }
    }

    /// Whether this head's bytes are kept: a redirect's always are, for its location.
    fn keeps(&self, head: &Head) -> bool {
        self.keep_head || matches!(head.status, 300..=399)
    }

    /// The final head's bytes, if they were to be kept.
    pub(crate) fn take_head(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.head_bytes)
    }

    fn next_head<'a>(
        &mut self,
        input: &mut &'a [u8],
        known: &mut KnownHeads,
    ) -> Result<Piece<'a>, CodecError> {
        loop {
            if input.is_empty() {
                return Ok(Piece::More);
            }
            let Some(head) = self.parse_head(input, known)? else {
                return Ok(Piece::More);
            };
            // 101 was never asked for: final, and the connection is not HTTP any more.
            if matches!(head.status, 100..=199) && head.status != 101 {
                self.head_bytes.clear();
                continue;
            }
            if !self.keeps(&head) {
                self.head_bytes = Vec::new();
            }
            self.state = match head.framing {
                Framing::Chunked => State::Chunked(Chunked::default()),
                Framing::Length(length) => State::Length(length),
                Framing::UntilClose => State::UntilClose,
            };
            return Ok(Piece::Head(head));
        }
    }

    /// Parses from the input itself where the whole head is in it, else collects.
    fn parse_head(
        &mut self,
        input: &mut &[u8],
        known: &mut KnownHeads,
    ) -> Result<Option<Head>, CodecError> {
        if self.head_bytes.is_empty() {
            if let Some((head, length)) = known.parse(input, self.head_only)? {
                let (bytes, rest) = input.split_at(length);
                *input = rest;
                if self.keeps(&head) {
                    self.head_bytes.extend_from_slice(bytes);
                }
                return Ok(Some(head));
            }
            self.head_bytes.extend_from_slice(input);
            *input = &[];
            return Ok(None);
        }
        let before = self.head_bytes.len();
        // One more than allowed is enough to see that it is too long.
        let here = input.len().min(HEAD_BYTES_MAX + 1 - before);
        self.head_bytes.extend_from_slice(&input[..here]);
        // A head ends with a line feed: without a new one (and below the bound) there is none.
        let may_end = input[..here].contains(&b'\n') || self.head_bytes.len() > HEAD_BYTES_MAX;
        if may_end && let Some((head, length)) = parse_head(&self.head_bytes, self.head_only)? {
            self.head_bytes.truncate(length);
            *input = &input[length - before..];
            return Ok(Some(head));
        }
        *input = &input[here..];
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
