//! OpenTelemetry: metrics, and each kept journey as a trace; by OTLP over HTTP or gRPC.
//!
//! <https://opentelemetry.io/docs/specs/otlp/>

mod channel;
mod figures;
mod grpc;
mod identity;
mod journeys;
mod messages;
mod plain;
mod post;
mod told;

pub use channel::Channel;
pub use grpc::METRICS;
pub(crate) use grpc::OtlpGrpc;
pub use identity::rejected;
pub use plain::{Figure, Reading, Sender, message};
pub(crate) use post::Otlp;
