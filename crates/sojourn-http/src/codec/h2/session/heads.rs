//! Header blocks that come: heads, trailers, and what belongs to nobody any more.

use super::super::frame::{self, FrameHeader, flag};
use super::super::head::{HeadReader, LIST_BYTES_MAX};
use super::super::hpack::Fields;
use super::{Event, Http2Error, Http2Head, Session};
use crate::codec::Coding;

/// Longest header block collected, in as many frames.
const BLOCK_BYTES_MAX: usize = 64 * 1024;
const BLOCK_FRAMES_MAX: usize = 128;

/// Longest block that is worth remembering.
const KNOWN_BYTES_MAX: usize = 1_024;

/// A header block under way.
#[derive(Debug)]
pub(super) struct Block {
    id: u32,
    ends_stream: bool,
    frames: usize,
}

/// The last head. Most answers of a load have the same one, byte for byte: as long as the tables
/// are unchanged it is not decoded again.
#[derive(Debug)]
pub(super) struct KnownHead {
    block: Vec<u8>,
    head: Http2Head,
    text: Vec<u8>,
    has_text: bool,
    /// The state of the tables that it holds for; none: not to be used again.
    table_changes: Option<u64>,
}

impl Default for KnownHead {
    fn default() -> Self {
        Self {
            block: Vec::new(),
            head: Http2Head { status: 0, coding: Coding::Identity, length: None },
            text: Vec::new(),
            has_text: false,
            table_changes: None,
        }
    }
}

impl KnownHead {
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    fn is_same(&self, block: &[u8], keep_head: bool, table_changes: u64) -> bool {
        self.table_changes == Some(table_changes)
            && (self.has_text || !keep_head)
            && self.block == block
    }
}

/// Takes fields of streams that are closed.
struct Nobody;

impl Fields for Nobody {
    fn wants(&mut self, _name: &[u8]) -> bool {
        false
    }

    fn field(&mut self, _name: &[u8], _value: &[u8]) {}

    fn too_long(&mut self) {}
}

impl Session {
    pub(super) fn headers(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Http2Error> {
        self.check_was_opened(header.stream)?;
        let mut block = payload;
        if header.has(flag::PADDED) {
            let (padding, rest) = block
                .split_first()
                .ok_or_else(|| Http2Error::frame_size("a padded frame without its padding"))?;
            let length = rest
                .len()
                .checked_sub(usize::from(*padding))
                .ok_or_else(|| Http2Error::protocol("padding longer than its frame"))?;
            block = &rest[..length];
        }
        if header.has(flag::PRIORITY) {
            block = block
                .get(5..)
                .ok_or_else(|| Http2Error::frame_size("a frame too short for its priority"))?;
        }
        let wire_bytes = (frame::HEADER_BYTES + payload.len()) as u64;
        let ends_stream = header.has(flag::END_STREAM);
        if header.has(flag::END_HEADERS) {
            return self.whole_block(header.stream, ends_stream, block, wire_bytes);
        }
        self.block_bytes.clear();
        self.block_bytes.extend_from_slice(block);
        self.block = Some(Block { id: header.stream, ends_stream, frames: 1 });
        Ok(None)
    }

    pub(super) fn continuation(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Http2Error> {
        let out_of_order = Http2Error::protocol("header frames out of their order");
        let block = self.block.as_mut().ok_or(out_of_order)?;
        if block.id != header.stream {
            return Err(out_of_order);
        }
        block.frames += 1;
        self.block_bytes.extend_from_slice(payload);
        if self.block_bytes.len() > BLOCK_BYTES_MAX || block.frames > BLOCK_FRAMES_MAX {
            return Err(Http2Error::too_much("a head in more frames than are read"));
        }
        if !header.has(flag::END_HEADERS) {
            return Ok(None);
        }
        let (id, ends_stream) = (block.id, block.ends_stream);
        let wire_bytes = block.frames * frame::HEADER_BYTES + self.block_bytes.len();
        self.block = None;
        let bytes = std::mem::take(&mut self.block_bytes);
        let event = self.whole_block(id, ends_stream, &bytes, wire_bytes as u64);
        self.block_bytes = bytes;
        event
    }

    fn whole_block(
        &mut self,
        id: u32,
        ends: bool,
        block: &[u8],
        wire_bytes: u64,
    ) -> Result<Option<Event<'static>>, Http2Error> {
        let Some(stream) = self.streams.get_mut(id) else {
            // It was given up; its block may still change the table.
            self.decoder.decode(block, LIST_BYTES_MAX, &mut Nobody)?;
            return Ok(None);
        };
        let (exchange, keep_head) = (stream.exchange, stream.keep_head);
        let (head_only, body_left) = (stream.head_only, stream.body_left);
        if stream.has_head {
            let mut unwanted = Vec::new();
            let mut trailers = HeadReader::new(true, &mut unwanted, false);
            self.decoder.decode(block, LIST_BYTES_MAX, &mut trailers)?;
            if let Err(malformed) = trailers.finish() {
                return self.malformed(id, malformed.0).map(Some);
            }
            if !ends {
                return self.malformed(id, "a second head").map(Some);
            }
            if body_left.is_some_and(|left| left > 0) {
                return self.malformed(id, "a body shorter than its content-length").map(Some);
            }
            self.close(id)?;
            return Ok(Some(Event::End { exchange, wire_bytes }));
        }
        let head = match self.head(block, keep_head)? {
            Ok(head) => head,
            Err(what) => return self.malformed(id, what).map(Some),
        };
        if head.status < 200 {
            if ends || head.status == 101 {
                return self.malformed(id, "an interim answer that is the last").map(Some);
            }
            return Ok(None);
        }
        let has_no_body = head_only || matches!(head.status, 204 | 304);
        let body_left = if has_no_body { Some(0) } else { head.length };
        if ends {
            if body_left.is_some_and(|left| left > 0) {
                return self.malformed(id, "a body shorter than its content-length").map(Some);
            }
            self.close(id)?;
        } else if let Some(stream) = self.streams.get_mut(id) {
            stream.has_head = true;
            stream.body_left = body_left;
        }
        Ok(Some(Event::Head { exchange, head, wire_bytes, ends }))
    }

    /// Decodes a head, unless it is the last one again.
    fn head(
        &mut self,
        block: &[u8],
        keep_head: bool,
    ) -> Result<Result<Http2Head, &'static str>, Http2Error> {
        let known = &mut self.known_head;
        let changes_before = self.decoder.table_changes();
        if known.is_same(block, keep_head, changes_before) {
            return Ok(Ok(known.head));
        }
        known.table_changes = None;
        known.text.clear();
        let mut reader = HeadReader::new(false, &mut known.text, keep_head);
        self.decoder.decode(block, LIST_BYTES_MAX, &mut reader)?;
        let has_text = reader.keeps_text();
        let head = match reader.finish() {
            Ok(head) => head,
            Err(malformed) => return Ok(Err(malformed.0)),
        };
        let changes = self.decoder.table_changes();
        if changes == changes_before && block.len() <= KNOWN_BYTES_MAX {
            known.block.clear();
            known.block.extend_from_slice(block);
            known.head = head;
            known.has_text = has_text;
            known.table_changes = Some(changes);
        }
        Ok(Ok(head))
    }
}
