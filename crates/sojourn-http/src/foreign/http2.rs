//! HTTP/2 connections and header blocks.

use crate::codec::h2::hpack::{Decoder, Fields, write_field};
use crate::codec::h2::{Event, Limits, NewStream, Session};

/// How long a list of fields may be: names, values and 32 bytes a field.
pub const HEADER_LIST_BYTES_MAX: usize = 65_536;

const LIMITS: Limits =
    Limits { streams_max: 100, stream_window: 1_000, connection_window: 100_000 };

/// What came of a peer's bytes on a connection with three requests, one of them with an endless
/// body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// What was told of each request, in order; the bytes of a body are joined.
    pub told: Vec<(u32, String)>,
    /// All bodies, one behind the other.
    pub bodies: Vec<u8>,
    /// How many requests have ended.
    pub ended: usize,
    /// How many have not.
    pub open: usize,
    /// What we had to say to it, our own bodies left out.
    pub replies: Vec<u8>,
    /// Bytes of our endless body that its windows let out.
    pub sent: usize,
    /// Why the connection is broken.
    pub error: Option<String>,
}

impl Conversation {
    /// How far the bodies have come, in place of the same about a piece of the same body before.
    fn body_told(&mut self, exchange: u32) -> String {
        let is_same = |last: &mut (u32, String)| last.0 == exchange && last.1.starts_with("body");
        self.told.pop_if(is_same);
        format!("body up to {}", self.bodies.len())
    }
}

/// Reads what a peer says, in portions of so many bytes. `sends`: after each portion, the body is
/// sent as far as the windows allow, else only at the end.
pub fn converse(bytes: &[u8], portion: usize, sends: bool) -> Conversation {
    let mut session = Session::new(LIMITS);
    session.out.clear();
    for exchange in 0..3 {
        session.open(NewStream {
            exchange,
            block: b"\x82",
            has_body: exchange == 2,
            head_only: exchange == 1,
            keep_head: true,
        });
    }
    let mut found = Conversation::default();
    for bytes in bytes.chunks(portion.max(1)) {
        if let Err(error) = take(&mut session, bytes, &mut found) {
            found.error = Some(error);
            break;
        }
        if sends {
            send(&mut session, &mut found);
        }
    }
    if found.error.is_none() {
        send(&mut session, &mut found);
    }
    found.replies.append(&mut session.out);
    found.open = session.open_streams();
    found
}

fn take(session: &mut Session, bytes: &[u8], found: &mut Conversation) -> Result<(), String> {
    let mut input = bytes;
    loop {
        let (exchange, told, is_end) =
            match session.next(&mut input).map_err(|error| format!("{error:?}"))? {
                Event::More => return Ok(()),
                Event::Body { exchange, bytes, ends, .. } => {
                    found.bodies.extend_from_slice(bytes);
                    // A frame without bytes has nothing to tell but perhaps its end.
                    let is_told = !bytes.is_empty();
                    (exchange, is_told.then(|| found.body_told(exchange)), ends)
                }
                Event::Head { exchange, head, ends, .. } => {
                    let text = session.head_text().to_vec();
                    (exchange, Some(format!("{head:?} {}", text.escape_ascii())), ends)
                }
                Event::End { exchange, .. } => (exchange, None, true),
                Event::Malformed { exchange, what } => (exchange, Some(what.to_owned()), true),
                Event::Refused { exchange } => (exchange, Some("refused".to_owned()), true),
                Event::Reset { exchange, code } => (exchange, Some(format!("{code:?}")), true),
            };
        found.told.extend(told.map(|told| (exchange, told)));
        found.ended += usize::from(is_end);
    }
}

/// Sends of the endless body what the windows allow, but no more than a megabyte.
fn send(session: &mut Session, found: &mut Conversation) {
    found.replies.append(&mut session.out);
    while found.sent < 1 << 20 {
        let Some(turn) = session.turn() else {
            break;
        };
        let length = turn.bytes_max.min(4_096);
        session.send_body(turn, &vec![b'x'; length], false);
        found.sent += length;
        session.out.clear();
    }
}

/// Names and values, in order.
pub type FieldList = Vec<(Vec<u8>, Vec<u8>)>;

/// One connection's header table.
#[derive(Debug)]
pub struct HeaderTable(Decoder);

impl Default for HeaderTable {
    fn default() -> Self {
        Self(Decoder::new())
    }
}

impl HeaderTable {
    /// Decodes a block: names and values in order, and whether there were more than may be shown.
    /// Fields that are not `wanted` may be passed over; the table is the same afterwards.
    pub fn decode(&mut self, block: &[u8], wanted: bool) -> Result<(FieldList, bool), String> {
        let mut shown = Shown { wanted, fields: Vec::new(), is_too_long: false };
        let decoded = self.0.decode(block, HEADER_LIST_BYTES_MAX, &mut shown);
        decoded.map_err(|broken| broken.0.to_owned())?;
        Ok((shown.fields, shown.is_too_long))
    }

    /// How often the table has changed.
    pub fn changes(&self) -> u64 {
        self.0.table_changes()
    }
}

struct Shown {
    wanted: bool,
    fields: FieldList,
    is_too_long: bool,
}

impl Fields for Shown {
    fn wants(&mut self, _name: &[u8]) -> bool {
        self.wanted
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.fields.push((name.to_vec(), value.to_vec()));
    }

    fn too_long(&mut self) {
        self.is_too_long = true;
    }
}

/// Appends a field to a block that holds on every connection.
pub fn write_header_field(name: &[u8], value: &[u8], block: &mut Vec<u8>) {
    write_field(name, value, block);
}
