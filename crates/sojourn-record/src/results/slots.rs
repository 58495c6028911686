//! A decoded result, its texts as places in a buffer: what a reader holds between two records.

use std::ops::Range;

use super::{AttackResult, Headers, Timestamp};

/// A result without its bytes.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) attack: Range<usize>,
    pub(super) seq: u64,
    pub(super) code: u16,
    pub(super) timestamp: Timestamp,
    pub(super) latency_ns: i64,
    pub(super) bytes_out: u64,
    pub(super) bytes_in: u64,
    pub(super) error: Range<usize>,
    pub(super) body: Option<Range<usize>>,
    pub(super) method: Range<usize>,
    pub(super) url: Range<usize>,
    pub(super) has_headers: bool,
    pub(super) headers: Headers,
}

impl Slots {
    /// Empties all, keeps the headers' memory.
    pub(super) fn clear(&mut self) {
        let mut headers = std::mem::take(&mut self.headers);
        headers.clear();
        *self = Self { headers, ..Self::default() };
    }

    /// The result, its texts taken from the buffer that the places are of.
    pub(super) fn view<'a>(&'a self, buffer: &'a [u8]) -> AttackResult<'a> {
        let text = |range: &Range<usize>| buffer.get(range.clone()).unwrap_or_default();
        AttackResult {
            attack: text(&self.attack),
            seq: self.seq,
            code: self.code,
            timestamp: self.timestamp,
            latency_ns: self.latency_ns,
            bytes_out: self.bytes_out,
            bytes_in: self.bytes_in,
            error: text(&self.error),
            body: self.body.as_ref().map(text),
            method: text(&self.method),
            url: text(&self.url),
            headers: self.has_headers.then_some(&self.headers),
        }
    }
}
