//! What every broker connector shares.
//!
//! A connector implements [`Tap`]: a passive, shared subscription that stamps each message in its
//! receive callback. A [`Router`] made from the plan decodes a message once, finds the stages it
//! fits and its key, and yields the ledger's `Observation`. A [`Publisher`] sends, a [`Consumer`]
//! takes part in a group like the system's own. A [`Registry`] knows which connectors a build has.
//! Nothing here knows any one broker.

mod consumer;
mod decode;
mod envelope;
mod message;
mod publisher;
mod registry;
mod router;
mod rule;
mod select;
mod span;
mod tap;
mod text;

pub use consumer::Consumer;
pub use decode::{Decoded, decode};
pub use message::{Position, RawMessage};
pub use publisher::{Outcome, Publisher};
pub use registry::{Factory, Registry};
pub use router::Router;
pub use select::select;
pub use span::{PositionRange, Span};
pub use tap::{Sink, Tap, TapError, TapInfo};
