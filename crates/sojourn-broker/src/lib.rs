//! What every broker connector shares.
//!
//! A connector implements [`Tap`]: a passive, shared subscription that stamps each message in its
//! receive callback. A [`Router`] made from the plan decodes a message once, finds the stages it fits
//! and its key, and yields the ledger's `Observation`. Nothing here knows any one broker.

mod decode;
mod message;
mod publisher;
mod router;
mod select;
mod tap;

pub use decode::{Decoded, decode};
pub use message::{Position, RawMessage};
pub use publisher::{Outcome, Publisher};
pub use router::Router;
pub use select::select;
pub use tap::{Sink, Tap, TapError, TapInfo};
