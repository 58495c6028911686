//! OTLP over gRPC.

use std::time::Duration;

use super::{channel::Channel, figures, identity::took, journeys, told::Told};
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
    told: Told,
}

impl OtlpGrpc {
    pub(crate) fn new(endpoint: &Endpoint, security: &Security, run: &Run) -> Result<Self, String> {
        let channel = Channel::new(endpoint, security)?;
        Ok(Self { channel, run: run.clone(), told: Told::default() })
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
        let new = self.told.new_ones(frame);
        if new.is_empty() {
            return Ok(Took::All);
        }
        let message = journeys::request(&new, frame.start_unix_ns, &self.run);
        let took = took(&self.channel.call(TRACES, &message, timeout)?)?;
        self.told.add(&new);
        Ok(took)
    }
}
