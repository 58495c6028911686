//! HTTP client for load.
//!
//! A sans-IO HTTP/1.1 codec over pre-rendered requests, connections as state machines in a slab, one
//! event loop ([`Client::wait_until`]) that owns waiting. One client belongs to one thread; nothing
//! in it locks, and a request in steady state allocates nothing but a kept body.
//!
//! It knows nothing of schedules, journeys or reports.

mod client;
mod completion;
mod error;
mod origin;
mod request;

pub use client::{Client, ClientConfig, Waker};
pub use completion::{Completion, Response, Timings};
pub use error::{Failure, FailureKind};
pub use origin::Origin;
pub use request::{BodyPolicy, Exchange, OriginId};
