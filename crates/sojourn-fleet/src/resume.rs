//! A byte stream over connections that end: what has not been acknowledged is kept and sent again.
//!
//! No sockets and no clock: bytes in, chunks out. Offsets count the stream's bytes from its
//! beginning; its end counts as one byte, so that it is acknowledged like any other.

use std::collections::VecDeque;

use crate::frame::DATA_MAX;

/// Most bytes that one side keeps for the other, until it refuses more.
const KEPT_MAX: usize = 64 << 20;
/// How far a side may send ahead of what the other has handed on: the other keeps at most this.
pub const WINDOW_BYTES: u64 = 8 << 20;

/// What the other side says that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// An offset outside of what it may speak of.
    #[error("offset {offset} is not between {from} and {to}")]
    Offset {
        /// What it said.
        offset: u64,
        /// The least…
        from: u64,
        /// …and the greatest there can be.
        to: u64,
    },
    /// Bytes after the stream's end.
    #[error("bytes after the end of the stream")]
    AfterEnd,
}

/// What is to be sent next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// Bytes from an offset on.
    Data(u64, Vec<u8>),
    /// The end, at this offset.
    Fin(u64),
}

/// The sending side.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// Everything before this offset has been handed on at the other side.
    base: u64,
    /// The bytes from `base` on.
    kept: VecDeque<u8>,
    /// How many bytes the stream has so far: the offset of its end.
    end: u64,
    /// Offset of the next to be sent.
    sent: u64,
    /// No further bytes come.
    is_closed: bool,
    resent: u64,
}

impl Outgoing {
    /// How many bytes there is room for.
    pub fn room(&self) -> usize {
        if self.is_closed { 0 } else { KEPT_MAX.saturating_sub(self.kept.len()) }
    }

    /// Takes bytes in, which must be no more than there is room for.
    pub fn push(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.room());
        self.kept.extend(bytes);
        self.end += bytes.len() as u64;
    }

    /// No further bytes come.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether that has been said.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The next thing to send; `None` where there is nothing, or the other side is too far behind.
    pub fn next_chunk(&mut self) -> Option<Chunk> {
        if self.sent == self.end && self.is_closed {
            self.sent += 1;
            return Some(Chunk::Fin(self.end));
        }
        let until = self.end.min(self.base.saturating_add(WINDOW_BYTES));
        let length = until.saturating_sub(self.sent).min(DATA_MAX as u64) as usize;
        if length == 0 {
            return None;
        }
        let offset = self.sent;
        let bytes = self.copy((offset - self.base) as usize, length);
        self.sent += length as u64;
        Some(Chunk::Data(offset, bytes))
    }

    /// So many of the kept bytes from this one on, which all are there.
    fn copy(&self, from: usize, length: usize) -> Vec<u8> {
        let (front, back) = self.kept.as_slices();
        let mut bytes = Vec::with_capacity(length);
        let of_front = front.get(from..).unwrap_or_default();
        bytes.extend(&of_front[..length.min(of_front.len())]);
        let of_back = back.get(from.saturating_sub(front.len())..).unwrap_or_default();
        let left = length - bytes.len();
        bytes.extend(&of_back[..left.min(of_back.len())]);
        bytes
    }

    /// The other side has handed on everything before this offset.
    pub fn ack(&mut self, offset: u64) -> Result<(), ResumeError> {
        self.check(offset)?;
        let bytes = (offset - self.base).min(self.kept.len() as u64) as usize;
        self.kept.drain(..bytes);
        self.base = offset;
        Ok(())
    }

    /// A new connection: the other side has everything before this offset, and the rest is sent
    /// again.
    pub fn rewind(&mut self, received: u64) -> Result<(), ResumeError> {
        self.check(received)?;
        self.resent += self.sent - received;
        self.sent = received;
        Ok(())
    }

    /// Everything, its end too, has been handed on at the other side.
    pub fn is_delivered(&self) -> bool {
        self.is_closed && self.base == self.end + 1
    }

    /// Bytes that had to be sent again.
    pub fn resent(&self) -> u64 {
        self.resent
    }

    /// Only of what was sent and not acknowledged can anything be said.
    fn check(&self, offset: u64) -> Result<(), ResumeError> {
        if (self.base..=self.sent).contains(&offset) {
            return Ok(());
        }
        Err(ResumeError::Offset { offset, from: self.base, to: self.sent })
    }
}

/// The receiving side.
#[derive(Debug, Default)]
pub struct Incoming {
    /// Everything before this offset has come.
    received: u64,
    /// What has come and not been handed on.
    pending: VecDeque<u8>,
    has_ended: bool,
}

impl Incoming {
    /// Takes bytes in. What came before a cut may come again.
    pub fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ResumeError> {
        if offset > self.received {
            return Err(ResumeError::Offset { offset, from: 0, to: self.received });
        }
        // The end counts as a byte, and is none.
        let end = self.received - u64::from(self.has_ended);
        let known = end.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let fresh = &bytes[known..];
        if fresh.is_empty() {
            return Ok(());
        }
        if self.has_ended {
            return Err(ResumeError::AfterEnd);
        }
        let pending = (self.pending.len() + fresh.len()) as u64;
        if pending > WINDOW_BYTES {
            let to = self.delivered() + WINDOW_BYTES;
            return Err(ResumeError::Offset { offset, from: self.received, to });
        }
        self.pending.extend(fresh);
        self.received += fresh.len() as u64;
        Ok(())
    }

    /// The stream ends at this offset.
    pub fn fin(&mut self, offset: u64) -> Result<(), ResumeError> {
        if self.has_ended && offset + 1 == self.received {
            return Ok(());
        }
        if self.has_ended || offset != self.received {
            return Err(ResumeError::Offset { offset, from: self.received, to: self.received });
        }
        self.has_ended = true;
        self.received += 1;
        Ok(())
    }

    /// What is to be handed on, the first part of it.
    pub fn pending(&self) -> &[u8] {
        let (front, back) = self.pending.as_slices();
        if front.is_empty() { back } else { front }
    }

    /// So many of these bytes have been handed on.
    pub fn consume(&mut self, bytes: usize) {
        self.pending.drain(..bytes.min(self.pending.len()));
    }

    /// Everything before this offset has come: where a new connection goes on.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Everything before this offset has been handed on: what is acknowledged. The end is handed on
    /// with the last byte.
    pub fn delivered(&self) -> u64 {
        let held = self.pending.len() as u64;
        // With bytes still to be handed on, the end behind them has not been either.
        self.received - held - u64::from(self.has_ended && held > 0)
    }

    /// All of it has come and been handed on.
    pub fn is_over(&self) -> bool {
        self.has_ended && self.pending.is_empty()
    }
}
