//! What comes: frames to events.

use super::super::frame::{self, FrameHeader, U31_MAX, flag, kind, read_u32};
use super::super::head::{HeadReader, LIST_BYTES_MAX};
use super::super::hpack::Fields;
use super::super::reader::Part;
use super::{ErrorCode, Event, Http2Error, Http2Head, Session};
use crate::codec::head::Coding;

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

/// A DATA frame under way.
#[derive(Debug)]
pub(super) struct Data {
    id: u32,
    /// Whose it is; none: to be passed over.
    exchange: Option<u32>,
    /// The length of the padding is still to come.
    is_padding_unknown: bool,
    /// Of the payload without padding.
    left: usize,
    padding: usize,
    ends_stream: bool,
    /// Framing not told yet.
    wire_bytes: u64,
}

impl Data {
    pub(super) fn forget(&mut self, id: u32) {
        if self.id == id {
            self.exchange = None;
        }
    }
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
    /// Takes the next event off the input. An error ends the connection.
    pub(crate) fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Event<'a>, Http2Error> {
        loop {
            if let Some(exchange) = self.left_out.pop() {
                return Ok(Event::Refused { exchange });
            }
            if self.data.is_some() {
                match self.next_of_data(input)? {
                    Some(event) => return Ok(event),
                    None => continue,
                }
            }
            let event = match self.reader.next(input)? {
                Part::More => return Ok(Event::More),
                Part::Data(header) => self.data_begins(header)?,
                Part::Frame(header, payload) => {
                    let event = self.frame(header, &payload)?;
                    self.reader.give_back(payload);
                    event
                }
            };
            if let Some(event) = event {
                return Ok(event);
            }
        }
    }

    fn frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Http2Error> {
        let is_settings = header.kind == kind::SETTINGS && !header.has(flag::ACK);
        if !self.peer.have_come && !is_settings {
            return Err(Http2Error::protocol("another frame where its SETTINGS had to come first"));
        }
        if self.block.is_some() != (header.kind == kind::CONTINUATION) {
            return Err(Http2Error::protocol("header frames out of their order"));
        }
        match header.kind {
            kind::HEADERS => return self.headers(header, payload),
            kind::CONTINUATION => return self.continuation(header, payload),
            kind::RST_STREAM => return self.reset(header, payload),
            kind::WINDOW_UPDATE => return self.window_update(header, payload),
            kind::SETTINGS => self.settings(header, payload)?,
            kind::PING => self.ping(header, payload)?,
            kind::GOAWAY => self.goaway(header, payload)?,
            kind::PUSH_PROMISE => {
                return Err(Http2Error::protocol("a push, which was switched off"));
            }
            kind::PRIORITY if payload.len() != 5 => {
                return Err(Http2Error::frame_size("a PRIORITY frame of a wrong length"));
            }
            _ => {}
        }
        Ok(None)
    }

    fn data_begins(&mut self, header: FrameHeader) -> Result<Option<Event<'static>>, Http2Error> {
        if !self.peer.have_come || self.block.is_some() {
            return Err(Http2Error::protocol("a DATA frame out of its order"));
        }
        self.check_was_opened(header.stream)?;
        let beyond = Http2Error::flow_control("more bytes than its window had room for");
        let length = header.length as u32;
        self.receive_left = self.receive_left.checked_sub(length).ok_or(beyond)?;
        if self.receive_left < self.limits.connection_window / 2 {
            let more = self.limits.connection_window - self.receive_left;
            frame::write_window_update(0, more, &mut self.out);
            self.receive_left = self.limits.connection_window;
        }
        let is_padded = header.has(flag::PADDED);
        if is_padded && header.length == 0 {
            return Err(Http2Error::frame_size("a padded frame without its padding"));
        }
        let mut data = Data {
            id: header.stream,
            exchange: None,
            is_padding_unknown: is_padded,
            left: header.length,
            padding: 0,
            ends_stream: header.has(flag::END_STREAM),
            wire_bytes: frame::HEADER_BYTES as u64,
        };
        let mut has_head = true;
        if let Some(stream) = self.streams.get_mut(header.stream) {
            stream.receive_left = stream.receive_left.checked_sub(length).ok_or(beyond)?;
            let window = self.limits.stream_window;
            if stream.receive_left < window / 2 && !data.ends_stream {
                let more = window - stream.receive_left;
                frame::write_window_update(header.stream, more, &mut self.out);
                stream.receive_left = window;
            }
            has_head = stream.has_head;
            data.exchange = Some(stream.exchange);
        }
        self.data = Some(data);
        if !has_head {
            return self.malformed(header.stream, "a body before its head").map(Some);
        }
        if is_padded { Ok(None) } else { self.check_body_length() }
    }

    /// The length of the body in this frame is known: holds it against the content-length.
    fn check_body_length(&mut self) -> Result<Option<Event<'static>>, Http2Error> {
        let Some(data) = &self.data else {
            return Ok(None);
        };
        let (id, length, ends_stream) = (data.id, data.left as u64, data.ends_stream);
        let Some(left) = self.streams.get_mut(id).and_then(|stream| stream.body_left.as_mut())
        else {
            return Ok(None);
        };
        match left.checked_sub(length) {
            Some(after) => *left = after,
            None => return self.malformed(id, "a body longer than its head allows").map(Some),
        }
        if ends_stream && *left > 0 {
            return self.malformed(id, "a body shorter than its content-length").map(Some);
        }
        Ok(None)
    }

    /// Goes on with a DATA frame; `None` when it is over and has nothing to tell.
    fn next_of_data<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Event<'a>>, Http2Error> {
        let Some(data) = &mut self.data else {
            return Ok(None);
        };
        if data.is_padding_unknown {
            let Some((padding, rest)) = input.split_first() else {
                return Ok(Some(Event::More));
            };
            *input = rest;
            data.is_padding_unknown = false;
            data.padding = usize::from(*padding);
            data.wire_bytes += 1;
            data.left = (data.left - 1)
                .checked_sub(data.padding)
                .ok_or(Http2Error::protocol("padding longer than its frame"))?;
            return self.check_body_length();
        }
        let (bytes, rest) = input.split_at(input.len().min(data.left));
        let (padding, rest) = rest.split_at(rest.len().min(data.padding));
        if bytes.is_empty() && padding.is_empty() && data.left + data.padding > 0 {
            return Ok(Some(Event::More));
        }
        *input = rest;
        data.left -= bytes.len();
        data.padding -= padding.len();
        let is_over = data.left + data.padding == 0;
        let (id, exchange) = (data.id, data.exchange);
        let ends = is_over && data.ends_stream;
        let wire_bytes =
            std::mem::take(&mut data.wire_bytes) + (bytes.len() + padding.len()) as u64;
        if is_over {
            self.data = None;
        }
        let Some(exchange) = exchange else {
            return Ok(None);
        };
        if ends {
            self.close(id)?;
        }
        Ok(Some(Event::Body { exchange, bytes, wire_bytes, ends }))
    }

    fn headers(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Http2Error> {
        self.check_was_opened(header.stream)?;
        let mut block = payload;
        if header.has(flag::PADDED) {
            let (padding, rest) = block
                .split_first()
                .ok_or(Http2Error::frame_size("a padded frame without its padding"))?;
            let length = rest
                .len()
                .checked_sub(usize::from(*padding))
                .ok_or(Http2Error::protocol("padding longer than its frame"))?;
            block = &rest[..length];
        }
        if header.has(flag::PRIORITY) {
            block = block
                .get(5..)
                .ok_or(Http2Error::frame_size("a frame too short for its priority"))?;
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

    fn continuation(
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
            let mut trailers = HeadReader::new(true, None);
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
        let mut reader = HeadReader::new(false, keep_head.then_some(&mut known.text));
        self.decoder.decode(block, LIST_BYTES_MAX, &mut reader)?;
        let head = match reader.finish() {
            Ok(head) => head,
            Err(malformed) => return Ok(Err(malformed.0)),
        };
        let changes = self.decoder.table_changes();
        if changes == changes_before && block.len() <= KNOWN_BYTES_MAX {
            known.block.clear();
            known.block.extend_from_slice(block);
            known.head = head;
            known.has_text = keep_head;
            known.table_changes = Some(changes);
        }
        Ok(Ok(head))
    }

    fn reset(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Http2Error> {
        self.check_was_opened(header.stream)?;
        let code = read_u32(payload)
            .filter(|_| payload.len() == 4)
            .ok_or(Http2Error::frame_size("a RST_STREAM frame of a wrong length"))?;
        let Some(stream) = self.streams.remove(header.stream) else {
            return Ok(None);
        };
        self.forget(header.stream);
        let exchange = stream.exchange;
        Ok(Some(match ErrorCode(code) {
            ErrorCode::REFUSED_STREAM => Event::Refused { exchange },
            code => Event::Reset { exchange, code },
        }))
    }

    fn settings(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Http2Error> {
        if header.stream != 0 {
            return Err(Http2Error::protocol("a SETTINGS frame for a stream"));
        }
        if header.has(flag::ACK) {
            return if payload.is_empty() {
                Ok(())
            } else {
                Err(Http2Error::frame_size("a SETTINGS frame of a wrong length"))
            };
        }
        let window_before = self.peer.window;
        self.peer.take(payload)?;
        let change = self.peer.window - window_before;
        if change != 0 {
            for stream in self.streams.iter_mut() {
                stream.send_window += change;
                if stream.send_window > i64::from(U31_MAX) {
                    return Err(Http2Error::flow_control("a window of 2^31 bytes or more"));
                }
                Self::may_send(stream, &mut self.sending);
            }
        }
        frame::write_settings_ack(&mut self.out);
        self.replied()
    }

    fn ping(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Http2Error> {
        if header.stream != 0 {
            return Err(Http2Error::protocol("a PING frame for a stream"));
        }
        if payload.len() != 8 {
            return Err(Http2Error::frame_size("a PING frame of a wrong length"));
        }
        if header.has(flag::ACK) {
            return Ok(());
        }
        frame::write_ping_ack(payload, &mut self.out);
        self.replied()
    }

    fn goaway(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Http2Error> {
        if header.stream != 0 {
            return Err(Http2Error::protocol("a GOAWAY frame for a stream"));
        }
        let short = Http2Error::frame_size("a GOAWAY frame of a wrong length");
        let last_id = read_u32(payload).ok_or(short)? & U31_MAX;
        let code = payload.get(4..).and_then(read_u32).ok_or(short)?;
        self.going_away = Some(ErrorCode(code));
        for stream in self.streams.remove_above(last_id) {
            if let Some(data) = &mut self.data {
                data.forget(stream.id);
            }
            self.left_out.push(stream.exchange);
        }
        Ok(())
    }

    fn window_update(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Http2Error> {
        let increment = read_u32(payload)
            .filter(|_| payload.len() == 4)
            .ok_or(Http2Error::frame_size("a WINDOW_UPDATE frame of a wrong length"))?
            & U31_MAX;
        let zero = "a WINDOW_UPDATE frame of zero";
        let too_much = "a window of 2^31 bytes or more";
        let add = |window: &mut i64| {
            *window += i64::from(increment);
            *window <= i64::from(U31_MAX)
        };
        if header.stream == 0 {
            if increment == 0 {
                return Err(Http2Error::protocol(zero));
            }
            if !add(&mut self.send_window) {
                return Err(Http2Error::flow_control(too_much));
            }
            return Ok(None);
        }
        self.check_was_opened(header.stream)?;
        let Some(stream) = self.streams.get_mut(header.stream) else {
            return Ok(None);
        };
        if increment == 0 {
            return self.malformed(header.stream, zero).map(Some);
        }
        if !add(&mut stream.send_window) {
            return self.malformed(header.stream, too_much).map(Some);
        }
        Self::may_send(stream, &mut self.sending);
        Ok(None)
    }

    /// Streams have odd numbers, ours, and none is spoken of before it was opened.
    fn check_was_opened(&self, id: u32) -> Result<(), Http2Error> {
        if id.is_multiple_of(2) || id >= self.next_id {
            return Err(Http2Error::protocol("a frame for a stream that was never opened"));
        }
        Ok(())
    }

    /// The answer is whole. A request that is not is given up.
    fn close(&mut self, id: u32) -> Result<(), Http2Error> {
        if self.streams.remove(id).is_some_and(|stream| !stream.is_sent) {
            frame::write_reset(id, ErrorCode::CANCEL, &mut self.out);
            self.replied()?;
        }
        Ok(())
    }

    /// The answer is wrong: gives the stream up.
    fn malformed(&mut self, id: u32, what: &'static str) -> Result<Event<'static>, Http2Error> {
        self.forget(id);
        let stream = self.streams.remove(id);
        frame::write_reset(id, ErrorCode::PROTOCOL_ERROR, &mut self.out);
        self.replied()?;
        // Only ever called for a stream that is there.
        let exchange = stream.map_or(u32::MAX, |stream| stream.exchange);
        Ok(Event::Malformed { exchange, what })
    }
}
