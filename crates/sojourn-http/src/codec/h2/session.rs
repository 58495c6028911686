//! One connection's state: opening streams and sending on them. `receive` is the other direction.

mod control;
mod heads;
mod receive;

use std::collections::VecDeque;

use super::frame::{self, PREFACE, U31_MAX, setting};
use super::head::LIST_BYTES_MAX;
use super::hpack::{Decoder, write_size_update};
use super::peer::{PeerSettings, WINDOW_DEFAULT};
use super::reader::FrameReader;
use super::streams::{Stream, Streams};
use super::{ErrorCode, Http2Error, Http2Head};
use heads::{Block, KnownHead};
use receive::Data;

/// Most replies (to pings, settings, broken streams) that wait to be sent. A peer that causes more
/// without reading them is up to no good.
const REPLIES_MAX: usize = 10_000;

/// What we allow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most streams at a time, whatever the peer allows.
    pub(crate) streams_max: u32,
    /// How much of an answer may be under way per stream, bytes; renewed when half is used.
    pub(crate) stream_window: u32,
    /// The same for all together.
    pub(crate) connection_window: u32,
}

/// A connection's state. What it has to send is in [`Self::out`].
#[derive(Debug)]
pub(crate) struct Session {
    /// Frames to send; whoever sends takes them off.
    pub(crate) out: Vec<u8>,
    limits: Limits,
    reader: FrameReader,
    decoder: Decoder,
    peer: PeerSettings,
    streams: Streams,
    /// Streams with something to send, in turn.
    sending: VecDeque<u32>,
    /// How much of all bodies may be sent.
    send_window: i64,
    /// How much more the peer may send.
    receive_left: u32,
    next_id: u32,
    /// The stream whose head came last.
    answered_id: u32,
    /// A header block that is not whole.
    block: Option<Block>,
    block_bytes: Vec<u8>,
    /// A DATA frame that is not whole.
    data: Option<Data>,
    known_head: KnownHead,
    /// Exchanges that the peer's GOAWAY leaves out, to be told one by one.
    left_out: Vec<u32>,
    /// The peer takes no new streams, and why.
    going_away: Option<ErrorCode>,
    /// We open no new ones.
    is_draining: bool,
    replies: usize,
    has_shrunk_table: bool,
}

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// Some of a body, `wire_bytes` long with its framing. `ends`: the answer is whole.
    Body { exchange: u32, bytes: &'a [u8], wire_bytes: u64, ends: bool },
    /// The answer is whole.
    End { exchange: u32, wire_bytes: u64 },
    /// The head; its text is [`Session::head_text`]. `ends`: the answer is whole.
    Head { exchange: u32, head: Http2Head, wire_bytes: u64, ends: bool },
    /// The answer is wrong; the fragment reads after "answered with ". The stream is closed.
    Malformed { exchange: u32, what: &'static str },
    /// The input is used up.
    More,
    /// The peer has not touched this one: it may be sent elsewhere. The stream is closed.
    Refused { exchange: u32 },
    /// The peer has closed this stream before its end.
    Reset { exchange: u32, code: ErrorCode },
}

/// A request to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewStream<'a> {
    /// Comes back in events.
    pub(crate) exchange: u32,
    /// From [`super::RequestBlocks`].
    pub(crate) block: &'a [u8],
    pub(crate) has_body: bool,
    /// The answer has no body whatever its head says (HEAD).
    pub(crate) head_only: bool,
    /// The answer's head is to be kept.
    pub(crate) keep_head: bool,
}

/// A stream whose turn it is to send some of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) id: u32,
    pub(crate) exchange: u32,
    /// Most bytes now; at least one.
    pub(crate) bytes_max: usize,
}

