//! What comes: frames to events. Bodies are dealt with here, `heads` and `control` have the rest.

use super::super::frame::{self, FrameHeader, flag, kind};
use super::super::reader::Part;
use super::{ErrorCode, Event, Http2Error, Session};

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
        let mut taken = Ok(());
        if let Some(stream) = self.streams.get_mut(header.stream) {
            stream.receive_left = stream.receive_left.checked_sub(length).ok_or(beyond)?;
            let window = self.limits.stream_window;
            if stream.receive_left < window / 2 && !data.ends_stream {
                let more = window - stream.receive_left;
                frame::write_window_update(header.stream, more, &mut self.out);
                stream.receive_left = window;
            }
            data.exchange = Some(stream.exchange);
            if !stream.has_head {
                taken = Err("a body before its head");
            } else if !is_padded {
                taken = stream.take_body(u64::from(length), data.ends_stream);
            }
        }
        self.data = Some(data);
        match taken {
            Ok(()) => Ok(None),
            Err(what) => self.malformed(header.stream, what).map(Some),
        }
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
                .ok_or_else(|| Http2Error::protocol("padding longer than its frame"))?;
            let (id, length, ends) = (data.id, data.left as u64, data.ends_stream);
            let taken = self.streams.get_mut(id).map(|stream| stream.take_body(length, ends));
            return match taken {
                Some(Err(what)) => self.malformed(id, what).map(Some),
                _ => Ok(None),
            };
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

    /// Streams have odd numbers, ours, and none is spoken of before it was opened.
    pub(super) fn check_was_opened(&self, id: u32) -> Result<(), Http2Error> {
        if id.is_multiple_of(2) || id >= self.next_id {
            return Err(Http2Error::protocol("a frame for a stream that was never opened"));
        }
        Ok(())
    }

    /// The answer is whole. A request that is not is given up.
    pub(super) fn close(&mut self, id: u32) -> Result<(), Http2Error> {
        if self.streams.remove(id).is_some_and(|stream| !stream.is_sent) {
            frame::write_reset(id, ErrorCode::CANCEL, &mut self.out);
            self.replied()?;
        }
        Ok(())
    }

    /// The answer is wrong: gives the stream up.
    pub(super) fn malformed(
        &mut self,
        id: u32,
        what: &'static str,
    ) -> Result<Event<'static>, Http2Error> {
        self.forget(id);
        let stream = self.streams.remove(id);
        frame::write_reset(id, ErrorCode::PROTOCOL_ERROR, &mut self.out);
        self.replied()?;
        // Only ever called for a stream that is there.
        let exchange = stream.map_or(u32::MAX, |stream| stream.exchange);
        Ok(Event::Malformed { exchange, what })
    }
}
