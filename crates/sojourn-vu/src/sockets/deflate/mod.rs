//! `permessage-deflate` (RFC 7692): a WebSocket's messages compressed, each by itself.
//!
//! tungstenite knows no extensions and refuses a frame with the bit RSV1, by which compressed
//! messages are marked. So the mark is taken off before it sees a frame:
//!
//! ```text
//!  bytes ──> Marks: RSV1 off, noted ──> tungstenite: frames to messages ──┐
//!                                                                         ├─ Socket
//!  bytes <── tungstenite: masks, writes <── a frame with RSV1 <───────────┘  inflates, deflates
//! ```
//!
//! - Neither side keeps its window from one message to the next: that is offered, and servers that
//!   agree to something else are refused. A socket therefore holds no state of a codec: to deflate,
//!   a thread has one for all sockets, made when it is first needed; to inflate, each message has
//!   its own of 11 kilobytes.
//! - Only where the extension was agreed on is a mark taken off, and only one that is allowed: of
//!   a message's first frame. tungstenite refuses all others.
//! - A message may be as large as one that comes plain. What inflates to more ends the connection.

mod marks;
mod message;
mod negotiation;
mod socket;
#[cfg(test)]
mod tests;

pub(crate) use negotiation::{OFFER, agreed};
pub(crate) use socket::Socket;
