//! What connectors with protocols of their own have in common below the protocol.
//!
//! An [`Endpoint`] is a server that can be connected to; a [`Socket`] is a connection to it, over
//! TCP or TLS, that is read, written and waited for by its owner's thread and never blocks unasked.
//! [`Liveness`] finds a connection out that is up and dead, and [`Reconnecting`] makes a new one
//! beside its owner, under the rules of [`sojourn_broker::Backoff`]. A [`Bell`] wakes an owner that
//! waits.

mod bell;
mod endpoint;
mod liveness;
mod reconnecting;
mod socket;
mod trust;

pub use bell::Bell;
pub use endpoint::Endpoint;
pub use liveness::{Due, Liveness};
pub use reconnecting::Reconnecting;
pub use socket::Socket;
pub use trust::client_config;
