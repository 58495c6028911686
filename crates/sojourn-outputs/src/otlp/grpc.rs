//! OTLP over gRPC.

use std::time::Duration;

use super::{channel::Channel, figures, identity::took, journeys};
use crate::{
    failure::{Failure, Took},
    frame::Frame,
    http::Security,
    outlet::Output,
    target::{Endpoint, Run},
};

/// The method that takes metrics.
pub const METRICS: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
const TRACES: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// The collector.
pub(crate) struct OtlpGrpc {
    channel: Channel,
    run: Run,
}

impl OtlpGrpc {
    pub(crate) fn new(endpoint: &Endpoint, security: &Security, run: &Run) -> Result<Self, String> {
        Ok(Self { channel: Channel::new(endpoint, security)?, run: run.clone() })
    }
}

impl Output for OtlpGrpc {
    fn carries_journeys(&self) -> bool {
        true
    }

    fn send(&mut self, frame: &Frame, timeout: Duration) -> Result<Took, Failure> {
        let message = figures::request(frame, &self.run);
        took(&self.channel.call(METRICS, &message, timeout)?)
    }

    fn send_journeys(&mut self, frame: &Frame, timeout: Duration) -> Result<Took, Failure> {
        let message = journeys::request(frame, &self.run);
        took(&self.channel.call(TRACES, &message, timeout)?)
    }
}
