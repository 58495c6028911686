//! Header blocks that come: heads, trailers, and what belongs to nobody any more.

use super::super::frame::{self, FrameHeader, flag};
use super::super::head::{HeadReader, LIST_BYTES_MAX};
use super::super::hpack::{Decoder, Effect, Fields, TABLE_BYTES_MAX};
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

/// The last head. Most answers of a load have the same one, byte for byte, and it is not decoded
/// again as long as that would neither tell nor change anything new:
///
/// - the block adds nothing to the table, and the table is as it was; or
/// - the block does not depend on the table, and the last ones, all the same as this, have filled
///   it: it holds their fields over and over, and adding them again would only push the same ones
///   out. (Some servers add every field of every answer and never refer to one.)
#[derive(Debug)]
pub(super) struct KnownHead {
    block: Vec<u8>,
    head: Http2Head,
    text: Vec<u8>,
    has_text: bool,
    /// It is not to be decoded again as long as the table is in this state.
    is_settled: bool,
    table_changes: u64,
    /// What it has added to the table since another block was decoded, bytes.
    filled_bytes: u64,
}

impl Default for KnownHead {
    fn default() -> Self {
        Self {
            block: Vec::new(),
            head: Http2Head { status: 0, coding: Coding::Identity, length: None },
            text: Vec::new(),
            has_text: false,
            is_settled: false,
            table_changes: 0,
            filled_bytes: 0,
        }
    }
}

impl KnownHead {
    /// Decodes a head, unless it is the last one again. The inner error ends its stream only.
    fn read(
        &mut self,
        decoder: &mut Decoder,
        block: &[u8],
        keep_head: bool,
    ) -> Result<Result<Http2Head, &'static str>, Http2Error> {
        let changes_before = decoder.table_changes();
        if self.is_same(block, keep_head, changes_before) {
            return Ok(Ok(self.head));
        }
        let is_repeated = self.table_changes == changes_before && self.block == block;
        self.is_settled = false;
        self.text.clear();
        let mut reader = HeadReader::new(false, &mut self.text, keep_head);
        let effect = decoder.decode(block, LIST_BYTES_MAX, &mut reader)?;
        self.has_text = reader.keeps_text();
        self.head = match reader.finish() {
            Ok(head) => head,
            Err(malformed) => return Ok(Err(malformed.0)),
        };
        self.learn(block, effect, is_repeated, changes_before, decoder.table_changes());
        Ok(Ok(self.head))
    }

    /// Takes note of what the block did to the table.
    fn learn(
        &mut self,
        block: &[u8],
        effect: Effect,
        is_repeated: bool,
        changes_before: u64,
        changes_after: u64,
    ) {
        if block.len() > KNOWN_BYTES_MAX {
            return;
        }
        if is_repeated {
            self.filled_bytes += effect.inserted_bytes;
        } else {
            self.block.clear();
            self.block.extend_from_slice(block);
            self.filled_bytes = effect.inserted_bytes;
        }
        self.table_changes = changes_after;
        let fills_table = self.filled_bytes >= TABLE_BYTES_MAX as u64;
        self.is_settled = changes_after == changes_before || (!effect.needs_table && fills_table);
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    fn is_same(&self, block: &[u8], keep_head: bool, table_changes: u64) -> bool {
        self.is_settled
            && self.table_changes == table_changes
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
        let exchange = stream.exchange;
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
            if let Err(what) = stream.take_body(0, true) {
                return self.malformed(id, what).map(Some);
            }
            self.close(id)?;
            return Ok(Some(Event::End { exchange, wire_bytes }));
        }
        let head = match self.known_head.read(&mut self.decoder, block, stream.keep_head)? {
            Ok(head) => head,
            Err(what) => return self.malformed(id, what).map(Some),
        };
        if head.status < 200 {
            if ends || head.status == 101 {
                return self.malformed(id, "an interim answer that is the last").map(Some);
            }
            return Ok(None);
        }
        let has_no_body = stream.head_only || matches!(head.status, 204 | 304);
        stream.has_head = true;
        self.answered_id = id;
        stream.body_left = if has_no_body { Some(0) } else { head.length };
        if ends {
            if let Err(what) = stream.take_body(0, true) {
                return self.malformed(id, what).map(Some);
            }
            self.close(id)?;
        }
        Ok(Some(Event::Head { exchange, head, wire_bytes, ends }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Blocks as servers write them: literals that enter the table, literals that don't, references
    /// to the table's first, third and 71st field, a change of its size.
    const BLOCKS: [&[u8]; 8] = [
        b"\x88\x40\x06server\x05nginx\x40\x04date\x1dThu, 01 Jan 1970 00:00:00 GMT",
        b"\x88\x40\x01a\x01b",
        b"\x88\x00\x01a\x01c",
        b"\x88\xbe",
        b"\x88\xff\x05",
        b"\x88\xc0\x40\x01d\x01e",
        b"\x3f\x45\x88\x40\x01f\x01g",
        b"\x3f\xe1\x1f\x88\x40\x01h\x01i",
    ];

    proptest! {
        #[test]
        fn what_is_known_is_what_would_be_decoded(
            runs in proptest::collection::vec((0..BLOCKS.len(), 1_usize..70, any::<bool>()), 1..12),
        ) {
            let (mut decoder, mut known) = (Decoder::new(), KnownHead::default());
            let mut plain = Decoder::new();
            for (place, times, keep_head) in runs {
                for _ in 0..times {
                    let mut text = Vec::new();
                    let mut reader = HeadReader::new(false, &mut text, true);
                    let decoded = plain.decode(BLOCKS[place], LIST_BYTES_MAX, &mut reader);
                    let read = known.read(&mut decoder, BLOCKS[place], keep_head);
                    if decoded.is_err() {
                        // It points at what the table does not have; the connection is over.
                        prop_assert!(read.is_err());
                        return Ok(());
                    }
                    prop_assert_eq!(read, Ok(Ok(reader.finish().expect("a head"))));
                    if keep_head {
                        prop_assert_eq!(known.text(), text.as_slice());
                    }
                }
            }
        }
    }

    #[test]
    fn a_head_that_fills_the_table_is_settled() {
        let (mut decoder, mut known) = (Decoder::new(), KnownHead::default());
        let mut decoded = 0;
        for _ in 0..1_000 {
            let before = decoder.table_changes();
            known.read(&mut decoder, BLOCKS[0], false).expect("valid").expect("a head");
            decoded += usize::from(decoder.table_changes() != before);
        }
        // 43 and 65 bytes a time fill 4096.
        assert_eq!(decoded, 4_096_usize.div_ceil(43 + 65));
    }
}
