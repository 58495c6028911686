//! The marks of compressed messages, taken off frames as their bytes come (RFC 6455, section 5.2).

use std::collections::VecDeque;

/// The bit of a frame's first byte that marks its message as compressed.
const RSV1: u8 = 0x40;
const OPCODE: u8 = 0x0f;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
/// The bit of a frame's second byte by which a mask follows.
const MASKED: u8 = 0x80;

/// What a message was before its mark was taken off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    Plain,
    /// Passed on as binary, since compressed text is none.
    DeflatedText,
    DeflatedBinary,
}

/// Follows the frames of a connection.
///
/// It notes one mark for each message that begins. Whoever reads messages takes them, so that no
/// more are kept than the messages that fit into what is read ahead.
#[derive(Debug, Default)]
pub(super) struct Marks {
    at: At,
    noted: VecDeque<Mark>,
}

/// What the next byte is.
#[derive(Clone, Copy, Debug, Default)]
enum At {
    #[default]
    First,
    Second,
    /// One of so many that are left of the length; what it is so far, and that of the mask.
    Length {
        left: u8,
        length: u64,
        mask: u64,
    },
    /// So many that are no head; never none.
    Payload(u64),
}

impl At {
    fn payload(left: u64) -> Self {
        if left == 0 { Self::First } else { Self::Payload(left) }
    }
}

impl Marks {
    /// Takes the marks off bytes that have come, which may begin and end anywhere.
    pub(super) fn take_off(&mut self, bytes: &mut [u8]) {
        let mut next = 0;
        while let Some(byte) = bytes.get_mut(next) {
            if let At::Payload(left) = self.at {
                let here = left.min((bytes.len() - next) as u64);
                self.at = At::payload(left - here);
                // No more than a slice's length.
                next += here as usize;
            } else {
                self.at = self.head(byte);
                next += 1;
            }
        }
    }

    /// What the message was that has been read; messages are told in the order of their beginnings.
    pub(super) fn next(&mut self) -> Mark {
        self.noted.pop_front().unwrap_or(Mark::Plain)
    }

    /// Reads a byte of a frame's head; what the next one is.
    fn head(&mut self, byte: &mut u8) -> At {
        match self.at {
            At::First => {
                self.first(byte);
                At::Second
            }
            At::Second => {
                let mask = if *byte & MASKED == 0 { 0 } else { 4 };
                match *byte & !MASKED {
                    126 => At::Length { left: 2, length: 0, mask },
                    127 => At::Length { left: 8, length: 0, mask },
                    length => At::payload(u64::from(length) + mask),
                }
            }
            At::Length { left, length, mask } => {
                let length = length << 8 | u64::from(*byte);
                match left - 1 {
                    // What is too long is refused when its head is read again.
                    0 => At::payload(length.saturating_add(mask)),
                    left => At::Length { left, length, mask },
                }
            }
            At::Payload(left) => At::payload(left - 1),
        }
    }

    /// Notes what a frame is that begins a message. All others keep their bits.
    fn first(&mut self, byte: &mut u8) {
        let mark = match (*byte & OPCODE, *byte & RSV1 != 0) {
            (TEXT | BINARY, false) => Mark::Plain,
            (TEXT, true) => Mark::DeflatedText,
            (BINARY, true) => Mark::DeflatedBinary,
            _ => return,
        };
        if mark != Mark::Plain {
            *byte = *byte & !(RSV1 | OPCODE) | BINARY;
        }
        self.noted.push_back(mark);
    }
}
