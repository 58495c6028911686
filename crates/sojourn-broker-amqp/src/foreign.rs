//! What the connector understands of foreign bytes, without a socket: for fuzzing and property
//! tests only, no part of the interface.

use crate::wire::Malformed;
use crate::wire::content::Content;
use crate::wire::frame::{self, Frame, FrameKind};
use crate::wire::headers::Headers;
use crate::wire::method::{self, Said};

/// All that came of some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every frame and message, in words.
    pub words: Vec<String>,
    /// Whole frames.
    pub frames: usize,
    /// Bytes of whole frames.
    pub frame_bytes: usize,
    /// Bytes of the bodies of whole messages.
    pub body_bytes: usize,
    /// Why reading ended, if it did.
    pub error: Option<&'static str>,
}

/// Reads what a broker sends on one channel, in portions of this length; a frame has at most
/// `frame_max` bytes.
pub fn read_frames(bytes: &[u8], portion: usize, frame_max: usize) -> Reading {
    let mut reading = Reading::default();
    let mut content = Content::default();
    let mut come = 0;
    for portion in bytes.chunks(portion.max(1)) {
        come += portion.len();
        loop {
            let rest = &bytes[reading.frame_bytes..come];
            let taken = frame::parse(rest, frame_max).and_then(|found| {
                let Some((frame, length)) = found else { return Ok(None) };
                take(&frame, &mut content, &mut reading)?;
                Ok(Some(length))
            });
            match taken {
                Ok(None) => break,
                Ok(Some(length)) => {
                    reading.frames += 1;
                    reading.frame_bytes += length;
                }
                Err(Malformed(why)) => {
                    reading.error = Some(why);
                    return reading;
                }
            }
        }
    }
    reading
}

fn take(frame: &Frame<'_>, content: &mut Content, reading: &mut Reading) -> Result<(), Malformed> {
    match frame.kind {
        FrameKind::Heartbeat => {}
        FrameKind::Method => {
            let said = method::read(frame.payload)?;
            if let Said::Start { properties, .. } = said {
                // What a server says of itself, for its name and what it can do.
                let mut headers = Headers::default();
                headers.read_table(properties)?;
                reading.words.push(format!("{:?}", headers.with(("", b""))));
            }
            content.begin(&said)?;
            reading.words.push(format!("{said:?}"));
        }
        FrameKind::Header | FrameKind::Body => {
            if let Some(message) = content.add(frame)? {
                reading.body_bytes += message.body.len();
                let headers = message.headers.with(("", b""));
                let (exchange, routing_key) = (message.exchange, message.routing_key);
                let words = format!("{:?} {exchange} {routing_key} {headers:?}", message.kind);
                reading.words.push(words);
            }
        }
    }
    Ok(())
}
