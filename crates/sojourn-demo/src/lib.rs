//! A payments system to load, in one process: API, event store, relay, Kafka, consumers, third
//! parties, faults, ground truth.
//!
//! It is what `sojourn demo` runs and what Sojourn's own figures are checked against. It knows
//! nothing of the load generator: it is reached over HTTP and its broker only, and shares nothing
//! with the rest of Sojourn but the clock and, where another broker than Kafka carries its messages
//! ([`Carrier`]), that broker's connector.
//!
//! ```text
//!  POST /api/payment/create            poll                       payments.events
//!  ───────────────> api ──> store ──────────────> relay ──> Kafka ──────────┬───> taps
//!                             ^   (events = outbox)    (faults)             v
//!                             └────── workers <── one queue per stage <── consumer
//!                                        │  └──> payments.dead-letter
//!                                        v
//!                              provider, notifications (mocks, HTTP)
//! ```
//!
//! A payment is *initiated* by the API, *created* and *settled* at the provider, and *completed*
//! when the customer is notified. Each stage is an event with key `pay:<uuid>`, headers `type` and
//! `message-id`, and payload `{"aggregateId", "type", "version", "occurredAt"}`.
//!
//! Invariants:
//! - Everything random is a function of the seed, the payment's key and the stage.
//! - An event is in the outbox before it is published, and published before the relay moves on.
//! - The ground-truth log is never lossy: who meets its full queue waits.
//! - Every queue is bounded; a stop ends every thread within seconds.

mod api;
mod carrier;
mod carrier_connect;
mod common;
mod config;
mod consumer;
mod counters;
mod error;
mod faults;
mod http_client;
mod kafka;
mod mocks;
mod payment;
mod problems;
mod publisher;
mod random;
mod relay;
mod retention;
mod servers;
mod service_time;
mod stage;
mod stop;
mod store;
mod system;
mod third_party;
mod threads;
mod timestamp;
mod truth;
mod truth_read;
mod truth_record;
mod worker;

pub use carrier::{Carrier, CarrierEnd};
pub use config::{ConfigError, DemoConfig, KafkaChoice, RelayConfig, StageConfig};
pub use counters::DemoCounts;
pub use error::DemoError;
pub use faults::{Fate, FaultConfig, Faults, SlowStage, StopStage, five_to_nine_seconds};
pub use service_time::{ServiceTime, ServiceTimeError};
pub use stage::{Stage, StageError};
pub use system::Demo;
pub use truth_read::{
    DeadLetter, JourneyEnd, JourneyTruth, StageTruth, Totals, Truth, TruthError, TruthLog,
};
pub use truth_record::{Kind, Outcome, Publication, Record};
