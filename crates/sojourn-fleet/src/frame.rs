//! What goes over a connection: a length of four bytes, little end first, a byte that says what it
//! is, and the content. Data is an offset of eight bytes and bytes; all else as postcard has it.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::ClockFigures;

/// The protocol's number: other numbers are refused.
pub(crate) const PROTOCOL: u16 = 1;
/// Most bytes of the stream in one frame.
pub(crate) const DATA_MAX: usize = 64 << 10;
/// Longest frame, without its length.
const LENGTH_MAX: usize = DATA_MAX + 16;

/// One frame. Offsets count the bytes of a stream from its beginning; its end counts as one byte.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// Generator's first: who it is, and that it knows the key.
    Hello(Box<Hello>),
    /// The answer.
    Welcome(Welcome),
    /// The other answer, in words.
    Refused(String),
    /// A generator has set its clock and may begin.
    Ready(ClockFigures),
    /// Bytes of the stream from an offset on.
    Data {
        /// Of the first one.
        offset: u64,
        /// At most 64 KiB.
        bytes: Vec<u8>,
    },
    /// The stream ends here.
    Fin {
        /// Its length.
        offset: u64,
    },
    /// Everything before this offset has been handed on.
    Ack {
        /// The first one that has not.
        offset: u64,
    },
    /// Still there; to be answered at once.
    Ping {
        /// The sender's clock, nanoseconds.
        sent_ns: u64,
        /// What a generator knows of its clock.
        clock: Option<ClockFigures>,
    },
    /// The answer.
    Pong {
        /// As it came.
        sent_ns: u64,
        /// The answerer's clock, nanoseconds.
        here_ns: u64,
    },
    /// Nothing follows, and nothing is missing.
    Bye,
}

/// Who wants to join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub(crate) protocol: u16,
    pub(crate) version: String,
    pub(crate) token: [u8; 32],
    pub(crate) host: String,
    pub(crate) wish: Wish,
}

/// What it wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Wish {
    /// To be a generator, of this number where it has a wish.
    Join(Option<u32>),
    /// To go on after a cut.
    Resume {
        /// As the welcome had it.
        id: [u8; 16],
        /// How far it has the stream to it.
        received: u64,
    },
}

/// A generator is let in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    pub(crate) number: u32,
    pub(crate) of: u32,
    /// Names the generator after a cut.
    pub(crate) id: [u8; 16],
    /// How far the coordinator has the stream from it.
    pub(crate) received: u64,
    /// How long a cut may last, nanoseconds.
    pub(crate) reconnect_within_ns: u64,
}

/// Why bytes are no frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Its length is none that a frame has.
    #[error("a frame of {0} bytes")]
    Length(usize),
    /// Nothing is known by this byte.
    #[error("a frame of the unknown kind {0}")]
    Kind(u8),
    /// What it should hold is not there.
    #[error("a frame of kind {0} whose content cannot be read")]
    Content(u8),
}

impl Frame {
    /// Appends its bytes.
    pub fn encode(&self, to: &mut Vec<u8>) {
        let start = to.len();
        to.extend([0; 4]);
        match self {
            Self::Hello(it) => put(to, 1, it),
            Self::Welcome(it) => put(to, 2, it),
            Self::Refused(it) => put(to, 3, it),
            Self::Ready(it) => put(to, 4, it),
            Self::Data { offset, bytes } => {
                to.push(5);
                to.extend(offset.to_le_bytes());
                to.extend(bytes);
            }
            Self::Fin { offset } => put(to, 6, offset),
            Self::Ack { offset } => put(to, 7, offset),
            Self::Ping { sent_ns, clock } => put(to, 8, &(sent_ns, clock)),
            Self::Pong { sent_ns, here_ns } => put(to, 9, &(sent_ns, here_ns)),
            Self::Bye => put(to, 10, &()),
        }
        // Far below 4 GiB: data is cut to its most, and the rest is short.
        let length = (to.len() - start - 4) as u32;
        to[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let Some((&kind, content)) = bytes.split_first() else {
            return Err(FrameError::Length(0));
        };
        Ok(match kind {
            1 => Self::Hello(Box::new(get(kind, content)?)),
            2 => Self::Welcome(get(kind, content)?),
            3 => Self::Refused(get(kind, content)?),
            4 => Self::Ready(get(kind, content)?),
            5 => {
                let (offset, bytes) =
                    content.split_first_chunk::<8>().ok_or(FrameError::Content(kind))?;
                Self::Data { offset: u64::from_le_bytes(*offset), bytes: bytes.to_vec() }
            }
            6 => Self::Fin { offset: get(kind, content)? },
            7 => Self::Ack { offset: get(kind, content)? },
            8 => {
                let (sent_ns, clock) = get(kind, content)?;
                Self::Ping { sent_ns, clock }
            }
            9 => {
                let (sent_ns, here_ns) = get(kind, content)?;
                Self::Pong { sent_ns, here_ns }
            }
            10 => Self::Bye,
            other => return Err(FrameError::Kind(other)),
        })
    }
}

fn put(to: &mut Vec<u8>, kind: u8, content: &impl Serialize) {
    to.push(kind);
    // Plain data into memory: neither can fail.
    if let Ok(bytes) = postcard::to_extend(content, Vec::new()) {
        to.extend(bytes);
    }
}

fn get<T: DeserializeOwned>(kind: u8, content: &[u8]) -> Result<T, FrameError> {
    match postcard::take_from_bytes(content) {
        Ok((value, [])) => Ok(value),
        _ => Err(FrameError::Content(kind)),
    }
}

/// Frames out of bytes, however these come.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    start: usize,
}

