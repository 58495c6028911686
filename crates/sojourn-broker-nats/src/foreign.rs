//! What the connector understands of foreign bytes, without a socket: for fuzzing and property
//! tests only, no part of the interface.

use crate::headers::{fields, status};
use crate::protocol::{Frame, Malformed, Parsed, parse};

/// All that came of some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every frame, in words.
    pub frames: Vec<String>,
    /// Bytes of whole frames.
    pub frame_bytes: usize,
    /// Bytes of headers and payloads.
    pub message_bytes: usize,
    /// Why reading ended, if it did.
    pub error: Option<&'static str>,
}

/// Reads what a server says, in portions of this length.
pub fn read_frames(bytes: &[u8], portion: usize) -> Reading {
    let mut reading = Reading::default();
    let (mut come, mut needed) = (0, 0);
    for portion in bytes.chunks(portion.max(1)) {
        come += portion.len();
        loop {
            let at = reading.frame_bytes;
            match parse(&bytes[..come], at) {
                Ok(Parsed::Whole(frame, length)) => {
                    assert!(length >= needed, "a frame is shorter than was asked for");
                    assert!(at + length <= come, "a frame is longer than what came");
                    needed = 0;
                    take(&bytes[..come], &frame, &mut reading);
                    reading.frame_bytes += length;
                }
                Ok(Parsed::Needs(length)) => {
                    assert!(at + length > come, "more is asked for, which is there");
                    assert!(length >= needed, "less is asked for than before");
                    needed = length;
                    break;
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

fn take(bytes: &[u8], frame: &Frame, reading: &mut Reading) {
    let text = |range: &std::ops::Range<usize>| String::from_utf8_lossy(&bytes[range.clone()]);
    reading.frames.push(match frame {
        Frame::Info(json) => format!("info {}", text(json)),
        Frame::Complaint(words) => format!("complaint {}", text(words)),
        Frame::Message(place) => {
            let headers = &bytes[place.headers.clone()];
            reading.message_bytes += headers.len() + place.payload.len();
            let fields: Vec<_> = fields(headers).collect();
            let (subject, reply) = (text(&place.subject), place.reply.as_ref().map(text));
            let (status, payload) = (status(headers), &bytes[place.payload.clone()]);
            format!("{} {subject} {reply:?} {status:?} {fields:?} {payload:?}", place.sid)
        }
        other => format!("{other:?}"),
    });
}