impl Session {
    /// A session that has said its preface and settings.
    pub(crate) fn new(limits: Limits) -> Self {
        let mut out = PREFACE.to_vec();
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, limits.stream_window),
            (setting::MAX_HEADER_LIST_SIZE, LIST_BYTES_MAX as u32),
        ];
        frame::write_settings(&settings, &mut out);
        let more = limits.connection_window - WINDOW_DEFAULT as u32;
        frame::write_window_update(0, more, &mut out);
        Self {
            out,
            limits,
            reader: FrameReader::default(),
            decoder: Decoder::new(),
            peer: PeerSettings::new(),
            streams: Streams::default(),
            sending: VecDeque::new(),
            send_window: WINDOW_DEFAULT,
            receive_left: limits.connection_window,
            next_id: 1,
            answered_id: 0,
            block: None,
            block_bytes: Vec::new(),
            data: None,
            known_head: KnownHead::default(),
            left_out: Vec::new(),
            going_away: None,
            is_draining: false,
            replies: 0,
            has_shrunk_table: false,
        }
    }

    /// How many more streams may be opened now.
    pub(crate) fn room(&self) -> usize {
        if self.going_away.is_some() || self.is_draining || self.next_id > U31_MAX {
            return 0;
        }
        let streams_max = self.streams_max();
        streams_max.saturating_sub(self.streams.len())
    }

    /// Most streams at a time, ours and the peer's bound together.
    pub(crate) fn streams_max(&self) -> usize {
        self.peer.streams_max.min(self.limits.streams_max) as usize
    }

    /// Streams open now.
    pub(crate) fn open_streams(&self) -> usize {
        self.streams.len()
    }

    /// Whose answer is likely to come next, for memory to be fetched ahead: most servers answer in
    /// the order in which they were asked.
    pub(crate) fn likely_next(&mut self) -> Option<u32> {
        self.streams.get_mut(self.answered_id + 2).map(|stream| stream.exchange)
    }

    /// No more streams come: when the last one has ended, the connection is of no use.
    pub(crate) fn is_closing(&self) -> bool {
        self.going_away.is_some() || self.is_draining || self.next_id > U31_MAX
    }

    /// Why the peer goes away, if it has said that it does.
    pub(crate) fn going_away(&self) -> Option<ErrorCode> {
        self.going_away
    }

    /// Opens no more streams.
    pub(crate) fn drain(&mut self) {
        self.is_draining = true;
    }

    /// Begins a request: its head goes out, its body follows by [`Self::turn`]. Only when there is
    /// [`Self::room`]. Returns the stream's number and how many bytes its head took.
    pub(crate) fn open(&mut self, new: NewStream<'_>) -> (u32, usize) {
        let id = self.next_id;
        self.next_id += 2;
        let before = self.out.len();
        if self.peer.shrinks_table && !self.has_shrunk_table {
            self.has_shrunk_table = true;
            let mut block = Vec::new();
            write_size_update(0, &mut block);
            block.extend_from_slice(new.block);
            self.write_head(id, &block, !new.has_body);
        } else {
            self.write_head(id, new.block, !new.has_body);
        }
        self.streams.insert(Stream {
            id,
            exchange: new.exchange,
            send_window: self.peer.window,
            receive_left: self.limits.stream_window,
            body_left: None,
            has_head: false,
            head_only: new.head_only,
            keep_head: new.keep_head,
            is_sent: !new.has_body,
            is_queued: new.has_body,
        });
        if new.has_body {
            self.sending.push_back(id);
        }
        (id, self.out.len() - before)
    }

    fn write_head(&mut self, id: u32, block: &[u8], ends_stream: bool) {
        frame::write_headers(id, block, ends_stream, self.peer.payload_bytes_max, &mut self.out);
    }

    /// Whose turn it is to send some of its body, if the windows allow any.
    pub(crate) fn turn(&mut self) -> Option<Turn> {
        if self.send_window <= 0 {
            return None;
        }
        while let Some(&id) = self.sending.front() {
            if let Some(stream) = self.streams.get_mut(id) {
                if stream.send_window > 0 {
                    let window = stream.send_window.min(self.send_window);
                    let bytes_max = self.peer.payload_bytes_max.min(window as usize);
                    return Some(Turn { id, exchange: stream.exchange, bytes_max });
                }
                // It comes back with the next update of its window.
                stream.is_queued = false;
            }
            self.sending.pop_front();
        }
        None
    }

    /// Sends these bytes of the body whose [`Self::turn`] it is. Returns how many they are with
    /// their framing.
    pub(crate) fn send_body(&mut self, turn: Turn, bytes: &[u8], is_last: bool) -> usize {
        let before = self.out.len();
        frame::write_data(turn.id, bytes, is_last, &mut self.out);
        self.sending.pop_front();
        self.send_window -= bytes.len() as i64;
        if let Some(stream) = self.streams.get_mut(turn.id) {
            stream.send_window -= bytes.len() as i64;
            stream.is_sent = is_last;
            stream.is_queued = !is_last;
            if !is_last {
                self.sending.push_back(turn.id);
            }
        }
        self.out.len() - before
    }

    /// Whether a stream could send some of its body.
    pub(crate) fn has_turns(&self) -> bool {
        self.send_window > 0 && !self.sending.is_empty()
    }

    /// Every exchange that is under way.
    pub(crate) fn exchanges(&mut self) -> Vec<u32> {
        self.streams.iter_mut().map(|stream| stream.exchange).collect()
    }

    /// Gives a stream up and tells the peer; what still comes for it is passed over.
    pub(crate) fn cancel(&mut self, id: u32) {
        if self.streams.remove(id).is_some() {
            self.forget(id);
            frame::write_reset(id, ErrorCode::CANCEL, &mut self.out);
        }
    }

    /// Says goodbye, and why.
    pub(crate) fn say_goodbye(&mut self, code: ErrorCode) {
        frame::write_goaway(code, &mut self.out);
    }

    /// Everything in [`Self::out`] has been sent.
    pub(crate) fn all_sent(&mut self) {
        self.replies = 0;
    }

    /// The text of the head that was told last, in the form of HTTP/1.1; empty unless it is kept.
    pub(crate) fn head_text(&self) -> &[u8] {
        self.known_head.text()
    }

    /// A DATA frame under way belongs to nobody any more.
    fn forget(&mut self, id: u32) {
        if let Some(data) = &mut self.data {
            data.forget(id);
        }
    }

    /// Counts a reply that was written.
    fn replied(&mut self) -> Result<(), Http2Error> {
        self.replies += 1;
        if self.replies > REPLIES_MAX {
            return Err(Http2Error::too_much("more frames that ask for a reply than it reads"));
        }
        Ok(())
    }

    /// Queues a stream whose window has opened.
    fn may_send(stream: &mut Stream, sending: &mut VecDeque<u32>) {
        if !stream.is_sent && !stream.is_queued && stream.send_window > 0 {
            stream.is_queued = true;
            sending.push_back(stream.id);
        }
    }
}

#[cfg(test)]
mod tests;
