//! Ways in which an answer goes wrong beneath HTTP.

use std::rc::Rc;

use crate::message::Message;
use crate::reply::{Reply, Step};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection is closed without a byte.
    Close,
    /// The body comes in pieces over this time, nanoseconds.
    Dribble(u64),
    /// A good head, then a chunk whose length is no number.
    Malformed,
    /// The connection is broken off (RST).
    Reset,
    /// Nothing comes, and the connection stays open.
    Silence,
    /// Half of the body comes, then the connection is closed.
    Truncate,
}

/// Pieces of a dribbled body.
pub(crate) const DRIBBLES: u64 = 10;
const MALFORMED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
    transfer-encoding: chunked\r\n\r\n5\r\n{\"id\"\r\nno length\r\n";

impl Fault {
    /// Every kind's name, as counted.
    pub const NAMES: [&'static str; 6] =
        ["close", "dribble", "malformed", "reset", "silence", "truncate"];

    /// Its place among [`Self::NAMES`].
    pub fn number(self) -> usize {
        match self {
            Self::Close => 0,
            Self::Dribble(_) => 1,
            Self::Malformed => 2,
            Self::Reset => 3,
            Self::Silence => 4,
            Self::Truncate => 5,
        }
    }

    /// The steps that take the place of a message that is due at `due_ns`.
    pub(crate) fn reply(self, message: Rc<Message>, due_ns: u64) -> Reply {
        let length = message.body().length();
        let body = |from, to| Step::Body { message: message.clone(), from, to };
        match self {
            Self::Close => Reply::steps([Step::Close]),
            Self::Dribble(over_ns) => {
                let head = [Step::Head(message.clone())];
                let pieces = (0..DRIBBLES).flat_map(|piece| {
                    let at_ns = due_ns.saturating_add(over_ns / DRIBBLES * (piece + 1));
                    let part = |piece: u64| {
                        (u128::from(length) * u128::from(piece) / u128::from(DRIBBLES)) as u64
                    };
                    [Step::WaitUntil(at_ns), body(part(piece), part(piece + 1))]
                });
                Reply::steps(head.into_iter().chain(pieces))
            }
            Self::Malformed => Reply::steps([Step::Send(MALFORMED.to_vec()), Step::Close]),
            Self::Reset => Reply::steps([Step::Reset]),
            Self::Silence => Reply::steps([Step::Silence]),
            Self::Truncate if length == 0 => Reply::steps([Step::Close]),
            Self::Truncate => {
                Reply::steps([Step::Head(message.clone()), body(0, length / 2), Step::Close])
            }
        }
        .held_until(due_ns)
    }
}
