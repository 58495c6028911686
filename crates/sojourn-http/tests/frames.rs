//! A server that speaks HTTP/2 frame by frame, so that it can also speak it wrongly.

use std::io::{Read, Write};
use std::net::TcpStream;

use sojourn_http::{ClientConfig, Http2};

use crate::peers::{Load, Server};

/// Types, RFC 9113 §6.
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// Flags.
pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// `:status: 200`, by the static table.
pub(crate) const OK: &[u8] = b"\x88";

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

/// The server's end of a connection.
pub(crate) struct Frames<S> {
    pub(crate) stream: S,
}

impl<S: Read + Write> Frames<S> {
    /// Reads the client's preface and says these settings.
    pub(crate) fn greet(stream: S, settings: &[(u16, u32)]) -> Option<Self> {
        let mut frames = Self::hear(stream)?;
        frames.settings(settings)?;
        Some(frames)
    }

    /// Reads the client's preface.
    pub(crate) fn hear(stream: S) -> Option<Self> {
        let mut stream = stream;
        let mut preface = [0; 24];
        stream.read_exact(&mut preface).ok()?;
        assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        Some(Self { stream })
    }

    pub(crate) fn settings(&mut self, settings: &[(u16, u32)]) -> Option<()> {
        let mut payload = Vec::new();
        for (name, value) in settings {
            payload.extend_from_slice(&name.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
        }
        self.write(SETTINGS, 0, 0, &payload)
    }

    /// The next frame; `None` when the connection has ended.
    pub(crate) fn read(&mut self) -> Option<Frame> {
        let mut header = [0; 9];
        self.stream.read_exact(&mut header).ok()?;
        let [a, b, c, kind, flags, stream @ ..] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.stream.read_exact(&mut payload).ok()?;
        Some(Frame { kind, flags, stream: u32::from_be_bytes(stream), payload })
    }

    /// Reads until a frame of this kind.
    pub(crate) fn read_until(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.read()?;
            if frame.kind == kind {
                return Some(frame);
            }
        }
    }

    /// Reads until a request is whole; its stream.
    pub(crate) fn request(&mut self) -> Option<u32> {
        loop {
            let frame = self.read()?;
            if matches!(frame.kind, HEADERS | DATA) && frame.flags & END_STREAM != 0 {
                return Some(frame.stream);
            }
        }
    }

    pub(crate) fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Option<()> {
        let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
        let mut bytes = vec![a, b, c, kind, flags];
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(payload);
        self.bytes(&bytes)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).and_then(|()| self.stream.flush()).ok()
    }

    /// Answers 200 with a body.
    pub(crate) fn answer(&mut self, stream: u32, body: &[u8]) -> Option<()> {
        self.write(HEADERS, END_HEADERS, stream, OK)?;
        self.write(DATA, END_STREAM, stream, body)
    }

    pub(crate) fn reset(&mut self, stream: u32, code: u32) -> Option<()> {
        self.write(RST_STREAM, 0, stream, &code.to_be_bytes())
    }

    pub(crate) fn goaway(&mut self, last: u32, code: u32) -> Option<()> {
        let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
        self.write(GOAWAY, 0, 0, &payload)
    }

    /// Answers every request with `ok`.
    pub(crate) fn answer_all(&mut self) {
        while let Some(stream) = self.request() {
            if self.answer(stream, b"ok").is_none() {
                return;
            }
        }
    }

    /// Reads until the client closes: proof that it did.
    pub(crate) fn wait_for_close(&mut self) {
        while self.read().is_some() {}
    }
}

/// A server whose connections have been greeted; `serve` gets each one's number from 0.
pub(crate) fn serving(
    settings: &'static [(u16, u32)],
    serve: impl Fn(usize, &mut Frames<TcpStream>) + Send + Sync + 'static,
) -> Server {
    Server::start(move |number, stream| {
        if let Some(mut frames) = Frames::greet(stream, settings) {
            serve(number, &mut frames);
        }
    })
}

/// HTTP/2 by prior knowledge.
pub(crate) fn config() -> ClientConfig {
    ClientConfig { http2: Http2::PriorKnowledge, ..ClientConfig::default() }
}

pub(crate) fn load(server: &Server) -> Load {
    Load::with(server.address, config())
}
