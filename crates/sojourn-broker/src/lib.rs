//! What every broker connector shares.
//!
//! A connector implements [`Tap`]: a passive, shared subscription that stamps each message in its
//! receive callback. A [`Router`] made from the plan decodes a message once, finds the stages it
//! fits and its key, and yields the ledger's `Observation`. A [`Publisher`] sends, a [`Consumer`]
//! takes part in a group like the system's own, a [`Backlog`] asks how much waits for the system's
//! consumers. A [`Registry`] knows which connectors a build has; each is a [`Connect`].
//! Nothing here knows any one broker.

mod awaited;
mod backlog;
mod backoff;
mod besides;
mod consumer;
mod debezium;
mod decode;
mod echo;
mod envelope;
mod error;
mod gap;
mod glance;
mod handover;
mod mention;
mod message;
mod messagepack;
mod nservicebus;
mod offsets;
mod open_decoder;
mod pattern;
mod places;
mod publisher;
mod readiness;
mod registry;
mod router;
mod rule;
mod select;
mod skim;
mod span;
mod tap;
#[cfg(test)]
mod testing;
mod text;

pub use awaited::Awaited;
pub use backlog::{Backlog, Figure, Reading};
pub use backoff::Backoff;
pub use consumer::{Consumer, Start};
pub use decode::{Decoded, decode};
pub use echo::Echo;
pub use error::BrokerError;
pub use gap::{Gap, Recovery};
pub use handover::Handover;
pub use mention::{Mention, mentions};
pub use message::{Position, RawMessage};
pub use open_decoder::OpenDecoder;
pub use publisher::{Outcome, Publisher, PublisherSettings};
pub use readiness::{FirstAttempt, Readiness};
pub use registry::{Connect, Registry};
pub use router::Router;
pub use select::select;
pub use span::{PositionRange, Span};
pub use tap::{Sink, Tap, TapInfo};
