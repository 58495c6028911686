//! The latest messages of a channel, held for kept journeys: a ring of their beginnings.
//!
//! A journey's messages are not known to be worth keeping until it ends, and to hold them for every
//! journey in flight would cost a hundred times what the ledger holds. So each tap holds the last
//! megabytes, whosever they are, and a journey that is kept takes its own out of them by instant:
//! the tap gives every message of a channel another one. What the ring has lost is said to be lost.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use sojourn_broker::RawMessage;
use sojourn_record::MessageHead;

use crate::{KeepBounds, generator::is_secret_header};

/// Bytes of a payload that are held.
const BODY_MAX: usize = 1_024;
/// Bytes of topic, key, and of each header's value that are held.
const TEXT_MAX: usize = 256;
/// Bytes of all headers together.
const HEADERS_MAX: usize = 1_024;
/// Bytes of a payload that is no text which are shown, two digits each.
const HEX_MAX: usize = 256;
/// What an entry takes beside its bytes.
const ENTRY_BYTES: usize = size_of::<Held>();

/// A channel's ring, shared by its tap, which fills it, and the observer, which looks at it when a
/// journey is kept.
#[derive(Clone, Debug)]
pub(crate) struct MessageRing(Arc<Mutex<Ring>>);

#[derive(Debug)]
struct Ring {
    bytes_max: usize,
    bytes: usize,
    /// Oldest first: instants ascend.
    held: VecDeque<Held>,
    /// Of a message that was dropped, for the next.
    spare: Option<Vec<u8>>,
}

/// A message: its parts one after the other, each behind its length.
#[derive(Debug)]
struct Held {
    stamp_ns: u64,
    payload_bytes: u64,
    has_key: bool,
    parts: Vec<u8>,
}

impl MessageRing {
    /// A ring for each of so many channels, which share what may be held evenly; none where nothing
    /// may be.
    pub(crate) fn of_channels(channels: usize, keep: KeepBounds) -> Vec<Self> {
        match keep.messages_bytes.checked_div(channels) {
            None | Some(0) => Vec::new(),
            Some(bytes_max) => (0..channels).map(|_| Self::new(bytes_max)).collect(),
        }
    }

    fn new(bytes_max: usize) -> Self {
        let ring = Ring { bytes_max, bytes: 0, held: VecDeque::new(), spare: None };
        Self(Arc::new(Mutex::new(ring)))
    }

    /// Holds a message that was observed at `stamp_ns`, later than all before, and drops the oldest
    /// ones for it.
    pub(crate) fn hold(&self, stamp_ns: u64, message: &RawMessage<'_>) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = ring.spare.take().unwrap_or_default();
        parts.clear();
        write(message, &mut parts);
        ring.bytes += ENTRY_BYTES + parts.capacity();
        let payload_bytes = message.payload.len() as u64;
        ring.held.push_back(Held {
            stamp_ns,
            payload_bytes,
            has_key: message.key.is_some(),
            parts,
        });
        while ring.bytes > ring.bytes_max {
            let Some(oldest) = ring.held.pop_front() else { break };
            ring.bytes -= ENTRY_BYTES + oldest.parts.capacity();
            ring.spare = Some(oldest.parts);
        }
    }

    /// The message of this instant, secrets replaced; `None` when it is no longer held.
    pub(crate) fn find(&self, stamp_ns: u64) -> Option<MessageHead> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = ring.held.binary_search_by_key(&stamp_ns, |held| held.stamp_ns).ok()?;
        Some(ring.held[place].head())
    }
}

fn write(message: &RawMessage<'_>, parts: &mut Vec<u8>) {
    let mut part = |bytes: &[u8], most: usize| {
        let bytes = &bytes[..bytes.len().min(most)];
        // No part is longer than a kilobyte.
        parts.extend((bytes.len() as u16).to_le_bytes());
        parts.extend(bytes);
        bytes.len()
    };
    part(message.topic.as_bytes(), TEXT_MAX);
    part(message.key.unwrap_or_default(), TEXT_MAX);
    part(message.payload, BODY_MAX);
    let mut room = HEADERS_MAX;
    for (name, value) in &message.headers {
        if room < name.len() + value.len().min(TEXT_MAX) {
            break;
        }
        room -= part(name.as_bytes(), TEXT_MAX);
        room -= part(value, TEXT_MAX);
    }
}

