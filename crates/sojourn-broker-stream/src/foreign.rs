//! What the parser of events understands of foreign bytes, without a socket: for fuzzing and
//! property tests only, no part of the interface.

use crate::sse::parser::Parser;

/// All that came of some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Name, id and data of each.
    pub events: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>,
    /// The id that a new request would send.
    pub last_id: Vec<u8>,
    /// The pause that the stream asked for, milliseconds.
    pub retry_ms: Option<u64>,
    /// It had to be given up: too long.
    pub is_too_long: bool,
}

/// Reads a stream of events, in portions of this length.
pub fn read_events(bytes: &[u8], portion: usize) -> Events {
    let mut parser = Parser::default();
    let mut found = Events::default();
    for portion in bytes.chunks(portion.max(1)) {
        let outcome = parser.feed(portion, &mut |event| {
            found.events.push((event.name.to_vec(), event.id.to_vec(), event.data.to_vec()));
        });
        if outcome.is_err() {
            found.is_too_long = true;
            break;
        }
    }
    found.last_id = parser.last_id().to_vec();
    found.retry_ms = parser.retry_ms();
    found
}