impl Decoder {
    /// Takes bytes in.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start == self.buffer.len() || self.start > 1 << 20 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend(bytes);
    }

    /// The next whole frame; `None` where more bytes must come first. After an error nothing
    /// further can be read.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let bytes = &self.buffer[self.start..];
        let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if !(1..=LENGTH_MAX).contains(&length) {
            return Err(FrameError::Length(length));
        }
        let Some(content) = rest.get(..length) else { return Ok(None) };
        let frame = Frame::decode(content)?;
        self.start += 4 + length;
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_frame() -> impl Strategy<Value = Frame> {
        let figures = (any::<i64>(), any::<u64>(), any::<u64>()).prop_map(
            |(offset_ns, uncertainty_ns, departure_ns)| ClockFigures {
                offset_ns,
                uncertainty_ns,
                departure_ns,
            },
        );
        let wish = prop_oneof![
            any::<Option<u32>>().prop_map(Wish::Join),
            any::<([u8; 16], u64)>().prop_map(|(id, received)| Wish::Resume { id, received }),
        ];
        let hello = (any::<(u16, String, [u8; 32], String)>(), wish).prop_map(
            |((protocol, version, token, host), wish)| {
                Frame::Hello(Box::new(Hello { protocol, version, token, host, wish }))
            },
        );
        prop_oneof![
            hello,
            any::<(u32, u32, [u8; 16], u64, u64)>().prop_map(
                |(number, of, id, received, reconnect_within_ns)| {
                    Frame::Welcome(Welcome { number, of, id, received, reconnect_within_ns })
                }
            ),
            any::<String>().prop_map(Frame::Refused),
            figures.clone().prop_map(Frame::Ready),
            any::<(u64, Vec<u8>)>().prop_map(|(offset, bytes)| Frame::Data { offset, bytes }),
            any::<u64>().prop_map(|offset| Frame::Fin { offset }),
            any::<u64>().prop_map(|offset| Frame::Ack { offset }),
            (any::<u64>(), prop::option::of(figures))
                .prop_map(|(sent_ns, clock)| Frame::Ping { sent_ns, clock }),
            any::<(u64, u64)>().prop_map(|(sent_ns, here_ns)| Frame::Pong { sent_ns, here_ns }),
            Just(Frame::Bye),
        ]
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_however_they_are_cut(
            frames in prop::collection::vec(any_frame(), 0..8),
            portion in 1usize..50,
        ) {
            let mut bytes = Vec::new();
            frames.iter().for_each(|frame| frame.encode(&mut bytes));
            let (mut decoder, mut came) = (Decoder::default(), Vec::new());
            for portion in bytes.chunks(portion) {
                decoder.push(portion);
                while let Some(frame) = decoder.next_frame().unwrap() {
                    came.push(frame);
                }
            }
            prop_assert_eq!(came, frames);
        }
    }

    #[test]
    fn lengths_that_no_frame_has_are_refused_before_anything_is_kept() {
        for length in [0, LENGTH_MAX as u32 + 1, u32::MAX] {
            let mut decoder = Decoder::default();
            decoder.push(&length.to_le_bytes());
            assert_eq!(decoder.next_frame(), Err(FrameError::Length(length as usize)));
        }
    }
}
