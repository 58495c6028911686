//! OTLP over HTTP: binary protobuf, posted to `/v1/metrics` and `/v1/traces`.

use std::time::Duration;

use url::Url;

use super::{figures, identity::took, journeys};
use crate::{
    failure::{Failure, Took},
    frame::Frame,
    http::Poster,
    outlet::Output,
    target::Run,
};

const HEADERS: [(&str, &str); 1] = [("content-type", "application/x-protobuf")];

/// The collector.
pub(crate) struct Otlp {
    poster: Poster,
    metrics: Url,
    traces: Url,
    run: Run,
}

impl Otlp {
    pub(crate) fn new(poster: Poster, run: &Run) -> Self {
        let (metrics, traces) = (poster.url("/v1/metrics"), poster.url("/v1/traces"));
        Self { poster, metrics, traces, run: run.clone() }
    }
}

impl Output for Otlp {
    fn carries_journeys(&self) -> bool {
        true
    }

    fn send(&mut self, frame: &Frame, timeout: Duration) -> Result<Took, Failure> {
        let body = figures::request(frame, &self.run);
        took(&self.poster.post(&self.metrics, &HEADERS, &body, timeout)?)
    }

    fn send_journeys(&mut self, frame: &Frame, timeout: Duration) -> Result<Took, Failure> {
        let body = journeys::request(frame, &self.run);
        // Of spans that are rejected it is not known whose they are: their journeys are not sent.
        took(&self.poster.post(&self.traces, &HEADERS, &body, timeout)?)
    }
}
