//! OpenTelemetry: metrics, and each kept journey as a trace; by OTLP over HTTP or gRPC.
//!
//! <https://opentelemetry.io/docs/specs/otlp/>

mod channel;
mod figures;
mod grpc;
mod identity;
mod journeys;
mod messages;
mod post;

pub(crate) use grpc::OtlpGrpc;
pub(crate) use post::Otlp;
