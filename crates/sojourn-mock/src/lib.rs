//! A server that stands in for others: mock, test target and queueing oracle.
//!
//! What it holds costs it nothing but memory: a held answer is an entry in a timer wheel, not a
//! task, and a thread serves as many connections as it has descriptors. Its own truth is part of
//! its output: every answer says how long it was meant to be held and how long it really was.
//!
//! Words: a request is *held* between its arrival and the instant its answer is *due*; the
//! *overshoot* is how much later than due the answer left.
//!
//! Invariants: truth is decided when a request arrives and never corrected afterwards (what the
//! kernel or a busy machine adds is recorded apart); an answer is never early; no thread of the
//! server sleeps, locks or allocates per request in steady state; every buffer, queue and book has
//! a bound and says what it refused.
//!
//! Start here: [`Server`] with a [`Responder`].

mod book;
mod callbacks;
mod course;
mod desk;
#[cfg(feature = "est")]
mod enrolment;
#[cfg(not(feature = "est"))]
#[path = "no_enrolment.rs"]
mod enrolment;
mod http1;
mod latency;
mod message;
mod metrics;
mod mock;
mod others;
mod queue;
mod read;
mod reason;
mod reply;
mod selfcheck;
mod server;
mod source;
mod target;
mod wheel;

pub use book::answer::Answer;
pub use book::degrade::{Degradation, DegradationPoint};
pub use book::fault::Fault;
pub use book::limit::Limit;
#[doc(hidden)]
pub use book::overrides::wishes;
pub use book::pattern::Pattern;
pub use book::values::Place;
pub use book::{Book, Condition, Route};
pub use callbacks::CallbackFigures;
pub use http1::understood::{Understood, understood};
pub use latency::{Draws, Latency, LatencyError, RunFiles, Table, read_latency, recorded};
pub use message::{Body, Message, Timing};
pub use mock::{Mock, MockEnd, MockOptions, StartError};
pub use others::{IdentityError, TlsIdentity};
pub use queue::{
    Clerk, Queue, QueueError, QueueModel, Slot, Truth, TruthFile, TruthRecord, TruthReport,
};
pub use read::{OpenApiError, mock_schema, read_mock, read_openapi};
pub use reply::{Reply, Step};
pub use selfcheck::{Stair, Staircase, StairsEnd, highest};
pub use server::{
    Figures, Header, HoldTimes, Meter, Request, Responder, Server, ServerConfig, Takeover,
    TlsFacts, Waiting,
};
pub use source::{Respond, Source, Watched};
pub use target::test_target;