impl Held {
    fn head(&self) -> MessageHead {
        let mut parts = Parts(&self.parts);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let topic = text(parts.next().unwrap_or_default());
        let key = parts.next().filter(|_| self.has_key).map(text);
        let payload = parts.next().unwrap_or_default();
        let mut headers = Vec::new();
        while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            let name = text(name);
            // What is held stays in this process; what is handed out may be passed on.
            let value = if is_secret_header(&name) { "***".to_owned() } else { text(value) };
            headers.push((name, value));
        }
        let (body, is_text) = body(payload);
        MessageHead { topic, key, headers, body, is_text, bytes: self.payload_bytes }
    }
}

/// A payload's beginning as text, or in digits where it is none. It may be cut within a character.
fn body(payload: &[u8]) -> (String, bool) {
    let whole = match std::str::from_utf8(payload) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() && payload.len() == BODY_MAX => {
            std::str::from_utf8(&payload[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    match whole {
        Some(text) => (text.to_owned(), true),
        None => {
            let shown = &payload[..payload.len().min(HEX_MAX)];
            (shown.iter().map(|byte| format!("{byte:02x}")).collect(), false)
        }
    }
}

/// The parts of a held message, in order.
struct Parts<'a>(&'a [u8]);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<2>()?;
        let (part, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        self.0 = rest;
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<'a>(payload: &'a [u8], headers: Vec<(&'a str, &'a [u8])>) -> RawMessage<'a> {
        let (topic, key) = ("payments", Some(&b"k"[..]));
        RawMessage { stamp_ns: 0, topic, key, headers, payload, position: None }
    }

    #[test]
    fn the_latest_messages_are_found_by_their_instant_and_memory_is_bounded() {
        let ring = MessageRing::new(64 * 1_024);
        for stamp_ns in 1..=10_000_u64 {
            let payload = format!("{{\"n\":{stamp_ns},\"x\":\"{}\"}}", "y".repeat(200));
            ring.hold(stamp_ns, &message(payload.as_bytes(), Vec::new()));
            let inner = ring.0.lock().unwrap();
            let held: usize =
                inner.held.iter().map(|held| ENTRY_BYTES + held.parts.capacity()).sum();
            assert!(inner.bytes == held && held <= 64 * 1_024);
        }
        assert_eq!((ring.find(1), ring.find(10_001)), (None, None));
        let head = ring.find(9_990).unwrap();
        assert!(head.body.starts_with("{\"n\":9990,") && head.is_text);
        assert_eq!((head.topic.as_str(), head.key.as_deref()), ("payments", Some("k")));
    }

    #[test]
    fn secrets_are_hidden_and_long_parts_are_cut() {
        let ring = MessageRing::new(1 << 20);
        let long = "z".repeat(5_000);
        let headers: Vec<(&str, &[u8])> = vec![
            ("Authorization", b"Bearer abc"),
            ("x-api-key", b"abc"),
            ("type", b"Paid"),
            ("long", long.as_bytes()),
        ];
        let payload = "ä".repeat(2_000);
        ring.hold(7, &message(payload.as_bytes(), headers));
        let head = ring.find(7).unwrap();
        let shown: Vec<(&str, usize)> =
            head.headers.iter().map(|(name, value)| (name.as_str(), value.len())).collect();
        assert_eq!(shown, [("Authorization", 3), ("x-api-key", 3), ("type", 4), ("long", 256)]);
        assert_eq!((head.body.chars().count(), head.is_text, head.bytes), (512, true, 4_000));
        assert!(head.headers[..2].iter().all(|(_, value)| value == "***"));
    }

    #[test]
    fn what_is_no_text_is_shown_in_digits_and_any_bytes_are_read() {
        let ring = MessageRing::new(1 << 20);
        ring.hold(1, &message(&[0xff, 0x00, 0x41], Vec::new()));
        let head = ring.find(1).unwrap();
        assert_eq!((head.body.as_str(), head.is_text), ("ff0041", false));
        // Nothing fits: nothing is held, nothing grows.
        let none = MessageRing::new(10);
        none.hold(1, &message(b"x", Vec::new()));
        assert_eq!(none.find(1), None);
    }
}
