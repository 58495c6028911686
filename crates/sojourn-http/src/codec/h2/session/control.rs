//! Frames about a stream or the connection: settings, pings, windows, ends.

use super::super::frame::{self, FrameHeader, U31_MAX, flag, read_u32};
use super::{ErrorCode, Event, Http2Error, Session};

impl Session {
    pub(super) fn reset(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Http2Error> {
        self.check_was_opened(header.stream)?;
        let code = read_u32(payload)
            .filter(|_| payload.len() == 4)
            .ok_or_else(|| Http2Error::frame_size("a RST_STREAM frame of a wrong length"))?;
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

    pub(super) fn settings(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Http2Error> {
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

    pub(super) fn ping(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Http2Error> {
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

    pub(super) fn goaway(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Http2Error> {
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

    pub(super) fn window_update(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Event<'static>>, Http2Error> {
        let increment = read_u32(payload)
            .filter(|_| payload.len() == 4)
            .ok_or_else(|| Http2Error::frame_size("a WINDOW_UPDATE frame of a wrong length"))?
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
}
